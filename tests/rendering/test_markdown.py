"""Answers in Markdown: a few plain elements, the same words in JSON-LD, and nothing that runs."""

import re
from functools import partial
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from markupsafe import Markup
from msgspec.structs import replace

from faqsvc_embed import FAQ, to_json_ld
from faqsvc_embed.files.markdown_cost import MAX_ANSWER, MAX_ANSWER_COST, MAX_QUOTATIONS, MAX_RECORD_COST
from faqsvc_embed.rendering import answers
from faqsvc_embed.rendering.markdown import JSON_LD_TAGS, TAGS
from faqsvc_embed.testing import fake_embed, faq_parity
from tests.rendering import support
from tests.support.parsed import Parsed, faq_pages, json_ld
from tests.support.strategies import any_text
from tests.support.xss import CORPUS

faq = partial(support.faq, answer_format="markdown")


def html(text: str, level: int | None = 3) -> Markup:
    """Return an answer as HTML, empty if it is left out."""
    return next((item.html for item in answers.items(faq(("Q?", text)), level)), Markup())


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a *b* **c**", "<p>a <em>b</em> <strong>c</strong></p>"),
        ("a\nb  \nc", "<p>a\nb<br>\nc</p>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("3. a\n4. b", '<ol start="3">\n<li>a</li>\n<li>b</li>\n</ol>'),
        ("> a", "<blockquote>\n<p>a</p>\n</blockquote>"),
        ("`a<b`", "<p><code>a&lt;b</code></p>"),
        ("```py\na < b\n```", "<pre><code>a &lt; b\n</code></pre>"),
        ("a <b>b</b> &amp; c", "<p>a <b>b</b> &amp; c</p>"),
        (
            "a <your name> List<String>",
            "<p>a &lt;your name&gt; List&lt;String&gt;</p>",
        ),  # no elements of HTML
        (
            "Press <kbd>x</kbd>,<br>10<sup>6</sup> ~~a~~",
            "<p>Press <kbd>x</kbd>,<br>10<sup>6</sup> <s>a</s></p>",
        ),
        (
            "<div align='center'>a</div>\n\n<a href='/b' onclick='c'>d</a>",
            'a\n<p><a href="/b" rel="noopener">d</a></p>',
        ),
        (
            "<details><summary>More</summary>\n\n**a**\n\n</details>",
            "<p><strong>More</strong></p>\n<p><strong>a</strong></p>",
        ),
        (":::tip\na\n:::", "<blockquote>\n<p><strong>Tip</strong></p><p>a</p>\n</blockquote>"),
        ("::: warning Mind\na\n:::", "<blockquote>\n<p><strong>Mind</strong></p><p>a</p>\n</blockquote>"),
        (
            ":::tip{title=Mind} *the* [gap](/b)\na\n:::",
            '<blockquote>\n<p><strong>Mind <em>the</em> <a href="/b" rel="noopener">gap</a></strong></p>'
            "<p>a</p>\n</blockquote>",
        ),
        ('!!! note "Mind"\n    a', "<blockquote>\n<p><strong>Mind</strong></p>\n<p>a</p>\n</blockquote>"),
        ("> [!NOTE]\n> a", "<blockquote>\n<p><strong>Note</strong><br>\na</p>\n</blockquote>"),
        ("a[^1]\n\n[^1]: b", "<p>a<sup>[1]</sup></p>\n<ol>\n<li><p>b</p>\n</li>\n</ol>"),
        ("a\n: b", "<dl>\n<dt>a</dt>\n<dd>b</dd>\n</dl>"),
        ("![a](https://x.example/a.png){ align=right }\nb", "<p>a\nb</p>"),
        ("<Note>\n    **a**\n</Note>", "<p><strong>a</strong></p>"),
        (
            "<Note>\n**a**\n- b\n</Note>\nc",
            "<p><strong>a</strong></p>\n<ul>\n<li>b</li>\n</ul>\n\n<p>c</p>",
        ),
        ("<br>\n*a*\n<br>\n*b*", "<br>\n<p><em>a</em>\n<br>\n<em>b</em></p>"),
        ("<Tabs>\n<TabItem value='a'>\n\nb\n\n</TabItem>\n</Tabs>", "<p>b</p>"),
        (
            "[a](https://x.example){:.out}{target=_blank} b\n{: .note }",
            '<p><a href="https://x.example" rel="noopener">a</a> b</p>',
        ),
        (
            "$\\sum_{i=1}^n$ ${#list}\n\n    t = {x=1}\n\n<pre>\nu = {x=1}\n</pre>",  # no attributes
            "<p>$\\sum_{i=1}^n$ ${#list}</p>\n<pre><code>t = {x=1}\n</code></pre>\n<pre>u = {x=1}\n</pre>",
        ),
        (
            "**무료(free)**입니다 **「無料」**です **免费。**请 a**b**c",
            "<p><strong>무료(free)</strong>입니다 <strong>「無料」</strong>です <strong>免费。</strong>请 a"
            "<strong>b</strong>c</p>",
        ),
        ("[a](https://x.example 'title')", '<p><a href="https://x.example" rel="noopener">a</a></p>'),
        ("<me@x.example>", '<p><a href="mailto:me@x.example" rel="noopener">me@x.example</a></p>'),
        ("<p>Ask <me@x.example></p>", "<p>Ask &lt;me@x.example&gt;</p>"),
        ("[call](tel:+49301234)", '<p><a href="tel:+49301234" rel="noopener">call</a></p>'),
        ("[a *b*](/c) d", '<p><a href="/c" rel="noopener">a <em>b</em></a> d</p>'),
        ("[a *b*](c) [d](#e)", "<p>a <em>b</em> d</p>"),  # they would lead elsewhere from each page
        ("[a](//x.example) [b](ftp://x.example)", "<p>a b</p>"),
        ("[a](javascript:x) ![b](data:image/png;base64,x) [c](file:///d)", "<p>a b c</p>"),
        ("![a cat](/cat.png)", '<p><img src="/cat.png" alt="a cat" loading="lazy"></p>'),
        (
            "See https://x.example/a_b_c?d=1&e=2.",
            '<p>See <a href="https://x.example/a_b_c?d=1&amp;e=2" rel="noopener">'
            "https://x.example/a_b_c?d=1&amp;e=2</a>.</p>",
        ),
        (
            "[b https://b.example](https://x.example) `https://c.example`",
            '<p><a href="https://x.example" rel="noopener">b https://b.example</a> '
            "<code>https://c.example</code></p>",
        ),
        (
            '<a href="https://x.example"><abbr>B</abbr> https://b.example</a>',
            '<p><a href="https://x.example" rel="noopener">B https://b.example</a></p>',
        ),
        ("![a cat](https://x.example/cat.png)", "<p>a cat</p>"),  # it would be told of every visitor
        ("a\0b", "<p>a\ufffdb</p>"),
    ],
)
def test_markdown_becomes_a_few_plain_elements(text: str, expected: str) -> None:
    assert html(text) == expected


