"""Pages of websites and the pairs of question and answer that are on them.

Each `.txt` file is one part of the corpus. A page begins with a line of `=====` and its name, whose ending is
its language. Its pairs follow, one JSON object a line, then a line of `-----` and the HTML.
"""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PARTS: Final = {
    "known": "layouts that extraction was developed on",
    "held_out": "first set of new layouts: recall 0.865 and precision 0.970 at first",
    "small": "single shapes: recall and precision 0.93 at first",
    "systems": "content management systems in seventeen languages: recall 0.70 at first",
    "web": "page builders, help centres, mixed shapes: recall 0.670 and precision 0.869 at first",
}


@dataclass(frozen=True, slots=True)
class Page:
    """A page with the pairs that extraction must find."""

    name: str
    html: str
    expected: frozenset[tuple[str, str]]

    @property
    def lang(self) -> str:
        """The language of the page."""
        return self.name.rpartition(".")[2]


def pages(part: str) -> list[Page]:
    """Return the pages of a part of the corpus."""
    text = Path(__file__).with_name(f"{part}.txt").read_text(encoding="utf-8")
    _, *entries = re.split(r"^===== (.+)\n", text, flags=re.MULTILINE)
    return [_page(name, entry) for name, entry in zip(entries[::2], entries[1::2], strict=True)]


def _page(name: str, entry: str) -> Page:
    pairs, _, html = entry.partition("-----\n")
    expected = [json.loads(line) for line in pairs.splitlines()]
    return Page(name, html, frozenset((pair["question"], pair["answer"]) for pair in expected))
