"""The website in Flask. `FAQExtension` adds `faq()` and the other globals to all templates."""

import secrets

from flask import Flask, Response, abort, g, make_response, render_template, request

from demo_apps import gallery, site
from faqsvc_embed.flask import FAQExtension


def create_app(base_url: str = site.SERVICE) -> Flask:
    """Return the application. It reads FAQs from the service at `base_url`."""
    app = Flask(__name__)
    FAQExtension(app, base_url=base_url, wait=3.0)  # seconds, as the service starts with the demo
    app.register_blueprint(gallery.blueprint)

    @app.get("/", defaults={"name": "home"})
    @app.get("/<name>")
    def show(name: str) -> Response:
        page = site.find_page(name) or abort(404)
        lang = site.choose_language(request.args.get("lang"), request.headers.get("Accept-Language"))
        if page.has_strict_policy:
            g.csp_nonce = secrets.token_urlsafe(16)  # the extension finds it there
        response = make_response(render_template(page.template, **site.context(page, lang, "Flask")))
        response.headers["Content-Language"] = lang
        response.vary.add("Accept-Language")
        if page.has_strict_policy:
            response.headers["Content-Security-Policy"] = site.policy(g.csp_nonce)
        return response

    return app
