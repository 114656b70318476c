"""Hosted pages in a browser."""

from collections.abc import Iterator
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.storage.writes import put
from tests.support import samples
from tests.support.axe import violations
from tests.support.running import running

pytestmark = pytest.mark.system


@pytest.fixture
def url(storage: Storage) -> Iterator[str]:
    """A service with an FAQ in seven languages."""
    for record in samples.multilingual().values():
        put(storage, FAQ.from_dict(record), website_url="https://www.tea.example")
    items = [{"question": f"Question {n}?", "answer": f"Answer {n}."} for n in range(15)]
    for lang in LANGUAGES:
        put(storage, FAQ.from_dict({"slug": "long", "lang": lang, "items": items}))
    with running(create_app(storage)) as url:
        yield url


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", ["/faq/pricing", "/faq/pricing?lang=ko", "/faq/nothing"])
def test_a_page_is_accessible_and_loads_nothing_else(
    url: str, chromium: Browser, scheme: Any, path: str
) -> None:
    context = chromium.new_context(viewport={"width": 320, "height": 640}, color_scheme=scheme)
    page = context.new_page()
    messages: list[str] = []
    requests: list[str] = []
    page.on("console", lambda message: messages.append(message.text))
    page.on("request", lambda request: requests.append(request.url))
    page.goto(url + path)
    requests_made = list(requests)
    found = violations(page) if "nothing" not in path else []
    width = page.evaluate("document.documentElement.scrollWidth")
    background = page.evaluate("getComputedStyle(document.documentElement).backgroundColor")
    context.close()

    assert found == []
    assert [text for text in messages if "404" not in text] == []
    assert requests_made == [url + path]
    assert (width, background) == (320, {"light": "rgb(251, 250, 247)", "dark": "rgb(21, 23, 26)"}[scheme])


def test_the_number_of_questions_found_moves_no_button_on_a_phone(url: str, chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 320, "height": 640})
    for lang in LANGUAGES:
        page.goto(f"{url}/faq/long?lang={lang}")
        page.locator(".faqsvc-filter").fill("1")
        found = page.locator(".faqsvc-found")
        expect(found).not_to_be_empty()
        bottom = "field => field.getBoundingClientRect().bottom"
        button = page.locator(".faqsvc-all").evaluate(bottom)
        assert abs(button - page.locator(".faqsvc-filter").evaluate(bottom)) < 10
        assert found.evaluate("text => text.getBoundingClientRect().top") > button
    page.close()
