"""Whether a text is a question, by its punctuation or its grammar, in the languages of `patterns`."""

import re
from typing import Final

from faqsvc_embed.generation.extraction.patterns import LANGUAGES, any_of
from faqsvc_embed.text import letters

MAX_LENGTH: Final = 300
"""Characters of a question on a page; longer texts are paragraphs."""
MAX_KEY: Final = 500
"""Characters at the beginning of a question that are compared."""

_GRAMMAR = any_of(language.question_grammar for language in LANGUAGES)
_CALL_TO_ACTION = any_of(language.calls_to_action for language in LANGUAGES)
_SECTION_TITLE = any_of(language.section_titles for language in LANGUAGES)
_INTERVIEW = any_of(language.interview_titles for language in LANGUAGES)
_POLICY = any_of(language.policy_titles for language in LANGUAGES)
_PAGE_END = any_of(language.page_ends for language in LANGUAGES)
_FAQ_TITLE = any_of(language.faq_titles for language in LANGUAGES)
# `[?]` is a link to help. A question in Greek ends with a semicolon, or with a sign that looks like one.
_QUESTION_MARK_LAST = re.compile(
    r"(?:(?<![\[(])[?？؟⁇⁉]|(?<=[\u0370-\u03ff\u1f00-\u1fff])[;\u037e])[^\w.…]{0,12}$"
)
_SIGNS = re.compile(r"^\W+")
_PLACEHOLDER = re.compile(r"\{\{-?\s*[\w$@][^{}]*\}\}|\{%[^{}]*%\}|\$\{[\w.]+\}|<%=?[^<>]*%>|%%\w+%%")


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


def announces_interview(text: str) -> bool:
    """Return whether the title of a page is that of an interview."""
    return _INTERVIEW.search(text[:MAX_LENGTH]) is not None


def announces_policy(text: str) -> bool:
    """Return whether the title of a page is that of a privacy policy, of terms or the like."""
    return _POLICY.search(text[:MAX_LENGTH]) is not None


def ends_page(text: str) -> bool:
    """Return whether a line, also in Markdown, comes after the last answer of a page: `Back to top`."""
    bare = text[: MAX_LENGTH + 1].replace("\\", "").lstrip(" ←↑^«‹<[→⬆▲")
    return len(text) <= MAX_LENGTH and _PAGE_END.match(bare) is not None


def is_template_code(text: str) -> bool:
    """Return whether a text has a placeholder, such as `{{ name }}`."""
    return _PLACEHOLDER.search(text) is not None
