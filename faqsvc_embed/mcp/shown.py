"""Finds the format of the texts of a call, and what readers will see of them, as plain text."""

import html
import re
from collections.abc import Sequence
from typing import Any, Final

from msgspec.structs import replace

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markup import as_one_format, has_markdown, has_tags
from faqsvc_embed.mcp.calls import shorten
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.rendering import answers
from faqsvc_embed.rendering.answers import QUESTION_LEVEL
from faqsvc_embed.rendering.leftovers import leftovers

AS_MARKDOWN: Final = (
    "The texts have markup, so they are Markdown; with answerFormat text, readers see them as typed."
)
MAX_ITEMS: Final = 100
"""Maximum number of items whose text is shown."""
MAX_SHOWN: Final = 4_000
"""Maximum number of characters that are shown."""
MAX_NOT_SHOWN: Final = 10
MAX_TYPED: Final = 3

_LETTER: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that puts blanks between words; Korean adds particles to a word."""
_OPENING, _CLOSING = "€$£¥₩¿¡“«„「『（(\"'", ".!?…%€¥”»“」』）)\"'。！？"
_MEANT: Final = re.compile(
    rf"(?<!{_LETTER})(?<![*\\])\*(?=[\w{_OPENING}])[^*\n]{{0,300}}(?<=[\w{_CLOSING}])\*(?!{_LETTER}|\*)"
    rf"|(?<![\w\\])_(?=[^\W_]|[{_OPENING}])[^_\n]{{0,300}}(?<=[^\W_]|[{_CLOSING}])_(?!\w)"
    r"|\]\([^\s()]+\)|\]\[\w|~~[^\s~][^~\n]{0,300}~~|<(?:https?|mailto):[^\s<>]+>|^> \S"
    r"|&(?:amp|lt|gt|quot|nbsp|#\d{2,5});",
    re.MULTILINE,
)
"""Stress, links to anywhere, struck text, quotes, and characters as HTML writes them.

A model means markup by them, where a person may mean what they typed.
"""
_PRE: Final = re.compile("(<pre>.*?</pre>)", re.DOTALL)
_LINK: Final = re.compile('<a href="([^"]*)"[^<>]*>(.*?)</a>', re.DOTALL)
_IMAGE: Final = re.compile('<img [^<>]*?alt="([^"]*)"[^<>]*>')
_LINE: Final = re.compile(" ?(?:<br>|</(?:p|li|tr|d[dt]|h[1-6]|blockquote|summary)>) ?")
_LIST: Final = re.compile('<(/?[ou]l|li)(?: start="([0-9]+)")?>')
_CELL: Final = re.compile("</t[dh]> ?")
_TAG: Final = re.compile("<[^<>]*>")


def in_format(faq: FAQ) -> tuple[FAQ, list[str]]:
    """Return an FAQ in the format of its texts, which is detected as in files, and notes for the model."""
    document = Document(items=[item.to_fields() for item in faq.items], introduction=faq.introduction)
    read = as_one_format(document, meant=_MEANT)
    items = tuple(Item(position, **fields) for position, fields in enumerate(read.items))
    is_markdown = read.answer_format is not None
    return replace(
        faq,
        items=items,
        introduction=read.introduction,
        answer_format="markdown" if is_markdown else "text",
    ), [*read.notes[:MAX_NOT_SHOWN], AS_MARKDOWN] if is_markdown else []


def changed_by_markdown(items: Sequence[Item], introduction: str | None) -> list[str]:
    """Return the plain texts that would look different as Markdown: their questions, or "introduction"."""
    above = [Item(len(items), "introduction", introduction)] if introduction else []
    plain, marked = (FAQ("", items=(*items, *above), answer_format=form) for form in ("text", "markdown"))
    pairs = zip(plain.items, marked.items, strict=True)
    return [one.question for one, other in pairs if as_text(one.html) != as_text(other.html)]


def shown(faq: FAQ) -> dict[str, Any]:
    """Return what readers see of an FAQ as text, and the parts of its answers that they do not see."""
    part = replace(faq, items=faq.items[:MAX_ITEMS])
    texts, section = [faq.title, as_text(answers.introduction(part, QUESTION_LEVEL))], None
    missing = list[str]()
    for item in answers.items(part, QUESTION_LEVEL):
        heading = f"[{item.section}]\n" if item.section and item.section != section else ""
        texts.append(f"{heading}{item.question}\n{as_text(item.html)}")
        section = item.section
        found = [*item.dropped, *leftovers(item.html, item.text)]
        missing += [f"{shorten(item.question, 100)}, line {one.line}: {one}" for one in found]
    content: dict[str, Any] = {"shown": shorten("\n\n".join(filter(None, texts)), MAX_SHOWN)}
    if missing:
        content["notShown"] = [shorten(one, 200) for one in missing[:MAX_NOT_SHOWN]]
    return content


def typed(questions: Sequence[str], title: str | None = None) -> list[str]:
    """Return a note for each of the plain texts whose markup readers will see as typed."""
    return [
        f"Readers see the markup in {quoted(shorten(text, 100))} as typed: change it, unless that is meant."
        for text in [title or "", *questions]
        if has_tags(text) or ("`" not in text and (has_markdown(text) or _MEANT.search(text)))
    ][:MAX_TYPED]


def as_text(markup: str) -> str:
    """Return HTML as text: links with their addresses, and a line for each line that is seen."""
    parts = _PRE.split(markup)
    markup = "".join(part if part.startswith("<pre>") else " ".join(part.split()) for part in parts)
    markup = _IMAGE.sub(r"[\1]", _LINK.sub(_link, markup))
    numbers = list[int | None]()
    """The number of the next item of each open list; None without numbers."""

    def begin(found: re.Match[str]) -> str:
        tag, start = found.groups()
        if tag == "li":
            number = numbers[-1] if numbers else None
            if number is None:
                return "- "
            numbers[-1] = number + 1
            return f"{number}. "
        if tag.startswith("/"):
            del numbers[-1:]
        else:
            numbers.append(int(start or 1) if tag == "ol" else None)
        return "\n"

    markup = _LIST.sub(begin, _CELL.sub(" | ", _LINE.sub("\n", markup)))
    lines = html.unescape(_TAG.sub("", markup)).split("\n")
    return "\n".join(filter(None, (line.strip().removesuffix(" |") for line in lines)))


def _link(found: re.Match[str]) -> str:
    address, text = found.groups()
    return text if address.removeprefix("mailto:").removeprefix("tel:") == text else f"{text} ({address})"
