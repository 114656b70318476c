"""The files that people have their FAQs in."""

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from faqsvc_embed import FAQ, Item, to_json_ld, to_json_ld_string
from faqsvc_embed.files.from_markdown import read_markdown
from faqsvc_embed.files.html_text import text_of
from faqsvc_embed.files.read import Submission, UnreadableFile, read_file
from faqsvc_embed.files.to_markdown import items_to_markdown
from tests.support.strategies import any_text, visible_text

PAIRS = [
    {"question": "What does it cost?", "answer": "Nothing."},
    {"question": "May I cancel?", "answer": "Any time."},
]
WHOLE = Submission("https://tea.example", "Tea & Sons", "Prices", "en", "tea", PAIRS)
ITEMS = Submission(items=PAIRS)


def read(tmp_path: Path, name: str, content: str | bytes) -> Submission:
    file = tmp_path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return read_file(str(file))


def refused(tmp_path: Path, name: str, content: str | bytes) -> str:
    with pytest.raises(UnreadableFile) as caught:
        read(tmp_path, name, content)
    return str(caught.value).removeprefix(f"{tmp_path}/")


BODY: dict[str, Any] = {
    "websiteUrl": "https://tea.example",
    "websiteName": "Tea & Sons",
    "title": "Prices",
    "lang": "en",
    "slug": "tea",
    "items": PAIRS,
}


@pytest.mark.parametrize(
    ("content", "read_as"),
    [
        (BODY, WHOLE),
        ({"website_url": "https://tea.example", "Website Name": "Tea & Sons", "faqs": PAIRS, "cta": None},
         Submission("https://tea.example", "Tea & Sons", items=PAIRS)),
        ({**BODY, "items": [{"position": n, **pair} for n, pair in enumerate(PAIRS)]}, WHOLE),
        (PAIRS, ITEMS),
        ([{"Q": pair["question"], "A": pair["answer"]} for pair in PAIRS], ITEMS),
        ([list(pair.values()) for pair in PAIRS], Submission(items=[list(pair.values()) for pair in PAIRS])),
        ({"questions": {pair["question"]: pair["answer"] for pair in PAIRS}}, ITEMS),
        ({"@context": "https://schema.org", "@type": "FAQPage", "name": "Prices", "inLanguage": "en",
          "url": "https://tea.example", "mainEntity": [
            {"@type": "Question", "name": pair["question"],
             "acceptedAnswer": {"@type": "Answer", "text": pair["answer"]}} for pair in PAIRS]},
         Submission("https://tea.example", None, "Prices", "en", None, PAIRS)),
    ],
    ids=["body", "other cases", "record", "list", "q and a", "pairs", "mapping", "schema.org"],
)  # fmt: skip
def test_json_has_the_body_or_what_people_have_instead(
    tmp_path: Path, content: object, read_as: Submission
) -> None:
    assert read(tmp_path, "faq.json", json.dumps(content)) == read_as


QUESTIONS = [
    {"@type": "Question", "name": "What does it cost?", "acceptedAnswer": [
        {"@type": "Answer", "text": "<p>Nothing &amp; more:</p><ul><li>a</li><li>b <b>c</b></li></ul>"}]},
    {"@type": "Question", "name": "May I cancel?", "acceptedAnswer": {
        "@type": "Answer", "text": "If 1 < 2."}},
]  # fmt: skip
PAGE = {"@type": ["WebPage", "FAQPage"], "name": "Prices", "inLanguage": "en-US",
        "url": "https://tea.example/faq", "mainEntity": QUESTIONS}  # fmt: skip


