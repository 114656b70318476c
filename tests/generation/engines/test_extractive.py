"""Which pairs of a site the built-in engine returns, and in which order."""

import asyncio
from typing import Any

from faqsvc_embed.api.contract import DroppedEntry, GeneratedEntry, GenerateResponse
from faqsvc_embed.generation.crawl.fetcher import Response
from faqsvc_embed.generation.crawl.page import Page, read_page
from faqsvc_embed.generation.engines.extractive import ExtractiveEngine
from faqsvc_embed.generation.engines.protocol import (
    GenerationRequest,
    Reason,
)
from faqsvc_embed.generation.extraction.extractor import Pair

HOME = Page(
    url="https://tea.example/",
    lang="en",
    tag="en",
    pairs=(Pair("When are you open?", "Until six.", in_faq=False),),
)
FAQ = Page(
    url="https://tea.example/faq",
    lang="en",
    tag="en",
    pairs=(
        Pair("Do you ship to Peru?", "We do.", in_faq=True),
        Pair("when are you open", "From nine until six.", in_faq=True),
    ),
)
GERMAN = Page(
    url="https://tea.example/de",
    lang="de",
    tag="de",
    pairs=(Pair("Wann ist offen?", "Bis sechs.", in_faq=True),),
)


def generate(*pages: Page, **fields: Any) -> list[GeneratedEntry]:
    return run(*pages, **fields).items


def run(*pages: Page, **fields: Any) -> GenerateResponse:
    request = GenerationRequest("https://tea.example", **fields)
    return asyncio.run(ExtractiveEngine().generate_items(pages, request))


def test_each_question_is_returned_once_with_its_answer_in_the_faq() -> None:
    assert [(item.question, item.answer, item.source, item.lang) for item in generate(HOME, FAQ)] == [
        (
            "Do you ship to Peru?",
            "We do.",
            "https://tea.example/faq#:~:text=Do%20you%20ship%20to%20Peru%3F",
            "en",
        ),
        (
            "when are you open",
            "From nine until six.",
            "https://tea.example/faq#:~:text=when%20are%20you%20open",
            "en",
        ),
    ]


def test_the_requested_language_is_used_if_the_site_has_it() -> None:
    assert [item.answer for item in generate(HOME, FAQ, GERMAN, lang="de")] == ["Bis sechs."]
    assert [item.answer for item in generate(HOME, FAQ, GERMAN, lang="fr")] == [
        "We do.",
        "From nine until six.",
    ]


def test_items_are_labelled_with_their_own_language_if_the_requested_one_is_missing() -> None:
    result = run(HOME, FAQ, lang="de")
    assert {item.lang for item in result.items} == {"en"}
    assert len(result.notes) == 1
    assert run(HOME, FAQ, GERMAN, lang="de").notes == []


def test_what_is_dropped_has_a_reason() -> None:
    assert run(HOME, FAQ, GERMAN, count=1).dropped == [
        DroppedEntry("Wann ist offen?", Reason.OTHER_LANGUAGE, "https://tea.example/de is in 'de'"),
        DroppedEntry("When are you open?", Reason.DUPLICATE, "https://tea.example/ repeats it"),
        DroppedEntry("when are you open", Reason.BEYOND_COUNT),
    ]


def test_a_site_without_questions_has_no_items() -> None:
    assert generate() == []
    assert generate(Page(url="https://tea.example/")) == []


def test_a_page_without_text_or_answers_before_its_script_has_run_is_named_if_there_is_no_question() -> None:
    button = "<h3><button aria-expanded=false>How do I {}?</button></h3><div hidden></div>"
    panels = f"<p>{'We sell tea. ' * 20}</p>{button.format('pay')}{button.format('return it')}"
    app, shut, plain = (
        read_page(Response("https://tea.example/faq", 200, "text/html", None, body.encode()))
        for body in ("<div id=root></div><script src=a.js></script>", panels, "<p>Nothing here.</p>")
    )
    for page in (app, shut):
        assert [("JavaScript" in note, page.url in note) for note in run(page).notes] == [(True, True)]
    assert run(plain).notes == run(app, FAQ).notes == []
