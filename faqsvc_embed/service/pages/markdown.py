"""The Markdown of a hosted page."""

from itertools import groupby
from typing import Final
from urllib.parse import quote

from faqsvc_embed.files.html import html_to_markdown
from faqsvc_embed.files.markdown_writer import escaped_line, escaped_text
from faqsvc_embed.models import FAQ
from faqsvc_embed.models.element_ids import root_id
from faqsvc_embed.rendering import answers
from faqsvc_embed.service.pages.html import ascii_url

QUESTION_LEVEL: Final = 2

_SAFE_IN_URLS: Final = "%/:?#[]@!$&'*+,;=~"
"""All but parentheses, which end a link."""


def render_markdown(faq: FAQ, *, title: str, page_url: str, website_url: str = "") -> str:
    """Return an FAQ as Markdown: title, source, links to the questions on the page, and all answers.

    It has the same questions as the page, in the same order.
    """
    items = answers.items(faq, QUESTION_LEVEL)
    anchor = f"{page_url}#{root_id(faq.slug)}--"
    contents = [link(item.question, f"{anchor}{item.name}") for item in items]
    parts = [
        f"# {escaped_line(title)}",
        _source(faq, page_url, website_url),
        _text(faq, faq.introduction or "", answers.introduction(faq, QUESTION_LEVEL).html),
        "\n".join(f"- {line}" for line in contents),
    ]
    for section, group in groupby(items, lambda item: item.section):
        parts.append(f"## {escaped_line(section)}" if section else "")
        level = QUESTION_LEVEL + bool(section)
        for item in group:
            question = f"{'#' * level} {escaped_line(item.question)}"
            parts.append(f"{question}\n\n{_text(faq, item.text, item.html)}")
    return "\n\n".join(filter(None, parts)) + "\n"


def _text(faq: FAQ, text: str, html: object) -> str:
    """Return a text as Markdown, made from its HTML, because the original may mean something else here."""
    return escaped_text(text) if faq.answer_format == "text" else html_to_markdown(str(html), is_whole=True)


def _source(faq: FAQ, page_url: str, website_url: str) -> str:
    name = faq.website_name.strip()
    website = (link(name, website_url) if website_url else escaped_line(name)) if name else ""
    return " · ".join(filter(None, (website, f"<{quote(ascii_url(page_url), safe=_SAFE_IN_URLS)}>")))


def link(text: str, url: str) -> str:
    """Return a Markdown link, escaped so that neither text nor URL can end it early."""
    return f"[{escaped_line(text)}]({quote(ascii_url(url), safe=_SAFE_IN_URLS)})"
