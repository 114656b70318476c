"""The texts of the demo: FAQs in the form of the publish request, and the words of the host's own pages."""

import json
from pathlib import Path
from typing import Any, Final

from faqsvc_embed.languages import LANGUAGES

HERE: Final = Path(__file__).parent
SLUGS: Final = ("pricing", "getting-started")


def publications() -> list[dict[str, Any]]:
    """Return a body for `POST /api/v1/faq` for every FAQ in every language, the English ones first."""
    return [publication(slug, lang) for lang in LANGUAGES for slug in SLUGS]


def publication(slug: str, lang: str) -> dict[str, Any]:
    """Return one FAQ in one language, as it is published."""
    return _load(HERE / "content" / lang / f"{slug}.json")


def words(lang: str) -> dict[str, Any]:
    """Return what the host's own pages say in a language."""
    return _load(HERE / "words" / f"{lang}.json")


def _load(path: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return loaded
