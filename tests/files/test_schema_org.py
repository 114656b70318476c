"""FAQPages that websites have in their JSON-LD; their texts are HTML."""

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup

from faqsvc_embed import FAQ, Item, to_json_ld
from faqsvc_embed.errors import PublishRejected
from faqsvc_embed.files import READERS, Document, UnreadableFile
from faqsvc_embed.files.html import html_to_markdown
from tests.files.support import read
from tests.support.growth import grows_linearly

QUESTIONS: Final[list[dict[str, Any]]] = [
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
        (
            [
                {**PAGE, "mainEntity": [{"@id": "#1"}]},
                {"@type": "https://schema.org/FAQPage", "mainEntity": QUESTIONS[1:]},
                {**QUESTIONS[0], "@id": "#1", "acceptedAnswer": [{"@id": "#1-answer"}]},
                {**QUESTIONS[0]["acceptedAnswer"][0], "@id": "#1-answer"},
            ],
            "https://tea.example/faq",
        ),
    ],
    ids=["a page", "a list of nodes", "a graph", "the main entity of another", "two pages and references"],
)
def test_the_faqpage_is_found_wherever_it_is(tmp_path: Path, content: object, url: str) -> None:
    assert read(tmp_path, "faq.jsonld", json.dumps(content)) == Document(
        title="Q & A",
        website_url=url,
        lang="en",
        answer_format="markdown",
        items=[
            {"question": "What does it cost?", "answer": "Nothing & more:\n\n- a\n- b **c**"},
            {"question": "What x & y?", "answer": "If 1 < 2."},
        ],
    )


def test_questions_and_answers_keep_their_own_words_if_a_template_gives_all_the_same_id(
    tmp_path: Path,
) -> None:
    answers = [
        {"@type": "Answer", "@id": "#answer", "text": "Nothing."},
        {"@type": "Answer", "@id": "#answer", "text": "A day."},
    ]
    questions = [
        {"@type": "Question", "@id": "https://tea.example/faq", "name": name, "acceptedAnswer": answer}
        for name, answer in zip(["What does it cost?", "How long?"], answers, strict=True)
    ]
    page = {**PAGE, "@id": "https://tea.example/faq", "mainEntity": questions}

    assert read(tmp_path, "faq.json", json.dumps(page)).items == [
        {"question": "What does it cost?", "answer": "Nothing."},
        {"question": "How long?", "answer": "A day."},
    ]


@pytest.mark.parametrize(
    "page",
    [
        {"mainEntity": None},
        {"mainEntity": ["nonsense", {"name": 7}, {"acceptedAnswer": []}, {"acceptedAnswer": "x"}]},
        {"mainEntity": {"name": "One?", "acceptedAnswer": {"text": None}}},
        {"inLanguage": {"name": "English"}, "isPartOf": "https://tea.example"},
    ],
)
def test_a_faqpage_without_questions_or_answers_is_refused(tmp_path: Path, page: dict[str, Any]) -> None:
    with pytest.raises((UnreadableFile, PublishRejected)):
        read(tmp_path, "faq.json", json.dumps({"@type": "FAQPage", **page})).to_faq("tea")


def shown(tmp_path: Path, answer: str) -> Markup:
    """Return the answer of a FAQPage as a page shows it."""
    question = {"@type": "Question", "name": "How?", "acceptedAnswer": {"text": answer}}
    page = {"@type": "FAQPage", "mainEntity": [question]}
    return read(tmp_path, "faq.json", json.dumps(page)).to_faq("tea").items[0].html