@pytest.mark.parametrize(
    ("level", "tags"), [(2, ["h3", "h4", "h5", "h6"]), (3, ["h4", "h5", "h6", "h6"]), (6, ["h6"] * 4)]
)
def test_headings_in_an_answer_are_below_its_question(level: int, tags: list[str]) -> None:
    page = Parsed(html("# a\n\n## b\n\n### c\n\n###### d", level))
    assert [e.tag for e in page.elements] == tags


@pytest.mark.parametrize("text", ["### a\n\n#### b", "<h3>a</h3>\n\n<h4>b</h4>", "#### a\n\n<h5>b</h5>"])
def test_the_highest_heading_in_an_answer_is_right_below_its_question(text: str) -> None:
    """The questions of a file are headings, too, so what is below them begins with three or four signs."""
    assert [e.tag for e in Parsed(html(text, 3)).elements] == ["h4", "h5"]


def test_without_headings_a_heading_in_an_answer_is_bold() -> None:
    assert html("# a *b*\n\nc", None) == "<p><strong>a <em>b</em></strong></p>\n<p>c</p>"
    assert html("<h2>a<ul><li>b</li></ul></h2>", None).startswith("<p><strong>a</strong></p><ul><li>")


def test_json_ld_is_cut_from_what_is_shown() -> None:
    text = "# a\n\n`b` [c](https://x.example) [d](/d)\n\n> e\n\n```\nf\n```\n\n5. g"
    page = fake_embed({"p": faq(("Q?", text))}).render("p")
    (node,) = json_ld(page)
    assert node["mainEntity"][0]["acceptedAnswer"]["text"] == (
        '<h4>a</h4>\n<p>b <a href="https://x.example">c</a> d</p>\n\n<p>e</p>\n\nf\n\n<ol>\n<li>g</li>\n</ol>'
    )


