"""The words and grammar by which questions and FAQs are recognised, a file for each language of the service.

`other.toml` has a table for each of further languages. To improve a language, edit its file; `Language`
describes every field. The patterns of all languages are tried on every page, because pages often state no
language, or a wrong one.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import msgspec


class Language(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Regular expressions of one language; every entry of a field is one alternative. Case is ignored."""

    question_grammar: tuple[str, ...] = ()
    """Sentences that are questions even without a question mark. Matched from the start of the text."""

    calls_to_action: tuple[str, ...] = ()
    """Sentences to the reader, such as `Still have questions?`. Matched from the start of the text."""

    faq_titles: tuple[str, ...]
    """Parts of titles, headings and addresses of FAQs."""

    section_titles: tuple[str, ...] = ()
    """Whole headings that are no question even in an FAQ, such as `Contents` or `See also`."""

    interview_titles: tuple[str, ...] = ()
    """Parts of titles of interviews, whose questions are no FAQ."""

    policy_titles: tuple[str, ...] = ()
    """Parts of titles of privacy policies, terms and the like, whose questions are no FAQ."""

    page_ends: tuple[str, ...] = ()
    """Lines after the last answer, such as `Last updated on Monday`. Matched from the start of the line."""

    question_labels: tuple[str, ...] = ()
    """Plain words that label a question: the `Q` of `Q1: Is it big?`. Case matters."""

    answer_labels: tuple[str, ...] = ()
    """Plain words that label an answer: the `A` of `A: Yes.`. Case matters."""

    help_links: tuple[str, ...] = ()
    """Parts of links and addresses of help pages."""

    shop_links: tuple[str, ...] = ()
    """Parts of links and addresses of pages about orders, prices and contact."""


def _languages() -> Iterator[tuple[str, Language]]:
    for file in Path(__file__).parent.glob("*.toml"):
        if file.stem == "other":
            yield from msgspec.toml.decode(file.read_bytes(), type=dict[str, Language]).items()
        else:
            yield file.stem, msgspec.toml.decode(file.read_bytes(), type=Language)


LANGUAGES: Final = tuple(language for _, language in sorted(_languages()))


def any_of(field: str) -> re.Pattern[str]:
    """Compile the patterns of all languages in a field into one that ignores case."""
    return re.compile("|".join(alternatives(field)), re.IGNORECASE)


def alternatives(field: str) -> list[str]:
    """Return the patterns of all languages in a field, each once."""
    return list(dict.fromkeys(pattern for language in LANGUAGES for pattern in getattr(language, field)))
