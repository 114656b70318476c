"""Pages that are made to cost much time: extraction takes seconds at most, whatever it finds."""

import time

import pytest
import turbohtml

from faqsvc_embed.generation.extraction.extractor import Pair, extract
from tests.generation.websites import html

QUESTION = '<script type="application/ld+json">{"@type": "FAQPage", "mainEntity": %s}</script>'

PAGES = {
    "deep": "<div>" * 200_000,
    "unclosed details": "<details><summary>Why?</summary>" * 20_000,
    "terms": "<dl>" + "<dt>Why?" * 2_500 + "<dd>x",
    "one panel": "<div id=p>"
    + "<p>x</p>" * 2_500
    + "</div>"
    + "<button aria-controls=p>Why?</button>" * 2_500,
    "nested classes": "<div class=question>Why?" * 20_000,
    "question marks": "<p>" + "¿" * 500_000,
    "spaces": "<p>Q: " + " \n" * 500_000,
    "broken tags": QUESTION % ('{"name": "Why?", "acceptedAnswer": {"text": "' + "<a" * 400_000 + '"}}'),
    "questions in a question": "<div class=question>"
    + "long text here " * 5
    + "<b class=question>ab</b> " * 1_600,
    "nested controls": (
        "<div>" * 60
        + "<p>"
        + "word " * 18_000
        + "".join(f"<a aria-controls=p{number}>x</a>" for number in range(70))
        + "</div>" * 60
        + "".join(f"<div id=p{number}>x</div>" for number in range(70))
    ),
    "comments": "<p>" + " <!---->" * 12_500 + "<b>x</b>y" * 2_500,
    "nested labels": f"<div aria-label='{'x' * 290}'>" * 90 + "<h2>What is it?</h2><p>So.</p>" * 1_000,
    "labelled lines": "<h1>FAQ</h1><pre>" + "Q: x\n" * 100_000,
    "questions without answers": "<h1>FAQ</h1>" + "<div class=q>What</div>" * 4_000 + "<p class=a>x</p>",
    "emphasised lines": "<h1>FAQ</h1>" + "<p><b>some words</b></p><p><b>What is it?</b></p>" * 1_500,
    "headings that state": "<h1>FAQ</h1>" + "<h2>Some topic</h2>" * 9_000 + "<p>x</p>",
    "nested quotations": "<h1>FAQ</h1>" + "<blockquote>" * 90 + "<h2>Is it?</h2><p>It is.</p>" * 500,
    "numbered items": "<h1>FAQ</h1><h2>Is it?</h2><ol>" + "<li>x</li>" * 15_000,
    "broken data": "<script type=application/json>" + '[{"question": "Is it?", "answer": "<b>"},' * 20_000,
    "pushed rows": '<script>self.__next_f.push([1, "' + "1:{}\\n" * 200_000 + '"])</script>',
    "pushed levels": '<script>self.__next_f.push([1, "1:' + "[" * 900 + "]" * 900 + '\\n"])</script>',
    "pushed references": '<script>self.__next_f.push([1, "'
    + f"1:T{40_000:x},"
    + "x" * 40_000
    + '2:[\\"$1\\"]\\n' * 100_000
    + '"])</script>',
    "tables of contents": "<h1>FAQ</h1>" + "<p><a href=#x>Is it?</a><br><a href=#y>Was it?</a></p>" * 4_000,
    "lines of text": "<h1>FAQ</h1><pre><h2>Why?</h2>" + "\n" * 500_000 + "</pre>",
    "repeated ids before what opens them": "<p id=a>So.</p>" * 8_000
    + "<button aria-controls=a>Why?</button>" * 8_000,
    "many headings": "<h1>FAQ</h1>" + "".join(f"<h3>Is it {n}?</h3><p>So.</p>" for n in range(6_000)),
    "long style": f"<div style='{'display ' * 50_000}'>" + "<h3>Why is it?</h3><p>So.</p>" * 1_000,
    "references": QUESTION
    % (
        "["
        + '{"@id": "x"}, ' * 1_500
        + '{"@id": "x", "name": "Why?", "acceptedAnswer": {"text": "'
        + "so " * 6_600
        + '"}}]'
    ),
}


def pairs(markup: str) -> list[Pair]:
    return list(extract(turbohtml.parse(markup), "https://www.example.com/page").pairs)


@pytest.mark.system
@pytest.mark.parametrize("name", PAGES)
def test_a_hostile_page_costs_seconds_at_most(name: str) -> None:
    page = html(PAGES[name])
    started = time.thread_time()

    pairs(page)

    assert time.thread_time() - started < 6


def test_a_page_that_is_too_complex_has_only_the_pairs_of_its_json_ld() -> None:
    stated = QUESTION % '{"name": "Is it big?", "acceptedAnswer": {"text": "Yes."}}'
    shown = "<details><summary>Is it old?</summary>No.</details>"

    assert [pair.question for pair in pairs(html(stated + shown))] == ["Is it old?", "Is it big?"]
    assert [pair.question for pair in pairs(html(stated + shown + PAGES["unclosed details"]))] == [
        "Is it big?"
    ]


def test_a_long_page_is_read_up_to_20000_elements() -> None:
    first = "<details><summary>Is it first?</summary>Yes.</details>"
    last = "<details><summary>Is it last?</summary>Yes.</details>"
    many = f"<nav role=navigation>{'<i></i>' * 20_000}</nav>"

    assert [pair.question for pair in pairs(html(first + many + last))] == ["Is it first?"]
