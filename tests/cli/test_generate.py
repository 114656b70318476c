"""`faqsvc generate`: from a website to a file."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.support import failure, faqsvc
from tests.support import faulty as behaviours
from tests.support.faulty import FaultyServer

GENERATED: Final = [
    {"question": "Open?", "answer": "Yes: *daily*.", "source": "https://tea.example/#open"},
    {"question": "Closed?", "answer": "No."},
]


def test_publish_reads_what_generate_prints(faulty_service: FaultyServer, tmp_path: Path) -> None:
    faulty_service.behave(behaviours.body(json.dumps({"items": GENERATED}).encode()))
    arguments = ["https://tea.example", "--lang", "en", "--count", "2", "--topic", "Hours"]
    bodies = list[dict[str, Any]]()
    for form, name in (("json", "faq.json"), ("markdown", "faq.md")):
        (tmp_path / name).write_text(faqsvc("generate", *arguments, "--format", form).stdout)
        dry = faqsvc("publish", str(tmp_path / name), "--website-name", "Tea", "--dry-run")
        bodies.append(json.loads(dry.stdout))
    items = [{"question": item["question"], "answer": item["answer"]} for item in GENERATED]
    body = {
        "websiteUrl": "https://tea.example",
        "websiteName": "Tea",
        "items": items,
        "lang": "en",
        "slug": "faq",
    }
    assert bodies == [body, body]
    sent = {"websiteUrl": "https://tea.example", "lang": "en", "count": 2, "topic": "Hours"}
    assert [json.loads(request.body) for request in faulty_service.log] == [sent, sent]


def test_text_is_for_people_and_json_has_the_sources(faulty_service: FaultyServer) -> None:
    faulty_service.behave(behaviours.body(json.dumps({"items": GENERATED}).encode()))
    text = faqsvc("generate", "https://tea.example").stdout
    assert text == "Open?\n    Yes: *daily*.\n\nClosed?\n    No.\n"
    document = json.loads(faqsvc("generate", "https://tea.example", "--format", "json").stdout)
    assert [item["source"] for item in document["items"]] == ["https://tea.example/#open", ""]


def test_items_in_another_language_are_not_labelled_as_the_requested_one(
    faulty_service: FaultyServer,
) -> None:
    markdown = "[Daily](https://x.example)."
    items = [
        {
            "question": "Open?",
            "answer": "Daily.",
            "answerMarkdown": markdown,
            "lang": "en",
        }
    ]
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
