"""FAQs in Markdown as people write them: front matter, questions as text, answers as Markdown."""

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed.files.markdown_reader import read_markdown
from tests.files.support import WHOLE, items_of, read, refusal
from tests.support.growth import grows_linearly

# Front matter


def test_front_matter_is_yaml(tmp_path: Path) -> None:
    content = """---
websiteUrl: https://tea.example
website-name: "Tea & Sons"
title: Prices  # of this year
lang: 'en' # not de
slug: tea
tags: [a, b]
---
# Another title

## What does it cost?
Nothing.

## May I cancel?
Any time.
"""
    assert read(tmp_path, "faq.markdown", content) == replace(WHOLE, answer_format="markdown")


@pytest.mark.parametrize(
    ("written", "title"),
    [
        (">\n  Prices and\n  payment", "Prices and payment"),
        ("'It''s: tea'", "It's: tea"),
        ('"A \\"B\\""', 'A "B"'),
    ],
)
def test_front_matter_keeps_its_quotes_and_its_blocks(written: str, title: str) -> None:
    assert read_markdown(f"---\ntitle: {written}\n---\n\n## Why?\n\nSo.\n").title == title


@pytest.mark.parametrize("front", ["title: [", "a: *b", "just words", "answerFormat: html"])
def test_front_matter_that_is_not_understood_is_refused(tmp_path: Path, front: str) -> None:
    assert refusal(tmp_path, "faq.md", f"---\n{front}\n---\n## Why?\nSo.\n")


@pytest.mark.parametrize(
    "below", ["\n## Why?\n\nSo.\n", "## Why?\nSo.\n", "tags: [a]\n\n# A\n\n## Why?\n\nSo.\n"]
)
@pytest.mark.parametrize(
    "fields", ["slug: tea\nwebsiteUrl: https://tea.example\nlang: de\n", "# of tea\nlang: de\n"]
)
def test_front_matter_that_is_not_closed_is_refused(tmp_path: Path, fields: str, below: str) -> None:
    message = refusal(tmp_path, "faq.md", f"---\n{fields}{below}")
    assert message.startswith("line 1: ")
    assert "---" in message


@pytest.mark.parametrize(
    "text",
    ["", "\n", "Our prices: all of them.\n\n", "# Prices\n\n", "Note: see below.\n\n", "\nlang: x\n\n"],
)
def test_a_file_may_begin_with_a_rule(text: str) -> None:
    assert items_of("---\n## Which one?\nLanguage: English.\n") == [("Which one?", "Language: English.")]
    assert items_of(f"---\n{text}## Why?\n\nSo.\n") == [("Why?", "So.")]
    assert items_of(f"---\n{text}Q: Why?\n\nA: So.\n") == [("Why?", "So.")]


# Questions are text


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("What does `<details>` do?", None),
        ("Is `<b>x</b>` bold, and `` `<!-- x -->` `` a comment?", None),
        ("How do I index `a[0](x)`, or `a\\*b`?", None),
        ("Use <script>?", None),
        ("What are List<String> and <your name>?", None),
        ("What is `a <b>really</b>?", "What is `a really?"),
        ("Is \\`<b>x</b>\\` bold?", "Is `x` bold?"),
        ("**Is [`a[0](x)`](#a) <em>so</em>?** <a id='x'></a>", "Is `a[0](x)` so?"),
        ("*Is* __this__ ~so~?", "Is this ~so~?"),
        ("One line<br>or two?<!-- `x` -->", "One line or two?"),
        ("Is \\<b\\>x\\</b\\> text?", "Is <b>x</b> text?"),
        ("A &amp; B &lt;b&gt;x&lt;/b&gt; caf&eacute; &#x20AC;?", "A & B <b>x</b> café €?"),
        ("Is \\&amp; or `&amp;` &copy or &amp\\; or &x;?", "Is &amp; or `&amp;` &copy or &amp; or &x;?"),
        ("Where is [the map][m]?", "Where is the map?"),
        ("Where? [⚓︎](#a) [:link:](#a) [<i class='x'></i>](#a) [![](x.svg)](#a)", "Where?"),
        ("Where? <a href='#a'><svg class='x'><path d='M0'/></svg></a>", "Where?"),
        (
            "Where is [the map](our map.md), and what is `[a](b c)` in [tea](the leaves)?",
            "Where is the map, and what is `[a](b c)` in [tea](the leaves)?",
        ),
    ],
)
def test_a_question_is_the_text_that_its_markdown_shows(question: str, text: str | None) -> None:
    assert items_of(f"## {question}\n\nSo.\n\n[m]: https://tea.example\n") == [(text or question, "So.")]


