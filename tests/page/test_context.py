"""The page of a response: which one is current, what it keeps, and the time that it may wait."""

from contextvars import copy_context

import pytest

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.page.context import REQUEST, request_page
from faqsvc_embed.page.page import Page, WaitBudget
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.clock import Clock
from tests.support.parsed import page_of, summary

A = FAQ.from_dict(samples.pricing())


def embed() -> FAQEmbed:
    return fake_embed({"pricing": A})


def test_a_page_is_not_current_after_its_response_was_sent() -> None:
    token = REQUEST.set(page := Page())
    context = copy_context()
    page.is_over = True
    REQUEST.reset(token)
    assert context.run(request_page) is None
    assert [summary(context.run(embed().render, "pricing")) for _ in range(2)] == [page_of(A)] * 2


@pytest.mark.parametrize(("limits", "expected"), [((), None), ((20,), 20), ((20, 5, 60), 5), ((0, 5), 0)])
def test_the_shortest_limit_of_a_page_counts(limits: tuple[int, ...], expected: int | None) -> None:
    page = Page()
    for limit in limits:
        page.limit_max_age(limit)
    assert page.max_age == expected


def test_waits_one_after_another_add_up(clock: Clock) -> None:
    budget = WaitBudget(clock.now)
    assert budget.left(1.0) == 1.0
    for seconds, left in ((0.25, 0.75), (0.5, 0.25), (0.5, 0.0)):
        with budget.waiting():
            clock.advance(seconds)
        clock.advance(10)  # what the host does meanwhile does not count
        assert budget.left(1.0) == left


def test_waits_at_the_same_time_count_once(clock: Clock) -> None:
    budget = WaitBudget(clock.now)
    with budget.waiting():
        clock.advance(0.25)
        with budget.waiting():
            clock.advance(0.25)
        clock.advance(0.25)
    assert (budget.left(1.0), budget.left(0.5)) == (0.25, 0.0)


def test_a_wait_that_is_running_counts_so_far(clock: Clock) -> None:
    budget = WaitBudget(clock.now)
    with budget.waiting():
        clock.advance(0.375)
        assert budget.left(0.5) == 0.125
        clock.advance(0.375)
        assert budget.left(0.5) == 0.0


def test_a_wait_that_fails_counts(clock: Clock) -> None:
    budget = WaitBudget(clock.now)
    try:
        with budget.waiting():
            clock.advance(0.5)
            raise KeyError
    except KeyError:
        clock.advance(0.5)
    assert budget.left(1.0) == 0.5
