"""A running demo: its service, and the design of the website and of the gallery, in Chromium."""

import io
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import cycle, pairwise
from typing import Literal

import httpx2
import pytest
from PIL import Image
from playwright.sync_api import Page
from playwright.sync_api import TimeoutError as Late

from demo_apps.demo import Demo, running_demo
from demo_apps.site import LANGUAGES, PAGES
from tests.support.axe import OF_COLOURS, violations
from tests.support.waiting import wait_until

pytestmark = pytest.mark.system

SCHEMES: tuple[Literal["light", "dark"], ...] = ("light", "dark")
BOXES = (
    "all => all.map(e => { const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom] })"
)


def boxes(page: Page, selector: str) -> list[tuple[float, float, float, float]]:
    """Return the left, top, right and bottom of each element."""
    found: list[tuple[float, float, float, float]] = page.locator(selector).evaluate_all(BOXES)
    return found


def rows(page: Page, selector: str) -> list[int]:
    """Return how many elements are in each row."""
    tops = [round(top) for _, top, _, _ in boxes(page, selector)]
    return [tops.count(top) for top in sorted(set(tops))]


def open_gallery(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.websites['Flask']}/gallery?lang=en", wait_until="networkidle")
    page.wait_for_function("[...document.querySelectorAll('iframe')].every(frame => frame.style.blockSize)")


@pytest.fixture(scope="module")
def demo() -> Iterator[Demo]:
    """The demo on free ports; it takes seconds to start."""
    with running_demo(0) as demo:
        yield demo


# The service


def test_the_key_and_the_sign_in_link_are_not_in_the_representation(demo: Demo) -> None:
    assert demo.api_key not in repr(demo)
    assert demo.sign_in not in repr(demo)


def test_the_link_signs_in_at_the_desk(demo: Demo) -> None:
    with httpx2.Client(base_url=demo.service, follow_redirects=True, timeout=60) as client:
        link = demo.sign_in.partition("#link=")[2]
        page = client.post("/desk/sign-in", data={"link": link}, headers={"origin": demo.service})
    assert page.url.path == "/desk"
    assert "/desk/faqs/pricing" in page.text


def test_an_unknown_page_is_not_found(demo: Demo) -> None:
    found = [httpx2.get(f"{website}/nothing", timeout=60) for website in demo.websites.values()]
    assert [response.status_code for response in found] == [404] * 5


# The website


