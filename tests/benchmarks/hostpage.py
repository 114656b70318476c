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


IN_ENGLISH: Final = (
    "What about question number {}?",
    "It is like this & that, number {}.\n\nAnd a second paragraph, also of number {}.",
)
IN_KOREAN: Final = (
    "{}번째 질문은 어떻게 되나요?",
    "요금은 매월 자동으로 결제되며, 언제든지 해지하실 수 있습니다 ({}).\n\n"
    "해지 후에도 남은 기간({}) 동안 이용하실 수 있습니다.",
)


def record(count: int, slug: str = SLUG, lang: str = "en") -> dict[str, Any]:
    """Return a record of so many questions, as the service sends it, in English or Korean."""
    question, answer = IN_KOREAN if lang == "ko" else IN_ENGLISH
    items = [
        {"position": n, "question": question.format(n), "answer": answer.format(n, n)} for n in range(count)
    ]
    return {"slug": slug, "title": "Pricing", "websiteName": "", "lang": lang, "items": items, "cta": None}


def templates(typed: str) -> dict[str, str]:
    """Return the page in every way in which an FAQ gets onto it; `typed` is the FAQ as HTML."""
    macro = '{% from "faqsvc/macros.html" import faq %}'
    return {
        "typed.html": HEAD + "{% raw %}" + typed + "{% endraw %}" + TAIL,
        "tag.html": HEAD + f'{{% faq "{SLUG}" %}}' + TAIL,
        "expression.html": HEAD + f'{{{{ faq("{SLUG}") }}}}' + TAIL,
        "macro.html": macro + HEAD + f'{{{{ faq("{SLUG}") }}}}' + TAIL,
    }


NAMES: Final = {
    "typed.html": "typed into the template",
    "tag.html": "{% faq %}",
    "expression.html": "{{ faq() }}",
    "macro.html": "{{ faq() }}, an imported macro",
}