def test_an_underlined_question_can_have_two_lines() -> None:
    assert items_of("What is\nit?\n---\nSo.\n\nWhy?\n---\nSo.\n") == [("What is it?", "So."), ("Why?", "So.")]


# Answers are Markdown


@pytest.mark.parametrize(
    "answer",
    [
        "Write `\\*` or `<!-- x -->`, \\* *so*.",
        "```sh\n# install\ncurl \\\n  -d '\\[\\]'  \n```\nor \\[so\\]",
        "Run:\n\n    # install\n    ## again",
        "1. Do this:\n\n    ```sh\n    ## not a heading\n    ```\n\n2. Done.",
        "~~~\na\\_b\n\n```\n~~~\na\\_b",
        "Two \\\nlines, [a link](https://x.example/?a&amp;b)",
        "So:\n\n### In detail\n\nfirst  \nsecond",
        "> ## Quoted?\n> Yes.",
        "Yes.\n\n<details>\n<summary>How?</summary>\n\nSo.\n</details>\n\nThat is all.",
    ],
)
def test_an_answer_is_kept_as_it_stands(answer: str) -> None:
    assert items_of(f"## How?\n\n{answer}\n\n## Why?\nSo.\n") == [("How?", answer), ("Why?", "So.")]


def test_an_answer_takes_along_the_link_definitions_that_it_uses() -> None:
    text = "## Where?\n\nSee [the map][M].\n\n## Why?\n\nSo.\n\n[m]: https://tea.example/map\n"
    assert items_of(text) == [
        ("Where?", "See [the map][M].\n\n[m]: https://tea.example/map"),
        ("Why?", "So."),
    ]


def test_comments_are_left_out_of_answers_but_not_of_code() -> None:
    text = (
        "## How?\nWrite \\<!-- so.\n```\n<!-- code -->\n```\n## Why?\nFor <!-- no -->you.\n"
        "{::comment}\nno\n{: .no }\n{:/comment}\n===\n## Who?\nA <!-- b"
    )
    assert items_of(text) == [
        ("How?", "Write \\<!-- so.\n```\n<!-- code -->\n```"),
        ("Why?", "For you."),
        ("Who?", "A <!-- b"),
    ]


# Text that belongs to no question


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("---\nitems: [[Why, So]]\n---\n\n## More?\n", [5]),
        ("<details>\n<summary>Why?</summary>\nSo.\n</details>\n\nCall us.\n"
         "\n<details>\n<summary>Who?</summary> We.</details>\nOr not.\n", [6, 10]),
        ("# Tea\n\n## Buying\n\n### Why?\n\nSo.\n\n## Brewing\n\n### How?\n\nHot.\n\n## Coffee\n", [15]),
        ("# FAQ\n## Tea\nQ: Why?\nA: So.\nQ: Who?\nA: We.\n## Cake\n### Ours\nBake.\n### Yours\nBuy.\n", [7]),
        ("# FAQ\n\n## Tea\n\n### Buying\n\n#### Why?\n\nSo.\n\n### Brewing\n\n#### How?\n\nHot.\n", [3]),
    ],
    ids=["items", "details", "groups", "headings beside labels", "a section of sections"],
)  # fmt: skip
def test_text_that_belongs_to_no_question_is_named_with_its_line(text: str, lines: list[int]) -> None:
    assert [int(re.findall("[0-9]+", note)[0]) for note in read_markdown(text).notes] == lines


