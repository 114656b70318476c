"""FAQPages that websites have in their JSON-LD; their texts are HTML."""

import json
import time
from pathlib import Path
from typing import Any, Final

import pytest

from faqsvc_embed import FAQ, Item, to_json_ld
from faqsvc_embed.files import Document
from faqsvc_embed.files.html_text import html_to_text
from tests.files.support import read

QUESTIONS: Final = [
    {"@type": "Question", "name": "What does it cost?", "acceptedAnswer": [
        {"@type": "Answer", "text": "<p>Nothing &amp; more:</p><ul><li>a</li><li>b <b>c</b></li></ul>"}]},
    {"@type": "Question", "name": "What <b>x</b>\n &amp; <a href='https://x.example'>y</a>?",
     "acceptedAnswer": {"@type": "Answer", "text": "If 1 < 2."}},
]  # fmt: skip
PAGE: Final = {
    "@type": ["WebPage", "FAQPage"],
    "name": "Q &amp; A",
    "inLanguage": "en-US",
    "url": "https://tea.example/faq",
    "mainEntity": QUESTIONS,
}
SITE: Final = {"@type": "WebSite", "url": "https://tea.example"}


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ({"@context": "https://schema.org", **PAGE}, "https://tea.example/faq"),
        ([{"@type": "WebSite"}, PAGE], "https://tea.example/faq"),
        ({"@graph": [{"@type": "Organization"}, {**PAGE, "isPartOf": SITE}]}, "https://tea.example"),
        ([{"@type": "WebPage", "mainEntity": PAGE}], "https://tea.example/faq"),
    ],
    ids=["a page", "a list of nodes", "a graph", "the main entity of another"],
)
def test_the_faqpage_is_found_wherever_it_is(tmp_path: Path, content: object, url: str) -> None:
    assert read(tmp_path, "faq.jsonld", json.dumps(content)) == Document(
        title="Q & A",
        website_url=url,
        lang="en",
        answer_format="text",
        items=[
            {"question": "What does it cost?", "answer": "Nothing & more:\n- a\n- b c"},
            {"question": "What x & y (https://x.example)?", "answer": "If 1 < 2."},
        ],
    )


@pytest.mark.parametrize("answer", ["Plain text.\n\nOf two paragraphs.", "1 < 2 & 3 > 2", "- a\n- b"])
def test_plain_text_keeps_its_lines(tmp_path: Path, answer: str) -> None:
    page = to_json_ld(FAQ("tea", items=(Item(0, "How?", answer),)))
    assert read(tmp_path, "faq.json", json.dumps(page)).items == [{"question": "How?", "answer": answer}]


@pytest.mark.parametrize(
    "page",
    [
        {"mainEntity": None},
        {"mainEntity": ["nonsense", {"name": 7}, {"acceptedAnswer": []}, {"acceptedAnswer": "x"}]},
        {"mainEntity": {"name": "One?", "acceptedAnswer": {"text": None}}},
        {"inLanguage": {"name": "English"}, "isPartOf": "https://tea.example"},
    ],
)
def test_a_faqpage_that_lacks_parts_is_read_without_them(tmp_path: Path, page: dict[str, Any]) -> None:
    assert isinstance(read(tmp_path, "faq.json", json.dumps({"@type": "FAQPage", **page})), Document)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One\n line.</p>\n<p>Two &amp; three &lt;b&gt;.</p>", "One line.\nTwo & three <b>."),
        ("One<br>two<BR />three<p>four", "One\ntwo\nthree\nfour"),
        ("<h3>So</h3><ol><li><p>a</p></li><li>b<ul><li>c</li></ul></li></ol>", "So\n- a\n- b\n- c"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a\nb"),
        ("Never <script>alert(1)</script><b>run</b>", "Never run"),
        ("One &mdash; two\n\nif 1 < 2 &no;", "One — two\n\nif 1 < 2 &no;"),
        ("&lt;b&gt;bold&lt;/b&gt; is &amp;lt;", "<b>bold</b> is &lt;"),
        ('<p>See <a href="https://x.example/map">our map</a>.</p>', "See our map (https://x.example/map)."),
        ("<A HREF='https://x.example/?a=1&amp;b=2'>Map</A> &amp; x", "Map (https://x.example/?a=1&b=2) & x"),
        ('Write <a href="mailto:us@x.example">to us</a>', "Write to us (mailto:us@x.example)"),
        ('<a href="mailto:us@x.example">us@x.example</a>', "us@x.example"),
        ('At <a class="x" href="https://x.example/">https://x.example</a>', "At https://x.example"),
        ('<a href="#top">up</a>, <a href="javascript:x()">so</a>, <a name="y">here</a>', "up, so, here"),
    ],
)
def test_html_becomes_the_text_that_it_shows(html: str, text: str) -> None:
    assert html_to_text(html) == text


@pytest.mark.parametrize(
    "filling", [" ", "<b ", "<b>", " a=b", "</b", "\n- ", "<li>", "<a href=tel:1>x</a>", "&a"]
)
def test_html_costs_no_more_than_its_length(filling: str) -> None:
    start = time.process_time()
    for begin in ("", "<b", "<b a='"):
        html_to_text(begin + filling * (20_000 // len(filling)))
    assert time.process_time() - start < 1
