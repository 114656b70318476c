"""The gallery of the Flask website: the component on many pages, in many looks.

Each example is a page in a frame, because a page can have the stylesheet of one website only.
"""

import json
from dataclasses import dataclass
from typing import Any, Final, Literal

from flask import Blueprint, abort, render_template, request

from demo_apps import content, site
from faqsvc_embed import FAQ
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

    `host` is one of `HOSTS`; `faq` is "pricing", "short", "long", "markdown", "introduction" or "shop".
    """

    caption: str
    host: str = "plain"
    is_dark: bool = False
    lang: str = "en"
    faq: str = "pricing"
    accent: str | None = None
    variant: Literal["details", "disclosure", "open"] = "details"
    look: Literal["lines", "cards", "columns", "plain"] = "lines"
    section: str | None = None
    questions: tuple[str, ...] = ()
    css: str = ""
    """Rules of the page for the component."""

    @property
    def is_wide(self) -> bool:
        """Whether its frame is as wide as the gallery."""
        return self.look == "columns" or (self.faq == "shop" and not (self.section or self.questions))

    @property
    def options(self) -> dict[str, Any]:
        """The options of `faq()`."""
        return {
            "variant": self.variant,
            "look": self.look,
            "theme": {"accentColor": self.accent} if self.accent else None,
            "section": self.section,
            "questions": list(self.questions) or None,
        }

    @property
    def code(self) -> str:
        """What its template and stylesheet contain."""
        usual = Example("").options
        given = {name: value for name, value in self.options.items() if value != usual[name]}
        values = "".join(f", {name}={json.dumps(value)}" for name, value in given.items())
        slug = "shop" if self.faq == "shop" else "pricing"
        return "\n".join(filter(None, [f'{{{{ faq("{slug}"{values}) }}}}', self.css]))


HOSTS: Final = {
    "plain": "A plain page",
    "toolkit": "Loud buttons",
    "newspaper": "A newspaper",
    "classless": "A stylesheet without classes",
    "neon": "Neon",
}
ACCENTS: Final = ("#ffe14d", "#b4532a", "#2b59c3", "#10102a")
SHOP: Final = ("Prices", "First steps")
"""The sections of the long FAQ."""
SECTIONS: Final[dict[str, tuple[Example, ...]]] = {
    "At home": tuple(
        Example(
            f"{name}, {'dark' if is_dark else 'light'}",
            host,
            is_dark,
            accent="#ff4fa3" if host == "neon" else "#0b6e75",
        )
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
    "Long": (
        Example("Sections, with an index and a filter", faq="shop", accent="#0b6e75"),
        Example("The same in columns", faq="shop", accent="#0b6e75", look="columns"),
    ),
    "Parts": (
        Example("A section", faq="shop", section=SHOP[1], accent="#0b6e75"),
        Example("Some questions", faq="shop", questions=("q2", "q9"), accent="#0b6e75", look="cards"),
    ),
    "Details": (
        Example("A chevron", css=".faqsvc { --faqsvc-marker: chevron }", accent="#2b59c3"),
        Example(
            "In front of the question",
            css=".faqsvc { --faqsvc-marker: chevron; --faqsvc-marker-side: start }",
            accent="#2b59c3",
        ),
        Example("An introduction", faq="introduction", accent="#2b59c3"),
        Example("No marker, dark", is_dark=True, css=".faqsvc { --faqsvc-marker: none }", accent="#2b59c3"),
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
    fragment = faqs_from().render(_record(example), **example.options)
    return render_template("example.html", example=example, fragment=fragment)


def _record(example: Example) -> FAQ:
    body: dict[str, Any] = content.faq_body("pricing", example.lang)
    if example.faq == "shop":
        bodies = (body, content.faq_body("getting-started", example.lang))
        listed = [
            {**item, "section": section}
            for section, part in zip(SHOP, bodies, strict=True)
            for item in part["items"]
        ]
        items = [{**item, "id": f"q{number}"} for number, item in enumerate(listed)]
        return FAQ.from_dict({**body, "slug": "shop", "title": "Heron & Ink", "items": items})
    items = [body["items"][index] for index in (4, 0, 3, 7)]
    if example.faq == "short":
        items = [{"question": "Any hidden charges?", "answer": "None, and there never were."}, items[1]]
    elif example.faq == "introduction":
        body = {**body, "introduction": "All prices include tax. Ask us about more than a hundred copies."}
    elif example.faq == "markdown":
        body = {**body, "answerFormat": "markdown"}
        items = [{"question": "How do I prepare a file?", "answer": MARKDOWN}, *items[1:]]
    elif example.faq == "long":
        words = " \n\n".join(item["answer"] for item in body["items"]).split(" ")
        items = [{"question": items[0]["question"], "answer": " ".join((words * 9)[:LONG])}, *items[1:3]]
    return FAQ.from_dict({**body, "items": items})
