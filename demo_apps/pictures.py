"""Takes the pictures of the documentation: `python -m demo_apps.pictures`.

It needs Chromium on the PATH. The fonts of the pictures are those of the system: choose good ones with
FONTCONFIG_FILE, such as Inter, Source Serif 4 and JetBrains Mono.
"""

import io
import re
import runpy
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Final

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from demo_apps.demo import running_demo
from demo_apps.gallery import PAGE
from demo_apps.servers import address_of, listening, serving

PICTURES: Final = Path(__file__).parent.parent / "docs" / "_static"
COLOURS: Final = 128
"""The number of colours of a picture: flat areas and text need few, and the files stay small."""


def main() -> None:
    """Take all pictures again."""
    with running_demo(0) as demo, sync_playwright() as playwright:
        address = demo.websites["Flask"]
        path = shutil.which("chromium-headless-shell") or shutil.which("chromium")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        _save("demo.png", _side_by_side(browser, demo.side_by_side))
        _save("gallery.png", _gallery(browser, address, "at-home"))
        _save("looks.png", _gallery(browser, address, "looks"))
        with serving_tutorial() as tutorial:
            _save("tutorial.png", _tutorial(browser, tutorial))
        browser.close()


@contextmanager
def serving_tutorial() -> Iterator[str]:
    """Run the application of the tutorial, whose files are on its page, and yield its address."""
    page = (PICTURES.parent / "tutorial.md").read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as directory, listening(0) as listener:
        for name, text in re.findall(r"(?ms)^`([\w./]+)`:\n\n```[\w+]+\n(.*?)^```$", page):
            path = Path(directory, name)
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        with chdir(directory), serving(runpy.run_path("app.py", run_name="app")["app"], listener):
            yield address_of(listener)


def _tutorial(browser: Browser, address: str) -> bytes:
    size: ViewportSize = {"width": 720, "height": 370}
    page = browser.new_page(viewport=size, device_scale_factor=2, reduced_motion="reduce", locale="en")
    page.goto(address)
    page.click("details.faqsvc-item:nth-of-type(1) summary")
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    return page.screenshot()


def _save(name: str, png: bytes) -> None:
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(PICTURES / name, optimize=True)


def _side_by_side(browser: Browser, address: str) -> bytes:
    page = browser.new_page(
        viewport={"width": 1280, "height": 760}, device_scale_factor=1.75, reduced_motion="reduce"
    )
    page.goto(address)
    page.wait_for_function("!document.querySelector('.loading')")
    page.wait_for_timeout(1000)  # until the frames have scrolled to their FAQs
    return page.screenshot()


def _gallery(browser: Browser, address: str, section: str) -> bytes:
    size: ViewportSize = {"width": 1000, "height": 1000}  # twice as many pixels as the documentation shows
    page = browser.new_page(viewport=size, device_scale_factor=1.5, reduced_motion="reduce")
    page.goto(f"{address}{PAGE.path}", wait_until="networkidle")
    page.wait_for_function("[...document.querySelectorAll('iframe')].every(frame => frame.style.blockSize)")
    return page.locator(f"#{section} .examples").screenshot()


if __name__ == "__main__":
    main()
