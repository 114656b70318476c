"""A Flask application with a page for each case of the browser tests."""

from typing import Any, Final

from flask import Flask, Response, g, render_template_string, request
from msgspec.structs import replace

from faqsvc_embed import FAQ
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.models import AnswerFormat
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.host import HOST_PAGE, STRICT

MARKDOWN: Final = """\
It has **much**:

1. one
2. two

# Heading

See [more](https://example.com/more) `code`.

> Quote
"""
LONG_WORD: Final = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft"
PRICING: Final = FAQ.from_dict(samples.pricing())
NASTY: Final = FAQ.from_dict(samples.nasty())
RICH: Final = FAQ.from_dict(samples.record("rich", ("What is in it?", MARKDOWN), ("And then?", "No *more*.")))
LONG: Final = FAQ.from_dict(
    samples.record(
        "long",
        (f"{LONG_WORD}?", "x" * 300),
        ("Where is it? " * 12, "https://example.com/" + "path/" * 40),
        title="W" * 60,
    )
)
ARABIC: Final = FAQ.from_dict(samples.record("arabic", ("كم السعر؟", "مجاني."), lang="ar", title="الأسعار"))

SECTIONS: Final = FAQ.from_dict(
    {
        "slug": "sections",
        "title": "Shop",
        "introduction": "So.",
        "lang": "de",
        "items": [
            {"question": f"{section} {number}?", "answer": "So. " * 40, "section": section}
            for section in ("Orders", "Payment", "Returns")
            for number in range(4)
        ],
    }
)

VARIANTS: Final = ("details", "disclosure", "open")
THEME: Final = 'theme={"accentColor": "#ffe14d", "questionSize": 20}'
ANSWER_IDS: Final = tuple(
    f"faq-pricing--{name}" for name in ("what-does-it-cost", "is-there-a-free-plan", "may-i-cancel")
)
NONCE: Final = "bm9uY2U="


def _tag(slug: str, variant: str = "details", options: str = "exclusive=false") -> str:
    return f'{{% faq "{slug}", variant="{variant}", {options} %}}'


PAGES: Final = {
    "without": "",
    "nasty": _tag("nasty"),
    "long": _tag("long"),
    "arabic": _tag("arabic"),
    "themed": _tag("pricing", "details", 'theme={"accentColor": "rgb(200 30 120)", "questionSize": 32}'),
    "smallest": _tag("pricing", "details", 'theme={"questionSize": 8}'),
    "many": _tag("pricing")
    + _tag("nasty")
    + _tag("pricing", "details", "heading_level=4")
    + _tag("long")
    + _tag("pricing", "details", "show_title=false, heading_level=none"),
    "all": _tag("rich", "details") + _tag("pricing", "disclosure") + _tag("pricing", "open"),
    "exclusive-details": _tag("pricing", "details", "exclusive=true")
    + _tag("rich", "details", "exclusive=true"),
    "exclusive-disclosure": _tag("pricing", "disclosure", "exclusive=true"),
    **{variant: _tag("pricing", variant) for variant in VARIANTS},
    "open-cards": _tag("pricing", "open", 'look="cards"'),
    **{look: _tag("pricing", "details", f'look="{look}"') for look in ("lines", "columns", "plain")},
    **{f"cards-{variant}": _tag("rich", variant, 'look="cards"') for variant in VARIANTS},
    **{f"sections-{variant}": _tag("sections", variant) for variant in VARIANTS},
    **{f"rich-{variant}": _tag("rich", variant, THEME) for variant in VARIANTS},
}
"""The template of each page, by its path."""


def make_app(answer_format: AnswerFormat = "text", **settings: Any) -> Flask:
    """Return the application. In a request, `?csp=` chooses a policy, and `?dark` a dark page."""
    app = Flask("host")
    records = (PRICING, NASTY, RICH, LONG, ARABIC, SECTIONS)
    faqs = {faq.slug: replace(faq, answer_format=answer_format) for faq in records}
    FAQExtension(app, embed=fake_embed(faqs, **settings))

    @app.before_request
    def nonce() -> None:
        g.csp_nonce = NONCE if request.args.get("csp") == "nonce" else None

    @app.after_request
    def policy(response: Response) -> Response:
        if (csp := request.args.get("csp")) is not None:
            response.headers["Content-Security-Policy"] = STRICT + _allowed(csp, response)
        return response

    for name, content in PAGES.items():
        source = HOST_PAGE.replace("CONTENT", content)
        app.add_url_rule(
            f"/{name}",
            name,
            lambda source=source: render_template_string(source, dark="dark" in request.args),
        )
    app.add_url_rule("/icon.png", "icon", lambda: Response(b"", 204))
    dark = "html { color-scheme: dark; background: #111; color: #eee } a { color: #9cf }"
    app.add_url_rule("/dark.css", "dark", lambda: Response(dark, mimetype="text/css"))
    return app


def _allowed(csp: str, response: Response) -> str:
    if csp == "nonce":
        return f"style-src 'nonce-{NONCE}'; script-src 'nonce-{NONCE}'"
    if csp == "self":
        return "style-src 'self'; script-src 'self'"
    assert csp == "hashes"
    sources = faqs_from().csp_sources(response.get_data(as_text=True))
    return "; ".join(f"{name} {' '.join(hashes)}" for name, hashes in sources.items())
