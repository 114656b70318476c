"""What differs between browser engines, in a real Firefox."""

import pytest

from tests.browser.site import ANSWER_IDS
from tests.support.firefox import Firefox
from tests.support.host import wait_until

pytestmark = pytest.mark.system

BOTH = pytest.mark.parametrize("variant", ["details", "disclosure"])
VISIBLE = """[...document.querySelectorAll('.faqsvc-answer')].map(e =>
    e.checkVisibility() && e.parentElement.getBoundingClientRect().height > 8)"""
EXPANDED = """[...document.querySelectorAll('.faqsvc-toggle')].map(e =>
    e.closest('details') ? e.closest('details').open : e.getAttribute('aria-expanded') === 'true')"""


def test_the_component_is_styled(firefox: Firefox, host: str) -> None:
    firefox.goto(f"{host}/rich-details")
    styles = firefox.evaluate(
        """(e => [getComputedStyle(e).position, getComputedStyle(e, '::after').backgroundSize,
            getComputedStyle(e.querySelector('.faqsvc-question')).fontSize])
            (document.querySelector('.faqsvc-toggle'))"""
    )
    assert styles == ["relative", "100% 2px, 2px 100%", "20px"]


@BOTH
def test_a_link_to_a_question_opens_it(firefox: Firefox, host: str, variant: str) -> None:
    firefox.goto(f"{host}/{variant}#{ANSWER_IDS[1]}")
    wait_until(lambda: firefox.evaluate(VISIBLE) == [False, True, False])
    wait_until(lambda: firefox.evaluate(EXPANDED) == [False, True, False])


@BOTH
def test_an_exclusive_faq_has_one_open_item(firefox: Firefox, host: str, variant: str) -> None:
    firefox.goto(f"{host}/exclusive-{variant}")

    def click(number: int) -> list[bool]:
        firefox.evaluate(f"document.querySelectorAll('.faqsvc-toggle')[{number}].click()")
        found: list[bool] = firefox.evaluate(EXPANDED)
        return found[:3]

    assert click(0) == [True, False, False]
    assert click(1) == [False, True, False]
    assert click(1) == [False, False, False]


def test_the_print_rules_are_understood(firefox: Firefox, host: str) -> None:
    firefox.goto(f"{host}/details")
    printed = firefox.evaluate(
        """[...document.styleSheets].flatMap(sheet => [...sheet.cssRules[0].cssRules])
            .filter(rule => rule.media?.mediaText === 'print')
            .flatMap(rule => [...rule.cssRules].map(inner => inner.selectorText))"""
    )
    assert "details.faqsvc-item::details-content" in printed


def test_accents_follow_the_text(firefox: Firefox, host: str) -> None:
    markers = []
    for path in ("rich-details", "rich-details?dark"):
        firefox.goto(f"{host}/{path}")
        markers.append(
            firefox.evaluate(
                "getComputedStyle(document.querySelector('.faqsvc-toggle'), '::after').backgroundImage"
            )
        )
    assert markers[0] != markers[1]
    assert all(image.count("linear-gradient(") == 2 for image in markers)
