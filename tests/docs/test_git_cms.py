"""The page about a CMS that needs no server: its configuration, and the files that the CMS writes."""

import http.server
import json
import os
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from faqsvc_embed import FAQEmbed
from tests.cli.support import faqsvc
from tests.docs.pages import ROOT, blocks_of
from tests.docs.running import write_files

if TYPE_CHECKING:
    from playwright.sync_api import Page

PAGE: Final = ROOT / "docs" / "how-to" / "editor-without-a-server.md"
SVELTIA: Final = os.environ.get("SVELTIA", "")
"""The folder `package/dist` of `npm pack @sveltia/cms`."""
WRITTEN: Final = {
    "prices.yaml": """\
title: Our prices
lang: en
answerFormat: markdown
items:
  - question: How much is a poster?
    answer: Five euros. **Ten** cost forty.
    section: Orders
  - question: 'Do you ship: “abroad”?'
    answer: |-
      Yes, to all of Europe.

      It takes three days: # no heading
""",
    "prices.de.yaml": """\
title: Preise
lang: de
answerFormat: markdown
items:
  - question: Was kostet ein Plakat?
    answer: Fünf Euro.
  - question: Liefern Sie ins Ausland?
    answer: Ja, überallhin.
""",
}
"""What the CMS wrote when the test below was written."""
BEFORE: Final = (
    "title: Prices\nlang: en\nanswerFormat: markdown\nitems:\n  - question: How much is a poster?\n"
    "    answer: Five euros. **Ten** cost forty.\n    section: Orders\n"
)


def test_the_folder_reads_what_the_cms_writes(tmp_path: Path) -> None:
    for name, text in WRITTEN.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    reads(tmp_path)


def reads(folder: Path) -> None:
    """Check the files that the CMS has written, and what a page shows of them."""
    result = faqsvc("check", str(folder), "--json")
    assert (result.exit_code, json.loads(result.stdout)["problems"]) == (0, [])
    with FAQEmbed(directory=str(folder), strict=True) as embed:
        assert [item.section for item in embed.get_faq("prices").items] == ["Orders", None]
        assert "<strong>Ten</strong>" in embed.render("prices")
        assert "<p>It takes three days: # no heading</p>" in embed.render("prices")
        assert [item.question for item in embed.get_faq("prices", lang="de").items] == [
            "Was kostet ein Plakat?",
            "Liefern Sie ins Ausland?",
        ]


class Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments: object) -> None:
        pass


@pytest.fixture
def site(tmp_path: Path) -> Iterator[str]:
    """The address of the CMS with the configuration of the page."""
    write_files(blocks_of(PAGE), tmp_path)
    index = tmp_path / "static" / "admin" / "index.html"
    index.write_text(index.read_text().split("<script")[0] + '<script src="/cms/sveltia-cms.js"></script>')
    (tmp_path / "cms").symlink_to(SVELTIA)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(tmp_path))) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/static/admin/index.html"
        server.shutdown()
        thread.join()


REPOSITORY: Final = """async (text) => {
    const root = await navigator.storage.getDirectory();
    await root.getDirectoryHandle(".git", {create: true});
    const faqs = await root.getDirectoryHandle("faqs", {create: true});
    const file = await (await faqs.getFileHandle("prices.yaml", {create: true})).createWritable();
    await file.write(text);
    await file.close();
}"""
FILES: Final = """async () => {
    const root = await navigator.storage.getDirectory(), found = {};
    for await (const [name, file] of (await root.getDirectoryHandle("faqs")).entries())
        found[name] = await (await file.getFile()).text();
    return found;
}"""


@pytest.mark.system
@pytest.mark.skipif(not SVELTIA, reason="SVELTIA names no folder with Sveltia CMS")
def test_an_editor_saves_an_faq_and_its_translation(site: str, page: "Page", tmp_path: Path) -> None:
    """The repository is the browser's own file system, which has the same interface as a chosen folder."""
    page.add_init_script("window.showDirectoryPicker = () => navigator.storage.getDirectory()")
    page.goto(site)
    page.evaluate(REPOSITORY, BEFORE)
    page.get_by_role("button", name="Work with Local Repository").click()
    page.get_by_text("Prices").first.wait_for()

    def save(word: str) -> None:
        page.get_by_role("button", name="Save", exact=True).click()
        page.wait_for_function(f"async (word) => JSON.stringify(await ({FILES})()).includes(word)", arg=word)

    def write(answers: list[str]) -> None:
        for number, answer in enumerate(answers):
            page.locator("[contenteditable=true]").nth(number).click()
            page.keyboard.press("Control+A")
            page.keyboard.type(answer)

    page.goto(f"{site}#/collections/faqs/entries/prices")
    page.get_by_role("textbox", name="Title").first.fill("Our prices")
    page.get_by_role("button", name="Add").last.click()
    page.get_by_role("textbox", name="Question").nth(1).fill("Do you ship: “abroad”?")
    page.locator("[contenteditable=true]").nth(1).click()
    page.keyboard.type("Yes, to all of Europe.\nIt takes three days: # no heading")
    save("no heading")
    page.goto(f"{site}#/collections/faqs/entries/prices")
    page.get_by_text("German").first.click()
    page.get_by_role("button", name="Enable").click()
    page.get_by_role("textbox", name="Title").first.fill("Preise")
    for number, question in enumerate(("Was kostet ein Plakat?", "Liefern Sie ins Ausland?")):
        page.get_by_role("textbox", name="Question").nth(number).fill(question)
    write(["Fünf Euro.", "Ja, überallhin."])
    save("überallhin")
    written = page.evaluate(FILES)
    assert written == WRITTEN
    folder = tmp_path / "faqs"
    folder.mkdir()
    for name, text in written.items():
        (folder / name).write_text(text, encoding="utf-8")
    reads(folder)
