"""The gallery of the Flask host: the component on pages of other makes, in every language, look and length.

Each exhibit is a page of its own in a frame, for a page has one stylesheet of a framework at most. The
frameworks are not ours to ship: `npm install bootstrap @picocss/pico @tailwindcss/browser` in the directory
where the demo is started puts them where this looks for them.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from flask import Flask, Response, abort, render_template, request, send_file

from demo_apps import content, site
from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.flask import faqs_from

PAGE: Final = site.Page("gallery", "/gallery", ("pricing",))
FRAMEWORKS: Final = {
    "bootstrap.css": "bootstrap/dist/css/bootstrap.min.css",
    "pico.css": "@picocss/pico/css/pico.min.css",
    "tailwind.js": "@tailwindcss/browser/dist/index.global.js",
}
LONG: Final = 2000
"""Words of the longest answer."""
MARKDOWN: Final = """\
Send us a **PDF**, one page a colour, in *greyscale*:

1. black where the ink is full
2. grey where it is a screen

> Fluorescent pink is lighter than it looks on a screen.

More is in [our guide](https://heron-and-ink.example/guide), or write to <studio@heron-and-ink.example>.
"""


@dataclass(frozen=True, slots=True)
class Exhibit:
    """One frame: what page it stands on, and what it shows there."""

    caption: str
    page: str = "plain"
    dark: bool = False
    lang: str = "en"
    show: str = "pricing"
    accent: str = ""
    variant: str = "details"

    @property
    def options(self) -> dict[str, Any]:
        """The arguments of `render`."""
        theme = {"accentColor": self.accent} if self.accent else None
        return {"theme": theme, "variant": self.variant}


ACCENTS: Final = ("#ffe14d", "#ff6b74", "#b4532a", "#0b6e75", "#2b59c3", "#10102a")
ROOMS: Final[dict[str, tuple[Exhibit, ...]]] = {
    "At home": tuple(
        Exhibit(f"{name}, {'dark' if dark else 'light'}", page, dark, accent="#0b6e75")
        for page, name in (
            ("plain", "A plain page"),
            ("bootstrap", "Bootstrap"),
            ("tailwind", "Tailwind"),
            ("pico", "Pico"),
        )
        for dark in (False, True)
    ),
    "Variants": (
        Exhibit("Details: no script at all", accent="#b4532a"),
        Exhibit("Disclosure: headings that hold buttons", variant="disclosure", accent="#b4532a"),
        Exhibit("Open: nothing to open", variant="open"),
        Exhibit("Answers in Markdown", show="markdown", accent="#b4532a"),
    ),
    "Languages": tuple(Exhibit(name, lang=lang) for lang, name in site.LANGUAGES),
    "Accents, corrected": tuple(
        Exhibit(f"{accent}, {'dark' if dark else 'light'}", "plain", dark, accent=accent, show="short")
        for accent in ACCENTS
        for dark in (False, True)
    ),
    "Lengths": (Exhibit("Five words", show="short"), Exhibit(f"{LONG:,} words", show="long")),
}


def add_gallery(app: Flask) -> None:
    """Add the gallery and its frames to the Flask host."""
    embed = FAQEmbed(settings=faqs_from(app).settings, answer_format="markdown")
    app.add_url_rule(PAGE.path, PAGE.name, show)
    app.add_url_rule(
        "/gallery/<room>/<int:number>", "exhibit", lambda room, number: frame(room, number, embed)
    )
    app.add_url_rule("/gallery/<name>", "framework", framework)


def show() -> str:
    """Answer with all exhibits, and the FAQ of the page itself."""
    lang = site.language(request.args.get("lang"), request.headers.get("Accept-Language", ""))
    return render_template("gallery.html", rooms=ROOMS, lang=lang, missing=_missing())


def frame(room: str, number: int, markdown: FAQEmbed) -> str:
    """Answer with one exhibit."""
    exhibits = ROOMS.get(room, ())
    if not 0 <= number < len(exhibits):
        abort(404)
    exhibit = exhibits[number]
    embed = markdown if exhibit.show == "markdown" else faqs_from()
    block = embed.render(_record(exhibit), **exhibit.options)
    return render_template("exhibit.html", exhibit=exhibit, block=block)


def framework(name: str) -> Response:
    """Answer with a file of a framework, if it is installed."""
    path = _path(name) if name in FRAMEWORKS else None
    if path is None or not path.is_file():
        abort(404)
    return send_file(path)


def _path(name: str) -> Path:
    return Path("node_modules", FRAMEWORKS[name]).absolute()


def _missing() -> list[str]:
    return [name for name in FRAMEWORKS if not _path(name).is_file()]


def _record(exhibit: Exhibit) -> FAQ:
    record = content.publication("pricing", exhibit.lang)
    items = [record["items"][at] for at in (4, 0, 3, 7)]
    if exhibit.show == "short":
        items = [{"question": "Any hidden charges?", "answer": "None, and there never were."}, items[1]]
    elif exhibit.show == "markdown":
        items = [{"question": "How do I prepare a file?", "answer": MARKDOWN}, *items[1:]]
    elif exhibit.show == "long":
        words = " \n\n".join(item["answer"] for item in record["items"]).split(" ")
        items = [{"question": items[0]["question"], "answer": " ".join((words * 9)[:LONG])}, *items[1:3]]
    return FAQ.from_dict({**record, "items": items})
