"""Threads, such as those of the desk, read files at the same time."""

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from faqsvc_embed.files import markdown_text
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_reader import read_markdown

TEXT = "## Is *it* [free](/a%20b)?\n\nYes, see [this][r].\n\n[r]: /x%20y\n"
THREADS = 8


@pytest.fixture(autouse=True)
def hurried() -> Iterator[None]:
    """Let threads run in turns that are as short as possible."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)


def test_threads_that_use_a_new_parser_at_once_read_the_same() -> None:
    whole, barrier = read_markdown(TEXT), Barrier(THREADS)

    def read(_: int) -> Document:
        barrier.wait(60)
        return read_markdown(TEXT)

    with ThreadPoolExecutor(THREADS) as pool:
        for _ in range(100):
            for parser in (markdown_text.parser, markdown_text.block_parser):
                parser.cache_clear()
            markdown_text.parser()
            markdown_text.block_parser()
            assert all(document == whole for document in pool.map(read, range(THREADS)))
