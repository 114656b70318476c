"""The Markdown of a hosted page: the FAQ itself, and where it is."""

from typing import Final
from urllib.parse import quote

from faqsvc_embed.files.to_markdown import escaped_line, items_to_markdown
from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering.element_ids import question_ids

_IN_ADDRESSES: Final = "%/:?#[]@!$&'*+,;=~"


def page_markdown(faq: FAQ, *, title: str, address: str, website_url: str = "") -> str:
    """Return an FAQ with a heading a question, and before them a list that leads to them on its page.

    `address` is where the page is. It has the questions that the page shows, in the page's order.
    """
    shown = [item.question for item in faq.items if item.question.strip() and item.answer.strip()]
    anchors = question_ids(faq.slug, shown)
    links = [link(question, f"{address}#{id_}") for question, id_ in zip(shown, anchors, strict=True)]
    parts = [
        f"# {escaped_line(title)}",
        _source(faq, address, website_url),
        "\n".join(f"- {line}" for line in links),
        items_to_markdown(faq.items).rstrip("\n"),
    ]
    return "\n\n".join(filter(None, parts)) + "\n"


def _source(faq: FAQ, address: str, website_url: str) -> str:
    name = faq.website_name.strip()
    website = (link(name, website_url) if website_url else escaped_line(name)) if name else ""
    return " · ".join(filter(None, (website, f"<{quote(address, safe=_IN_ADDRESSES)}>")))


def link(text: str, address: str) -> str:
    """Return a link; whatever the address holds ends neither it nor the line."""
    return f"[{escaped_line(text)}]({quote(address, safe=_IN_ADDRESSES)})"