def test_json_ld_does_not_depend_on_the_heading_level_because_copies_of_an_faq_have_the_same() -> None:
    embed = fake_embed({"p": faq(("Q?", "# a"))})
    for level, tag in ((2, "h4"), (4, "h6"), (None, "strong")):
        page = embed.render("p", heading_level=level)
        assert f"<{tag}>a</{tag}>" in page
        (node,) = json_ld(page)
        assert node["mainEntity"][0]["acceptedAnswer"]["text"] == "<h4>a</h4>"


def test_every_way_to_json_ld_has_the_answers_as_they_are_shown() -> None:
    record = faq(("Q?", "**a**"))
    embed = fake_embed({"p": record})
    pages = [embed.render("p"), embed.schema(record), embed.render("p", schema=False) + embed.schema(record)]
    assert len({str(faq_pages(page)) for page in pages}) == 1
    assert "<strong>a</strong>" in str(json_ld(pages[0]))


@pytest.mark.parametrize("text", ["---", "[a]: https://x.example", "![](x)", "#", "&nbsp;"])
def test_an_answer_without_a_word_is_left_out(text: str) -> None:
    embed = fake_embed({"p": faq(("Q?", text)), "q": faq(("Q?", text), ("R?", "a"))})
    assert embed.render("p") == ""
    assert Parsed(embed.render("q")).texts("faqsvc-question") == ["R?"]


# Limits


def test_a_very_long_answer_is_shown_as_text() -> None:
    text = "*a* " + "b" * MAX_ANSWER
    assert html(text) == f"<p>{text}</p>"


def test_an_answer_with_too_many_quotations_without_blank_lines_is_shown_as_text() -> None:
    assert html("> # a\n-b\n" * MAX_QUOTATIONS).startswith("<blockquote>")
    assert html("> # a\n-b\n" * (MAX_QUOTATIONS + 1)).startswith("<p>&gt; # a")


@pytest.mark.parametrize("mark", [*'*_`<&#|!]:\\+=~[(>"$%;?@^{}', "\n"])
def test_every_character_that_costs_the_parser_time_counts(mark: str) -> None:
    text = "*a*" + f"{mark}b" * (MAX_ANSWER_COST + 1)
    assert "<em>" not in html(text)
    assert "<em>" in html(text[:MAX_ANSWER_COST])


def test_a_record_with_too_much_markdown_is_text_everywhere(caplog: pytest.LogCaptureFixture) -> None:
    answer = "*a*" + "[" * (MAX_ANSWER_COST - 10)
    count = MAX_RECORD_COST // MAX_ANSWER_COST + 1
    embed = fake_embed(
        {
            "much": faq(*((f"{n}?", answer) for n in range(count)), (" ", "*"), slug="much"),
            "less": faq(("Q?", answer)),
            "unanswered": faq((" ", "*" * (MAX_RECORD_COST + 1)), ("Q?", "**bold**")),
        }
    )
    for _ in range(2):
        page = embed.render("much")
        assert "<em>" not in page
        assert [q["acceptedAnswer"]["text"] for q in json_ld(page)[0]["mainEntity"]] == [answer] * count
    assert len(caplog.records) == 1
    assert "<em>" in embed.render("less")
    unanswered = embed.render("unanswered")  # what is not shown is read, too
    assert "<p>**bold**</p>" in unanswered
    assert json_ld(unanswered)[0]["mainEntity"][0]["acceptedAnswer"]["text"] == "**bold**"


# Nothing that runs


def assert_plain(text: str, tags: tuple[str, ...], attributes: dict[str, set[str]]) -> Parsed:
    page = Parsed(text)
    for element in page.elements:
        assert element.tag in tags, text
        assert set(element.attrib) <= attributes.get(element.tag, set()), text
        if "href" in element.attrib:
            assert re.match(r"(?:https?|mailto|tel):", element.get("href"), re.IGNORECASE), text
    return page


def assert_answer(text: str) -> None:
    for record in (faq(("Q?", text)), support.faq(("Q?", text))):
        for item in answers.items(record, 3):
            page = assert_plain(item.html, TAGS, {"a": {"href", "rel"}, "ol": {"start"}})
            inside = f'<details><div class="in">{item.html}</div></details><i>after</i>'
            details, after = Parsed(inside).root
            assert (details.tag, len(details), after.tag, after.text) == ("details", 1, "i", "after")
            if record.answer_format == "markdown":
                marked_up = assert_plain(item.json_ld, JSON_LD_TAGS, {"a": {"href"}})
                assert marked_up.words == page.words


