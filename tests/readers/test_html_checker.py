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
from tests.service.desk.serving import remove, serve_desk

pytestmark = pytest.mark.system

CHECKER = "node_modules/vnu-jar/build/dist/vnu.jar"
IGNORED = ("CSS: ", "Forbidden code point")
"""The checker does not know container queries, and records of these tests contain control characters."""


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


def pages_of_an_embed() -> Iterator[tuple[str, str]]:
    for (number, look), answer_format in product(enumerate(get_args(Look)), ANSWER_FORMATS):
        styles = ("inline", "linked")[(number + (answer_format == "text")) % 2]
        client = make_app(styles=styles, answer_format=answer_format, look=look).test_client()
        for path in PAGES:
            yield f"{path} {look} {answer_format}", client.get(f"/{path}").text
    # An FAQ brings the rules that no FAQ above it needs; these rules must match nothing above it.
    embed = fake_embed({})
    for order in permutations(zip(get_args(Variant), ("en", "ja", "de"), strict=True)):
        with embed.page():
            faqs = [embed.render(replace(RICH, lang=lang), variant=variant) for variant, lang in order]
        yield f"{order}", f'<!DOCTYPE html><html lang="en"><title>x</title>{"".join(faqs)}'


def pages_of_a_service(folder: Path) -> dict[str, str]:
    """Return the pages of a service, and of its desk, with FAQs in several states and languages."""
    with (
        serve_desk(folder) as desk,
        httpx2.Client(base_url=desk.url, follow_redirects=True, timeout=60) as client,
    ):
        remove(desk.storage, desk.admin.access)
        faqs = ("/faq/pricing", "/faq/pricing?lang=de", "/faq/shipping", "/faq/jobs", "/faq/none")
        public = crawl(client, "/", *faqs)
        signing_in = client.get(desk.link()).text
        client.post("/desk/sign-in", data={"link": desk.link()}, headers={"Origin": desk.url})
        pages = {**public, "/desk/sign-in": signing_in, **crawl(client, "/desk", "/desk/faqs/pricing/remove")}
    names = ("", "/faqs/pricing", "/bin", "/people", "/keys", "/log")
    assert {f"/desk{name}" for name in names} <= pages.keys()
    assert len(public) > 4
    return pages


def test_the_checker_finds_a_mistake_and_no_error_in_any_page(readers: Path, tmp_path: Path) -> None:
    """All pages are checked in one run, because the checker takes longest to start."""
    wrong = '<!DOCTYPE html><html lang="en"><title>x</title><p id="a"><p id="a">'
    checked, paths = tmp_path / "pages", dict[str, str]()
    checked.mkdir()
    pages = {"wrong": wrong, **dict(pages_of_an_embed()), **pages_of_a_service(tmp_path)}
    for number, (path, html) in enumerate(pages.items()):
        file = checked / f"{number}.html"
        file.write_text(html, encoding="utf-8")
        paths[file.as_uri()] = path
    # The run is too short for more optimisation to pay.
    java = ["java", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xss8m", "-jar", CHECKER]
    options = ["--errors-only", "--exit-zero-always", "--format", "json", str(checked)]
    done = subprocess.run(
        [*java, *options], cwd=readers, capture_output=True, text=True, timeout=600, check=True
    )
    errors = {
        (paths[message["url"].replace("file:/", "file:///", 1)], message["message"])
        for message in json.loads(done.stderr)["messages"]
        if message["type"] == "error" and not message["message"].startswith(IGNORED)
    }
    assert {path for path, _ in errors} == {"wrong"}, errors
