"""A strict Content-Security-Policy lets the component through, and nothing is loaded from elsewhere."""

import pytest
from playwright.sync_api import Page

from tests.browser.component import errors_of, expanded, is_styled, open_all
from tests.browser.site import VARIANTS
from tests.support.host import NOTE_VIOLATIONS

pytestmark = pytest.mark.system


@pytest.mark.parametrize(
    ("fixture", "csp"),
    [("host", "nonce"), ("host", "hashes"), ("linked_host", "self"), ("linked_host", "nonce")],
)
@pytest.mark.parametrize("path", [*(f"rich-{variant}" for variant in VARIANTS), "many", "all"])
def test_a_strict_policy_allows_every_variant(
    page: Page, request: pytest.FixtureRequest, fixture: str, csp: str, path: str
) -> None:
    address: str = request.getfixturevalue(fixture)
    page.add_init_script(NOTE_VIOLATIONS)
    messages, requested = list[str](), list[str]()
    page.on("console", lambda message: messages.append(message.text))
    page.on("request", lambda request: requested.append(request.url))
    errors = errors_of(page)
    page.goto(f"{address}/{path}?csp={csp}")
    open_all(page)
    assert all(expanded(page))
    assert (page.evaluate("window.violations"), messages, errors) == ([], [], [])
    assert [url for url in requested if not url.startswith(f"{address}/")] == []
    measure = page.locator(".faqsvc").first.evaluate("e => getComputedStyle(e).maxInlineSize")
    assert measure == "736px"
    if path.startswith("rich"):  # the rules of the theme apply, too
        size = page.locator(".faqsvc-question").first.evaluate("e => getComputedStyle(e).fontSize")
        assert size == "20px"


def test_these_policies_stop_what_they_do_not_allow(page: Page, host: str, linked_host: str) -> None:
    page.goto(f"{host}/details?csp=self")  # inline styles, where only files are allowed
    assert not is_styled(page)
    page.add_init_script(NOTE_VIOLATIONS)
    page.goto(f"{linked_host}/disclosure?csp=hashes")  # files, where only inline elements are allowed
    assert len(page.evaluate("window.violations")) == 2


@pytest.mark.parametrize("fixture", ["host", "linked_host"])
@pytest.mark.parametrize("path", ["many", "nasty", "themed"])
def test_no_request_leaves_the_host(
    page: Page, request: pytest.FixtureRequest, fixture: str, path: str
) -> None:
    address: str = request.getfixturevalue(fixture)
    requested = list[str]()
    page.on("request", lambda request: requested.append(request.url))
    page.goto(f"{address}/{path}", wait_until="networkidle")
    assert requested[0] == f"{address}/{path}"
    assert [url for url in requested if not url.startswith(f"{address}/")] == []
    assert is_styled(page)
