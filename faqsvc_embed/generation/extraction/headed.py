"""Headings that are questions, or stand among such."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from faqsvc_embed.generation.extraction.noise import is_call
from faqsvc_embed.generation.extraction.questions import is_come_on, is_question, opens_as_question
from faqsvc_embed.generation.extraction.text import question_text
from faqsvc_embed.generation.extraction.tree import HEADINGS, RUN, Element
from faqsvc_embed.generation.extraction.view import View


def headed(view: View, free: list[Element]) -> Iterator[Element]:
    """Yield headings that are questions, and those that look like them where most are."""
    headings = [element for element in free if element.tag in HEADINGS or element.role == "heading"]
    first_levels = sum(heading.tag == "h1" for heading in headings)
    looks = defaultdict[object, _Headings](_Headings)
    for heading in headings:
        looks[look_of(heading)].add(heading)
    questions = sum(alike.asking for alike in looks.values())
    for heading in headings:
        if (heading.tag == "h1" and first_levels < 2) or is_call(heading):
            continue
        text, alike = question_text(heading), looks[look_of(heading)]
        announced = view.announces_faq(heading)
        if is_question(text):
            # Alone, and where nothing announces questions, `Hungry yet?` is an advertisement.
            if announced or alike.asking > 1 or questions > 2 or opens_as_question(text, strictly=True):
                yield heading
        elif announced and (alike.has_between(heading) or (alike.mostly_open and opens_as_question(text))):
            yield heading


@dataclass
class _Headings:
    """Headings that look the same."""

    number: int = 0
    opening: int = 0
    asking: int = 0
    first: int = 0
    last: int = 0

    def add(self, heading: Element) -> None:
        text = question_text(heading)
        self.number += 1
        self.opening += opens_as_question(text)
        if is_question(text) and not is_come_on(text):
            self.asking += 1
            self.first, self.last = self.first or heading.start, heading.start

    @property
    def mostly_open(self) -> bool:
        return self.asking > 0 and self.opening / self.number >= 0.6

    def has_between(self, heading: Element) -> bool:
        """Tell whether a heading stands between questions, where most are questions."""
        return self.asking / self.number >= 0.6 and self.first < heading.start < self.last


def look_of(element: Element) -> object:
    """Return what makes elements look the same: their tags and classes, and those around them."""
    around = (above for above in (element, *islice(element.ancestors(), 5)) if above.tag != RUN)
    return tuple((above.tag, above.attrs.get("class", "")) for above in islice(around, 3))
