"""`faqsvc extract` and `faqsvc generate`: questions and answers from a website."""

import json
from pathlib import Path
from typing import Final

import pytest

from tests.cli.support import failure, faqsvc
from tests.generation.websites import html, website
from tests.support import faulty as behaviours
from tests.support import faulty as faults
from tests.support.faulty import FaultyServer

PAGE: Final = html(
    '<h1>FAQ</h1><h2 id="ship">Do you ship to Peru?</h2><p>Yes: see <a href="/prices">prices</a>.</p>'
    "<h2>How long does it take?</h2><ul><li>By sea: 12 days</li><li>By air: 2 days</li></ul>"
)


@pytest.fixture
def page(tmp_path: Path) -> str:
    path = tmp_path / "page.html"
    path.write_text(PAGE)
    return str(path)


def test_a_website_is_read_without_service_and_key(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": html('<a href="/faq">FAQ</a>'), "/faq": PAGE}))
    url = f"http://127.0.0.1:{faulty.port}/"

    result = faqsvc("extract", url, "--json")

    document = json.loads(result.stdout)
    assert [item["question"] for item in document["items"]] == [
        "Do you ship to Peru?",
        "How long does it take?",
    ]
    assert document["items"][0]["answer"] == f"Yes: see [prices]({url}prices)."
    assert document["items"][0]["source"].startswith(f"{url}faq#:~:text=")
    assert (document["lang"], document["answerFormat"], document["websiteUrl"]) == ("en", "markdown", url)
    assert {entry["url"] for entry in document["pages"]} == {url, f"{url}faq"}
    assert f"{url}faq: 2 questions" in result.stderr.splitlines()


def test_one_page_alone_can_be_read(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": PAGE, "/faq": PAGE}))
    faqsvc("extract", f"http://127.0.0.1:{faulty.port}/", "--pages", "1")
    assert [request.target for request in faulty.log] == ["/robots.txt", "/"]


def test_links_of_a_file_are_kept_if_its_address_is_named(page: str) -> None:
    without = faqsvc("extract", page)
    assert ("](" in without.stdout, "--url" in without.stderr) == (False, True)
    named = faqsvc("extract", page, "--url", "https://tea.example/faq")
    assert "[prices](https://tea.example/prices)" in named.stdout
    assert ("https://tea.example/faq" in named.stdout, named.stderr) == (True, "")
    for arguments in (
        [page, "--url", "tea.example"],
        ["https://tea.example", "--url", "https://tea.example/faq"],
    ):
        assert faqsvc("extract", *arguments).exit_code == 2


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_publish_reads_what_extract_prints(page: str, form: str, tmp_path: Path) -> None:
    name = tmp_path / {"json": "faq.json", "markdown": "faq.md"}[form]
    name.write_text(faqsvc("extract", page, "--format", form).stdout)

    if form == "markdown":
        assert "## Do you ship to Peru?" in name.read_text().splitlines()
    arguments = ["--website-name", "Tea", "--website-url", "https://tea.example", "--dry-run"]
    body = json.loads(faqsvc("publish", str(name), *arguments).stdout)

    assert [item["question"] for item in body["items"]] == ["Do you ship to Peru?", "How long does it take?"]
    assert body["items"][1]["answer"] == "- By sea: 12 days\n- By air: 2 days"
    assert body["lang"] == "en"


def test_another_language_is_noted_and_never_a_label(page: str) -> None:
    result = faqsvc("extract", page, "--lang", "de", "--format", "json")
    assert json.loads(result.stdout)["lang"] == "en"
    assert result.stderr


def test_a_page_without_questions_a_missing_file_and_a_failing_site_are_named(
    tmp_path: Path, faulty: FaultyServer
) -> None:
    empty = tmp_path / "empty.html"
    empty.write_text("<p>Nothing.</p>")
    faulty.behave(faults.status(500))
    url = f"http://127.0.0.1:{faulty.port}/"
    for source in (str(empty), str(tmp_path / "none.html"), url):
        assert source.rpartition("/")[2] in failure(faqsvc("extract", source))


def test_a_redirect_to_another_private_address_is_blocked(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": faults.redirect("http://127.0.0.2:80/")}))
    assert "127.0.0.2" in failure(faqsvc("extract", f"http://127.0.0.1:{faulty.port}/"))


GENERATED: Final = [
    {"question": "Open?", "answer": "Yes: *daily*.", "source": "https://tea.example/#open"},
    {"question": "Closed?", "answer": "No."},
]


def test_publish_reads_what_generate_prints(faulty_service: FaultyServer, tmp_path: Path) -> None:
    faulty_service.behave(behaviours.body(json.dumps({"items": GENERATED}).encode()))
    arguments = ["https://tea.example", "--lang", "en", "--count", "2"]
    for form, name in (("json", "faq.json"), ("markdown", "faq.md")):
        (tmp_path / name).write_text(faqsvc("generate", *arguments, "--format", form).stdout)
        dry = faqsvc("publish", str(tmp_path / name), "--website-name", "Tea", "--dry-run")
        body = json.loads(dry.stdout)
        assert (body["websiteUrl"], body["lang"]) == ("https://tea.example", "en")
        items = [{"question": item["question"], "answer": item["answer"]} for item in GENERATED]
        assert body["items"] == items
    sent = {"websiteUrl": "https://tea.example", "lang": "en", "count": 2}
    assert [json.loads(request.body) for request in faulty_service.log] == [sent, sent]


def test_text_is_for_people_and_json_has_the_sources(faulty_service: FaultyServer) -> None:
    faulty_service.behave(behaviours.body(json.dumps({"items": GENERATED}).encode()))
    text = faqsvc("generate", "https://tea.example").stdout
    assert text == "Open?\n    Yes: *daily*.\n\nClosed?\n    No.\n"
    document = json.loads(faqsvc("generate", "https://tea.example", "--json").stdout)
    assert [item["source"] for item in document["items"]] == ["https://tea.example/#open", ""]


def test_items_in_another_language_are_not_labelled_as_the_requested_one(
    faulty_service: FaultyServer,
) -> None:
    markdown = "[Daily](https://x.example)."
    items = [{"question": "Open?", "answer": "Daily.", "answerMarkdown": markdown, "lang": "en"}]
    faulty_service.behave(behaviours.body(json.dumps({"items": items}).encode()))
    result = faqsvc("generate", "https://tea.example", "--lang", "de", "--format", "json")
    document = json.loads(result.stdout)
    assert (document["lang"], document["answerFormat"]) == ("en", "markdown")
    assert document["items"][0]["answer"] == markdown
    assert "'de'" in result.stderr


@pytest.mark.parametrize("url", ["https://tea.example", "tea"])
def test_a_website_without_questions_and_an_invalid_address_are_named(
    faulty_service: FaultyServer, url: str
) -> None:
    faulty_service.behave(behaviours.body(b'{"items": []}'))
    assert repr(url) in failure(faqsvc("generate", url))
