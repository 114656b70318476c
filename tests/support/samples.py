"""Records in the wire form, with characters and strings that break pages."""

from typing import Any, Final

SCRIPT_BREAKERS: Final = (
    "</script>",
    "</script >",
    "</script/>",
    "</SCRIPT\n x>",
    "<!--<script>",
    "-->",
    "]]>",
    "<script>",
    "<!-->",
    "<!--",
    "--!>",
    "</title>",
    "</style>",
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "&lt;/script&gt;",
    "line\u2028separator, paragraph\u2029separator",
)
"""Texts that end, open or confuse a script element if they are inserted into one unescaped."""

NASTY_TEXTS: Final = (
    *SCRIPT_BREAKERS,
    "{{ 7 * 7 }}{% raw %}{# #}",
    "A &amp; B",
    "a < b && c > d",
    "“quotes” 'single' \"double\" `back`",
    "back\\slash \\u003c \\1 \\g<0>",
    "tab\there, line\nthere, return\r\nand a blank line\n\nafter it",
    "\x00nul \x0bvertical \x1besc \x7fdel \x85nel",
    "zero\u200bwidth, soft\u00adhyphen, bidi \u202eevil\u202c, joiner 👩‍👩‍👧‍👦",
    "e\u0301 and é, Å and Å",
    "\ufeffbom, \ufffdreplacement, \uffffnoncharacter, 𝄞 astral",
    "Köln, 서울, 東京, 北京, España, Zürich, naïve",
)
"""Texts that must come out as they are, wherever they are printed."""


def record(
    slug: str = "pricing",
    *pairs: tuple[str, str],
    lang: str = "en",
    title: str = "Pricing",
    website_name: str = "Tea & Sons",
) -> dict[str, Any]:
    """Return a new record in the wire form, with these questions and answers or three samples."""
    items = pairs or (
        ("What does it cost?", "Nothing < 10 users; then €5 & taxes."),
        ('Is there a "free" plan?', "Yes.\n\nIt has:\n- 1 site\n- 3 FAQs"),
        ("May I cancel?", "Any time, it's <b>your</b> choice."),
    )
    return {
        "slug": slug,
        "title": title,
        "websiteName": website_name,
        "lang": lang,
        "items": [
            {"position": position, "question": question, "answer": answer}
            for position, (question, answer) in enumerate(items)
        ],
        "cta": None,
    }


def pricing() -> dict[str, Any]:
    """Return a small, well-behaved record."""
    return record()


def nasty() -> dict[str, Any]:
    """Return a record all of whose strings are from `NASTY_TEXTS`."""
    pairs = [(f"{index}. {text}?", f"{text}\n\n{text}") for index, text in enumerate(NASTY_TEXTS)]
    return record(
        "nasty",
        *pairs,
        title="</title><script>alert('title')</script> & more",
        website_name="</style><!-- \"name' -->",
    )


def large(items: int = 200, words: int = 50) -> dict[str, Any]:
    """Return a record of `items` questions with answers of `words` words."""
    return record(
        "large", *((f"Question number {n}?", f"word{n} " * words) for n in range(items)), title="Large"
    )


def multilingual() -> dict[str, dict[str, Any]]:
    """Return the same FAQ in each of the seven languages, by language."""
    texts = {
        "en": ("Prices", "What does it cost?", "Nothing."),
        "ko": ("요금", "비용이 얼마인가요?", "무료입니다."),
        "ja": ("料金", "料金はいくらですか？", "無料です。"),
        "zh": ("价格", "多少钱？", "免费。"),
        "es": ("Precios", "¿Cuánto cuesta?", "Nada."),
        "fr": ("Tarifs", "Combien ça coûte ?", "Rien."),
        "de": ("Preise", "Was kostet das?", "Nichts – für „kleine“ Läden."),
    }
    return {
        lang: record("pricing", (question, answer), lang=lang, title=title)
        for lang, (title, question, answer) in texts.items()
    }