@pytest.mark.parametrize(
    ("content", "url"),
    [
        ({"@context": "https://schema.org", **PAGE}, "https://tea.example/faq"),
        ([{"@type": "WebSite"}, PAGE], "https://tea.example/faq"),
        (
            {
                "@context": "https://schema.org",
                "@graph": [
                    {"@type": "Organization", "name": "x"},
                    {**PAGE, "isPartOf": {"@type": "WebSite", "url": "https://tea.example"}},
                ],
            },
            "https://tea.example",
        ),
        ([{"@type": "WebPage", "mainEntity": PAGE}], "https://tea.example/faq"),
    ],
    ids=["a page", "a list of nodes", "a graph", "the main entity of another"],
)
def test_a_pages_json_ld_is_read_wherever_its_faqpage_is(tmp_path: Path, content: object, url: str) -> None:
    assert read(tmp_path, "faq.jsonld", json.dumps(content)) == Submission(
        url,
        title="Prices",
        lang="en",
        items=[
            {"question": "What does it cost?", "answer": "Nothing & more:\n- a\n- b c"},
            {"question": "May I cancel?", "answer": "If 1 < 2."},
        ],
    )


@pytest.mark.parametrize(
    "text",
    [
        "If a<b and c>d, use List<String>.\n\nSecond paragraph: type &amp; for an ampersand.",
        "With </b> it ends, with <b> it begins.",
        "Write <script>, <details> and <your name>; <b and c>.",
        " &lt;b&gt; &copy; \n\tas it is ",
        "x<i && i>y, <a href> <p x> </>",
    ],
)
@pytest.mark.parametrize("name", ["acceptedAnswer", "answer"])
def test_an_answer_without_an_element_of_html_is_text_to_the_letter(
    tmp_path: Path, name: str, text: str
) -> None:
    content = json.dumps([{"question": "How?", name: {"text": text}}])
    assert read(tmp_path, "faq.json", content).items == [{"question": "How?", "answer": text}]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<p>One\n line.</p>\n<p>Two &amp; three &lt;b&gt;.</p>", "One line.\nTwo & three <b>."),
        ("One<br>two<BR />three<p>four", "One\ntwo\nthree\nfour"),
        ("<h3>So</h3><ol><li><p>a</p></li><li>b<ul><li>c</li></ul></li></ol>", "So\n- a\n- b\n- c"),
        ("See <a href='/x?a>b' class=y>there</a>.\n\nList<String> &copy;", "See there.\n\nList<String> ©"),
        ("<table><tr><td>a</td><td>b</td></tr></table>", "a\nb"),
        (
            "Put <your name> in <strong>bold</strong>, if a<b and c>d.",
            "Put <your name> in bold, if a<b and c>d.",
        ),
    ],
)
def test_an_answer_in_html_becomes_the_text_that_it_shows(tmp_path: Path, html: str, text: str) -> None:
    content = json.dumps([{"question": "How?", "acceptedAnswer": {"text": html}}])
    assert read(tmp_path, "faq.json", content).items == [{"question": "How?", "answer": text}]


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ('<p>See <a href="https://x.example/map">our map</a>.</p>', "See our map (https://x.example/map)."),
        ("<A HREF='https://x.example/?a=1&amp;b=2'>Map</A> &amp; x", "Map (https://x.example/?a=1&b=2) & x"),
        ('Write <a href="mailto:us@x.example">to us</a>', "Write to us (mailto:us@x.example)"),
        ('<a href="mailto:us@x.example">us@x.example</a>', "us@x.example"),
        ('At <a class="x" href="https://x.example/">https://x.example</a>', "At https://x.example"),
        ('<a href="#top">up</a>, <a href="javascript:x()">so</a>, <a name="y">here</a>', "up, so, here"),
        ("a &amp; b &lt; c", "a & b < c"),
        ("One &mdash; two\n\nif 1 < 2, <x>, &copy=1 &no;", "One — two\n\nif 1 < 2, <x>, &copy=1 &no;"),
        ("&lt;b&gt;bold&lt;/b&gt; is &amp;lt;", "<b>bold</b> is &lt;"),
    ],
)  # fmt: skip
def test_all_texts_of_somebodys_page_are_html(tmp_path: Path, html: str, text: str) -> None:
    question = {
        "name": "What <b>x</b>\n &amp; <a href='https://x.example'>y</a>?",
        "acceptedAnswer": {"text": html},
    }
    page = {"@type": "FAQPage", "name": "Q &amp; A", "mainEntity": [question]}
    items = [{"question": "What x & y?", "answer": text}]
    assert read(tmp_path, "faq.json", json.dumps(page)) == Submission(title="Q & A", items=items)


