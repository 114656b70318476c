"""Links within the documentation lead somewhere."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest

from tests.docs.pages import PAGES, ROOT, name_of, tokens_of


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    broken = [link for link in links_of(page) if not leads_somewhere(page, link)]
    assert broken == []


def links_of(page: Path) -> Iterator[str]:
    """Yield the relative addresses of links and pictures."""
    for token in tokens_of(page):
        for child in token.children or []:
            address = child.attrGet("href") or child.attrGet("src")
            if isinstance(address, str) and not re.match(r"[a-z]+:", address):
                yield address


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, fragment = unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    return not fragment or target.suffix != ".md" or fragment in anchors_of(target)


@cache
def anchors_of(page: Path) -> set[str]:
    """Return the anchors of headings, as GitHub and MyST make them."""
    tokens = tokens_of(page)
    titles = [
        tokens[at + 1].content.replace("`", "") for at, t in enumerate(tokens) if t.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
