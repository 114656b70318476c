"""The language of an FAQ whose publisher does not state one, and that of a page."""

import re
from collections.abc import Sequence
from typing import Final

from turbohtml.detect import LanguageDetection
from turbohtml.detect import detect_language as detect

from faqsvc_embed.api.fields import Lang
from faqsvc_embed.generation.data import load
from faqsvc_embed.models import Item
from faqsvc_embed.text import normalized

LATIN: Final[tuple[Lang, ...]] = ("en", "de", "fr", "es")
MAX_LENGTH: Final = 20_000
"""Characters of the text that are read."""
MIN_ITEMS: Final = 3
"""Items that have enough text to detect their language by letter sequences."""
CLEAR_LENGTH: Final = 200
"""Characters that a text must have for its language to be clear."""
CLEAR_CONFIDENCE: Final = 0.9
"""The confidence that the detector must have for a language to be clear."""
MIN_SHARE: Final = 0.1
"""The share of a script in the letters of a text; the rest may be code and names."""

_SCRIPTS: Final = {
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
_CODES: Final[dict[str, Lang]] = {
    "eng": "en",
    "kor": "ko",
    "jpn": "ja",
    "cmn": "zh",
    "spa": "es",
    "fra": "fr",
    "deu": "de",
}
_SUPPORTED: Final = LanguageDetection(allowed=frozenset(_CODES))
# Below the threshold, the detector takes the first of several equals.
_ONLY_LATIN: Final = LanguageDetection(threshold=0.1, allowed=frozenset({"eng", "spa", "fra", "deu"}))
# A line such as "Y" or "B." is a choice or a size, and not the word that it may be elsewhere.
_LONE_LETTER: Final = re.compile(r"^[^\w\n]*\w[^\w\n]*$", re.MULTILINE)
_FREQUENT: Final = {
    key: frozenset(words.split()) for key, words in load("frequent_words", dict[str, str]).items()
}
_ALL_FREQUENT: Final = frozenset[str]().union(*_FREQUENT.values())
_WORD: Final = re.compile(r"[^\W\d_]+(?:'[^\W\d_]+)?")


def detect_language(items: Sequence[Item]) -> Lang | None:
    """Return the language of all items together, or None if it is uncertain.

    The script decides between Korean, Japanese and Chinese; frequent words, and in longer texts letter
    sequences, between English, German, French and Spanish. Code and addresses are ignored.
    """
    questions = _prose("\n".join(item.question for item in items))
    text = _prose("\n".join(f"{item.question}\n{item.answer}" for item in items))
    # Answers decide only if the questions do not: they have more names, and text in other languages.
    if (_script_balance(_QUOTED.sub(" ", questions)) or _script_balance(text)) > 0:
        return _east_asian(text)
    text = _LONE_LETTER.sub("", text)
    words = _WORD.findall(text.lower())
    counts = {lang: sum(word in _FREQUENT[lang] for word in words) for lang in LATIN}
    best, *others = sorted(counts, key=lambda lang: -counts[lang])
    if counts[best] > counts[others[0]]:
        return best
    return _CODES.get(detect(text, _ONLY_LATIN).language or "") if len(items) >= MIN_ITEMS else None


def _prose(text: str) -> str:
    """Return the beginning of a text, in composed characters of usual width, without code and addresses."""
    text = normalized("NFKC", text[:MAX_LENGTH])[:MAX_LENGTH]
    return _ADDRESS.sub(" ", _CODE.sub(" ", text)).replace("‘", "'").replace("’", "'")


def _script_balance(text: str) -> int:
    """Return a positive number for Korean, Japanese or Chinese, a negative one for Latin script."""
    # Only frequent and lower-case words show that sentences are in Latin script; names are in all languages.
    frequent = sum(word in _ALL_FREQUENT for word in _WORD.findall(text.lower()))
    characters = sum(map(len, _characters(text)))
    return characters - 3 * frequent - sum(map(str.islower, _WORD.findall(text)))


def _east_asian(text: str) -> Lang:
    """Return Korean, Japanese or Chinese, by what a text has outside quotations, if that is anything."""
    unquoted = _characters(_QUOTED.sub(" ", text))
    hangul, kana, han = unquoted if any(unquoted) else _characters(text)
    if len(hangul) > len(kana) + len(han):
        return "ko"
    # Japan, China and Taiwan write many characters in different forms, and each charset has its own.
    not_chinese = min(_count_outside("gb2312", han), _count_outside("big5", han))
    japanese = len(kana) + not_chinese - _count_outside("shift_jis", han)
    return "ja" if japanese > len(han) / 20 else "zh"


def _count_outside(charset: str, han: list[str]) -> int:
    """Return how many of these characters a charset does not have; it writes the others in two bytes."""
    return len(han) - len("".join(han).encode(charset, "ignore")) // 2


def _characters(text: str) -> tuple[list[str], ...]:
    """Return the Hangul syllables, the kana and the Chinese characters of a text."""
    return tuple(script.findall(text) for script in _SCRIPTS.values())


def detected_language(text: str) -> str | None:
    """Return the supported language of a text, or None if it is in another one."""
    sample = text[:MAX_LENGTH]
    if script := _script_language(sample):
        return script
    found = detect(sample)
    if found.language in _CODES:
        return _CODES[found.language]
    is_other = found.confidence >= CLEAR_CONFIDENCE and len(sample) >= CLEAR_LENGTH
    return None if is_other else _CODES.get(detect(sample, _SUPPORTED).language or "")


def contradicts(text: str, lang: str) -> str | None:
    """Return the supported language that a text is clearly in, or None if that may be `lang`."""
    sample = text[:MAX_LENGTH]
    if len(sample) < CLEAR_LENGTH:
        return None
    script = _script_language(sample)
    if script is None and lang in _SCRIPTS:
        is_absent = _SCRIPTS["zh" if lang == "ja" else lang].search(sample) is None
        return detected_language(sample) if is_absent else None
    if script is not None:
        shares_characters = {script, lang} == {"ja", "zh"}
        return None if script == lang or shares_characters else script
    found = detect(sample, _SUPPORTED)
    language = _CODES.get(found.language or "")
    return language if language != lang and found.confidence >= CLEAR_CONFIDENCE else None


def _script_language(text: str) -> str | None:
    """Return the language of the script of a text, or None if it is none of the three."""
    letters = sum(map(str.isalpha, text))
    counts = dict(zip(_SCRIPTS, (sum(map(len, found)) for found in _characters(text)), strict=True))
    # Japanese comes before Chinese, because it has Chinese characters too.
    return next((lang for lang, count in counts.items() if letters and count >= MIN_SHARE * letters), None)
