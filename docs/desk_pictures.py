"""Takes the pictures of docs/how-to/desk.md: `python -m docs.desk_pictures` in the root of the repository."""

import io
import shutil
import tempfile
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Page, sync_playwright

from tests.conftest import CHROMIUM_ARGUMENTS, CHROMIUM_NAMES
from tests.service.desk.serving import Served, serve_desk

STATIC: Final = Path(__file__).parent / "_static"
COLORS: Final = 192
"""Colours of a picture, which keep it below 120 kB."""


def save(page: Page, name: str) -> None:
    """Save what the window shows."""
    picture = Image.open(io.BytesIO(page.screenshot())).convert("RGB")
    picture.quantize(COLORS, dither=Image.Dither.NONE).save(STATIC / f"desk-{name}.png", optimize=True)


def take(page: Page, desk: Served) -> None:
    """Walk through the desk."""
    page.set_viewport_size({"width": 1200, "height": 640})
    page.goto(desk.link())
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{desk.url}/desk")
    save(page, "list")
    page.set_viewport_size({"width": 1200, "height": 860})
    page.goto(f"{desk.url}/desk/faqs/pricing")
    page.locator("#preview-sheet summary").first.click()
    page.mouse.move(0, 0)
    save(page, "edit")
    page.set_viewport_size({"width": 1200, "height": 1000})
    page.goto(f"{desk.url}/desk/faqs/pricing?lang=de")
    save(page, "translate")
    page.set_viewport_size({"width": 1200, "height": 800})
    page.goto(f"{desk.url}/desk/faqs/pricing/history")
    save(page, "history")


def main() -> None:
    """Take all pictures, in light colours and in UTC."""
    path = next(filter(None, map(shutil.which, CHROMIUM_NAMES)), None)
    with (
        tempfile.TemporaryDirectory() as directory,
        serve_desk(Path(directory)) as desk,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_ARGUMENTS)
        context = browser.new_context(
            color_scheme="light",
            timezone_id="UTC",
            locale="en-GB",
            reduced_motion="reduce",
            device_scale_factor=1.5,
        )
        take(context.new_page(), desk)
        browser.close()


if __name__ == "__main__":
    main()
