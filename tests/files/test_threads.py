"""Threads, such as those of the desk, read files at the same time."""

import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import mdurl._decode
import mdurl._encode

from faqsvc_embed.files import markdown_text
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_reader import read_markdown

TEXT = "## Is *it* [free](/a%20b)?\n\nYes, see [this][r].\n\n[r]: /x%20y\n"

Line = tuple[CodeType, int]


def make_parsers() -> None:
    """Make the parsers anew, as in a process that has just started."""
    mdurl._encode.encode_cache.clear()
    mdurl._decode.decode_cache.clear()
    for parser in (markdown_text.parser, markdown_text.block_parser):
        parser.cache_clear()
    markdown_text.parser()
    markdown_text.block_parser()


def read(before_line: Callable[[Line], object]) -> Document:
    """Read the text, and call a function before each line of Python that this runs."""

    def trace(frame: FrameType, event: str, argument: object) -> Any:
        if event == "line":
            before_line((frame.f_code, frame.f_lineno))
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        return read_markdown(TEXT)
    finally:
        sys.settrace(before)


def test_wherever_a_thread_pauses_at_the_first_use_of_the_parsers_others_read_the_same() -> None:
    whole = read_markdown(TEXT)  # and all else that is cached
    first, again, others = set[Line](), set[Line](), list[Document]()
    make_parsers()
    read(first.add)
    read(again.add)
    for pause in first - again:

        def read_in_pause(line: Line, pause: Line = pause) -> None:
            if line == pause:
                others.append(read_markdown(TEXT))

        make_parsers()
        assert read(read_in_pause) == whole
    assert all(document == whole for document in others)
