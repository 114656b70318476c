"""The texts of the hosted pages, in seven languages."""

import tomllib
from datetime import date
from pathlib import Path
from typing import Final, NamedTuple


class Messages(NamedTuple):
    """The texts of a page in one language."""

    language: str
    """The name of the language."""
    languages: str
    faq: str
    """The title of an FAQ that has none."""
    no_questions: str
    not_found: str
    not_found_reason: str
    gone: str
    gone_reason: str
    unavailable: str
    unavailable_reason: str
    updated: str
    """The text before the date of the last change."""
    date_format: str
    months: str
    """The names of the months, with spaces between them."""
    ask: str
    """The sentence that leads to the website, whose name replaces `%s`."""
    markdown: str
    """The link to the Markdown of the page."""
    start: str
    """The link from an error to the start page."""

    def date(self, day: date) -> str:
        """Return a date as people write it."""
        return self.date_format.format(day=day.day, month=self.months.split()[day.month - 1], year=day.year)


_FILE: Final = Path(__file__).with_suffix(".toml")
MESSAGES: Final = {
    lang: Messages(**texts) for lang, texts in tomllib.loads(_FILE.read_text(encoding="utf-8")).items()
}
