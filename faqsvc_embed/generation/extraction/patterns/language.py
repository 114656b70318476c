"""What the file of a language contains."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Language:
    """Regular expressions of one language; every entry of a field is one alternative. Case is ignored."""

    question_grammar: tuple[str, ...] = ()
    """Sentences that are questions even without a question mark. Matched from the start of the text."""

    question_openings: tuple[str, ...] = ()
    """How questions begin. Weaker than grammar: `If I lose my key` is one only among other questions."""

    calls_to_action: tuple[str, ...] = ()
    """What a page asks or tells its reader, such as `Still have questions?`. Matched from the start."""

    faq_titles: tuple[str, ...]
    """What titles, headings and addresses of FAQs contain."""

    help_centres: tuple[str, ...] = ()
    """What the title of every page of a help centre contains."""

    section_titles: tuple[str, ...] = ()
    """Whole headings that are no question even in an FAQ, such as `Contents` or `See also`."""

    interview_titles: tuple[str, ...] = ()
    """What titles of interviews contain, whose questions are no FAQ."""

    other_titles: tuple[str, ...] = ()
    """What titles of pages contain that ask and are no FAQ: `About us`, `Privacy`, `How to apply`."""

    page_ends: tuple[str, ...] = ()
    """Lines after the last answer, such as `Last updated on Monday`. Matched from the start."""

    question_labels: tuple[str, ...] = ()
    """Plain words that label a question: the `Q` of `Q1: Is it big?`. Case matters."""

    answer_labels: tuple[str, ...] = ()
    """Plain words that label an answer: the `A` of `A: Yes.`. Case matters."""

    question_columns: tuple[str, ...] = ()
    """The whole title of a table's column of questions."""

    answer_columns: tuple[str, ...] = ()
    """The whole title of a table's column of answers."""

    help_links: tuple[str, ...] = ()
    """What links and addresses of help pages contain."""

    shop_links: tuple[str, ...] = ()
    """What links and addresses of pages about orders, prices and contact contain."""
