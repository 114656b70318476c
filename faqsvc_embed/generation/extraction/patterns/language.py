"""The fields in the file of a language."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """Regular expressions of one language; every entry of a field is one alternative. Case is ignored."""

    question_grammar: tuple[str, ...] = ()
    """Sentences that are questions even without a question mark. Matched from the start of the text."""

    question_openings: tuple[str, ...] = ()
    """Beginnings of questions. Weaker than grammar: `If I lose my key` is a question only among others."""

    calls_to_action: tuple[str, ...] = ()
    """Sentences to the reader, such as `Still have questions?`. Matched from the start of the text."""

    faq_titles: tuple[str, ...]
    """Parts of titles, headings and addresses of FAQs."""

    help_centres: tuple[str, ...] = ()
    """Parts of the title that every page of a help centre has."""

    section_titles: tuple[str, ...] = ()
    """Whole headings that are no question even in an FAQ, such as `Contents` or `See also`."""

    interview_titles: tuple[str, ...] = ()
    """Parts of titles of interviews, whose questions are no FAQ."""

    other_titles: tuple[str, ...] = ()
    """Parts of titles of pages with questions that are no FAQ: `About us`, `Privacy`, `How to apply`."""

    page_ends: tuple[str, ...] = ()
    """Lines after the last answer, such as `Last updated on Monday`. Matched from the start of the line."""

    question_labels: tuple[str, ...] = ()
    """Plain words that label a question: the `Q` of `Q1: Is it big?`. Case matters."""

    answer_labels: tuple[str, ...] = ()
    """Plain words that label an answer: the `A` of `A: Yes.`. Case matters."""

    question_columns: tuple[str, ...] = ()
    """The whole title of a table's column of questions."""

    answer_columns: tuple[str, ...] = ()
    """The whole title of a table's column of answers."""

    help_links: tuple[str, ...] = ()
    """Parts of links and addresses of help pages."""

    shop_links: tuple[str, ...] = ()
    """Parts of links and addresses of pages about orders, prices and contact."""