def test_html_costs_no_more_than_its_length() -> None:  # D13
    start = time.process_time()
    for begin in ("", "<b", "<b a", "<b a=", "<b a='"):
        for filling in (
            " ",
            "<b ",
            "<b>",
            " a=b",
            "<b a=x ",
            "</b",
            "\n- ",
            "<li>",
            "<a href=tel:1>x</a>",
            "&a",
        ):
            text_of(begin + filling * (60_000 // len(filling)))
    assert time.process_time() - start < 2


_plain_text = st.lists(
    st.sampled_from(
        ["a<b", "c>d", " and ", "List<String>", "<", ">", "<b", "/", "&amp", "&", "\n\n", " ", "é"]
    )
).map("".join)


@given(answers=st.lists(_plain_text.filter(str.strip), min_size=1, max_size=3))
@example(answers=["a<b/>"])
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("indent", [None, 2])
def test_plain_text_goes_through_json_ld_unchanged(
    tmp_path: Path, indent: int | None, answers: list[str]
) -> None:
    faq = FAQ("tea", items=tuple(Item(n, f"Q{n}?", answer) for n, answer in enumerate(answers)))
    found = read(tmp_path, "faq.json", json.dumps(to_json_ld(faq), indent=indent))
    assert found.items == [{"question": item.question, "answer": item.answer} for item in faq.items]


@given(st.lists(visible_text, min_size=1, max_size=3), st.sampled_from(["en", "ko"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_the_json_ld_that_we_write_is_read_to_the_letter_whatever_it_holds(
    tmp_path: Path, answers: list[str], lang: str
) -> None:
    texts = ("<p>Is <b>text</b></p>", "a &amp; b", *answers)
    written = [answer.encode("utf-8", "replace").decode() for answer in texts]
    faq = FAQ("tea", lang=lang, items=tuple(Item(n, f"<b>{n}</b>?", text) for n, text in enumerate(written)))
    assert read(tmp_path, "faq.jsonld", f"{to_json_ld_string(faq)}\n") == Submission(
        lang=lang, items=[{"question": item.question, "answer": item.answer} for item in faq.items]
    )


@pytest.mark.parametrize(
    "content",
    [
        "- q: What does it cost?\n  a: Nothing.\n- question: May I cancel?\n  answer: Any time.\n",
        "- What does it cost?: Nothing.\n- May I cancel?: Any time.\n",
        "What does it cost?: Nothing.\nMay I cancel?: Any time.\n",
    ],
)
def test_yaml_may_be_only_the_items(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, "faq.yaml", content) == ITEMS


def test_yaml_has_the_same_and_every_scalar_is_text(tmp_path: Path) -> None:
    content = """\
websiteUrl: https://tea.example
websiteName: Tea & Sons
title:
items:
  - question: Is it free?
    answer: yes
  - question: Since when?
    answer: 2026-11-21
  - question: How?
    answer: |
      One line.

      Another.
"""
    assert read(tmp_path, "faq.yaml", content) == Submission(
        "https://tea.example",
        "Tea & Sons",
        items=[
            {"question": "Is it free?", "answer": "yes"},
            {"question": "Since when?", "answer": "2026-11-21"},
            {"question": "How?", "answer": "One line.\n\nAnother.\n"},
        ],
    )


@pytest.mark.parametrize(
    "content",
    [
        "question,answer\nWhat does it cost?,Nothing.\nMay I cancel?,Any time.\n",
        "\ufeffQuestion;Answer\r\nWhat does it cost?;Nothing.\r\nMay I cancel?;Any time.\r\n",
        "ANSWER\tID\tQUESTION\nNothing.\t1\tWhat does it cost?\nAny time.\t2\tMay I cancel?\n",
        'sep=;\n"Question ";"Answer"\n"What does it cost?";"Nothing."\n;\n\n"May I cancel?";"Any time."\n',
        "Category,Q,A\nx,What does it cost?,Nothing.\nx,May I cancel?,Any time.,more\n",
    ],
    ids=["plain", "a spreadsheet's", "tabs", "sep and empty rows", "short names"],
)
def test_csv_is_read_as_spreadsheets_write_it(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, "faq.csv", content) == ITEMS
    assert read(tmp_path, "faq.CSV", content.removeprefix("\ufeff").encode("utf-16")) == ITEMS


@pytest.mark.parametrize(
    "names",
    [
        "question,answer",
        "질문,답변",
        "質問,回答",
        "问题,答案",
        "Pregunta,Respuesta",
        "Question,Réponse",
        "Frage,Antwort",
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_columns_of_csv_are_named_in_any_of_our_languages(
    tmp_path: Path, names: str, separator: str, end: str
) -> None:
    rows = [[], names.split(","), [], *(list(pair.values()) for pair in PAIRS)]
    content = "\ufeff" + "".join(separator.join(row) + end for row in rows)
    assert read(tmp_path, "faq.csv", content) == ITEMS


def test_a_cell_of_csv_may_hold_lines_and_quotes(tmp_path: Path) -> None:
    content = 'question,answer\n"How, and ""why""?","One.\n\nTwo; three."\nNo answer?\n'
    assert read(tmp_path, "faq.csv", content).items == [
        {"question": 'How, and "why"?', "answer": "One.\n\nTwo; three."},
        {"question": "No answer?", "answer": ""},
    ]


@pytest.mark.parametrize(
    "content",
    [
        """# Prices

Some words.

## What does it cost?

Nothing.

## May I cancel? ##
Any time.
""",
        """# Prices
## General
### What does it cost?
Nothing.
## More
### May I cancel?
Any time.
""",
        """# Prices

**Q:** What does it cost?
**A:** Nothing.

Q: May I cancel?

A: Any time.
""",
        """# Prices
- **Q1. What does it cost?**
- **A1.** Nothing.

**Question 2:** May I cancel?
**Answer:** Any time.
""",
        """# Prices

**What does it cost?**

Nothing.

**May I cancel?**
Any time.
""",
        "# Prices\r\n\r\n## What does it cost?\r\nNothing.\r\n## May I cancel?\r\nAny time.\r\n",
        """# Prices
## Have questions?

**Q:** What does it cost?
**A:** Nothing.

**Q:** May I cancel?
**A:** Any time.
""",
        """# Prices
## Have questions?
### What does it cost?
Nothing.
### May I cancel?
Any time.
""",
        """# Prices
## What does it cost?
Nothing.
## More
### May I cancel?
Any time.
""",
        """# Prices
## 1. What does it cost?
Nothing.
## 2. May I cancel?
Any time.
""",
        """# Prices
## Q1: What does it cost?
A: Nothing.
## Q2: May I cancel?
**A:** Any time.
""",
        """# Prices
## Money
**What does it cost?**

Nothing.
## Contract
**May I cancel?**

Any time.
""",
        """# Prices
1. **What does it cost?**
   Nothing.
2. **May I cancel?**
   Any time.
""",
        """# Prices
- **What does it cost?** Nothing.
- **May I cancel?** Any time.
""",
        """# Prices

1. What does it cost?

   Nothing.

2. May I cancel?

   Any time.
""",
        """Prices
======

What does it cost?
------------------
Nothing.

May I cancel?
-------------
Any time.
""",
        """# Prices
<!-- internal:
## do not publish? -->
## What does it cost? {#cost}
Nothing.
<!-- check -->
---
<a id="cancel"></a>
## [May I cancel?](#cancel) <a name="x"></a>
Any time. <!-- or not -->

[Back to top](#prices)
""",
        """# Prices
<details>
<summary><b>What does it cost?</b></summary>

Nothing.
</details>
<details><summary>May I cancel?</summary>Any time.</details>
""",
    ],
    ids=[
        "headings", "sections", "labels", "bold labels", "bold lines", "windows",
        "labels below a heading that asks", "headings below one that asks", "headings of two levels",
        "numbers", "labels in headings", "bold in sections", "bold in a list", "bold before the answer",
        "a list", "underlined", "comments, ids, anchors, rules", "details",
    ],
)  # fmt: skip
def test_markdown_is_read_as_people_write_it(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, "faq.md", content) == Submission(title="Prices", items=PAIRS)


def test_a_file_may_have_nothing_but_questions_at_level_1(tmp_path: Path) -> None:
    content = "# What does it cost?\nNothing.\n\n# May I cancel?\nAny time.\n"
    assert read(tmp_path, "faq.md", content) == ITEMS


def test_a_row_of_hyphens_below_an_answer_makes_no_heading_of_it() -> None:
    text = "## What does it cost?\n\nNothing.\n---\n\n## May I cancel?\n\nAny time.\n---\n"
    assert read_markdown(text)[1] == PAIRS


def test_what_is_no_comment_is_kept() -> None:
    text = "## How?\nWrite \\<!-- so.\n```\n<!-- code -->\n```\n## Why?\nFor <!-- is never closed."
    assert [item["answer"] for item in read_markdown(text)[1]] == [
        "Write <!-- so.\n```\n<!-- code -->\n```",
        "For <!-- is never closed.",
    ]


@pytest.mark.parametrize(
    ("question", "read_as"),
    [
        ("What does `<details>` do?", None),
        ("Is `<b>x</b>` bold, and `` `<!-- x -->` `` a comment?", None),
        ("How do I index `a[0](x)`, or `a\\*b`?", None),
        ("Use <script>?", None),
        ("What are List<String>, <your name> and <b and c>?", None),
        ("What is `a <b>really</b>?", "What is `a really?"),
        ("Is \\`<b>x</b>\\` bold?", "Is `x` bold?"),
        ("**Is [`a[0](x)`](#a) <em>so</em>?** <a id='x'></a>", "Is `a[0](x)` so?"),
        ("One line<br>or two?<!-- `x` -->", "One line or two?"),
        ("Is \\<b\\>x\\</b\\> text?", "Is <b>x</b> text?"),
        ("A nul, \0000\000?", "A nul, \ufffd0\ufffd?"),
        ("A &amp; B &lt;b&gt;x&lt;/b&gt; caf&eacute; &#x20AC;?", "A & B <b>x</b> café €?"),
        ("Is \\&amp; or `&amp;` &copy or &amp\\; or &x;?", "Is &amp; or `&amp;` &copy or &amp; or &x;?"),
    ],
)
def test_a_question_in_markdown_keeps_its_code_and_what_formats_nothing(
    question: str, read_as: str | None
) -> None:
    expected = [{"question": read_as or question, "answer": "So."}]
    assert read_markdown(f"## {question}\n\nSo.\n")[1] == expected


@pytest.mark.parametrize(
    ("answer", "read_as"),
    [
        ("Write `\\*` or `<!-- x -->`, \\* no.", "Write `\\*` or `<!-- x -->`, * no."),
        (
            "```sh\ncurl \\\n  -d '\\[\\]'  \n```\nor \\[so\\]",
            "```sh\ncurl \\\n  -d '\\[\\]'  \n```\nor [so]",
        ),
        ("~~~\na\\_b\n\n```\n~~~\na\\_b", "~~~\na\\_b\n\n```\n~~~\na_b"),
        ("```x\\_y``` is code, \\_ is not", "```x\\_y``` is code, _ is not"),
        ("A ` alone \\*\n\nand ` again", "A ` alone *\n\nand ` again"),
        ("Two \\\nlines\\", "Two\nlines"),
        (
            "Tom &amp; `&amp;` \\&amp; [l](https://x.example/?a&amp;b)",
            "Tom & `&amp;` &amp; [l](https://x.example/?a&b)",
        ),
    ],
)
def test_code_in_an_answer_keeps_its_backslashes(answer: str, read_as: str) -> None:
    pairs = [{"question": "How?", "answer": read_as}, {"question": "Why?", "answer": "So."}]
    assert read_markdown(f"## How?\n\n{answer}\n\n## Why?\n\nSo.\n")[1] == pairs


def test_what_is_folded_keeps_its_code_and_loses_its_tags() -> None:
    text = "<details><summary>What is `<b>`?</summary>\n<p>It is `</p>`, or <x>.</p>\n</details>\n"
    assert read_markdown(text)[1] == [{"question": "What is `<b>`?", "answer": "It is `</p>`, or <x>."}]


def test_what_is_folded_is_decoded_and_keeps_the_addresses_of_its_links() -> None:
    text = """<details><summary>What <b>x</b> &amp; y?</summary>
<p>Like <a href="https://x.example/a?b=1&amp;c=2">this</a> &amp; that<br>x</p>
</details>"""
    answer = "Like this (https://x.example/a?b=1&c=2) & that\nx"
    assert read_markdown(text)[1] == [{"question": "What x & y?", "answer": answer}]


def test_where_headings_ask_a_label_is_part_of_an_answer() -> None:
    text = "## What is on the letter?\nIt reads:\n\nQ: What is my number?\nA: 7.\n\n## Why?\nSo."
    assert read_markdown(text)[1] == [
        {"question": "What is on the letter?", "answer": "It reads:\n\nQ: What is my number?\nA: 7."},
        {"question": "Why?", "answer": "So."},
    ]


def test_a_link_in_what_we_write_is_text() -> None:  # X4
    item = Item(0, "[x](y)?", "[a](#b)")
    assert read_markdown(items_to_markdown([item]))[1] == [{"question": "[x](y)?", "answer": "[a](#b)"}]


@pytest.mark.parametrize("label", ["Q:", "q.", "A)", "Question 2:", "answer:", "- Q:", "**Q:**"])
def test_a_label_in_what_we_write_is_text(label: str) -> None:  # X4
    pairs = [{"question": "The letter", "answer": f"It reads:\n{label} What is my number?"}, PAIRS[0]]
    items = [Item(n, **pair) for n, pair in enumerate(pairs)]
    assert read_markdown(items_to_markdown(items))[1] == pairs


def test_markdown_says_in_its_front_matter_whose_it_is(tmp_path: Path) -> None:
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
    assert read(tmp_path, "faq.markdown", content) == WHOLE


def test_an_answer_in_markdown_is_kept_with_its_lower_headings_and_its_code() -> None:
    code = "```sh\n# no heading\n## neither\n```"
    text = f"## How?\n\nSo:\n\n{code}\n\n### In detail\n\n1\\. first  \nsecond\\\nthird\n\n## Why?\nSo."
    assert read_markdown(text)[1] == [
        {"question": "How?", "answer": f"So:\n\n{code}\n\n### In detail\n\n1. first\nsecond\nthird"},
        {"question": "Why?", "answer": "So."},
    ]


@given(st.lists(st.tuples(any_text, any_text), max_size=4))
@example([("&amp; &#35; &lt;b&gt;", "&amp; a\n&copy; `&lt;` &#x20AC;")])
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_what_we_write_as_markdown_we_read_again(pairs: list[tuple[str, str]]) -> None:
    items = [Item(n, f"{question}?", answer) for n, (question, answer) in enumerate(pairs)]
    shown = [item for item in items if item.answer.strip()]
    read = read_markdown(items_to_markdown(items))[1]
    assert [pair["question"].split() for pair in read] == [
        question.split() for question in (_seen(item.question) for item in shown)
    ]
    assert [pair["answer"].split() for pair in read] == [_seen(item.answer).split() for item in shown]


def _seen(text: str) -> str:
    from faqsvc_embed.files.to_markdown import printable

    return printable(text)


@pytest.mark.parametrize(
    ("name", "content", "why"),
    [
        ("faq.txt", "x", "a file that ends in .json, .jsonld, .yaml, .yml, .csv, .tsv, .md, .markdown is"),
        ("faq", "x", "a file that ends in"),
        ("faq.json", "{", "not JSON: "),
        ("faq.json", "7", "an object with items, or a list of them, is accepted, not 7"),
        ("faq.json", "[" * 100_000, "it is nested too deeply"),
        ("faq.json", b"\xff\xfe\xfd", "it is not UTF-8"),
        ("faq.json", b'{"a": "\xe9"}', "it is not UTF-8 at byte 7; save it as UTF-8"),
        ("faq.yaml", "a: [", "not YAML: "),
        ("faq.yaml", "a: &a [x, x]\nb: [*a, *a]", "aliases (*name) are not accepted"),
        ("faq.csv", "Was;Wie\nx;y\n", "the first row is to name the columns question and answer"),
        ("faq.csv", "", "the first row is to name the columns question and answer, not ''"),
        ("faq.csv", 'question,answer\n"x" y,z', "not CSV at line 2: ',' expected after '\"'"),
        ("faq.md", "Just words.\n", "no question was found: a heading for each, Q: and A:, or a bold line"),
        ("faq.md", b"x" * 10_000_001, "it has more than 10000000 bytes"),
    ],
)
def test_a_file_in_another_form_is_told_so(tmp_path: Path, name: str, content: str, why: str) -> None:
    said = refused(tmp_path, name, content)
    assert said.startswith(f"{name}: ")
    assert why in said


@pytest.mark.parametrize("nested", ["[", "{", "[a, ", "{a: ", "- ", "? "])
def test_yaml_that_is_nested_too_deeply_is_refused_before_it_is_parsed(
    tmp_path: Path, nested: str
) -> None:  # D13
    start = time.process_time()
    assert refused(tmp_path, "faq.yaml", nested * 5_000) == "faq.yaml: it is nested too deeply"
    assert time.process_time() - start < 3


def test_yaml_may_hold_any_number_of_brackets_in_its_texts(tmp_path: Path) -> None:
    answer = "[" * 500 + "{" * 500
    content = f"items: [{{question: How, answer: '{answer}'}}]"
    assert read(tmp_path, "faq.yaml", content).items == [{"question": "How", "answer": answer}]


@pytest.mark.parametrize(
    "line",
    [
        "# {}x",
        "#{}",
        "Q{}x",
        "- Q1{}x",
        "**{}x",
        "a{}x",
        "a:{}",
        "---{}x",
        "```{}x",
        "A{}:",
        "x{}\\",
        "<{}",
        "[{}",
        "{{#{}",
        "`{}",
        "a <b{}",
    ],
)
def test_long_lines_cost_no_more_than_their_length(line: str) -> None:  # D13
    start = time.process_time()
    for filling in (
        " " * 60_000,
        "# " * 30_000,
        "** " * 20_000,
        "\\" * 60_000,
        "<!--" * 15_000,
        "- " * 30_000,
        "`a" * 30_000,
        " ".join("`" * length for length in range(1, 340)),
    ):
        text = line.format(filling)
        read_markdown(f"---\n{text}\n---\nQ: a?\n{text}\n{text}\n")
        read_markdown(f"## a?\n{text}\n")
    assert time.process_time() - start < 2


@given(st.text(max_size=200))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("ending", ["json", "yaml", "csv", "md"])
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path: Path, ending: str, text: str) -> None:
    try:
        found = read(tmp_path, f"faq.{ending}", text)
    except UnreadableFile:
        return
    assert isinstance(found, Submission)