@pytest.mark.parametrize(
    "text",
    [
        "Tea\n===\n\n<a id='tea'></a>\n\n---\n<!-- not\npublished -->\n"
        "\n## Why?\n\nSo.\n\n- a\n\n### More\n\nText.\n",
        "# Tea\n\n- [Why?](#why)\n- [Who?](#who)\n\n[m]: https://tea.example\n"
        "\n## Why?\nSo.\n\n## Who?\nWe.\n",
        "---\nlang: en\nanswerFormat: markdown\n---\n<!-- not\npublished -->\n\n# Tea\n\n## Why?\n\nSo.\n",
        "---\nitems: [[Why, So]]\n---\n",
        "<details>\n<summary>Why?</summary>\n\nSo.\n\n</details>\n<details><summary>Who?</summary>We.</details>\n",
        "Q: Why?\n\nA: So.\n\nBecause.\n\nQ: Who?\nA: We.\n",
    ],
    ids=["headings", "contents", "a stated format", "items", "details", "labels"],
)  # fmt: skip
def test_a_file_of_questions_has_no_other_text(text: str) -> None:
    document = read_markdown(text)
    assert list(document.notes) == []
    assert document.introduction is None


# Whatever a file holds


@pytest.mark.parametrize("text", ["", "Just words.\n", "---\ntitle: x\n---\n"])
def test_a_file_without_a_question_is_refused(tmp_path: Path, text: str) -> None:
    assert refusal(tmp_path, "faq.md", text)


def test_a_file_without_markup_is_plain_text_whose_lines_stay() -> None:
    text = "Where are you?\n\nMain Street 1\n12345 Town\n\nWhen are you open?\n\nMon 9-5\nTue 9-5\n"
    assert read_markdown(text).answer_format == "text"
    assert read_markdown(text.replace("Where", "## Where")).answer_format == "markdown"
    assert read_markdown("Why?\n- So.\n\nHow?\n- So.\n\nWho?\n- We.\n").answer_format == "markdown"
    assert read_markdown(f"From?\n1. Mai\n\nTo?\n1. Juni\n\n{text}").answer_format == "text"
    assert read_markdown(text.replace("Main", "**Main**")).answer_format == "markdown"


_pieces = st.sampled_from(
    [
        *"#*_`~<>[]()|-+=:!\\&; \t\n\0",
        *("## a?\n", "Q: a\n", "A: b\n", "**a?** b\n", "- a?\n", "1. ", "---\n", "```\n", "{#a}", "[a]: b\n"),
        *("<!--", "-->", "<summary>a</summary>", "|question|answer|\n|-|-|\n|a|b|\n"),
    ]
)


@given(st.lists(_pieces | st.text(max_size=3), max_size=30).map("".join))
def test_whatever_a_file_holds_it_is_read_or_refused(text: str) -> None:
    try:
        document = read_markdown(text)
    except ValueError:
        return
    assert len(document.items) == len(document.positions) > 0
    assert all(isinstance(part, str) for item in document.items for part in item.values())


@pytest.mark.matrix
@pytest.mark.parametrize(
    "filling",
    [
        *(" ", "# ", "## a?\n", "** ", "\\", "<!--", "- ", "`a", "Q: a\n", "F: ", "**a?** b\n", "<summary>"),
        *("[a", "[a]: b\n", "a\n", "|a", "{#", "&#", " ".join("`" * length for length in range(1, 100))),
        *("x\nQ: a\n==", '??? "a'),
    ],
)
def test_a_file_costs_no_more_than_its_length(filling: str) -> None:
    summary = "<summary>b</summary>\n\n## a?\nc\n\n<details><summary>d</summary>{}e\n"
    for written in ("## a?\n{}\n\n## b?\nc\n", "Q: a?\nA: b\n\n{}\n", "## a?\n<div {}", summary):
        assert grows_linearly(
            read_markdown,
            lambda size, written=written: written.format(filling * (size // len(filling))),  # type: ignore[misc]
            500,
        )


@pytest.mark.matrix
def test_an_element_costs_no_more_than_the_length_of_its_attributes() -> None:
    assert grows_linearly(read_markdown, lambda count: "## a?\n<div " + "markdown= " * count, 500)


@pytest.mark.parametrize("numbers", [("1. ", "2. "), ("", "")], ids=["numbered", "not numbered"])
def test_a_number_before_the_name_of_a_section_is_left_out_and_one_in_it_is_kept(
    numbers: tuple[str, str],
) -> None:
    names = ["Windows 10 and up", "Tea at 5 o'clock"]
    parts = [f"## {number}{name}\n\n### Why?\n\nSo." for number, name in zip(numbers, names, strict=True)]
    text = "\n\n".join(["# FAQ", *parts])
    assert [item["section"] for item in read_markdown(text).items] == names
