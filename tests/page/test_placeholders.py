"""The marks of slots: nobody can guess one, and no two pages have the same."""

import os

import pytest

from faqsvc_embed.page.placeholders import TOKEN_LENGTH, TOKENS, Slots, _tokens, new_token


async def nothing() -> str:
    return ""


def test_every_page_has_marks_of_its_own() -> None:
    tokens = {new_token() for _ in range(3 * TOKENS)}
    assert (len(tokens), {len(token) for token in tokens}) == (3 * TOKENS, {TOKEN_LENGTH})
    assert all(set(token) <= set("0123456789abcdef") for token in tokens)
    assert Slots().leave(nothing) != Slots().leave(nothing)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no process can be forked here")
def test_a_child_process_leaves_marks_of_its_own() -> None:
    new_token()
    held = len(_tokens)
    child = os.fork()
    if child == 0:
        os._exit(len(_tokens))
    assert (held > 0, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])) == (True, 0)
