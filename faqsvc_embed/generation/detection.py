"""The language of a page."""

from typing import Final

from turbohtml.detect import LanguageDetection
from turbohtml.detect import detect_language as detect

from faqsvc_embed.files.detection import CODES, MAX_LENGTH, SCRIPTS, characters_of

CLEAR_LENGTH: Final = 200
"""Characters that a text must have for its language to be clear."""
CLEAR_CONFIDENCE: Final = 0.9
"""The confidence that the detector must have for a language to be clear."""
MIN_SHARE: Final = 0.1
"""The share of a script in the letters of a text; the rest may be code and names."""

_SUPPORTED: Final = LanguageDetection(allowed=frozenset(CODES))


def detected_language(text: str) -> str | None:
    """Return the supported language of a text, or None if it is in another one."""
    sample = text[:MAX_LENGTH]
    if script := _script_language(sample):
        return script
    found = detect(sample)
    if found.language in CODES:
        return CODES[found.language]
    is_other = found.confidence >= CLEAR_CONFIDENCE and len(sample) >= CLEAR_LENGTH
    return None if is_other else CODES.get(detect(sample, _SUPPORTED).language or "")


def contradicts(text: str, lang: str) -> str | None:
    """Return the supported language that a text is clearly in, or None if that may be `lang`."""
    sample = text[:MAX_LENGTH]
    if len(sample) < CLEAR_LENGTH:
        return None
    script = _script_language(sample)
    if script is None and lang in SCRIPTS:
        is_absent = SCRIPTS["zh" if lang == "ja" else lang].search(sample) is None
        return detected_language(sample) if is_absent else None
    if script is not None:
        shares_characters = {script, lang} == {"ja", "zh"}
        return None if script == lang or shares_characters else script
    found = detect(sample, _SUPPORTED)
    language = CODES.get(found.language or "")
    return language if language != lang and found.confidence >= CLEAR_CONFIDENCE else None


def _script_language(text: str) -> str | None:
    """Return the language of the script of a text, or None if it is none of the three."""
    letters = sum(map(str.isalpha, text))
    counts = dict(zip(SCRIPTS, (sum(map(len, found)) for found in characters_of(text)), strict=True))
    # Japanese comes before Chinese, because it has Chinese characters too.
    return next((lang for lang, count in counts.items() if letters and count >= MIN_SHARE * letters), None)
