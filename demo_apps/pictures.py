"""Takes the pictures of the documentation: `python -m demo_apps.pictures`.

It needs Chromium on the PATH, and the frameworks of the gallery in `node_modules` (see `gallery`).
"""

import base64
import io
import re
import runpy
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir, contextmanager
from pathlib import Path
from typing import Final, Literal

from PIL import Image
from playwright.sync_api import Browser, ViewportSize, sync_playwright

from demo_apps.demo import running_demo
from demo_apps.gallery import PAGE
from demo_apps.servers import address_of, listening, serving

PICTURES: Final = Path(__file__).parent.parent / "docs" / "_static"
COLOURS: Final = 256
"""The number of colours of a picture: flat areas and text need few, and the files stay small."""
OPENED: Final = "details.faqsvc-item:nth-of-type(2)"


def main() -> None:
    """Take all pictures again."""
    with running_demo(0) as demo, sync_playwright() as playwright:
        address = demo.websites["Flask"]
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        light, dark = (_prices(browser, address, scheme) for scheme in ("light", "dark"))
        _save("demo.png", _side_by_side(browser, light, dark))
        _save("gallery.png", _gallery(browser, address))
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
    page = browser.new_page(viewport=size, device_scale_factor=1.5, reduced_motion="reduce", locale="en")
    page.goto(address)
    page.click("details.faqsvc-item:nth-of-type(1) summary")
    page.mouse.move(0, 0)
    page.evaluate("document.activeElement.blur()")
    return page.screenshot()


def _save(name: str, png: bytes) -> None:
    picture = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    picture.save(PICTURES / name, optimize=True)


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
    size: ViewportSize = {"width": 1440, "height": 1000}
    page = browser.new_page(viewport=size, device_scale_factor=0.75, reduced_motion="reduce")
    page.goto(f"{address}{PAGE.path}", wait_until="networkidle")
    page.wait_for_function("[...document.querySelectorAll('iframe')].every(frame => frame.style.blockSize)")
    page.wait_for_timeout(1000)  # until Tailwind has styled its frames
    end = page.evaluate("document.querySelector('#variants').getBoundingClientRect().top")
    return page.screenshot(full_page=True, clip={"x": 0, "y": 0, "width": 1440, "height": end - 24})


if __name__ == "__main__":
    main()
