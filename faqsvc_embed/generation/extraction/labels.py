"""Labels, numbers and symbols before questions and answers: `Q1:`, `A:`, `3.`, `+`."""

import re
from typing import Final

from faqsvc_embed.generation.extraction.patterns import LANGUAGES

_QUESTION: Final = "|".join({label for language in LANGUAGES for label in language.question_labels})
_ANSWER: Final = "|".join({label for language in LANGUAGES for label in language.answer_labels})
_INITIAL: Final = r"(?!(?![QＱ])[^\W\d_]\.(?:\s*[^\W\d_]\.|\s+\w+[,.]))"
"""Excludes initials: a single letter, other than Q, with a full stop before a name."""
_NUMBER: Final = r"\s*[0-9]{0,3}\s*"
_SEPARATOR: Final = r"[:：.．)）、]"
_SYMBOLS: Final = "+-−–—×✕✖↑↓→▼▾▿▲▴△►▶▸›»⌄˅∨¶#⊕⊖＋－ \u3000\ufe0e\ufe0f\t\n"

# The colon that remains if the label is an element: `<b>Q</b>: Is it big?`. A code such as `:tada:` is text.
_COLON = re.compile(r"[:：]\s+|：")
_QUESTION_LABEL = re.compile(
    rf"{_INITIAL}(?:(?:{_QUESTION}){_NUMBER}{_SEPARATOR}|Q\s*[0-9]{{0,3}}\s+(?=[A-Z¿\u3040-\uffdc]))\s*"
)
_ANSWER_LABEL = re.compile(rf"(?:{_ANSWER}){_NUMBER}{_SEPARATOR}\s*")
_ONLY_LABEL = re.compile(
    rf"(?:[QFPARＱＡ]|질문|답변|답|问|問|答){_NUMBER}{_SEPARATOR}?|(?:{_ANSWER}){_NUMBER}[:：]"
)
# A lone F or P is an initial more often than a label, unless a colon follows.
_ONLY_QUESTION_LABEL = re.compile(
    rf"(?:[QＱ]|질문|问|問){_NUMBER}{_SEPARATOR}?|(?:{_QUESTION}){_NUMBER}[:：]"
)
_LIST_NUMBER = re.compile(
    r"(?:[0-9]{1,3}[.)．、:]|[0-9]{1,3}(?:\.[0-9]{1,3}){1,3}[.)]?|[(（\[][0-9]{1,3}[)）\]]|[0-9]{1,3}\s+[-–—])\s+"
    r"|[0-9]{1,3}[、．]|[0-9]{1,3}[.)](?=[^\W\d_])|[一二三四五六七八九十]{1,3}[、．.]|[①-⑳]\s*|(?:[0-9]\ufe0f?\u20e3|🔟)+\s*"
)

_BEFORE_MARKER = re.compile(r"[^?？.。!]{0,60}[▶►▸❓]\s*(?=\w)")


def is_label(text: str) -> bool:
    """Return whether a text is nothing but a label, such as `Q` or `A1:`."""
    return _ONLY_LABEL.fullmatch(text) is not None


def is_question_label(text: str) -> bool:
    """Return whether a text is nothing but the label of a question."""
    return _ONLY_QUESTION_LABEL.fullmatch(text) is not None


def has_question_label(text: str) -> bool:
    """Return whether a text starts with the label of a question."""
    return _QUESTION_LABEL.match(text) is not None


def bare_question(text: str) -> str:
    """Return a question without its number, its label, and the symbols around it."""
    text = _without(_LIST_NUMBER, _without(_BEFORE_MARKER, text.strip(_SYMBOLS)))
    return _without(_COLON, _without(_QUESTION_LABEL, text).strip(_SYMBOLS))


def bare_answer(text: str) -> str:
    """Return an answer without its label."""
    return _without(_COLON, _without(_ANSWER_LABEL, text.strip()).strip())


def split_at_answer_label(text: str) -> tuple[str, str] | None:
    """Return the lines before the first that starts with `A:`, and the others; None if no line does."""
    lines = text.split("\n")
    for number, line in enumerate(lines[1:], 1):
        if _ANSWER_LABEL.match(line):
            return "\n".join(lines[:number]).strip(), "\n".join(lines[number:])
    return None


def _without(prefix: re.Pattern[str], text: str) -> str:
    match = prefix.match(text)
    return text[match.end() :] if match else text
