"""Blocks of a host's own records are found again by identity, and only the latest are kept."""

import pytest

from faqsvc_embed import FAQ, Theme
from faqsvc_embed.rendering.latest import MOST, Latest
from faqsvc_embed.rendering.renderer import Block, Look, Renderer
from tests.support import samples


def block_of(faq: FAQ) -> Block:
    block = Renderer().block(faq, Look(Theme(), True, 2))
    assert block is not None
    return block


OWN = FAQ.from_dict(samples.pricing())
BLOCK = block_of(OWN)


def test_a_block_is_found_by_its_own_record_and_by_what_was_asked() -> None:
    latest, equal = Latest(), FAQ.from_dict(samples.pricing())
    latest.put(OWN, "plain", BLOCK)
    assert latest.get(OWN, "plain") is BLOCK
    assert (equal == OWN, latest.get(equal, "plain"), latest.get(OWN, "in teal")) == (True, None, None)


def test_the_block_that_was_shown_longest_ago_gives_way() -> None:
    latest = Latest()
    for number in range(MOST):
        latest.put(OWN, number, BLOCK)
    latest.get(OWN, 0)
    latest.put(OWN, "one more", BLOCK)
    assert [number for number in range(MOST) if latest.get(OWN, number) is None] == [1]


def test_a_large_block_is_not_kept() -> None:
    latest, large = Latest(), FAQ.from_dict(samples.large(2_000))
    latest.put(large, "plain", block_of(large))
    assert latest.get(large, "plain") is None


class Odd:
    """Something of a host's that cannot be looked up."""

    def __hash__(self) -> int:
        raise ArithmeticError


@pytest.mark.parametrize("asked", [[], Odd()])
def test_what_cannot_be_looked_up_is_not_kept_and_does_no_harm(asked: object) -> None:
    latest = Latest()
    latest.put(OWN, asked, BLOCK)
    assert latest.get(OWN, asked) is None
