"""Elements as plain text: paragraphs with a blank line between, list items on lines with "- ", no markup."""

import re
from collections.abc import Iterable
from typing import Final

from faqsvc_embed.generation.extraction.tree import BLOCKS, RUN, Element, words

Nodes = Iterable[Element | str]

ORNAMENTS: Final = words("icon icons arrow chevron caret indicator headerlink permalink anchor")
"""Words of class names of what decorates a question; no words of the question are in such an element."""
UNSEEN: Final = frozenset({"sr-only", "visually-hidden", "visuallyhidden", "screen-reader-text", "sr"})
CONTROLS: Final = frozenset({"button"})

_SPACE = re.compile(r"[^\S\n]+")
_INVISIBLE = re.compile("[\u00ad\u200b\u2060\ufeff\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff]")
_EDGES = "".join("+-−–—×✕✖▼▾▿▲▴△►▶▸›»⌄˅∨¶#⊕⊖＋－ \u3000\t\n")
_QUESTION_MARKER = re.compile(
    r"(?:(?:Q|F|P|Question|Frage|Pregunta|질문|问题|問題|問|问|質問)\s*[0-9]{0,3}\s*[:：.．)）、]"
    r"|Q\s*[0-9]{0,3}\s+(?=[A-Z¿\u3040-\uffdc]))\s*"
)
_ANSWER_MARKER = re.compile(
    r"(?:A|R|Answer|Antwort|Respuesta|Réponse|답변|답|回答|答え|答)\s*[0-9]{0,3}\s*[:：.．)）、]\s*"
)
_LONE_MARKER = re.compile(r"(?:Q|A|F|R|P|질문|답변|답|问|答|問)\s*[0-9]{0,3}\s*[:：.．)）、]?")
_LONE_QUESTION = re.compile(r"(?:Q|질문|问|問)\s*[0-9]{0,3}\s*[:：.．)）、]?|[FP]\s*[0-9]{0,3}\s*[:：]")
_NUMBER = re.compile(r"(?:[0-9]{1,3}[.)．、:]|\([0-9]{1,3}\)|[0-9]{1,3}\s+-)\s+|[0-9]{1,3}[、．]")


def plain(text: str) -> str:
    """Return text on one line: runs of white space as one space, nothing that cannot be seen."""
    return " ".join(_INVISIBLE.sub("", text).split())


class _Writer:
    """Collects paragraphs; each is a list of lines."""

    def __init__(self) -> None:
        self.paragraphs: list[tuple[bool, str]] = []
        self._line: list[str] = []
        self._in_item = 0
        self._item_opened = False

    def text(self, text: str) -> None:
        self._line.append(text)

    def end(self) -> None:
        """End the paragraph that is being written."""
        lines = [plain(line) for line in "".join(self._line).split("\v")]
        self._line.clear()
        for paragraph in "\n".join(lines).split("\n\n"):  # two line breaks are a paragraph's end
            if written := "\n".join(line for line in paragraph.split("\n") if line):
                self._paragraph(written)

    def _paragraph(self, written: str) -> None:
        if self._in_item and self._item_opened:
            self.paragraphs.append((True, "- " + written))
            self._item_opened = False
        elif self._in_item and self.paragraphs:
            item, before = self.paragraphs[-1]
            self.paragraphs[-1] = (item, f"{before}\n{written}")
        else:
            self.paragraphs.append((False, written))

    def open_item(self) -> None:
        self.end()
        self._in_item += 1
        self._item_opened = True

    def close_item(self) -> None:
        self.end()
        self._in_item -= 1
        self._item_opened = False

    def result(self) -> str:
        self.end()
        text, item_before = "", False
        for is_item, paragraph in self.paragraphs:
            text += ("\n" if is_item and item_before else "\n\n") + paragraph if text else paragraph
            item_before = is_item
        return text


def text_of(nodes: Nodes) -> str:
    """Return the text of nodes as it is read; buttons, banners and decoration are left out."""
    writer = _Writer()
    for node in nodes:
        _write(node, writer)
    return writer.result()


