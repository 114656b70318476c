"""The language of an FAQ whose publisher does not state one."""

import re
from collections.abc import Sequence
from typing import Final

from turbohtml.detect import LanguageDetection
from turbohtml.detect import detect_language as detect

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.models import Item

MAX_LENGTH: Final = 20_000
"""Characters of the text that are read."""
MIN_ITEMS: Final = 3
"""Items that have enough text to detect their language by letter sequences."""

_KOREAN: Final = re.compile("[\uac00-\ud7a3]")
_JAPANESE: Final = re.compile("[\u3041-\u30ff]")
_CHINESE: Final = re.compile("[\u4e00-\u9fff]")
_LATIN: Final[dict[str, Lang]] = {"eng": "en", "deu": "de", "fra": "fr", "spa": "es"}
_OPTIONS: Final = LanguageDetection(allowed=frozenset(_LATIN))


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


# Frequent words that only one of the four languages has.
_WORDS: Final[dict[Lang, frozenset[str]]] = {
    "en": _words(
        "the is are do does did you your it what how when where why which who can may will we our and of to"
        " for not no yes nothing any with from this that there i my be have has if"
    ),
    "de": _words(
        "der die das ist sind wie was wann wo warum welche wer kann können ich wir sie ihr und oder nicht"
        " nein ja nichts mit von für ein eine einen auf bei zum zur gibt haben wird viel kostet"
    ),
    "fr": _words(
        "le les est sont quel quelle quels quelles comment quand où pourquoi combien qui peux puis peut"
        " je vous nous votre notre et pas oui rien avec pour une des du au aux il ce cette c'est ça"
    ),
    "es": _words(
        "el los las es son qué cuál cuáles cómo cuándo dónde cuánto cuánta quién puedo puede yo usted ustedes"
        " nuestro y sí nada con para una del al hay tiene está cualquier por lo"
    ),
}
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def detect_language(items: Sequence[Item]) -> Lang | None:
    """Return the language of all items together, or None if it is uncertain.

    The script decides between Korean, Japanese and Chinese; frequent words, and in longer texts letter
    sequences, between English, German, French and Spanish.
    """
    text = "\n".join(f"{item.question}\n{item.answer}" for item in items)[:MAX_LENGTH]
    letters = sum(character.isalpha() for character in text) or 1
    if len(_KOREAN.findall(text)) > letters / 5:
        return "ko"
    kana = len(_JAPANESE.findall(text))
    if kana + len(_CHINESE.findall(text)) > letters / 5:
        return "ja" if kana > letters / 20 else "zh"
    words = _WORD.findall(text.lower().replace("’", "'"))
    counts = {lang: sum(word in frequent for word in words) for lang, frequent in _WORDS.items()}
    best, *others = sorted(counts, key=lambda lang: -counts[lang])
    if counts[best] > counts[others[0]]:
        return best
    return _LATIN.get(detect(text, _OPTIONS).language or "") if len(items) >= MIN_ITEMS else None
