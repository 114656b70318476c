"""Answers as Markdown: links, lists and tables stay, and text means only itself."""

import json

import pytest
import turbohtml
from markdown_it import MarkdownIt

from faqsvc_embed.files import READERS
from faqsvc_embed.generation.extraction.extractor import extract
from tests.generation.websites import html

PROTECTED = bytes([7, *(byte ^ 7 for byte in b"hi@tea.example")]).hex()
"""An address as Cloudflare hides it from programs."""


def answer(markup: str) -> str:
    page = html(f"<h1>FAQ</h1><details><summary>Is it big?</summary>{markup}</details>")
    (pair,) = extract(turbohtml.parse(page.encode()), "https://tea.example/help/faq").pairs
    return pair.markdown


@pytest.mark.parametrize(
    ("markup", "markdown"),
    [
        ("<p>Plain text, with a - dash.</p>", "Plain text, with a - dash."),
        ('<p>See <a href="/shop">the shop</a>.</p>', "See [the shop](https://tea.example/shop)."),
        ('<p>See <a href="#two">below</a>.</p>', "See below."),
        ('<p><a href="javascript:alert(1)">Press</a> it.</p>', "Press it."),
        ('<p>By <a href="mailto:a@tea.example">mail</a>.</p>', "By [mail](mailto:a@tea.example)."),
        ("<p>So:</p><ol><li>a<ul><li>x</li></ul></li><li>b</li></ol>", "So:\n\n1. a\n   - x\n2. b"),
        ("<p>Run <code>a_b *c*</code>:</p><pre>x\n  y</pre>", "Run `a_b *c*`:\n\n```\nx\n  y\n```"),
        ("<p>2 * 3, a_b, _c_, [d] and &lt;b&gt;</p>", "2 \\* 3, a_b, \\_c\\_, \\[d\\] and \\<b>"),
        ("<p># no title</p><p>1. no list</p>", "\\# no title\n\n1\\. no list"),
        ("<p>Both:<br>- a list<br>- of lines</p>", "Both:\n- a list\n- of lines"),
        ('<p>Yes.</p><p><a href="#top">[top]</a></p>', "Yes."),
        ('<p>Yes.</p><p><a href="FAQ.htm#top">Back to top</a></p>', "Yes."),
        ("<p><b>Answer:</b> Yes.</p>", "Yes."),
        ("<p><s>20</s> <del>or 18</del> <ins>15</ins> euros.</p>", "15 euros."),
        (
            "<p>10<sup>6</sup> on the 1<sup>st</sup>, CO<sub>2</sub>.</p>",
            "10<sup>6</sup> on the 1<sup>st</sup>, CO<sub>2</sub>.",
        ),
        ('<p>30 days<a href="#m" role="doc-noteref">[2]</a>.</p>', "30 days."),
        ('<p>30 days<sup><a href="#n">1</a></sup>, or 40<sup>[2]</sup>.</p>', "30 days, or 40."),
        (
            f'<p>To <a href="/cdn-cgi/l/email-protection" data-cfemail="{PROTECTED}">[email]</a>'
            f' or <a href="/cdn-cgi/l/email-protection#{PROTECTED}">us</a>.</p>',
            "To [hi@tea.example](mailto:hi@tea.example) or [us](mailto:hi@tea.example).",
        ),
        (
            '<p>See <a href="https://www.google.com/url?q=https://tea.example/a?b%3D1&amp;sa=D">this</a>.</p>'
            '<div><p><a href="#cmnt_ref1" id="cmnt1">[a]</a><span>Is that so?</span></p></div>',
            "See [this](https://tea.example/a?b=1).",
        ),
        ('<div><p>So.</p><p><a href="#ftnt_ref1">[1]</a> In May.</p></div>', "So.\n\n\\[1\\] In May."),
    ],
)
def test_the_markdown_of_an_answer_says_what_the_page_shows(markup: str, markdown: str) -> None:
    assert answer(markup) == markdown


def test_an_answer_is_the_same_on_a_page_and_in_a_file() -> None:
    markup = (
        "<p>One,<br>two <b>big</b> &amp; <i>red</i>:</p><ol start='3'><li>a<ul><li>b_c</li></ul></li></ol>"
        "<blockquote>d</blockquote><table><tr><th>Day</th><th>Price</th></tr><tr><td>Mon</td><td>2</td></tr></table>"
        "<pre>x\n  y</pre><p><a href='https://tea.example/e'>E</a> H<sub>2</sub>O <code>f_g</code></p>"
    )
    (item,) = READERS[".json"](json.dumps([{"question": "Is it big?", "answer": markup}])).items
    assert item["answer"] == answer(markup)


def test_text_with_every_special_character_is_read_back_as_it_is() -> None:
    text = r"""! " # $ % & ' ( ) * + , - . / : ; = ? @ [ \ ] ^ _ ` { | } ~ **a** `b` [c](d) &amp; x_y_z"""
    escaped = text.replace("&", "&amp;").replace("<", "&lt;")
    tokens = MarkdownIt("commonmark").parse(answer(f"<p>{escaped}</p>"))
    assert [token.type for token in tokens] == ["paragraph_open", "inline", "paragraph_close"]
    assert "".join(child.content for child in tokens[1].children or ()) == text


def test_the_answer_of_json_ld_keeps_its_links() -> None:
    stated = (
        '{"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Is it big?",'
        ' "acceptedAnswer": {"text": "<p>See <a href=\\"/size\\">sizes</a>.</p>"}}]}'
    )
    page = html("", f'<script type="application/ld+json">{stated}</script>')
    (pair,) = extract(turbohtml.parse(page.encode()), "https://tea.example/").pairs
    assert (pair.answer, pair.markdown) == ("See sizes.", "See [sizes](https://tea.example/size).")


def test_what_a_script_will_show_is_on_the_page() -> None:
    questions = "<h2>Is it big?</h2><p>Yes.</p><h2>Is it red?</h2><p>No.</p>"
    for box in ("hidden id='S:1a'", "style='display: none'"):  # React streams parts of a page in such boxes
        page = html(f"<h1>FAQ</h1><template id='B:0'></template><div {box}>{questions}</div>")
        assert len(extract(turbohtml.parse(page.encode()), "https://tea.example/faq").pairs) == 2