@pytest.mark.parametrize(
    ("answer", "html"),
    [
        (
            "<p>One\n line.</p>\n<p>Two &amp; three &lt;b&gt;.</p>",
            "<p>One line.</p><p>Two &amp; three &lt;b&gt;.</p>",
        ),
        ("One<br>two<BR />three<p>four", "<p>One<br>two<br>three</p><p>four</p>"),
        (
            "<b>So <i>it</i> is</b>: <strong> yes </strong>no",
            "<p><strong>So <em>it</em> is</strong>: <strong>yes</strong> no</p>",
        ),
        (
            "<ol><li>a</li><li>b<ul><li>c</li></ul></li></ol>d",
            "<ol><li>a</li><li>b<ul><li>c</li></ul></li></ol><p>d</p>",
        ),
        ("<ul><li><p>a</p><p>b</p></li></ul>", "<ul><li><p>a</p><p>b</p></li></ul>"),
        ("<h3>So</h3>1. *this*", "<p><strong>So</strong></p><p>1. *this*</p>"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "<p>a</p><p>b</p>"),
        ("<blockquote><p>a</p><p>b</p></blockquote>c", "<blockquote><p>a</p><p>b</p></blockquote><p>c</p>"),
        ("Press <kbd>x</kbd> or <code>a_b</code>", "<p>Press <kbd>x</kbd> or <code>a_b</code></p>"),
        ("<pre><code>a\n  b</code></pre>", "<pre><code>a\n  b\n</code></pre>"),
        ("Never <script>alert(1)</script><b>run</b>", "<p>Never <strong>run</strong></p>"),
        ("&lt;b&gt;bold&lt;/b&gt; is &amp;lt;<br>", "<p>&lt;b&gt;bold&lt;/b&gt; is &amp;lt;</p>"),
        (
            'See <a href="https://x.example/a b">our map</a>.',
            '<p>See <a href="https://x.example/a%20b">our map</a>.</p>',
        ),
        ("<A HREF='/map?a=1&amp;b=2'>Map</A>", '<p><a href="/map?a=1&amp;b=2">Map</a></p>'),
        (
            'Write <a href="mailto:us@x.example">to us</a>',
            '<p>Write <a href="mailto:us@x.example">to us</a></p>',
        ),
        ('<a href="javascript:x()">so</a>, <a name="y">here</a>', "<p>so, here</p>"),
        ("<b>never closed", "<p><strong>never closed</strong></p>"),
        ("&lt;p&gt; begins a paragraph.", "<p>&lt;p&gt; begins a paragraph.</p>"),
        ("<b></b><a href='/x'></a>y", "<p>y</p>"),
    ],
)
def test_html_keeps_the_elements_that_search_engines_show(tmp_path: Path, answer: str, html: str) -> None:
    tags = re.sub(
        r"\s+(?=<(?:/?[uo]l|/?li|p))|(?<=>)\s+(?=<)|(?<=<li>)\s+|(?<=<br>)\s+",
        "",
        str(shown(tmp_path, answer)),
    )
    assert tags.replace(' rel="noopener"', "").strip() == html


@pytest.mark.parametrize("text", ["One — two\n\nif 1 < 2 &no;", "A <name> & <more>", "- a\n- b"])
def test_a_text_without_tags_stays_text(tmp_path: Path, text: str) -> None:
    document = read(tmp_path, "faq.json", json.dumps(to_json_ld(FAQ("tea", items=(Item(0, "How?", text),)))))
    assert (document.answer_format, document.items) == ("text", [{"question": "How?", "answer": text}])


MARKDOWN: Final = """\
It has **much**, *more* and [a page](https://x.example/prices):

1. one
2. two
   - inner
   - list

Two lines\\
of 1\\. text with \\*stars\\* & <signs>"""