def test_the_corpus_has_at_least_200_strings() -> None:
    assert len(set(CORPUS)) == len(CORPUS) >= 200


@pytest.mark.parametrize(
    "around", ["{0}", pytest.param("a {0} *b*\n\n- {0}\n\n> {0}", marks=pytest.mark.matrix)]
)
@pytest.mark.parametrize("start", range(0, len(CORPUS), 20))
def test_nothing_that_ever_ran_a_script_gets_through(start: int, around: str) -> None:
    for text in CORPUS[start : start + 20]:
        assert_answer(around.format(text))


marks = st.sampled_from([*"*_`~[]()<>#!&|\\\"'\n -+.1:/", "\n\n", "http://a.b", "](", "```", "    "])
markdown = st.lists(st.one_of(marks, any_text, st.sampled_from(CORPUS)), max_size=12).map("".join)


@given(st.one_of(any_text, markdown))
@example("<!-->\ufeff")
def test_any_markdown_is_a_balanced_tree_of_plain_elements(text: Any) -> None:
    assert_answer(text)


def test_links_and_images_of_the_website_are_absolute_if_the_record_names_it() -> None:
    record = replace(faq(("Q?", "[a](/b?c=1) ![d > e](/f.png)")), website_url="https://x.example/shop/")
    (item,) = answers.items(record, 3)
    page = Parsed(item.html)
    link, image = page.tagged("a", "img")
    assert (link.get("href"), image.get("src")) == ("https://x.example/b?c=1", "https://x.example/f.png")
    assert image.get("alt") == "d > e"
    assert item.json_ld == '<p><a href="https://x.example/b?c=1">a</a> d &gt; e</p>'
    assert 'href="https://x.example/b?c=1"' in fake_embed({"p": record}).get_faq("p").items[0].html


def test_the_hidden_parts_of_an_answer_are_reported_with_their_lines() -> None:
    text = (
        "One\n[two](two.html)\n\n- ![three](https://x.example/3.png)\n- [four](/4)\n\n"
        "| [five](#5) |\n|-|\n| [six](x:6) |"
    )
    found = answers.problems(faq(("First?", "Yes."), ("Q?", text)))
    assert [(index, dropped.line) for index, dropped in found] == [(1, 2), (1, 4), (1, 7), (1, 9)]
    assert ["two.html" in str(found[0][1]), "3.png" in str(found[1][1])] == [True, True]
    [(_, dropped)] = answers.problems(faq(("Q?", "[a](javascript:x)")))
    assert "the link to 'javascript:x'" in str(dropped)


def test_an_answer_that_shows_nothing_is_reported() -> None:
    assert len(answers.problems(faq(("Q?", "---")))) == 1
    assert answers.problems(faq(("Q?", "![a](/a.png)"))) == []


@pytest.mark.parametrize(
    ("website", "image", "is_shown"),
    [
        ("https://x.example/shop", "![a](https://x.example/a.png)", True),
        ("https://x.example", '<img src="https://X.example/a.png" alt="a">', True),
        ("https://müller.example", "![a](https://xn--mller-kva.example/a.png)", True),
        ("https://xn--mller-kva.example", "![a](https://müller.example/a.png)", True),
        ("https://x.example", "![a](https://y.example/a.png)", False),
        ("https://x.example", "![a](https://x.example:8443/a.png)", False),
        ("https://x.example", "![a](https://y.example@x.example/a.png)", False),
        ("https://x.example", r'<img src="https://y.example\@x.example/a.png" alt="a">', False),
        ("https://x.example", '<img src="https://[x.example/a.png" alt="a">', False),
        ("https://x.example", "![a](data:image/png;base64,AAAA)", False),
    ],
)
def test_an_image_of_the_own_website_is_shown(website: str, image: str, is_shown: bool) -> None:
    record = replace(faq(("Q?", f"b {image}")), website_url=website)
    (item,) = answers.items(record, 3)
    assert bool(Parsed(item.html).tagged("img")) is is_shown


