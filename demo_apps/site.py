"""The website that every framework serves: its pages, the context of its templates, its language."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from demo_apps import content
from faqsvc_embed.languages import lookup, negotiate

SERVICE: Final = "http://127.0.0.1:8700"
"""The address of the demo's FAQ service, unless another port was chosen."""

TEMPLATES: Final = Path(__file__).parent / "templates"
STATIC: Final = Path(__file__).parent / "static"

LANGUAGES: Final = {
    "en": "English",
    "ko": "한국어",
    "ja": "日本語",
    "zh": "中文",
    "es": "Español",
    "fr": "Français",
    "de": "Deutsch",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page: its path, and the slugs of the FAQs on it.

    `is_headless` pages print an FAQ in their own markup. `has_strict_policy` pages send a
    Content-Security-Policy that allows only what the page needs.
    """

    name: str
    path: str
    slugs: tuple[str, ...]
    is_headless: bool = False
    has_strict_policy: bool = False

    @property
    def template(self) -> str:
        """The file name in `templates/`."""
        return f"{self.name}.html"


PAGES: Final = (
    Page("home", "/", ("pricing",)),
    Page("two", "/two", ("getting-started", "pricing")),
    Page("tag", "/tag", ("pricing",)),
    Page("headless", "/headless", ("getting-started",), is_headless=True),
    Page("csp", "/csp", ("pricing",), has_strict_policy=True),
    Page("missing", "/missing", ()),
)
DJANGO: Final = Page("django", "/django", ("pricing",))
"""The page in the template language of Django."""
MISSING_SLUG: Final = "nobody-published-this"
"""The slug on the page `missing`. No FAQ has it."""


def find_page(name: str) -> Page | None:
    """Return the page with a name."""
    return next((page for page in PAGES if page.name == name), None)


def choose_language(lang: str | None, accept_language: str | None = None) -> str:
    """Return the language of a response: the one in the address, else the one that the browser prefers."""
    return lookup(lang or "") or negotiate(accept_language or "", "en") or "en"


def policy(nonce: str) -> str:
    """Return a strict Content-Security-Policy with a nonce for the styles and scripts of the page."""
    return (
        f"default-src 'none'; style-src 'nonce-{nonce}' 'self'; script-src 'nonce-{nonce}'; img-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def context(page: Page, lang: str, framework: str) -> dict[str, Any]:
    """Return the variables of a page's template."""
    return {
        "page": page,
        "pages": PAGES,
        "lang": lang,
        "languages": LANGUAGES,
        "text": content.translation(lang),
        "framework": framework,
        "policy": policy("…"),
        "missing_slug": MISSING_SLUG,
    }
