"""Writes files and reads them, and the items of most of them."""

from pathlib import Path
from typing import Any, Final

import pytest

from faqsvc_embed.files import Document, UnreadableFile, read_file
from faqsvc_embed.files.markdown_reader import read_markdown

PAIRS: Final = [
    {"question": "What does it cost?", "answer": "Nothing."},
    {"question": "May I cancel?", "answer": "Any time."},
]
BODY: Final[dict[str, Any]] = {
    "websiteUrl": "https://tea.example",
    "websiteName": "Tea & Sons",
    "title": "Prices",
    "lang": "en",
    "slug": "tea",
    "items": PAIRS,
}
WHOLE: Final = Document("tea", "Prices", "Tea & Sons", "https://tea.example", "en", items=PAIRS)
ITEMS: Final = Document(items=PAIRS)
MARKDOWN: Final = Document(items=PAIRS, answer_format="markdown")


def read(directory: Path, name: str, content: str | bytes) -> Document:
    """Return the FAQ in a new file."""
    file = directory / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_file(file)


def refusal(directory: Path, name: str, content: str | bytes) -> str:
    """Return why a new file cannot be read."""
    with pytest.raises(UnreadableFile) as caught:
        read(directory, name, content)
    message = str(caught.value)
    assert message.startswith(f"{directory / name}: ")
    return message.removeprefix(f"{directory / name}: ")


def items_of(markdown: str) -> list[tuple[str, str]]:
    """Return the questions and answers in Markdown."""
    return [(item["question"], item["answer"]) for item in read_markdown(markdown).items]
