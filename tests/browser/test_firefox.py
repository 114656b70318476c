"""What differs between engines, in a real Firefox: what opens by address, what prints, what is in step."""

import os
from collections.abc import Iterator

import pytest

from tests.browser.test_variants import ANSWERS, make_app
from tests.support.firefox import NAMES, Firefox, installed, running
from tests.support.host import serve, wait_until

SHOWN = """[...document.querySelectorAll('.faqsvc-answer')].map(e =>
    e.checkVisibility() && e.parentElement.getBoundingClientRect().height > 8)"""
EXPANDED = "[...document.querySelectorAll('button.faqsvc-toggle')].map(e => e.getAttribute('aria-expanded'))"
OPEN = "[...document.querySelectorAll('details.faqsvc-item')].map(e => e.open)"


@pytest.fixture(scope="module")
def firefox() -> Iterator[Firefox]:
    """An installed Firefox; skipped where there is none, unless CI is set."""
    path = installed()
    if path is None:
        reason = f"no Firefox on the PATH: one of {', '.join(NAMES)} is needed"
        if os.environ.get("CI"):
            pytest.fail(reason)
        pytest.skip(reason)
    with running(path) as tab:
        yield tab


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    yield from serve(make_app("inline"))


def test_the_component_is_styled(firefox: Firefox, host: str) -> None:
    firefox.goto(f"{host}/details")
    styles = firefox.evaluate(
        """(e => [getComputedStyle(e).position, getComputedStyle(e, '::after').backgroundSize,
            getComputedStyle(e.querySelector('.faqsvc-question')).fontSize])
            (document.querySelector('.faqsvc-toggle'))"""
    )
    assert styles == ["relative", "100% 2px, 2px 100%", "20px"]


@pytest.mark.parametrize("name", ["plain", "exclusive-details"])
def test_an_address_opens_its_answer(firefox: Firefox, host: str, name: str) -> None:  # P2, P7
    firefox.goto(f"{host}/{name}#{ANSWERS[1]}")
    wait_until(lambda: firefox.evaluate(SHOWN)[:3] == [False, True, False])
    if name == "plain":
        wait_until(lambda: firefox.evaluate(EXPANDED) == ["false", "true", "false"])


@pytest.mark.parametrize("name", ["plain", "exclusive-details"])
def test_a_click_opens_and_another_closes(firefox: Firefox, host: str, name: str) -> None:  # P5
    firefox.goto(f"{host}/{name}")
    states, yes, no = (EXPANDED, "true", "false") if name == "plain" else (OPEN, True, False)

    def click(number: int) -> list[object]:
        firefox.evaluate(f"document.querySelectorAll('.faqsvc-toggle')[{number}].click()")
        found: list[object] = firefox.evaluate(states)
        return found[:3]

    assert click(0) == [yes, no, no]
    assert click(1) == [yes if name == "plain" else no, yes, no]
    assert click(1)[1] == no


def test_what_paper_shows_is_in_the_stylesheet_it_understands(firefox: Firefox, host: str) -> None:  # P4
    firefox.goto(f"{host}/details")
    printed = firefox.evaluate(
        """[...document.styleSheets].flatMap(sheet => [...sheet.cssRules[0].cssRules])
            .filter(rule => rule.media?.mediaText === 'print')
            .flatMap(rule => [...rule.cssRules].map(inner => inner.selectorText))"""
    )
    assert ".faqsvc-item::details-content" in printed


def test_accents_follow_the_text(firefox: Firefox, host: str) -> None:  # T4
    seen = []
    for path in ("details", "details?dark"):
        firefox.goto(f"{host}/{path}")
        seen.append(
            firefox.evaluate(
                "getComputedStyle(document.querySelector('.faqsvc-toggle'), '::after').backgroundImage"
            )
        )
    assert seen[0] != seen[1]
    assert all(image.count("linear-gradient(") == 2 for image in seen)
