"""A site in a container; FAQSVC_BASE_URL and FAQSVC_STORE are in its environment."""

from flask import Flask, render_template_string

from faqsvc_embed.flask import FAQExtension

PAGE = """<!doctype html>
<html lang="en">
<title>Prices</title>
<h1>Prices</h1>
{{ faq("pricing") }}
</html>
"""

app = Flask(__name__)
FAQExtension(app)


@app.get("/")
def prices() -> str:
    return render_template_string(PAGE)
