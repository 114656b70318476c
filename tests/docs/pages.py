"""The pages of the documentation, and the code blocks on them."""

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT: Final = Path(__file__).parent.parent.parent
SKILL: Final = ROOT / "faqsvc_embed" / ".agents" / "skills" / "faqsvc-embed" / "SKILL.md"
PAGES: Final = tuple(
    path
    for path in (
        ROOT / "README.md",
        ROOT / "CONTRIBUTING.md",
        ROOT / "SECURITY.md",
        SKILL,
        *sorted((ROOT / "docs").rglob("*.md")),
    )
    if path.exists() and "_build" not in path.parts and path.parent.name != "faqs"
)
_NAMED: Final = r"`([\w.-]+(?:/[\w.-]+)*\.\w+)`:\Z"
_ADDED: Final = "Add to the end of "
_NOT_RUN: Final = "<!-- not run"


@dataclass(frozen=True)
class Block:
    """A fenced code block.

    `file` is the name in the sentence above the block, if it ends with a file name in backticks and a colon:
    the block is the content of that file, or `is_added` to it if the sentence begins with "Add to the end
    of". A comment `<!-- not run: reason -->` above a block exempts it.
    """

    page: Path
    line: int
    language: str
    text: str
    file: str = ""
    is_added: bool = False

    def __str__(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


def name_of(page: Path) -> str:
    """Return the path of a page as tests show it."""
    return page.relative_to(ROOT).as_posix()


def tokens_of(page: Path) -> list[Token]:
    """Return the parsed Markdown of a page, without its front matter."""
    text = page.read_text(encoding="utf-8")
    front_matter = re.match(r"---\n.*?\n---\n", text, re.DOTALL)
    if front_matter:
        text = "\n" * front_matter[0].count("\n") + text[front_matter.end() :]
    return MarkdownIt("commonmark").enable("table").parse(text)


@cache
def blocks_of(page: Path) -> list[Block]:
    """Return the code blocks of a page that tests run."""
    found = list[Block]()
    before = ""
    for token in tokens_of(page):
        if token.type in ("inline", "html_block"):
            before = token.content.strip()
        elif token.type == "fence" and token.map:
            if not before.startswith(_NOT_RUN):
                named = re.search(_NAMED, before)
                file, is_added = named[1] if named else "", before.startswith(_ADDED)
                language = token.info.split()[0] if token.info.strip() else ""
                found.append(Block(page, token.map[0] + 1, language, token.content, file, is_added))
            before = ""
    return found