LINKED = FAQ.from_dict(
    {
        "slug": "shop",
        "answerFormat": "markdown",
        "introduction": "Begin with [paying](#how-do-i-pay).",
        "items": [
            {
                "question": "How do I pay?",
                "answer": "See [a](#2-do-you-ship), [b](#ship), <a href='#nobody'>c</a>.",
            },
            {
                "question": "Do you ship?",
                "id": "ship",
                "answer": "[Pay](#How_do_I_pay) [first](#%68ow-do-i-pay).",
            },
        ],
    }
)


def test_a_link_to_another_question_leads_to_its_element_on_the_page() -> None:
    page = str(fake_embed({"shop": LINKED}).render("shop"))
    ids = set(re.findall(' id="([^"]*)"', page))
    targets = re.findall('href="#([^"]*)"', page.split("application/ld+json")[0])
    assert [target for target in targets if target not in ids] == []
    assert targets.count("faq-shop--how-do-i-pay") >= 3
    assert targets.count("faq-shop--ship") >= 2
    assert "#faq-shop--ship" in LINKED.items[0].html


def test_links_between_questions_are_no_links_in_json_ld() -> None:
    node = to_json_ld(LINKED)
    answers = [question["acceptedAnswer"]["text"] for question in node["mainEntity"]]
    assert answers == ["<p>See a, b, c.</p>", "<p>Pay first.</p>"]


def test_a_link_to_a_question_that_a_part_does_not_show_is_its_text() -> None:
    part = LINKED.part(questions=["How do I pay?"])
    assert "#faq" not in part.items[0].html


def test_the_columns_of_a_table_keep_their_alignment_without_style_attributes() -> None:
    table = html("| a | b | c |\n|:-:|--:|---|\n| 1 | 2 | 3 |")
    assert re.findall("<t[hd][^>]*>", table)[-3:] == [
        '<td class="faqsvc-center">',
        '<td class="faqsvc-end">',
        "<td>",
    ]
    assert html('<table><tr><td class="faqsvc-end x" style="color:red">a</td></tr></table>').count("x") == 0


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("####\n\n![](a.png)\n\nCare.", "<p>Care.</p>"),
        ('{% include note.html content="Care." %}', "<p>Care.</p>"),
        ('=== "Mac"\n    Press.', "<blockquote>\n<p><strong>Mac</strong></p>\n<p>Press.</p>\n</blockquote>"),
        ("{{ price }} {% link a %}", "<p>{{ price }} {% link a %}</p>"),
        ("{% if a %}Yes.{% endif %}", "<p>{% if a %}Yes.{% endif %}</p>"),
        ("[a]({{ site.baseurl }}/b)", '<p><a href="/b" rel="noopener">a</a></p>'),
        ("[a]({{ '/b' | relative_url }})", '<p><a href="/b" rel="noopener">a</a></p>'),
        ("[a]({{ site.url }})", '<p><a href="/" rel="noopener">a</a></p>'),
        ("[a]({{ price }})", "<p>[a]({{ price }})</p>"),
    ],
)
def test_what_a_website_generator_puts_around_a_text_is_not_shown(text: str, expected: str) -> None:
    assert html(text) == expected


def test_struck_out_text_is_no_fact_in_json_ld_and_a_power_is_no_digit() -> None:
    record = FAQ.from_dict(
        {
            "slug": "a",
            "answerFormat": "markdown",
            "items": [
                {"question": "Q?", "answer": "~~20~~ 15 of 10<sup>6</sup>, <del>x</del> 1<sup>st</sup>."}
            ],
        }
    )
    assert to_json_ld(record)["mainEntity"][0]["acceptedAnswer"]["text"] == "<p> 15 of 10⁶,  1st.</p>"
    assert faq_parity(f"<body>{fake_embed({'a': record}).render('a')}</body>") == []


@pytest.mark.parametrize("bullet", ["•\t", "• ", "·\u00a0", "▪ ", "o\t"])
def test_a_list_as_word_pastes_it_is_a_list(bullet: str) -> None:
    assert html(f"We take:\n{bullet}Visa\n{bullet}Cash").count("<li>") == 2
    assert "<li>" not in html(f"`a`\n\n```\n{bullet}Visa\n```")


@pytest.mark.parametrize("sign", ["!>", "?>"])
def test_a_box_of_docsify_is_a_quotation(sign: str) -> None:
    assert "<blockquote>\n<p>Read <em>this</em>." in html(f"So.\n\n{sign} Read *this*.")
    assert "<blockquote>" not in html(f"So.\n\n    {sign} code\n\nWhy{sign} not")
