"""Read pages, as JSON, with eight extractors of Python, and print what each finds in which page."""

import io
import json
import logging
import sys
from collections.abc import Callable

import html2text
import inscriptis
import justext
import trafilatura
from markdownify import markdownify
from markitdown import MarkItDown
from readability import Document
from resiliparse.extract.html2text import extract_plain_text

logging.disable()
markitdown = MarkItDown()


def read_with_markitdown(html: str) -> str:
    return markitdown.convert_stream(io.BytesIO(html.encode()), file_extension=".html").text_content


def read_with_justext(html: str) -> str:
    language = next((name for code, name in STOP_WORDS.items() if f'<html lang="{code}"' in html), None)
    if language:
        paragraphs = justext.justext(html.encode(), justext.get_stoplist(language))
    else:  # without stop words of the language, the length alone tells a good paragraph
        paragraphs = justext.justext(
            html.encode(), frozenset(), length_low=20, length_high=60, stopwords_low=0, stopwords_high=0
        )
    return "\n".join(paragraph.text for paragraph in paragraphs if not paragraph.is_boilerplate)


STOP_WORDS = {"en": "English", "de": "German", "ar": "Arabic"}

EXTRACTORS: dict[str, Callable[[str], str | None]] = {
    "html2text": html2text.html2text,
    "inscriptis": inscriptis.get_text,
    "justext": read_with_justext,
    "markdownify": markdownify,
    "markitdown": read_with_markitdown,
    "readability-lxml": lambda html: Document(html).summary(),
    "resiliparse": lambda html: extract_plain_text(html, main_content=True),
    "trafilatura": trafilatura.extract,
}

pages = json.load(sys.stdin)
print(
    json.dumps(
        {n: {name: read(page) or "" for name, page in pages.items()} for n, read in EXTRACTORS.items()}
    )
)
