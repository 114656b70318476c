"""Places in a page for FAQs that arrive later: unguessable, filled once, in the order of the document."""

import asyncio
import html
import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from faqsvc_embed.page.border import guarded_parts
from faqsvc_embed.page.placeholders import BodyFiller, Placeholders, Text


def filled(placeholders: Placeholders) -> dict[str, Text]:
    asyncio.run(placeholders.fill())
    return placeholders.texts


def filled_parts(parts: Iterable[bytes], placeholders: Placeholders, charset: str) -> Iterator[bytes]:
    filler = BodyFiller(placeholders, charset)
    return guarded_parts(parts, filler.split, filler.finish)


def test_a_placeholder_is_a_comment_that_no_other_text_can_pass_for() -> None:
    async def nothing() -> str:
        return ""

    pages = [Placeholders() for _ in range(1000)]
    left = [page.leave(filling=nothing) for page in pages]
    assert len(set(left)) == 1000
    for page, placeholder in zip(pages, left, strict=True):
        assert re.fullmatch(r"<!--faqsvc [0-9a-f]{24,} 0-->", placeholder)
        assert placeholder.startswith(page.prefix)


def test_threads_that_render_parts_of_one_page_leave_different_placeholders() -> None:
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        with ThreadPoolExecutor(4) as pool:
            for _ in range(200):
                placeholders = Placeholders()
                left = list(pool.map(lambda _, page=placeholders: page.leave(), range(40)))
                assert len(set(left)) == 40
    finally:
        sys.setswitchinterval(interval)


def test_placeholders_are_filled_once_and_in_order() -> None:
    placeholders, began = Placeholders(), list[int]()

    async def filling(number: int) -> str:
        began.append(number)
        await asyncio.sleep(0)
        return f"<p>{number}</p>"

    left = [placeholders.leave(filling=lambda number=number: filling(number)) for number in range(3)]  # type: ignore[misc]
    was_open = placeholders.are_open
    assert filled(placeholders) == {str(number): f"<p>{number}</p>" for number in range(len(left))}
    assert was_open
    assert not placeholders.are_open
    filled(placeholders)
    assert began == [0, 1, 2]


def test_what_is_left_after_others_were_filled_is_filled_too() -> None:
    placeholders = Placeholders()

    async def filling() -> str:
        return "x"

    for count in (1, 2, 3):
        placeholders.leave(filling=filling)
        assert placeholders.are_open
        assert list(filled(placeholders).values()) == ["x"] * count


def test_an_interrupted_filling_leaves_its_placeholder_open() -> None:
    placeholders = Placeholders()

    async def interrupted() -> str:
        raise asyncio.CancelledError

    placeholders.leave(filling=interrupted)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(placeholders.fill())
    assert placeholders.are_open


PAGE = "<h1>ä</h1>{}<p>ö</p>{}<footer>"


def left_and_filled(published: str = "") -> tuple[Placeholders, str, str]:
    """Return placeholders, and a page before and after they are filled."""
    placeholders = Placeholders()
    left = [placeholders.leave(published, text=f"<p>{n} ü</p>") for n in range(2)]
    return placeholders, PAGE.format(*left), PAGE.format("<p>0 ü</p>", "<p>1 ü</p>")


@pytest.mark.parametrize("published", ["", "<p>published</p>"])
@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_a_placeholder_may_be_cut_anywhere(size: int, published: str) -> None:
    placeholders, before, after = left_and_filled(published)
    body = before.encode()
    parts = (body[at : at + size] for at in range(0, len(body), size))
    assert b"".join(filled_parts(parts, placeholders, "utf-8")).decode() == after
    assert not placeholders.unfound


@pytest.mark.parametrize("charset", ["utf-8", "iso8859-1"])
def test_a_page_is_filled_in_its_charset(charset: str) -> None:
    placeholders, before, after = left_and_filled()
    body = b"".join(filled_parts([before.encode(charset)], placeholders, charset))
    assert html.unescape(body.decode(charset)) == after


def test_json_ld_in_a_legacy_charset_is_escaped_as_json() -> None:
    placeholders = Placeholders()
    script = '<script type="application/ld+json">{"name":"日本"}</script>'
    left = placeholders.leave(text=f"<p>日</p>{script}")
    body = b"".join(filled_parts([left.encode()], placeholders, "shift_jis")).decode("ascii")
    assert body == '<p>&#26085;</p><script type="application/ld+json">{"name":"\\u65e5\\u672c"}</script>'


def test_once_all_are_filled_parts_pass_as_the_objects_that_they_are() -> None:
    placeholders, before, _ = left_and_filled()
    parts = [before.encode(), bytes(bytearray(b"later")), bytes(bytearray(b"last"))]
    assert list(filled_parts(parts, placeholders, "utf-8"))[-1] is parts[-1]


def test_what_only_looks_like_a_placeholder_stays() -> None:
    placeholders, before, after = left_and_filled()
    others = f"<!--faqsvc 0 0--><!--faqsvc{placeholders.prefix[:20]}"
    body = b"".join(filled_parts([(others + before + others).encode()], placeholders, "utf-8"))
    assert body.decode() == others + after + others
