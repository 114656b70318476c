"""A page of Flask with an FAQ: `flask --app docs/examples/flask_app.py run`."""

from flask import Flask, render_template_string

from faqsvc_embed.flask import FAQExtension

PAGE = """\
<!doctype html>
<html lang="en">
<title>Prices</title>
<h1>Prices</h1>
{{ faq("pricing") }}
</html>
"""

app = Flask(__name__)
FAQExtension(app)


@app.get("/")
def home() -> str:
    """Show the FAQ `pricing`."""
    return render_template_string(PAGE)
