"""The script in parts of a page that htmx, Turbo or the host's own script put in, restore or morph."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from flask import Flask, Response, render_template_string, send_from_directory
from playwright.sync_api import Page, expect

from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.testing import fake_embed
from tests.browser.component import errors_of, expanded
from tests.browser.site import SECTIONS
from tests.support.host import serve

pytestmark = pytest.mark.system

FILES: Final = {
    "htmx2": "htmx.org/dist/htmx.js",
    "htmx4": "htmx4/dist/htmx.js",
    "turbo": "@hotwired/turbo/dist/turbo.es2017-umd.js",
}
PACKAGES: Final = ("htmx.org@2", "htmx4@npm:htmx.org@4", "@hotwired/turbo@8")
COUNT: Final = len(SECTIONS.items)
VARIANTS: Final = pytest.mark.parametrize("variant", ["details", "disclosure"])

HEAD: Final = """<!doctype html><html lang="en"><head><title>{{ title }}</title>
<meta name="turbo-refresh-method" content="morph">
{% if library %}<script src="/files/{{ library }}"></script>{% endif %}</head><body>"""
WITH_FAQ: Final = HEAD + '<a href="/other/{{ library }}">Other</a>{{ faq("sections", variant=variant) }}'
WITHOUT_FAQ: Final = HEAD + (
    '<button hx-get="/part/{{ variant }}" hx-target="#place">Load</button><div id="place"></div>'
    '<a id="away" hx-get="/away" hx-target="body" hx-push-url="true">Away</a>'
)


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder with the libraries, which npm installs; skipped without npm or a registry, unless in CI."""
    folder = tmp_path_factory.mktemp("libraries")
    npm = shutil.which("npm")
    reason = "npm is not installed"
    if npm is not None:
        command = [npm, "install", "--prefix", str(folder), "--silent", "--no-audit", "--no-package-lock"]
        ran = subprocess.run([*command, *PACKAGES], capture_output=True, text=True, timeout=180, check=False)
        if ran.returncode == 0:
            return folder / "node_modules"
        reason = f"npm cannot install {', '.join(PACKAGES)}: {ran.stderr[-300:]}"
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture(scope="module")
def site(libraries: Path) -> Iterator[str]:
    """The address of a host whose pages load parts."""
    app = Flask("host")
    FAQExtension(app, embed=fake_embed({"sections": SECTIONS}))

    def show(source: str, **values: Any) -> str:
        return render_template_string(
            source, **{"library": "", "title": "Page", "variant": "details", **values}
        )

    app.add_url_rule("/files/<name>", "files", lambda name: send_from_directory(libraries, FILES[name]))
    app.add_url_rule("/swap/<library>/<variant>", "swap", lambda **values: show(WITHOUT_FAQ, **values))
    app.add_url_rule("/page/<library>/<variant>", "page", lambda **values: show(WITH_FAQ, **values))
    app.add_url_rule("/other/<library>", "other", lambda **values: show(HEAD + "Other page", **values))
    part = '{{ faq("sections", variant=variant) }}'
    app.add_url_rule("/part/<variant>", "part", lambda variant: show(part, variant=variant))
    app.add_url_rule("/away", "away", lambda: "<p>Elsewhere</p>")
    app.add_url_rule("/favicon.ico", "icon", lambda: Response(b"", 204))
    yield from serve(app)