def _write(node: Element | str, writer: _Writer) -> None:
    if isinstance(node, str):
        writer.text(node)
    elif node.noise or node.tag in CONTROLS or _is_decoration(node):
        return
    elif node.tag == "br":
        writer.text("\v")
    elif node.tag == "pre":
        writer.end()
        writer.text("".join(strings(node)).replace("\n", "\v"))
        writer.end()
    elif node.tag == "li":
        writer.open_item()
        _write_children(node, writer)
        writer.close_item()
    elif node.tag == "tr":
        writer.end()
        _write_row([text for cell in node.elements() if (text := text_of(cell.children))], writer)
        writer.end()
    elif node.tag in BLOCKS or node.tag == RUN:
        writer.end()
        _write_children(node, writer)
        writer.end()
    else:
        _write_children(node, writer)


def _write_row(cells: list[str], writer: _Writer) -> None:
    """Write the cells of a row on one line; what is alone in its row is in the table for its place only."""
    if len(cells) == 1:
        writer.text(cells[0].replace("\n", "\v"))
    else:
        writer.text(" | ".join(map(plain, cells)))


def _write_children(node: Element, writer: _Writer) -> None:
    for child in node.children:
        _write(child, writer)


def strings(element: Element) -> list[str]:
    """Return all texts below an element, in document order."""
    found: list[str] = []
    waiting: list[Element | str] = [element]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            found.append(node)
        elif node.tag == "br":
            found.append("\n")
        else:
            waiting.extend(reversed(node.children))
    return found


def one_line(nodes: Nodes) -> str:
    """Return the text of nodes on one line, buttons too: a question may be one."""
    parts: list[str] = []
    waiting = list(nodes)[::-1]
    while waiting:
        node = waiting.pop()
        if isinstance(node, str):
            parts.append(node)
        elif not node.noise and not _is_decoration(node):
            if node.tag == "br" or node.tag in BLOCKS or node.tag == RUN:
                parts.append(" ")
                waiting.append(" ")
            waiting.extend(reversed(node.children))
    return plain("".join(parts))


def question_text(element: Element) -> str:
    """Return the words of a question: without numbers and marks before it and symbols around it."""
    text = one_line(element.children) or plain("".join(strings(element)))
    return bare_question(text)


def bare_question(text: str) -> str:
    """Return a question without what only marks it as one: `Q1:`, `3.`, `+`."""
    text = text.strip(_EDGES)
    text = _NUMBER.sub("", text, count=1) if _NUMBER.match(text) else text
    if marker := _QUESTION_MARKER.match(text):
        text = text[marker.end() :]
    return text.strip(_EDGES)


def is_marked_question(element: Element) -> bool:
    """Tell whether a text begins with `Q:` or the like, or with a `Q` in an element of its own."""
    if _QUESTION_MARKER.match(one_line(element.children)):
        return True
    children = (child for child in element.children if not isinstance(child, str) or child.strip())
    first = next(children, None)
    return isinstance(first, Element) and _LONE_QUESTION.fullmatch(plain("".join(strings(first)))) is not None


def split_at_answer(text: str) -> tuple[str, str] | None:
    """Split a text at the line that begins with `A:` or the like; None if there is none after the first."""
    lines = text.split("\n")
    for number, line in enumerate(lines[1:], 1):
        if _ANSWER_MARKER.match(line):
            return "\n".join(lines[:number]).strip(), "\n".join(lines[number:])
    return None


def bare_answer(text: str) -> str:
    """Return an answer without `A:` or the like before it."""
    text = text.strip()
    if marker := _ANSWER_MARKER.match(text):
        text = text[marker.end() :]
    return text.strip()


def _is_decoration(element: Element) -> bool:
    """Tell whether an element inside a text holds an icon, a mark, or words for screen readers only."""
    if UNSEEN & set(element.attrs.get("class", "").lower().split()):
        return True
    if element.tag in BLOCKS:
        return False
    if element.tag in ("i", "span", "b", "em", "small", "a", "div", "button"):
        if element.attrs.get("aria-hidden") == "true" and element.tag != "a":
            return True
        if element.words & ORNAMENTS and len("".join(strings(element)).split()) <= 1:
            return True
    if element.tag in ("span", "b", "strong", "i", "em") and _is_first(element):
        return _LONE_MARKER.fullmatch(plain("".join(strings(element)))) is not None
    return False


def _is_first(element: Element) -> bool:
    siblings = element.parent.children if element.parent is not None else []
    before = next((child for child in siblings if not isinstance(child, str) or child.strip()), None)
    return before is element
