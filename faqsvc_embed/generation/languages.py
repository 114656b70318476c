"""The language of a text: by its script for Korean, Japanese and Chinese, else by a detector."""

import re
from typing import Final

from turbohtml.detect import LanguageDetection, detect_language

from faqsvc_embed.languages import LANGUAGES

SAMPLE: Final = 5_000
"""Characters at the beginning of a text that are read."""
CLEAR_LENGTH: Final = 200
"""Characters that a text must have for its language to be clear."""
CLEAR_CONFIDENCE: Final = 0.9
"""The confidence that the detector must have for a language to be clear."""
MIN_SHARE: Final = 0.1
"""The share of a script in the letters of a text; the rest may be code and names."""

_CODES: Final = dict(zip(("eng", "kor", "jpn", "cmn", "spa", "fra", "deu"), LANGUAGES, strict=True))
_SUPPORTED: Final = LanguageDetection(allowed=frozenset(_CODES))
_SCRIPTS: Final = {
    "ko": re.compile("[\uac00-\ud7a3]"),
    "ja": re.compile("[\u3040-\u30ff]"),
    "zh": re.compile("[\u4e00-\u9fff]"),
}


def detected_language(text: str) -> str | None:
    """Return the supported language of a text, or None if it is in another one."""
    sample = text[:SAMPLE]
    if script := _script_language(sample):
        return script
    found = detect_language(sample)
    if found.language in _CODES:
        return _CODES[found.language]
    is_other = found.confidence >= CLEAR_CONFIDENCE and len(sample) >= CLEAR_LENGTH
    return None if is_other else _CODES.get(detect_language(sample, _SUPPORTED).language or "")


def contradicts(text: str, lang: str) -> str | None:
    """Return the supported language that a text is clearly in, or None if that may be `lang`."""
    sample = text[:SAMPLE]
    if len(sample) < CLEAR_LENGTH:
        return None
    script = _script_language(sample)
    if script is None and lang in _SCRIPTS:
        is_absent = _SCRIPTS["zh" if lang == "ja" else lang].search(sample) is None
        return detected_language(sample) if is_absent else None
    if script is not None:
        shares_characters = {script, lang} == {"ja", "zh"}
        return None if script == lang or shares_characters else script
    found = detect_language(sample, _SUPPORTED)
    language = _CODES.get(found.language or "")
    return language if language != lang and found.confidence >= CLEAR_CONFIDENCE else None


def _script_language(text: str) -> str | None:
    """Return the language of the script of a text, or None if it is none of the three."""
    letters = sum(map(str.isalpha, text))
    shares = {lang: len(script.findall(text)) for lang, script in _SCRIPTS.items()}
    # Japanese comes before Chinese, because it has Chinese characters too.
    return next((lang for lang, count in shares.items() if letters and count >= MIN_SHARE * letters), None)
