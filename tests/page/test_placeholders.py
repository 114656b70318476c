"""Places in a page for FAQs that arrive later: unguessable, filled once, in the order of the document."""

import asyncio
import re

import pytest

from faqsvc_embed.page.placeholders import Placeholders


def filled(placeholders: Placeholders) -> dict[str, str]:
    asyncio.run(placeholders.fill())
    return placeholders.texts


def test_a_placeholder_is_a_comment_that_no_other_text_can_pass_for() -> None:
    async def nothing() -> str:
        return ""

    pages = [Placeholders() for _ in range(1000)]
    left = [page.leave(nothing) for page in pages]
    assert len(set(left)) == 1000
    for page, placeholder in zip(pages, left, strict=True):
        assert re.fullmatch(r"<!--faqsvc [0-9a-f]{24,} 0-->", placeholder)
        assert placeholder.startswith(page.prefix)


def test_placeholders_are_filled_once_and_in_order() -> None:
    placeholders, began = Placeholders(), list[int]()

    async def filling(number: int) -> str:
        began.append(number)
        await asyncio.sleep(0)
        return f"<p>{number}</p>"

    left = [placeholders.leave(lambda number=number: filling(number)) for number in range(3)]  # type: ignore[misc]
    was_open = placeholders.are_open
    assert filled(placeholders) == {str(one): f"<p>{n}</p>" for n, one in enumerate(left)}
    assert was_open
    assert not placeholders.are_open
    filled(placeholders)
    assert began == [0, 1, 2]


def test_a_filling_may_leave_another_placeholder() -> None:
    placeholders = Placeholders()

    async def inner() -> str:
        return "inner"

    async def outer() -> str:
        return str(placeholders.leave(inner))

    first = str(placeholders.leave(outer))
    texts = filled(placeholders)
    assert texts[texts[first]] == "inner"


def test_what_is_left_after_others_were_filled_is_filled_too() -> None:
    placeholders = Placeholders()

    async def filling() -> str:
        return "x"

    for count in (1, 2, 3):
        placeholders.leave(filling)
        assert placeholders.are_open
        assert list(filled(placeholders).values()) == ["x"] * count


def test_an_interrupted_filling_leaves_its_placeholder_open() -> None:
    placeholders = Placeholders()

    async def interrupted() -> str:
        raise asyncio.CancelledError

    placeholders.leave(interrupted)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(placeholders.fill())
    assert placeholders.are_open


def test_what_is_published_can_be_a_placeholder() -> None:
    async def draft() -> str:
        return "<p>draft</p>"

    placeholders = Placeholders()
    assert placeholders.leave(draft, "<p>published</p>") == "<p>published</p>"
    assert filled(placeholders) == {"<p>published</p>": "<p>draft</p>"}
