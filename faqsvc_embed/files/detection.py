"""The language of an FAQ whose publisher does not state one."""

import re
from collections.abc import Sequence
from typing import Final

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.models import Item
from faqsvc_embed.text import normalized

LATIN: Final[tuple[Lang, ...]] = ("en", "de", "fr", "es")
MAX_LENGTH: Final = 20_000
"""Characters of the text that are read."""
MIN_ITEMS: Final = 3
MIN_WORDS: Final = 12
"""The language of fewer items, or of fewer words, is uncertain."""
_SHARE: Final = 0.12

SCRIPTS: Final = {
    "ko": re.compile("[\uac00-\ud7a3]"),
    # A katakana word counts once, because it may be a name in a Chinese text.
    "ja": re.compile("[\u3041-\u3096]|[\u30a1-\u30fc]+"),
    "zh": re.compile("[\u4e00-\u9fff]"),
}
# Quotations may be in the language that a text is about.
_QUOTED: Final = re.compile(r"""(?<!\w)'[^'\n]*'|"[^"\n]*"|[“„«「『《][^“”„«»「」『』《》\n]*[“”»」』》]""")
_CODE: Final = re.compile(r"(```|~~~).*?\1|`[^`\n]*`", re.DOTALL)
# URLs, email addresses, host names, paths and identifiers.
_ADDRESS: Final = re.compile(r"(?<![!-~])[!-~]*?(?:[/@\\_]|[A-Za-z]\.[A-Za-z])[!-~]*")
CODES: Final[dict[str, Lang]] = {
    "eng": "en",
    "kor": "ko",
    "jpn": "ja",
    "cmn": "zh",
    "spa": "es",
    "fra": "fr",
    "deu": "de",
}
# A line such as "Y" or "B." is a choice or a size, and not the word that it may be elsewhere.
_LONE_LETTER: Final = re.compile(r"^[^\w\n]*\w[^\w\n]*$", re.MULTILINE)
_WORDS: Final = {
    "en": """
        the is are do does did you your it what how when where why which who can may will we our
        and of to for not no yes nothing any with from this that there i my be have has if
    """,
    "de": """
        der die das ist sind wie was wann wo warum welche wer kann können ich wir sie ihr und oder
        nicht nein ja nichts mit von für ein eine einen auf bei zum zur gibt haben wird viel kostet
    """,
    "fr": """
        le les est sont quel quelle quels quelles comment quand où pourquoi combien qui peux puis
        peut je vous nous votre notre et pas oui rien avec pour une des du au aux il ce cette c'est ça
    """,
    "es": """
        el los las es son qué cuál cuáles cómo cuándo dónde cuánto cuánta quién puedo puede yo
        usted ustedes nuestro y sí nada con para una del al hay tiene está cualquier por lo
    """,
    "shared": "a an de en in me no on que se so un was",
}
"""Frequent words that only one of four languages has, and those that several of them have."""
_FREQUENT: Final = {key: frozenset(words.split()) for key, words in _WORDS.items()}
_ALL_FREQUENT: Final = frozenset[str]().union(*_FREQUENT.values())
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def detect_language(items: Sequence[Item]) -> Lang | None:
    """Return the language of all items together, or None if it is uncertain.

    The script decides between Korean, Japanese and Chinese; frequent words between English, German, French
    and Spanish. Code and addresses are ignored.
    """
    questions = _prose("\n".join(item.question for item in items))
    text = _prose("\n".join(f"{item.question}\n{item.answer}" for item in items))
    # Answers decide only if the questions do not: they have more names, and text in other languages.
    if (_script_balance(_QUOTED.sub(" ", questions)) or _script_balance(text)) > 0:
        return _east_asian(text)
    text = _LONE_LETTER.sub("", text)
    words = _WORD.findall(text.lower())
    counts = {lang: sum(word in _FREQUENT[lang] for word in words) for lang in LATIN}
    best, second, *_ = sorted(counts, key=lambda lang: -counts[lang])
    return best if counts[best] > counts[second] else None


def is_certain(lang: Lang, items: Sequence[Item]) -> bool:
    """Return whether items that may be in any language are in the detected one.

    A third of what is written in English, German, French or Spanish are its frequent words, and a tenth at
    most of what is written in another language.
    """
    if lang not in LATIN:
        return True
    words = _WORD.findall(_prose("\n".join(f"{item.question}\n{item.answer}" for item in items)).lower())
    frequent = sum(word in _FREQUENT[lang] for word in words)
    return len(items) >= MIN_ITEMS and len(words) >= MIN_WORDS and frequent > len(words) * _SHARE


def _prose(text: str) -> str:
    """Return the beginning of a text, in composed characters of usual width, without code and addresses."""
    text = normalized("NFKC", text[:MAX_LENGTH])[:MAX_LENGTH]
    return _ADDRESS.sub(" ", _CODE.sub(" ", text)).replace("‘", "'").replace("’", "'")


def _script_balance(text: str) -> int:
    """Return a positive number for Korean, Japanese or Chinese, a negative one for Latin script."""
    # Only frequent and lower-case words show that sentences are in Latin script; names are in all languages.
    frequent = sum(word in _ALL_FREQUENT for word in _WORD.findall(text.lower()))
    characters = sum(map(len, characters_of(text)))
    return characters - 3 * frequent - sum(map(str.islower, _WORD.findall(text)))


def _east_asian(text: str) -> Lang:
    """Return Korean, Japanese or Chinese. Characters in quotations count only if there are no others."""
    unquoted = characters_of(_QUOTED.sub(" ", text))
    hangul, kana, han = unquoted if any(unquoted) else characters_of(text)
    if len(hangul) > len(kana) + len(han):
        return "ko"
    # Japan, China and Taiwan write many characters in different forms, and each charset has its own.
    not_chinese = min(_count_outside("gb2312", han), _count_outside("big5", han))
    japanese = len(kana) + not_chinese - _count_outside("shift_jis", han)
    return "ja" if japanese > len(han) / 20 else "zh"


def _count_outside(charset: str, han: list[str]) -> int:
    """Return how many of these characters a charset does not have; it writes the others in two bytes."""
    return len(han) - len("".join(han).encode(charset, "ignore")) // 2


def characters_of(text: str) -> tuple[list[str], ...]:
    """Return the Hangul syllables, the kana and the Chinese characters of a text."""
    return tuple(script.findall(text) for script in SCRIPTS.values())
