"""A page as the shapes look at it: what counts, what opens what, and where an FAQ is announced."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from faqsvc_embed.generation.extraction.questions import names_faq
from faqsvc_embed.generation.extraction.text import one_line
from faqsvc_embed.generation.extraction.tree import BLOCKS, HEADINGS, RUN, Element

FAQ_WORDS: Final = frozenset({"faq", "faqs", "frequently"})
TARGETS: Final = ("data-bs-target", "data-target", "data-collapse-target", "data-accordion-target")
PANELS: Final = frozenset({"tab", "tabs", "pane", "panel", "collapse", "collapsible", "accordion", "content"})


@dataclass(frozen=True, slots=True)
class _Above:
    """A heading that something stands under, and those that it stands under itself."""

    level: int
    names_faq: bool
    above: "_Above | None"


class View:
    """A page whose noise is marked; `title` and `url` may announce an FAQ as headings do."""

    def __init__(self, top: Element, title: str, url: str) -> None:
        everything = list(top.walk())
        self.size = len(everything)
        quoted = _inside(everything, "blockquote")
        # What a quotation asks is not the page's question; but it may be a part of an answer.
        self.elements = [e for e in everything if not e.noise and e.start not in quoted]
        self.by_id = {e.attrs["id"]: e for e in reversed(everything) if e.attrs.get("id")}
        self._opened = {
            self.by_id[target].start for e in everything for target in targets(e) if target in self.by_id
        }
        texts = [title, url.replace("-", " ").replace("_", " ").replace("/", " ")]
        texts += [one_line(e.children) for e in everything if e.tag == "h1"][:1]
        self._is_about_faq = any(names_faq(text) for text in texts)
        self._headings = self._under_headings()

    @cached_property
    def leaves(self) -> list[Element]:
        """The blocks that hold text and no other block."""
        blocks = [e for e in self.elements if (e.tag in BLOCKS or e.tag == RUN) and not e.holds_blocks]
        return [block for block in blocks if one_line(block.children)]

    def announces_faq(self, mark: Element) -> bool:
        """Tell whether questions are to be expected at an element: by page, class names, or headings."""
        if self._is_about_faq:
            return True
        for element in (mark, *mark.ancestors()):
            if element.tag != "body" and element.words & FAQ_WORDS:
                return True
            if names_faq(element.attrs.get("aria-label", "")):
                return True
        level = HEADINGS.get(mark.tag, 7)
        heading = self._headings.get(mark.start)
        while heading is not None:
            if heading.level < level and heading.names_faq:
                return True
            heading = heading.above
        return False

    def is_hidden_for_good(self, mark: Element) -> bool:
        """Tell whether an element is hidden, and not in a panel that something on the page opens."""
        for element in (mark, *mark.ancestors()):
            if element.start in self._opened or element.role in ("tabpanel", "region"):
                return False
            if element.is_hidden and not element.words & PANELS:
                return True
        return False

    def _under_headings(self) -> dict[int, _Above]:
        found: dict[int, _Above] = {}
        heading: _Above | None = None
        for element in self.elements:
            if level := HEADINGS.get(element.tag):
                while heading is not None and heading.level >= level:
                    heading = heading.above
            if heading is not None:
                found[element.start] = heading
            if level:
                heading = _Above(level, names_faq(one_line(element.children)), heading)
        return found


def _inside(elements: list[Element], tag: str) -> set[int]:
    """Return where the elements are that have a tag, and those that are in them."""
    found = set[int]()
    for element in elements:
        if element.tag == tag or (element.parent is not None and element.parent.start in found):
            found.add(element.start)
    return found


def targets(element: Element) -> list[str]:
    """Return the ids that an element says it opens."""
    attrs = element.attrs
    found = attrs.get("aria-controls", "").split()
    found += [attrs[name][1:] for name in TARGETS if attrs.get(name, "").startswith("#")]
    opens = {"data-bs-toggle", "data-toggle", "aria-expanded"} & attrs.keys() or element.role == "button"
    if opens and attrs.get("href", "").startswith("#"):
        found.append(attrs["href"][1:])
    return [target for target in found if target]
