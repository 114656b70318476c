"""The component on a page of a real browser: what is open, what can be seen, how it looks."""

import io
from typing import Final

from PIL import Image
from playwright.sync_api import Locator, Page

LOOKS: Final = ("light", "dark", "forced light", "forced dark")


def open_look(page: Page, address: str, look: str) -> None:
    """Open a page in one of the `LOOKS`: light or dark, with forced colours or without."""
    scheme: str = look.removeprefix("forced ")
    forced = look != scheme
    page.emulate_media(
        color_scheme="dark" if scheme == "dark" else "light", forced_colors="active" if forced else "none"
    )
    # Forced colours replace those of the host, which axe would still read.
    page.goto(address + ("?dark" if scheme == "dark" and not forced else ""))


def toggles(page: Page) -> Locator:
    """Return the elements that open and close the items."""
    return page.locator(".faqsvc-toggle")


def expanded(page: Page) -> list[bool]:
    """Return, for each item, whether it says that it is open."""
    found: list[bool] = toggles(page).evaluate_all(
        "all => all.map(e => e.closest('details') ? e.closest('details').open : e.ariaExpanded === 'true')"
    )
    return found


def visible(page: Page) -> list[bool]:
    """Return, for each answer, whether it takes up room on the page."""
    found: list[bool] = page.locator(".faqsvc-answer").evaluate_all(
        """all => all.map(e => e.checkVisibility({contentVisibilityAuto: true})
            && e.getBoundingClientRect().height > 8 && e.parentElement.getBoundingClientRect().height > 8)"""
    )
    return found


def open_all(page: Page) -> None:
    """Open every item of the page."""
    toggles(page).evaluate_all("all => all.forEach(e => e.click())")


def texts(page: Page, selector: str) -> list[str]:
    """Return the text of each element, with runs of white space made one space."""
    return [words(text) for text in page.locator(selector).all_text_contents()]


def words(text: str) -> str:
    """Return a text as an HTML parser gives it, with runs of white space made one space."""
    return " ".join(text.replace("\0", "\ufffd").split())


def is_styled(page: Page) -> bool:
    """Return whether the stylesheet of the component applies."""
    position: str = toggles(page).first.evaluate("e => getComputedStyle(e).position")
    return position == "relative"


def picture(locator: Locator) -> Image.Image:
    """Return what an element looks like."""
    return Image.open(io.BytesIO(locator.screenshot())).convert("RGB")


def share(image: Image.Image, colour: tuple[int, int, int], tolerance: int = 24) -> float:
    """Return the share of the pixels that have this colour, or nearly."""
    counted = image.getcolors(image.width * image.height) or []
    near = [
        count
        for count, found in counted
        if isinstance(found, tuple)
        and all(abs(a - b) <= tolerance for a, b in zip(found, colour, strict=True))
    ]
    return sum(near) / (image.width * image.height)


def errors_of(page: Page) -> list[str]:
    """Return a list that receives the script errors of the page."""
    errors = list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    return errors
