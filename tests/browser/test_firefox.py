"""What differs between browser engines, in a real Firefox."""

from collections.abc import Iterator

import pytest

from tests.browser.site import ANSWER_IDS
from tests.service.desk.serving import Served, serve_desk
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


# The desk

LOSE = """void (window.sent = fetch, window.fetch = async (...all) => {
  await sent(...all);
  throw new TypeError('lost');
})"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_desk(tmp_path_factory.mktemp("desk")) as served:
        yield served


def sign_in(firefox: Firefox, desk: Served) -> None:
    """Sign in, and open the form of a new FAQ."""
    firefox.goto(desk.link())
    firefox.evaluate("document.querySelector('main form').requestSubmit()")
    until(firefox, "location.pathname === '/desk' && document.readyState === 'complete'")
    firefox.goto(f"{desk.url}/desk/new")


def until(firefox: Firefox, condition: str) -> None:
    """Wait until an expression is true, also while a page is being left."""
    firefox.evaluate(
        f"new Promise((done) => {{ const look = () => {condition} ? done() : setTimeout(look, 20); look() }})"
    )


def test_firefox_loses_nothing_and_does_nothing_twice(firefox: Firefox, desk: Served) -> None:
    sign_in(firefox, desk)
    fields = {"title": "From Firefox", "question": "Why?", "answer": "Because."}
    for name, text in fields.items():
        firefox.evaluate(f"document.querySelector('#write [name={name}]').value = {text!r}")
    firefox.evaluate(LOSE)
    firefox.evaluate("document.querySelector('.save [value=publish]').click()")
    until(firefox, "document.getElementById('unsent') !== null")
    assert desk.storage.overview.faq(desk.admin.access, "from-firefox").state == "published"
    for name, text in fields.items():
        assert firefox.evaluate(f"document.querySelector('#write [name={name}]').value") == text
    firefox.evaluate("void (window.fetch = sent)")
    firefox.evaluate("document.querySelector('.save [value=publish]').click()")
    until(firefox, "location.pathname === '/desk/faqs/from-firefox'")
    assert len(desk.storage.overview.page(desk.admin.site, limit=100)[0]) == 5


def test_firefox_undoes_what_the_buttons_did(firefox: Firefox, desk: Served) -> None:
    sign_in(firefox, desk)
    firefox.evaluate("document.querySelector('[name=answer]').focus()")
    firefox.evaluate("document.execCommand('insertText', false, 'hello')")
    firefox.evaluate("document.querySelector('[name=answer]').select()")
    firefox.evaluate("document.querySelector('.fields .format button').click()")
    assert firefox.evaluate("document.querySelector('[name=answer]').value") == "**hello**"
    firefox.evaluate("document.execCommand('undo')")
    assert firefox.evaluate("document.querySelector('[name=answer]').value") == "hello"
