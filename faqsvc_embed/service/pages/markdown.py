"""The Markdown of a hosted page."""

from typing import Final
from urllib.parse import quote

from faqsvc_embed.files.markdown_writer import escaped_line, items_to_markdown
from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering.element_ids import question_ids

_SAFE_IN_URLS: Final = "%/:?#[]@!$&'*+,;=~"


def render_markdown(faq: FAQ, *, title: str, page_url: str, website_url: str = "") -> str:
    """Return an FAQ as Markdown: title, source, links to the questions on the page, and all answers.

    It has the same questions as the page, in the same order.
    """
    questions = [item.question for item in faq.items if item.question.strip() and item.answer.strip()]
    ids = question_ids(faq.slug, questions)
    contents = [link(question, f"{page_url}#{id_}") for question, id_ in zip(questions, ids, strict=True)]
    parts = [
        f"# {escaped_line(title)}",
        _source(faq, page_url, website_url),
        "\n".join(f"- {line}" for line in contents),
        _items(faq).rstrip("\n"),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _items(faq: FAQ) -> str:
    if faq.answer_format == "text":
        return items_to_markdown(faq.items)
    shown = (item for item in faq.items if item.question.strip() and item.answer.strip())
    return "\n".join(f"## {escaped_line(item.question)}\n\n{item.answer.strip()}\n" for item in shown)


def _source(faq: FAQ, page_url: str, website_url: str) -> str:
    name = faq.website_name.strip()
    website = (link(name, website_url) if website_url else escaped_line(name)) if name else ""
    return " · ".join(filter(None, (website, f"<{quote(page_url, safe=_SAFE_IN_URLS)}>")))


def link(text: str, url: str) -> str:
    """Return a Markdown link, escaped so that neither text nor URL can end it early."""
    return f"[{escaped_line(text)}]({quote(url, safe=_SAFE_IN_URLS)})"
