"""The page that all measurements show: a small one of a host's, with an FAQ of so many questions."""

from typing import Any, Final

COUNTS: Final = (5, 20, 200)
"""How many questions the FAQ of a page has."""
SLUG: Final = "pricing"

HEAD: Final = (
    '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{{ title }}</title></head><body>'
    "<nav><ul>{% for name in names %}<li><a href='/{{ name }}'>{{ name }}</a></li>{% endfor %}</ul></nav>"
    "<main><h1>{{ title }}</h1><p>{{ lead }}</p>"
)
TAIL: Final = "</main><footer>{{ title }} &middot; {{ year }}</footer></body></html>"
VALUES: Final = {
    "title": "Bikes & more",
    "lead": "Everything about prices.",
    "names": ["home", "shop", "rent", "faq", "about"],
    "year": 2026,
}
TEXTS: Final = (
    "What about question number {}?",
    "It is like this & that, number {}.\n\nAnd a second paragraph, also of number {}.",
)


def record(count: int, slug: str = SLUG) -> dict[str, Any]:
    """Return a record of so many questions, as the service sends it."""
    question, answer = TEXTS
    items = [
        {"position": n, "question": question.format(n), "answer": answer.format(n, n)} for n in range(count)
    ]
    return {"slug": slug, "title": "Pricing", "websiteName": "", "lang": "en", "items": items, "cta": None}