def test_on_a_small_screen_the_header_is_low_in_every_language_and_website(page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": 320, "height": 844})
    for lang, website in zip(LANGUAGES, cycle(demo.websites.values()), strict=False):
        page.goto(f"{website}/?lang={lang}")
        ((_, top, _, bottom),) = boxes(page, ".masthead")
        assert bottom - top < 190
        assert page.evaluate("document.documentElement.scrollWidth") == 320


def test_on_a_small_screen_a_menu_has_the_languages(page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(f"{demo.websites['Flask']}/csp?lang=en")
    korean = page.get_by_role("link", name="한국어")
    assert korean.count() == 0
    page.get_by_role("button", name="English").click()
    assert rows(page, ".languages a") == [1] * len(LANGUAGES)
    korean.click()
    assert page.locator("html").get_attribute("lang") == "ko"


def test_on_a_large_screen_all_languages_are_in_one_row(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.websites['Flask']}/?lang=en")
    assert rows(page, ".languages a:visible") == [len(LANGUAGES)]
    assert not page.locator(".language").is_visible()


def test_axe_finds_nothing_on_any_page(page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    for shown in PAGES:
        page.goto(f"{demo.websites['Flask']}{shown.path}?lang=de")
        for scheme, rules in zip(SCHEMES, ((), OF_COLOURS), strict=True):
            page.emulate_media(color_scheme=scheme)
            assert violations(page, *rules) == [], (shown.name, scheme)


# The gallery


def test_every_frame_is_as_light_or_dark_as_its_caption_says(page: Page, demo: Demo) -> None:
    open_gallery(page, demo)
    captions = page.locator("figcaption").all_inner_texts()
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        picture = Image.open(io.BytesIO(page.screenshot(full_page=True, type="jpeg"))).convert("L")
        for box, caption in zip(boxes(page, "figure iframe"), captions, strict=True):
            histogram = picture.crop(box).histogram()
            is_dark = sum(histogram[:64]) > sum(histogram[192:])
            text_share = (sum(histogram[192:]) if is_dark else sum(histogram[:64])) / sum(histogram)
            assert is_dark == caption.endswith("dark"), (scheme, caption)
            assert text_share > 0.01, (scheme, caption)


def test_columns_keep_pairs_together_fill_every_row_and_have_the_line_of_a_template_below_each_frame(
    page: Page, demo: Demo
) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    open_gallery(page, demo)
    assert violations(page) == []
    assert page.locator("figure").count() == page.locator("figure code").count()
    lines = " ".join(page.locator("figure code").all_inner_texts())
    for part in ("section=", "questions=", "look=", "variant=", "--faqsvc-marker: chevron", "theme="):
        assert part in lines
    for section in page.locator(".section:has(.examples)").all():
        frames = section.locator("iframe").evaluate_all(BOXES)
        captions = section.locator("figcaption").all_inner_texts()
        for (first, caption), (second, _) in pairwise(zip(frames, captions, strict=True)):
            if caption.endswith("light"):
                assert first[1] == second[1], caption
        ends = {round(max(box[2] for box in frames if box[1] == top)) for top in {box[1] for box in frames}}
        assert len(ends) == 1, captions


def test_on_a_small_screen_the_gallery_is_short_and_has_a_table_of_contents(page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    open_gallery(page, demo)
    assert page.evaluate("document.documentElement.scrollWidth") == 390
    assert page.evaluate("document.documentElement.scrollHeight") < 7500
    targets = page.locator(".pages a").evaluate_all("all => all.map(link => link.hash.slice(1))")
    sections = page.locator(".section").evaluate_all("all => all.map(section => section.id)")
    assert targets == sections


# Side by side


def test_five_websites_are_side_by_side(page: Page, demo: Demo) -> None:
    page.set_viewport_size({"width": 1280, "height": 900})
    page.goto(f"{demo.side_by_side}/")
    assert rows(page, ".sites > li") == [5]
    assert page.evaluate("document.documentElement.scrollWidth") == 1280


def test_an_edit_is_seen_on_every_website_side_by_side(page: Page, demo: Demo) -> None:
    page.goto(f"{demo.side_by_side}/")
    titles = page.locator("iframe").evaluate_all("all => all.map(frame => frame.title)")
    assert titles == list(demo.websites)
    question = f"Was this edited at {time.time()}?"
    address = f"{demo.service}/api/v1/faq/pricing"
    items = httpx2.get(address, timeout=60).json()["items"][1:]
    body = {"websiteUrl": "https://heron-and-ink.example", "websiteName": "Heron", "lang": "en"}

    def is_seen() -> bool:
        """Edit the FAQ, again until each website follows the feed, and return whether all show the edit."""
        edited = {"question": question, "answer": f"Yes, at {time.time()}."}
        # Not by `FAQClient`, which makes the embeds of its own process forget the FAQ at once.
        published = httpx2.put(
            address,
            json={**body, "items": [edited, *items]},
            headers={"X-Plugin-Key": demo.api_key},
            timeout=60,
        )
        assert published.status_code == 200
        with suppress(Late):  # the last reload is three seconds after the edit
            for name in demo.websites:
                frame = page.frame_locator(f"iframe[title={name}]").last
                frame.get_by_text(question).first.wait_for(timeout=6000)
            return True
        return False

    wait_until(is_seen)
    assert "published" in page.get_by_role("status").inner_text()
