"""The gallery of the Flask website: the component on many pages, in many looks.

Each example is a page in a frame, because a page can have the stylesheet of one website only.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal

from flask import Blueprint, abort, render_template, request

from demo_apps import content, site
from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.flask import faqs_from

PAGE: Final = site.Page("gallery", "/gallery", ("pricing",))
LONG: Final = 2000
"""The number of words of the long answer."""
MARKDOWN: Final = """\
Send us a **PDF**, one page for each colour, in *greyscale*:

1. black where the ink is full
2. grey where it is a screen

> Fluorescent pink is lighter than it looks on a screen.

More is in [our guide](https://heron-and-ink.example/guide), or write to <studio@heron-and-ink.example>.
"""


@dataclass(frozen=True, slots=True)
class Example:
    """A page that shows an FAQ.

    `host` is one of `HOSTS`; `faq` is "pricing", "short", "long" or "markdown".
    """

    caption: str
    host: str = "plain"
    is_dark: bool = False
    lang: str = "en"
    faq: str = "pricing"
    accent: str | None = None
    variant: Literal["details", "disclosure", "open"] = "details"
    look: Literal["lines", "cards", "columns", "plain"] = "lines"


HOSTS: Final = {
    "plain": "A plain page",
    "toolkit": "Loud buttons",
    "newspaper": "A newspaper",
    "classless": "A stylesheet without classes",
    "neon": "Neon",
}
ACCENTS: Final = ("#ffe14d", "#ff6b74", "#b4532a", "#0b6e75", "#2b59c3", "#10102a")
SECTIONS: Final[dict[str, tuple[Example, ...]]] = {
    "At home": tuple(
        Example(f"{name}, {'dark' if is_dark else 'light'}", host, is_dark, accent="#0b6e75")
        for host, name in HOSTS.items()
        for is_dark in (False, True)
        if host not in ("classless", "neon") or is_dark == (host == "neon")
    ),
    "Looks": (
        Example("Lines", accent="#2b59c3"),
        Example("Cards", accent="#2b59c3", look="cards"),
        Example("Plain", accent="#2b59c3", look="plain"),
        Example("Columns, where there is room", accent="#2b59c3", look="columns"),
    ),
    "Variants": (
        Example("Details: works without scripts", accent="#b4532a"),
        Example("Disclosure: headings with buttons", variant="disclosure", accent="#b4532a"),
        Example("Open: nothing to open", variant="open"),
        Example("Answers in Markdown", faq="markdown", accent="#b4532a"),
    ),
    "Languages": tuple(Example(name, lang=lang) for lang, name in site.LANGUAGES.items()),
    "Accents": tuple(
        Example(f"{accent}, {'dark' if is_dark else 'light'}", "plain", is_dark, accent=accent, faq="short")
        for accent in ACCENTS
        for is_dark in (False, True)
    ),
    "Lengths": (Example("Five words", faq="short"), Example(f"{LONG:,} words", faq="long")),
}

blueprint: Final = Blueprint("gallery", __name__)


@blueprint.get(PAGE.path)
def show() -> str:
    """Return the page with all examples, and an FAQ of its own."""
    lang = site.choose_language(request.args.get("lang"), request.headers.get("Accept-Language"))
    sections = {title: list(enumerate(examples)) for title, examples in SECTIONS.items()}
    return render_template("gallery.html", sections=sections, lang=lang)


@blueprint.get("/gallery/<title>/<int:number>")
def frame(title: str, number: int) -> str:
    """Return the page of one example."""
    examples = SECTIONS.get(title, ())
    if number >= len(examples):
        abort(404)
    example = examples[number]
    embed = faqs_from()
    if example.faq == "markdown":
        embed = FAQEmbed(settings=embed.settings, answer_format="markdown")
    theme = {"accentColor": example.accent} if example.accent else None
    fragment = embed.render(_record(example), theme=theme, variant=example.variant, look=example.look)
    return render_template("example.html", example=example, fragment=fragment)


def _record(example: Example) -> FAQ:
    body: dict[str, Any] = content.faq_body("pricing", example.lang)
    items = [body["items"][index] for index in (4, 0, 3, 7)]
    if example.faq == "short":
        items = [{"question": "Any hidden charges?", "answer": "None, and there never were."}, items[1]]
    elif example.faq == "markdown":
        items = [{"question": "How do I prepare a file?", "answer": MARKDOWN}, *items[1:]]
    elif example.faq == "long":
        words = " \n\n".join(item["answer"] for item in body["items"]).split(" ")
        items = [{"question": items[0]["question"], "answer": " ".join((words * 9)[:LONG])}, *items[1:3]]
    return FAQ.from_dict({**body, "items": items})
