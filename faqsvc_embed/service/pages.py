"""The HTML of the service's own pages. The FAQ in them is our component's."""

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering.assets import stylesheet
from faqsvc_embed.rendering.renderer import Look, Renderer
from faqsvc_embed.service.words import WORDS
from faqsvc_embed.theme import Theme

DESCRIPTION: Final = 160
"""Characters of the first questions that stand for the page where it is listed."""

# The title of the page is the only heading above the questions.
_LOOK: Final = Look(Theme(), show_title=False, heading_level=1)
_renderer = Renderer()
_templates = Environment(
    loader=PackageLoader("faqsvc_embed.service"), autoescape=True, undefined=StrictUndefined
)


class Language(NamedTuple):
    """One language of an FAQ, as its page links to it."""

    lang: str
    name: str
    address: str
    """Where it is in this language, whatever the reader prefers."""
    canonical: str


class Links(NamedTuple):
    """Where an FAQ is: `page` in whichever language is preferred, `canonical` the one that is shown."""

    page: str
    canonical: str
    markdown: str
    languages: tuple[Language, ...]

    @property
    def header(self) -> str:
        """The value of a Link header (RFC 8288)."""
        return (
            f'<{self.canonical}>; rel="canonical", <{self.markdown}>; rel="alternate"; type="text/markdown"'
        )


def links(page: str, languages: Sequence[str], lang: str) -> Links:
    """Return the addresses of an FAQ with these languages, its own first, which is shown in `lang`.

    The address without a language is that of its own: who states no preference gets it there.
    """
    listed = tuple(
        Language(
            lang=language,
            name=WORDS[language].language,
            address=f"{page}?lang={language}",
            canonical=page if language == languages[0] else f"{page}?lang={language}",
        )
        for language in languages
    )
    shown = next(language for language in listed if language.lang == lang)
    return Links(page, shown.canonical, f"{page}.md?lang={lang}", listed)


def hosted(faq: FAQ, website_url: str, links: Links) -> str:
    """Return the page of an FAQ."""
    lang = faq.lang or "en"
    block = _renderer.block(faq, _LOOK)
    questions = " ".join(item.question.strip() for item in faq.items[:3])
    return _templates.get_template("hosted.html").render(
        links._asdict(),
        lang=lang,
        words=WORDS[lang],
        css=_css(),
        title=_shown(faq.title.strip() or WORDS[lang].faq),
        website_name=_shown(faq.website_name.strip()),
        website_url=website_url if website_url.startswith(("http://", "https://")) else "",
        description=_shown(_shortened(questions)),
        block=Markup(block.html + block.script) if block is not None else "",
    )


def missing(lang: str) -> str:
    """Return what a reader sees where there is no FAQ."""
    return _templates.get_template("missing.html").render(lang=lang, words=WORDS[lang], css=_css())


@cache
def policy() -> str:
    """Return the Content-Security-Policy of these pages: their own styles, and nothing else at all."""
    digest = base64.b64encode(hashlib.sha256(_css().encode()).digest()).decode()
    return (
        f"default-src 'none'; style-src 'sha256-{digest}'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@cache
def _css() -> Markup:
    css = (Path(__file__).parent / "static" / "page.css").read_text(encoding="utf-8")
    css = re.sub(r"\s+", " ", re.sub(r"/\*.*?\*/", "", css, flags=re.DOTALL)).strip()
    return Markup(css + stylesheet())  # both are ours


def _shortened(text: str) -> str:
    text = " ".join(text.split())
    if len(text) <= DESCRIPTION:
        return text
    return text[: DESCRIPTION - 1].rpartition(" ")[0] + "…"


def _shown(text: str) -> str:
    """U+0000 cannot be written in HTML."""
    return text.replace("\0", "\ufffd")
