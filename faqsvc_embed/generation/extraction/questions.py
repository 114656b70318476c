"""Tells whether a text is a question, a title or neither, by punctuation, grammar and words.

The words are those of the languages in `patterns`. A question may have labels, numbers and symbols before it:
`Q1:`, `3.`, `+`.
"""

import re
from typing import Final

from faqsvc_embed.generation.extraction.patterns import alternatives, any_of
from faqsvc_embed.text import letters

MAX_LENGTH: Final = 300
"""Characters of a question on a page; longer texts are paragraphs."""
MAX_KEY: Final = 500
"""Characters at the beginning of a question that are compared."""

_GRAMMAR = any_of("question_grammar")
_CALL_TO_ACTION = any_of("calls_to_action")
_SECTION_TITLE = any_of("section_titles")
_PAGE_END = any_of("page_ends")
_FAQ_TITLE = any_of("faq_titles")
# `[?]` is a link to help. A question in Greek ends with a semicolon, or with a sign that looks like one.
_QUESTION_MARK_LAST = re.compile(
    r"(?:(?<![\[(])[?？؟⁇⁉]|(?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e])[^\w.…]{0,12}$"
)
_SIGNS = re.compile(r"^\W+")
_PLACEHOLDER = re.compile(r"\{\{-?\s*[\w$@.][^{}]*\}\}|\{%[^{}]*%\}|\$\{[\w.]+\}|<%=?[^<>]*%>|%%\w+%%")

_QUESTION_WORD: Final = "|".join(alternatives("question_labels"))
_ANSWER_WORD: Final = "|".join(alternatives("answer_labels"))
_INITIAL: Final = r"(?!(?![QＱ])[^\W\d_]\.(?:\s*[^\W\d_]\.|\s+\w+[,.]))"
"""Excludes initials: a single letter, other than Q, with a full stop before a name."""
_NUMBER: Final = r"\s*[0-9]{0,3}\s*"
_SEPARATOR: Final = r"[:：.．)）、]"
_SYMBOLS: Final = "+-−–—×✕✖↑↓→▼▾▿▲▴△►▶▸›»⌄˅∨¶#⊕⊖＋－ \u3000\ufe0e\ufe0f\t\n"

# The colon that remains if the label is an element: `<b>Q</b>: Is it big?`. A code such as `:tada:` is text.
_COLON = re.compile(r"[:：]\s+|：")
_QUESTION_LABEL = re.compile(
    rf"{_INITIAL}(?:(?:{_QUESTION_WORD}){_NUMBER}{_SEPARATOR}|Q\s*[0-9]{{0,3}}\s+(?=[A-Z¿\u3040-\uffdc]))\s*"
)
_ANSWER_LABEL = re.compile(rf"(?:{_ANSWER_WORD}){_NUMBER}{_SEPARATOR}\s*")
_ONLY_LABEL = re.compile(
    rf"(?:[QFPARＱＡ]|질문|답변|답|问|問|答){_NUMBER}{_SEPARATOR}?|(?:{_ANSWER_WORD}){_NUMBER}[:：]"
)
# A lone F or P is an initial more often than a label, unless a colon follows.
_ONLY_QUESTION_LABEL = re.compile(
    rf"(?:[QＱ]|질문|问|問){_NUMBER}{_SEPARATOR}?|(?:{_QUESTION_WORD}){_NUMBER}[:：]"
)
_LIST_NUMBER = re.compile(
    r"(?:[0-9]{1,3}[.)．、:]|[0-9]{1,3}(?:\.[0-9]{1,3}){1,3}[.)]?|[(（\[][0-9]{1,3}[)）\]]|[0-9]{1,3}\s+[-–—])\s+"
    r"|[0-9]{1,3}[、．]|[0-9]{1,3}[.)](?=[^\W\d_])|[一二三四五六七八九十]{1,3}[、．.]|[①-⑳]\s*|(?:[0-9]\ufe0f?\u20e3|🔟)+\s*"
)

_BEFORE_MARKER = re.compile(r"[^?？.。!]{0,60}[▶►▸❓]\s*(?=\w)")


def question_key(question: str) -> str:
    """Return a value that is equal for questions that differ in case, accents and punctuation only."""
    return letters(question[:MAX_KEY]).replace(" ", "")


def has_words(text: str) -> bool:
    """Return whether a text contains a letter or a digit."""
    return any(map(str.isalnum, text))


def has_question_mark(text: str) -> bool:
    """Return whether a text ends with a question mark, or starts with `¿`."""
    return 3 <= len(text) <= MAX_LENGTH and (
        _QUESTION_MARK_LAST.search(text) is not None or text.startswith("¿")
    )


def is_question(text: str) -> bool:
    """Return whether a text is a question, by its question mark or its grammar, without a full stop."""
    if not 3 <= len(text) <= MAX_LENGTH or text.endswith((".", "…")):
        return False
    return has_question_mark(text) or (not text.endswith(("!", ":")) and _GRAMMAR.match(text) is not None)


def is_call_to_action(text: str) -> bool:
    """Return whether a text addresses the reader, such as `Ready to start?` or `Still have questions?`."""
    return len(text) <= MAX_LENGTH and _CALL_TO_ACTION.match(_SIGNS.sub("", text)) is not None


def is_asked(text: str) -> bool:
    """Return whether a line is a question, and no call to action."""
    return is_question(text) and not is_call_to_action(text)


def announces_faq(text: str) -> bool:
    """Return whether a title, a heading or an address announces an FAQ."""
    return _FAQ_TITLE.search(text[:MAX_LENGTH]) is not None


def is_section_title(text: str) -> bool:
    """Return whether a heading names a part of the page that has no questions, such as `See also`."""
    return len(text) <= MAX_LENGTH and _SECTION_TITLE.fullmatch(text) is not None


def ends_page(text: str) -> bool:
    """Return whether a line, also in Markdown, comes after the last answer of a page: `Back to top`."""
    bare = text[: MAX_LENGTH + 1].replace("\\", "").lstrip(" ←↑^«‹<[→⬆▲")
    return len(text) <= MAX_LENGTH and _PAGE_END.match(bare) is not None


def is_template_code(text: str) -> bool:
    """Return whether a text has a placeholder, such as `{{ name }}`."""
    return _PLACEHOLDER.search(text) is not None


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
