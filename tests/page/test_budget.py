"""The time that a page may spend waiting: each moment of it counts once."""

from faqsvc_embed.page.budget import WaitBudget
from tests.support.clock import Clock


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
