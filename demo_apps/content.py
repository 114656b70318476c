"""The texts of the demo: FAQs, and translations of the website around them."""

import json
from functools import cache
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
SLUGS: Final = ("pricing", "getting-started")


def faq_body(slug: str, lang: str) -> dict[str, Any]:
    """Return an FAQ in one language, as the body of a publish request."""
    return _by_language(HERE / "faqs" / f"{slug}.json")[lang]


def translation(lang: str) -> dict[str, Any]:
    """Return the texts of the website in one language."""
    return _by_language(HERE / "translations.json")[lang]


@cache
def _by_language(path: Path) -> dict[str, dict[str, Any]]:
    loaded: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return loaded
