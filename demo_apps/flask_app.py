"""The Flask host: two lines for the FAQs, the rest is a site like any other."""

import secrets
from functools import partial

from flask import Flask, Response, g, make_response, render_template, request

from demo_apps import gallery, site
from faqsvc_embed.flask import FAQExtension


def create_app(base_url: str | None = None) -> Flask:
    """Build the host; `base_url` is the address of the FAQ service."""
    app = Flask(__name__)
    app.config["FAQSVC_BASE_URL"] = base_url or site.SERVICE
    app.config["FAQSVC_WAIT"] = site.WAIT
    FAQExtension(app)
    for page in site.PAGES:
        app.add_url_rule(page.path, page.name, partial(show, page))
    gallery.add_gallery(app)
    return app


def show(page: site.Page) -> Response:
    """Answer with a page in the reader's language."""
    lang = site.language(request.args.get("lang"), request.headers.get("Accept-Language", ""))
    if page.strict_policy:
        g.csp_nonce = secrets.token_urlsafe(16)
    response = make_response(render_template(page.template, **site.context(page, lang, "Flask")))
    response.headers["Content-Language"] = lang
    response.vary.add("Accept-Language")
    if page.strict_policy:
        response.headers["Content-Security-Policy"] = site.policy(g.csp_nonce)
    return response