def test_our_own_json_ld_gives_the_same_answer_again(tmp_path: Path) -> None:
    faq = FAQ("tea", items=(Item(0, "How?", MARKDOWN),), answer_format="markdown")
    again = read(tmp_path, "faq.json", json.dumps(to_json_ld(faq))).to_faq("tea")
    assert to_json_ld(again)["mainEntity"] == to_json_ld(faq)["mainEntity"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "filling",
    [" ", "<b ", "<b>", " a=b", "</b", "\n- ", "<li>", "<a href=tel:1>x</a>", "&a", "<b>x", "<ul><li>"],
)
@pytest.mark.parametrize("begin", ["<b>", "<b", "<b a='"])
def test_html_costs_no_more_than_its_length(filling: str, begin: str) -> None:
    assert grows_linearly(html_to_markdown, lambda size: begin + filling * (size // len(filling)), 2_000)


@pytest.mark.matrix
@pytest.mark.parametrize("tag", ["ul><li", "div", "section><p", "pre", "dl><dt"])
def test_deep_html_takes_linear_time_and_keeps_its_words(tag: str) -> None:
    nested = f"<{tag}>word "
    assert html_to_markdown(nested * 200).count("word") == 200
    assert grows_linearly(html_to_markdown, lambda size: nested * (size // len(nested)), 16_000)


def test_a_heading_with_a_line_break_is_one_line() -> None:
    assert html_to_markdown("<h2>Is it<br>hot?</h2><p>Yes.</p>", is_whole=True) == "## Is it hot?\n\nYes."


@pytest.mark.parametrize("tag", ["blockquote", "ul><li"])
def test_the_markdown_of_deep_html_is_short(tag: str) -> None:
    assert len(html_to_markdown(f"<{tag}>" * 400 + "<p>x</p>" * 400)) < 20_000


def test_a_table_of_questions_that_is_pasted_as_html_is_an_faq() -> None:
    rows = (("Question", "Answer"), ("Is it hot?", "Yes, <b>very</b>."), ("Who made it?", "We."))
    table = "".join(f"<tr><td>{question}</td><td>{answer}</td></tr>" for question, answer in rows)
    document = READERS[".md"](html_to_markdown(f"<table>{table}</table>", is_whole=True))
    assert [item["answer"] for item in document.items] == ["Yes, **very**.", "We."]


def test_a_table_beside_deep_html_keeps_its_cells_apart() -> None:
    table = "<table><tr><td>one</td><td>two</td></tr><tr><td>three</td><td>four</td></tr></table>"
    assert "| three | four |" in html_to_markdown(table + "<div>" * 200)


def test_a_wide_row_beside_many_short_ones_does_not_grow() -> None:
    wide, short = "<tr>" + "<td>x</td>" * 400 + "</tr>", "<tr><td>y</td></tr>" * 400
    assert len(html_to_markdown(f"<table>{wide}{short}</table>")) < 10_000


@pytest.mark.parametrize(
    "markup",
    [
        lambda count: '<sup><a href="' + "#" * count + '">x<b>y</b></a></sup>',
        lambda count: "<table><tr><td>x" * (count // 16),
        lambda count: "<b>" * (count // 100) + "<i>x</i>" * (count // 8) + "<p>x",
        lambda count: "</ul>" * (count // 4) + "<ul><li>x" * (count // 4),
    ],
    ids=["a note with many signs", "tables in tables", "a block in emphasis", "ends without beginnings"],
)
def test_html_that_looks_like_more_costs_no_more_than_its_length(markup: Callable[[int], str]) -> None:
    assert grows_linearly(html_to_markdown, markup, 4_000)


@pytest.mark.parametrize(
    ("markup", "markdown"),
    [
        ("<p>It costs <s>20</s> <del>18</del> 15 euros.</p>", "It costs ~~20~~ ~~18~~ 15 euros."),
        ("<p><s>20</s> 15 euros.<br><del>18</del> 12</p>", "~~20~~ 15 euros.\\\n~~18~~ 12"),
        ("<p>~<s>20</s></p>", "\\~~~20~~"),
        ("<p>10<sup>6</sup> H<sub>2</sub>O</p>", "10<sup>6</sup> H<sub>2</sub>O"),
        ('<p>30 days.<sup>[<a href="#fn1">1</a>]</sup></p>', "30 days."),
        ('Free.<sup>Our <a href="/t#f">terms</a></sup>', "Free.<sup>Our [terms](/t#f)</sup>"),
        ("<li>a</li><li>b</li>", "- a\n- b"),
        (
            "<table><caption>Prices</caption><tr><td>a<td>b<tr><td>1<td>2</table>",
            "Prices\n\n| a | b |\n| --- | --- |\n| 1 | 2 |",
        ),
        ('<ol start="3"><li>a</li><li>b</li></ol>', "3. a\n4. b"),
        (
            "<table><tr><th>Day</th><th>Price</th></tr><tr><td>Mon<br>Tue</td><td>2 | 3</td></tr></table>",
            "| Day | Price |\n| --- | --- |\n| Mon Tue | 2 \\| 3 |",
        ),
        ("<ul><li>a<blockquote>b</blockquote></li><li>c</li></ul>", "- a\n\n  > b\n\n- c"),
        ("<blockquote><ul><li>a</li></ul><p>b</p></blockquote>", "> - a\n>\n> b"),
        (
            "<table><tr><td>A<table><tr><td>1<td><ul><li>2<li>3</ul></table>B<td>C</table>D",
            "A\n\n1\n\n- 2\n- 3\n\nB\n\nC\n\nD",
        ),
    ],
)
def test_markup_that_carries_meaning_stays(markup: str, markdown: str) -> None:
    assert html_to_markdown(markup) == markdown


INLINE: Final = st.recursive(
    st.sampled_from(
        ["word", "a", "Note:", "(x)", "...", "5 €", "「重要」", "です", "!", " b ", "*", "_", "<br>"]
    ),
    lambda inner: st.builds(
        "<{0}>{1}{2}</{0}>".format, st.sampled_from(["b", "i", "em", "del", "strong"]), inner, inner
    ),
    max_leaves=6,
)


@given(st.lists(INLINE, min_size=1, max_size=4).map("".join))
@example("<b>Note:</b>text")
@example("for<b>...</b>")
@example("<b>one</b><b>two</b>")
@example("<b><i>a</i>:</b>b")
def test_no_sign_of_emphasis_is_shown_as_typed(markup: str) -> None:
    faq = FAQ("tea", items=(Item(0, "How?", html_to_markdown(f"<p>{markup}</p>")),), answer_format="markdown")
    found = Markup("").join(item.html for item in faq.items)
    words = "".join(Markup(markup).striptags().split())

    assert "".join(found.striptags().split()) == words


@pytest.mark.matrix
@pytest.mark.parametrize("referring", ["questions", "pages"])
def test_the_work_on_references_to_one_large_node_grows_linearly(referring: str) -> None:
    def graph(count: int) -> str:
        fields = {f"field{number}": number for number in range(count)}
        answer = {**QUESTIONS[0]["acceptedAnswer"][0], "@id": "#answer", **fields}
        questions = [
            {"@type": "Question", "name": f"Is it {number}?", "acceptedAnswer": {"@id": "#answer"}}
            for number in range(count)
        ]
        if referring == "questions":
            return json.dumps([{"@type": "FAQPage", "mainEntity": questions}, answer])
        page = {"@type": "FAQPage", "mainEntity": {"@id": "#question"}}
        return json.dumps([*[page] * count, {**questions[0], **answer, "@id": "#question"}])

    assert len(READERS[".json"](graph(100)).items) == (100 if referring == "questions" else 1)
    assert grows_linearly(READERS[".json"], graph, 250)


def test_the_work_on_references_to_one_large_question_grows_linearly() -> None:
    def graph(count: int) -> str:
        fields = {f"field{number}": number for number in range(count)}
        references = [{"@id": "#q", "order": number} for number in range(count)]
        question = {**QUESTIONS[0], "@id": "#q", **fields}
        return json.dumps([{"@type": "FAQPage", "mainEntity": references}, question])

    assert len(READERS[".json"](graph(100)).items) == 1
    assert grows_linearly(READERS[".json"], graph, 250)
