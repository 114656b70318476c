"""The small site that every host of the demo serves: its pages, their contexts, the reader's language."""

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Final

from demo_apps import content
from faqsvc_embed.languages import lookup, negotiate

SERVICE: Final = "http://127.0.0.1:8700"
"""Where the service of the demo listens, for a host that is started by itself."""
WAIT: Final = 3.0
"""Seconds that a page may wait for its first FAQs: also on a machine that starts everything at once."""

TEMPLATES: Final = Path(__file__).parent / "templates"
STATIC: Final = Path(__file__).parent / "static"

LANGUAGES: Final = (
    ("en", "English"),
    ("ko", "한국어"),
    ("ja", "日本語"),
    ("zh", "中文"),
    ("es", "Español"),
    ("fr", "Français"),
    ("de", "Deutsch"),
)


@dataclass(frozen=True, slots=True)
class Page:
    """A page, the FAQs it shows, and whether it shows them with the component or in its own markup."""

    name: str
    path: str
    shows: tuple[str, ...]
    headless: bool = False
    strict_policy: bool = False

    @property
    def template(self) -> str:
        """The file in `templates/`."""
        return f"{self.name}.html"


PAGES: Final = (
    Page("home", "/", ("pricing",)),
    Page("two", "/two", ("getting-started", "pricing")),
    Page("tag", "/tag", ("pricing",)),
    Page("headless", "/headless", ("getting-started",), headless=True),
    Page("csp", "/csp", ("pricing",), strict_policy=True),
    Page("missing", "/missing", ()),
)


def language(wish: str | None, accept_language: str = "") -> str:
    """Return the language to answer in: what the address asks for, else what the browser prefers."""
    return lookup(wish or "") or negotiate(accept_language, "en") or "en"


def policy(nonce: str) -> str:
    """Return a Content-Security-Policy that lets a page show an FAQ and do hardly anything else."""
    return (
        f"default-src 'none'; style-src 'nonce-{nonce}' 'self'; script-src 'nonce-{nonce}'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def context(page: Page, lang: str, host: str) -> dict[str, Any]:
    """Return what the templates need; `host` is the name of the framework that serves the page."""
    return {
        "page": page,
        "pages": PAGES,
        "lang": lang,
        "languages": LANGUAGES,
        "words": _words(lang),
        "host": host,
        "policy": policy("…"),
    }


_words = cache(content.words)
