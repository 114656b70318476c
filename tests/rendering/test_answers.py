"""Answers as text and as Markdown: what a reader sees, what machines read, and what never gets through."""

import asyncio
import gc
import re
import threading
import unicodedata
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faqsvc_embed import FAQ, Item, Theme, to_json_ld
from faqsvc_embed.rendering import answers as answers_module
from faqsvc_embed.rendering.answers import (
    LONGEST_MARKDOWN,
    MOST_IN_ANSWER,
    MOST_IN_RECORD,
    SCHEMA_TAGS,
    SHOWN_TAGS,
    Answers,
    paragraphs,
)
from faqsvc_embed.rendering.renderer import Look, Renderer
from faqsvc_embed.runtime.steps import finished
from tests.support.strategies import any_text
from tests.support.xss import CORPUS

MARKDOWN = Answers("markdown")
LINKING = Answers(link_urls=True)


def faq(*answers: str) -> FAQ:
    return FAQ("p", lang="en", items=tuple(Item(n, f"Q{n}?", text) for n, text in enumerate(answers)))


def elements(html: str) -> list[Any]:
    """The elements of a fragment, as an HTML5 parser finds them."""
    tree = html5lib.parseFragment(html, container="div", namespaceHTMLElements=False)
    return [element for element in tree.iter() if isinstance(element.tag, str) and element is not tree]


def words(html: str) -> str:
    """The text of a fragment, in single spaces."""
    tree = html5lib.parseFragment(html, container="div", namespaceHTMLElements=False)
    return " ".join("".join(tree.itertext()).split())


# Text


def test_addresses_stay_text_unless_links_are_wanted() -> None:
    text = "See https://example.com/a?b=1&c=2."
    assert Answers().shown(text, 3) == "<p>See https://example.com/a?b=1&amp;c=2.</p>"
    assert LINKING.shown(text, 3) == (
        '<p>See <a href="https://example.com/a?b=1&amp;c=2" rel="noopener">'
        "https://example.com/a?b=1&amp;c=2</a>.</p>"
    )


@pytest.mark.parametrize(
    ("text", "addresses"),
    [
        ("https://a.example", ["https://a.example"]),
        ("(https://a.example/b)", ["https://a.example/b"]),
        ("https://a.example/b_(c), and", ["https://a.example/b_(c)"]),
        ("“https://a.example”", ["https://a.example"]),
        ("https://a.exampleをご覧ください。", ["https://a.example"]),
        ("http://[::1]:80/x!", ["http://[::1]:80/x"]),
        ("https://a.example/#q,\nhttp://b.example.", ["https://a.example/#q", "http://b.example"]),
        ('"https://a.example/"><script>', ["https://a.example/"]),
        ("https://", []),
        ("javascript:alert(1) ftp://a.example www.a.example", []),
    ],
)
def test_what_stands_around_an_address_is_no_part_of_it(text: str, addresses: list[str]) -> None:
    found = elements(LINKING.shown(text, 3))
    assert [e.get("href") for e in found if e.tag == "a"] == addresses
    assert words(LINKING.shown(text, 3)) == " ".join(text.split())


def test_links_can_say_that_they_vouch_for_nothing() -> None:  # H6
    answers = Answers("markdown", nofollow=True)
    assert answers.shown("<https://a.example>", 3) == (
        '<p><a href="https://a.example" rel="noopener nofollow">https://a.example</a></p>'
    )
    assert 'rel="noopener nofollow"' in Answers(link_urls=True, nofollow=True).shown("https://a.example", 3)