def check(page: Page, opened: int | None = None) -> None:
    """Check that everything of an FAQ is there once and works."""
    expect(page.locator("#faq-sections .faqsvc-item")).to_have_count(COUNT)
    for selector, count in {
        ".faqsvc-tools": 1,
        ".faqsvc-filter": 1,
        ".faqsvc-all": 1,
        ".faqsvc-index": 1,
    }.items():
        expect(page.locator(selector)).to_have_count(count)
    expect(page.locator(".faqsvc-anchor")).to_have_count(COUNT)
    expect(page.locator(".faqsvc-toggle")).to_have_count(COUNT)
    if opened is not None:
        page.wait_for_function(f"document.querySelectorAll('.faqsvc-answer')[{opened}].checkVisibility()")
        assert expanded(page) == [n == opened for n in range(COUNT)]
    page.get_by_role("searchbox").fill("payment 2")
    expect(page.get_by_role("status")).to_have_text("1 gefunden")
    expect(page.locator(".faqsvc-item:not([hidden])")).to_have_count(1)
    page.get_by_role("searchbox").press("Escape")
    expect(page.locator(".faqsvc-item:not([hidden])")).to_have_count(COUNT)
    page.get_by_role("button", name="Alle öffnen").click()
    assert expanded(page) == [True] * COUNT
    page.get_by_role("button", name="Alle schließen").click()
    assert expanded(page) == [False] * COUNT
    page.locator(".faqsvc-toggle").nth(2).click()
    assert expanded(page) == [n == 2 for n in range(COUNT)]


@pytest.mark.parametrize(("library", "variant"), [("htmx2", "disclosure"), ("htmx4", "details")])
def test_htmx_swaps_an_faq_in_again_and_again(page: Page, site: str, library: str, variant: str) -> None:
    errors = errors_of(page)
    page.goto(f"{site}/swap/{library}/{variant}")
    for opened in (None, 2, 2):
        with page.expect_response("**/part/*"):
            page.get_by_role("button", name="Load").click()
        page.wait_for_timeout(100)  # htmx settles
        check(page, opened)
    assert errors == []


@pytest.mark.parametrize(("library", "variant"), [("htmx2", "details"), ("htmx4", "disclosure")])
def test_htmx_goes_back_to_an_faq(page: Page, site: str, library: str, variant: str) -> None:
    page.goto(f"{site}/swap/{library}/{variant}")
    page.get_by_role("button", name="Load").click()
    check(page)
    page.locator("#away").click()
    page.get_by_text("Elsewhere").wait_for()
    page.go_back()
    if page.locator(".faqsvc").count() == 0:  # htmx 4 asks the server again
        page.get_by_role("button", name="Load").click()
    check(page, 2)


@VARIANTS
def test_turbo_visits_and_restores_an_faq(page: Page, site: str, variant: str) -> None:
    errors = errors_of(page)
    page.goto(f"{site}/page/turbo/{variant}")
    check(page)
    page.get_by_role("link", name="Other").click()
    page.get_by_text("Other page").wait_for()
    page.go_back()
    check(page, 2)
    assert errors == []


@VARIANTS
def test_turbo_morphs_an_faq(page: Page, site: str, variant: str) -> None:
    page.goto(f"{site}/page/turbo/{variant}")
    check(page)
    for _ in range(2):
        page.evaluate("""() => new Promise(done => {
            document.addEventListener("turbo:render", done, {once: true})
            Turbo.visit(location.href, {action: "replace"})
        })""")
        check(page, 2)


@VARIANTS
def test_a_script_of_the_host_replaces_an_faq(page: Page, site: str, variant: str) -> None:
    page.goto(f"{site}/page/turbo/{variant}")
    check(page)
    for _ in range(2):
        page.evaluate(
            """async variant => {
                const html = await (await fetch(`/part/${variant}`)).text()
                document.querySelector(".faqsvc").outerHTML = html
            }""",
            variant,
        )
        check(page, 2)


def test_a_short_disclosure_after_a_long_faq_gets_the_whole_script(page: Page, site: str) -> None:
    page.goto(f"{site}/page/turbo/details")
    page.evaluate("""async () => {
        const html = await (await fetch("/part/disclosure")).text()
        const part = document.createRange().createContextualFragment(html)  // runs its script
        part.querySelector(".faqsvc").id = "second"
        document.body.append(part)
    }""")
    expect(page.locator("#second button.faqsvc-toggle")).to_have_count(COUNT)
    page.locator("#second button.faqsvc-all").click()
    assert expanded(page) == [False] * COUNT + [True] * COUNT
