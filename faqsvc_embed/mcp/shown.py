"""What readers will see of the texts of a call, as plain text, and what changes do to questions."""

import html
import re
from collections.abc import Sequence
from itertools import islice, takewhile
from operator import attrgetter
from typing import Any, Final

from msgspec.structs import replace

from faqsvc_embed.api.changes import finder
from faqsvc_embed.api.contract import Change
from faqsvc_embed.errors import quoted
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markup import as_one_format, has_markdown, has_tags
from faqsvc_embed.mcp.calls import ROOM, Arguments, shorten, size_of, take_fitting
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.rendering import answers
from faqsvc_embed.rendering.answers import QUESTION_LEVEL, shown_as_typed

AS_MARKDOWN: Final = (
    "The texts have markup, so they are Markdown; with answerFormat text, readers see them as typed."
)
MAX_ITEMS: Final = 100
"""Maximum number of items whose text is shown."""
MAX_SHOWN: Final = 4_000
"""Maximum number of characters that are shown."""
MAX_CHANGES: Final = 20
"""Maximum number of changes that a result shows."""
MAX_WORDS: Final = 300
"""Characters of a changed text that a result shows."""
CONTEXT: Final = 40
"""Characters around the words that differ."""
MAX_NOT_SHOWN: Final = 10
MAX_TYPED: Final = 3

_LETTER: Final = r"[^\W\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]"
"""A letter or digit of a script that puts blanks between words; Korean adds particles to a word."""
_OPENING, _CLOSING = "€$£¥₩¿¡“«„「『（(\"'", ".!?…%€¥”»“」』）)\"'。！？"
_MEANT: Final = re.compile(
    rf"(?<!{_LETTER})(?<![*\\])\*(?=[\w{_OPENING}])[^*\n]{{0,300}}(?<=[\w{_CLOSING}])\*(?!{_LETTER}|\*)"
    rf"|(?<![\w\\])_(?=[^\W_]|[{_OPENING}])[^_\n]{{0,300}}(?<=[^\W_]|[{_CLOSING}])_(?!\w)"
    r"|\]\([^\s()]+\)|\]\[\w|~~[^\s~][^~\n]{0,300}~~|<(?:https?|mailto):[^\s<>]+>|^> \S"
    r"|&(?:amp|lt|gt|quot|nbsp|#\d{2,5});|\\[*_`\[\]<>#&|~+=:!-]|^\d{1,9}\\[.)]",
    re.MULTILINE,
)
"""Stress, links to anywhere, struck text, quotes, characters as HTML writes them, and escaped characters.

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
    texts, section = [faq.title, as_text(answers.introduction(part, QUESTION_LEVEL).html)], None
    missing = list[str]()
    for item in answers.items(part, QUESTION_LEVEL):
        heading = f"[{item.section}]\n" if item.section and item.section != section else ""
        texts.append(f"{heading}{item.question}\n{as_text(item.html)}")
        section = item.section
        found = [*item.dropped, *shown_as_typed(item.html, item.text)]
        missing += [f"{shorten(item.question, 100)}, line {one.line}: {one}" for one in found]
    content: dict[str, Any] = {"shown": shorten("\n\n".join(filter(None, texts)), MAX_SHOWN)}
    if missing:
        content["notShown"] = [shorten(one, 200) for one in missing[:MAX_NOT_SHOWN]]
    return content


def changed(old: FAQ, new: FAQ, given: Arguments) -> dict[str, Any]:
    """Return what the changes do to each question, and what readers see of the new texts."""
    find, find_new = finder(old.items), finder(new.items)
    texts_of = attrgetter("question", "answer", "section")
    known = set(map(texts_of, old.items))
    items = tuple(item for item in new.items if texts_of(item) not in known)
    texts = {"title": given.get("title", ""), "introduction": given.get("introduction")}
    seen = shown(replace(new, items=items, **texts))
    renamed = (replace(one, question=one.new_question or one.question) for one in given["changes"])
    effects = map(_effect, given["changes"], map(find, given["changes"]), map(find_new, renamed))
    # An entry with the question alone is a change without effect.
    visible = [*islice((effect for effect in effects if len(effect) > 1), MAX_CHANGES)]
    content = {"changed": take_fitting(visible, ROOM - size_of(seen)), **seen}
    return {name: value for name, value in content.items() if value}


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


def _effect(change: Change, old: Item | None, new: Item | None) -> dict[str, Any]:
    """Return what a change does to a question, with the changed words of its answer before and after it."""
    old = old or Item(0, change.question or "", "")
    new = replace(old, answer="") if change.remove else new or old
    effect: dict[str, Any] = {
        "question": old.question,
        "add": change.add or None,
        "remove": change.remove or None,
        "newQuestion": change.new_question,
        "movedAfter": change.after,
        "section": new.section or "" if new.section != old.section else None,
        "id": new.id if new.id != old.id else None,
    }
    if old.answer != new.answer:
        effect |= {"before": _words(old.answer, new.answer), "after": _words(new.answer, old.answer)}
    return {
        name: shorten(value, MAX_WORDS) if isinstance(value, str) else value
        for name, value in effect.items()
        if value is not None
    }


def _words(text: str, other: str) -> str:
    """Return a text. If it is long, return the part that differs from `other`, with some words around it."""
    if max(len(text), len(other)) <= MAX_WORDS:
        return text
    start = _shared(text, other)
    end = _shared(text[start:][::-1], other[start:][::-1])
    first, last = max(start - CONTEXT, 0), min(len(text) - end + CONTEXT, len(text))
    return f"{'…' if first else ''}{text[first:last]}{'…' if last < len(text) else ''}"


def _shared(one: str, other: str) -> int:
    """Return how many characters two texts share at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