@pytest.mark.parametrize("rel", [None, "noopener"])
@pytest.mark.parametrize(
    "piece", ["one, two\n \nthree\n", "字https://a.example/b?c=1字", "\n" + " " * 50_000 + "\nx", "x", "<>"]
)
def test_a_long_text_is_the_same_html_wherever_it_is_cut(  # H1
    piece: str, rel: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    for shift in range(0, 2000, 331):
        text = "y" * shift + piece * (100_000 // len(piece) + 2)
        in_slices = paragraphs(text, rel)
        with monkeypatch.context() as patch:
            patch.setattr(answers_module, "MUCH", len(text))
            assert in_slices == paragraphs(text, rel)


@pytest.mark.parametrize("answers", [Answers(), LINKING, MARKDOWN])
@given(texts=st.lists(any_text, max_size=8))
def test_many_texts_at_once_are_the_same_html_as_each_by_itself(answers: Answers, texts: list[str]) -> None:
    texts = [text.encode("utf-8", "replace").decode() for text in texts]  # as records hold them
    is_markdown = answers is MARKDOWN
    assert finished(answers.steps(texts, 3, is_markdown)) == [answers.shown(text, 3) for text in texts]


@given(any_text)
def test_links_change_no_word_of_a_text(text: str) -> None:  # J10
    (item,) = faq(text).items
    assert words(paragraphs(item.answer, "noopener")) == words(paragraphs(item.answer))
    assert {e.tag for e in elements(paragraphs(item.answer, "noopener"))} <= {"p", "br", "a"}


def test_a_text_is_marked_up_as_it_came() -> None:
    record = faq("A **b** https://a.example <i>")
    assert Answers().marked_up(record) is record
    assert LINKING.marked_up(record) is record


# Markdown


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("a *b* **c**", "<p>a <em>b</em> <strong>c</strong></p>"),
        ("a\nb  \nc", "<p>a\nb<br>\nc</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
        ("> a", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("`a<b`", "<p><code>a&lt;b</code></p>"),
        ("```py\na < b\n```", "<pre><code>a &lt; b\n</code></pre>"),
        ("a <b>b</b> &amp; c", "<p>a &lt;b&gt;b&lt;/b&gt; &amp; c</p>"),  # HTML is text
        ("[a](https://x.example 'title')", '<p><a href="https://x.example" rel="noopener">a</a></p>'),
        (
            "<studio@x.example>",
            '<p><a href="mailto:studio@x.example" rel="noopener">studio@x.example</a></p>',
        ),
        ("[call](tel:+49301234)", '<p><a href="tel:+49301234" rel="noopener">call</a></p>'),
        ("[a *b*](/c) d", "<p>a <em>b</em> d</p>"),  # it would lead elsewhere from each page
        ("[a](//x.example) [b](ftp://x.example)", "<p>a b</p>"),
        ("![a cat](https://x.example/cat.png)", "<p>a cat</p>"),  # nothing is loaded
        ("a\0b", "<p>a\ufffdb</p>"),
    ],
)
def test_markdown_becomes_a_few_plain_elements(text: str, html: str) -> None:  # C7, J9
    assert MARKDOWN.shown(text, 3) == html


@pytest.mark.parametrize(
    ("level", "tags"), [(2, ["h3", "h4", "h5", "h6"]), (3, ["h4", "h5", "h6", "h6"]), (6, ["h6"] * 4)]
)
def test_headings_in_an_answer_are_below_its_question(level: int, tags: list[str]) -> None:  # H4
    html = MARKDOWN.shown("# a\n\n## b\n\n### c\n\n###### d", level)
    assert [e.tag for e in elements(html)] == tags


def test_without_headings_a_heading_in_an_answer_is_bold() -> None:  # A4, H4
    assert MARKDOWN.shown("# a *b*\n\nc", None) == "<p><strong>a <em>b</em></strong></p>\n<p>c</p>"


def test_json_ld_is_cut_from_what_is_shown() -> None:  # J8, J9, H7
    text = "# a\n\n`b` [c](https://x.example) [d](/d)\n\n> e\n\n```\nf\n```\n\n5. g"
    record = MARKDOWN.marked_up(faq(text), 3)
    assert [item.answer for item in record.items] == [
        '<h4>a</h4>\n<p>b <a href="https://x.example">c</a> d</p>\n\n<p>e</p>\n\nf\n\n<ol>\n<li>g</li>\n</ol>'
    ]
    (entry,) = to_json_ld(record)["mainEntity"]
    assert entry["acceptedAnswer"]["text"] == record.items[0].answer


@pytest.mark.parametrize("text", ["", " ", "---", "[a]: https://x.example", "![](x)", "#"])
def test_an_answer_without_a_word_is_none(text: str) -> None:  # J5
    assert finished(MARKDOWN.shown_items(faq(text))) == []
    assert MARKDOWN.marked_up(faq(text, "a")).items == MARKDOWN.marked_up(faq("", "a")).items


def test_what_is_longer_than_an_answer_is_text() -> None:
    text = "*a* " + "b" * LONGEST_MARKDOWN
    assert MARKDOWN.shown(text, 3) == f"<p>{text}</p>"
    assert MARKDOWN.marked_up(faq(text)).items[0].answer == f"<p>{text}</p>"


def test_more_markdown_than_a_parser_should_read_is_text(caplog: pytest.LogCaptureFixture) -> None:  # R2, D13
    """A parser takes a second for forty thousand of these, and a minute for a record of them."""
    text = "![" * (MOST_IN_ANSWER + 1)
    assert MARKDOWN.shown(text, 3) == f"<p>{text}</p>"
    many = [f"*a*{n}" + "[" * (MOST_IN_ANSWER - 10) for n in range(MOST_IN_RECORD // MOST_IN_ANSWER + 2)]
    answers, record = Answers("markdown"), faq(*many)
    assert [item.answer for item in finished(answers.shown_items(record))] == many
    assert answers.marked_up(record) is record
    assert caplog.messages == ["FAQ 'p' is shown as text: more than 20000 marks of Markdown"]
    block = Renderer(answers=answers).block(record, Look(Theme(), True, 2))
    assert block is not None
    assert "<em>" not in block.html
    assert answers.marked_up(faq(*many[:2])).items[0].answer.startswith("<p><em>a</em>0[")


def test_what_is_shown_and_what_is_marked_up_are_read_alike() -> None:  # J10
    """Marks of an item that is not shown count, too: the record is read in one way."""
    items = (Item(0, " ", "*" * (MOST_IN_RECORD + 1)), Item(1, "Q?", "**bold**"))
    block = Renderer(answers=MARKDOWN).block(FAQ("p", items=items), Look(Theme(), True, 2))
    assert block is not None
    assert "<p>**bold**</p>" in block.html
    assert '"text":"**bold**"' in block.script


def test_an_event_loop_without_threads_parses_by_itself(monkeypatch: pytest.MonkeyPatch) -> None:  # F4
    async def refuse(*args: Any) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(asyncio, "to_thread", refuse)
    record = faq("an answer that no thread could *parse* " * 100)
    block = asyncio.run(Renderer(answers=MARKDOWN).ablock(record, Look(Theme(), True, 2)))
    assert block is not None
    assert block.html.count("<em>parse</em>") == 100


def test_an_event_loop_parses_answers_in_a_thread(monkeypatch: pytest.MonkeyPatch) -> None:  # F5
    threads: list[bool] = []
    render = MarkdownIt.render

    def rendered(self: MarkdownIt, *args: Any) -> Any:
        threads.append(threading.current_thread() is threading.main_thread())
        return render(self, *args)

    monkeypatch.setattr(MarkdownIt, "render", rendered)
    record = faq("a *long* answer of an event loop " * 100)
    block = asyncio.run(Renderer(answers=MARKDOWN).ablock(record, Look(Theme(), True, 2)))
    assert block is not None
    assert block.html.count("<em>long</em>") == 100
    assert threads == [False]


def assert_safe(html: str, tags: frozenset[str], attributes: dict[str, set[str]]) -> None:
    for element in elements(html):
        assert element.tag in tags, html
        assert set(element.attrib) <= attributes.get(element.tag, set()), html
        if "href" in element.attrib:
            assert re.match(r"(?:https?|mailto|tel):", element.get("href"), re.IGNORECASE), html


def assert_answer(text: str) -> None:
    (item,) = faq(text).items
    for answers in (MARKDOWN, LINKING):
        html = str(answers.shown(item.answer, 3))
        assert_safe(html, SHOWN_TAGS, {"a": {"href", "rel"}, "ol": {"start"}})
        inside = f'<details><div class="in">{html}</div></details><i>after</i>'
        details, after = html5lib.parseFragment(inside, namespaceHTMLElements=False)
        assert (details.tag, len(details), after.tag, after.text) == ("details", 1, "i", "after")  # H3
    if not finished(MARKDOWN.shown_items(faq(text), 3)):
        return
    (marked_up,) = MARKDOWN.marked_up(faq(text)).items
    assert_safe(marked_up.answer, SCHEMA_TAGS, {"a": {"href"}})  # J8, J9
    assert words(marked_up.answer) == words(str(MARKDOWN.shown(item.answer, 3)))  # J10


def test_the_corpus_is_as_large_as_it_says() -> None:
    assert len(set(CORPUS)) == len(CORPUS) >= 200


@pytest.mark.parametrize("text", CORPUS, ids=range(len(CORPUS)))
def test_nothing_that_ever_ran_a_script_gets_through(text: str) -> None:  # H2, H3
    assert_answer(text)
    assert_answer(f"a {text} *b*\n\n- {text}\n\n> {text}")


marks = st.sampled_from([*"*_`~[]()<>#!&|\\\"'\n -+.1:/", "\n\n", "http://a.b", "](", "```", "    "])
markdown = st.lists(st.one_of(marks, any_text, st.sampled_from(CORPUS)), max_size=12).map("".join)


@given(st.one_of(any_text, markdown))
def test_any_markdown_is_a_balanced_tree_of_plain_elements(text: str) -> None:  # H3, H7, J8, J10
    assert_answer(text)


def test_an_answer_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    from faqsvc_embed.rendering import answers

    parsed = list[str]()
    parser = answers._parser()
    render = parser.render

    def noting(text: str, env: Any) -> Any:
        parsed.append(text)
        return render(text, env)

    monkeypatch.setattr(parser, "render", noting)
    text = unicodedata.lookup("HERB") + "once"
    for _ in range(3):
        MARKDOWN.shown(text, 3)
        MARKDOWN.marked_up(faq(text), 3)
    assert parsed.count(text) == 1


def test_a_record_that_is_shown_as_text_does_not_hold_itself() -> None:  # D13
    answers, record = Answers("markdown"), faq("*a* " * MOST_IN_RECORD)
    assert answers.marked_up(record, 3) is answers.marked_up(record, 3) is record
    assert len(answers._marked_up) == 1
    gc.disable()  # nothing waits for it
    try:
        del record
        assert answers._marked_up == {}
    finally:
        gc.enable()


def test_a_record_is_marked_up_once_for_as_long_as_it_lives() -> None:  # D13, K16
    answers, record = Answers("markdown"), faq("*a*", "# b")
    shown = {level: answers.marked_up(record, level) for level in (2, 3, None)}
    assert {level: answers.marked_up(record, level) for level in shown} == shown
    assert all(answers.marked_up(record, level) is shown[level] for level in shown)
    assert answers.marked_up(faq("*a*", "# b"), 3) is not shown[3]
    assert len(answers._marked_up) == 3
    del record
    gc.collect()
    assert answers._marked_up == {}
