"""The pictures of the README, taken of the demo as it is: `python -m demo_apps.pictures`.

Chromium has to be on the PATH, and the frameworks of the gallery in `node_modules` (see `gallery`).
"""

import base64
import shutil
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from demo_apps.__main__ import running_demo
from demo_apps.gallery import PAGE

HERE: Final = Path(__file__).parent
OPENED: Final = "details.faqsvc-item:nth-of-type(2)"


def main() -> None:
    """Take all pictures, in the place of those that are there."""
    with running_demo() as (_, hosts), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        light, dark = (_prices(browser, hosts["Flask"], scheme) for scheme in ("light", "dark"))
        (HERE / "screenshot.png").write_bytes(_side_by_side(browser, light, dark))
        (HERE / "gallery.png").write_bytes(_gallery(browser, hosts["Flask"]))
        browser.close()


def _prices(browser: Browser, address: str, scheme: Literal["light", "dark"]) -> bytes:
    size: ViewportSize = {"width": 800, "height": 1000}
    page = browser.new_page(viewport=size, color_scheme=scheme, reduced_motion="reduce")
    page.goto(address)
    page.click(f"{OPENED} summary")
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur(); scrollTo(0, 0)")
    return page.screenshot()


def _side_by_side(browser: Browser, *pictures: bytes) -> bytes:
    page = browser.new_page(viewport={"width": 800 * len(pictures), "height": 1000})
    sources = [f"data:image/png;base64,{base64.b64encode(picture).decode()}" for picture in pictures]
    images = "".join(f'<img width="800" src="{source}">' for source in sources)
    page.set_content(f'<body style="display: flex; margin: 0">{images}')
    return page.screenshot()


def _gallery(browser: Browser, address: str) -> bytes:
    size: ViewportSize = {"width": 1440, "height": 1960}
    page = browser.new_page(viewport=size, device_scale_factor=0.75, reduced_motion="reduce")
    page.goto(f"{address}{PAGE.path}", wait_until="networkidle")
    for frame in page.frames[1:]:
        frame.wait_for_load_state("networkidle")
    page.wait_for_timeout(1000)  # until every frame is as high as its page
    return page.screenshot()


if __name__ == "__main__":
    main()
