"""The Nu HTML checker finds no error in a page of an embed, of the service, or of its desk."""

import json
import subprocess
from collections.abc import Iterator
from itertools import permutations, product
from pathlib import Path
from typing import get_args
from urllib.parse import urldefrag, urljoin, urlsplit

import httpx2
import pytest
from msgspec.structs import replace
from turbohtml import parse

from faqsvc_embed.models import ANSWER_FORMATS
from faqsvc_embed.settings.validators import Look, Variant
from faqsvc_embed.testing import fake_embed
from tests.browser.site import PAGES, RICH, make_app
from tests.service.desk.serving import Served, remove, serve_desk

pytestmark = pytest.mark.system

CHECKER = "node_modules/vnu-jar/build/dist/vnu.jar"
IGNORED = ("CSS: ", "Forbidden code point")
"""The checker does not know container queries, and records of these tests contain control characters."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with FAQs in several states and languages."""
    with serve_desk(tmp_path_factory.mktemp("desk")) as served:
        remove(served.storage, served.admin.access)
        yield served


def errors(readers: Path, folder: Path, pages: dict[str, str]) -> set[tuple[str, str]]:
    """Return the errors of these pages, each with the path of its page."""
    paths = dict[str, str]()
    for number, (path, html) in enumerate(pages.items()):
        file = folder / f"{number}.html"
        file.write_text(html, encoding="utf-8")
        paths[file.as_uri()] = path
    command = [
        "java",
        "-XX:TieredStopAtLevel=1",  # a run ends before slower compilation pays
        "-XX:+UseSerialGC",
        "-Xss8m",
        "-jar",
        CHECKER,
        "--errors-only",
        "--exit-zero-always",
        "--format",
        "json",
        str(folder),
    ]
    done = subprocess.run(command, cwd=readers, capture_output=True, text=True, timeout=300, check=True)
    messages = [message for message in json.loads(done.stderr)["messages"] if message["type"] == "error"]
    return {
        (paths[message["url"].replace("file:/", "file:///", 1)], message["message"])
        for message in messages
        if not message["message"].startswith(IGNORED)
    }


def crawl(client: httpx2.Client, *starts: str) -> dict[str, str]:
    """Return all HTML pages that can be reached by links, one for each path and language."""
    found, waiting = dict[str, str](), [urljoin(str(client.base_url), start) for start in starts]
    while waiting:
        url = waiting.pop()
        key = urlsplit(url).path + ("?lang" if "lang=" in url else "")
        if key in found or not url.startswith(str(client.base_url)):
            continue
        response = client.get(url)
        if "text/html" not in response.headers.get("Content-Type", ""):
            continue
        found[key] = response.text
        links = [element.attrs["href"] for element in parse(response.text).select("a[href]")]
        waiting += [urldefrag(urljoin(url, str(link))).url for link in links]
    return found


def test_the_checker_reports_an_error(readers: Path, tmp_path: Path) -> None:
    page = '<!DOCTYPE html><html lang="en"><title>x</title><p id="a"><p id="a">'
    assert {path for path, _ in errors(readers, tmp_path, {"/wrong": page})} == {"/wrong"}


def test_pages_of_an_embed_are_valid(readers: Path, tmp_path: Path) -> None:
    pages = dict[str, str]()
    for (number, look), answer_format in product(enumerate(get_args(Look)), ANSWER_FORMATS):
        styles = ("inline", "linked")[(number + (answer_format == "text")) % 2]
        client = make_app(styles=styles, answer_format=answer_format, look=look).test_client()
        pages |= {f"{path} {look} {answer_format}": client.get(f"/{path}").text for path in PAGES}
    # An FAQ brings the rules that no FAQ above it needs; these rules must match nothing above it.
    embed = fake_embed({})
    for order in permutations(zip(get_args(Variant), ("en", "ja", "de"), strict=True)):
        with embed.page():
            faqs = [embed.render(replace(RICH, lang=lang), variant=variant) for variant, lang in order]
        pages[f"{order}"] = f'<!DOCTYPE html><html lang="en"><title>x</title>{"".join(faqs)}'
    assert errors(readers, tmp_path, pages) == set()


def test_pages_of_the_service_are_valid(readers: Path, tmp_path: Path, desk: Served) -> None:
    with httpx2.Client(base_url=desk.url, follow_redirects=True, timeout=60) as client:
        pages = crawl(
            client, "/", "/faq/pricing", "/faq/pricing?lang=de", "/faq/shipping", "/faq/jobs", "/faq/none"
        )
    assert len(pages) > 4
    assert errors(readers, tmp_path, pages) == set()


def test_pages_of_the_desk_are_valid(readers: Path, tmp_path: Path, desk: Served) -> None:
    with httpx2.Client(base_url=desk.url, follow_redirects=True, timeout=60) as client:
        signing_in = client.get(desk.link())
        client.post("/desk/sign-in", data={"link": desk.link()}, headers={"Origin": desk.url})
        pages = crawl(client, "/desk", "/desk/faqs/pricing/remove")
    assert {"/desk", "/desk/faqs/pricing", "/desk/bin", "/desk/people", "/desk/keys", "/desk/log"} <= set(
        pages
    )
    assert errors(readers, tmp_path, {**pages, "/desk/sign-in": signing_in.text}) == set()
