"""The Markdown of a page: a parser reads from it exactly the texts of the FAQ."""

import re
from xml.etree.ElementTree import Element

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.pages.hosted import link, render_markdown
from faqsvc_embed.testing import fake_embed
from tests.support import samples

PAGE = "https://faq.tea.example/faq/pricing"
PARSERS = [MarkdownIt("commonmark"), MarkdownIt("gfm-like", {"linkify": False})]

MARKS = r"""\ ` * _ { } [ ] ( ) < > # + - . ! | ~ & ^ $ = : " ' / 1. 1) - + * > # ## === --- ``` ~~~ <b> &amp;
![x](y) [x](y) [x]: y <http://a.example> | a | b | a * b __c__ ~~d~~ <!-- e --> **""".split()  # noqa: SIM905


def markdown(faq: FAQ, title: str = "Title") -> str:
    return render_markdown(faq, title=title, page_url=PAGE)


def flat(text: str) -> str:
    """Return text with normalized white space and visible control characters, for comparison."""
    return " ".join(re.sub("[\x00-\x08\x0e-\x1f\x7f-\x9f]", "\ufffd", text).split())


def read(text: str, parser: MarkdownIt) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the headings of level 1, and those of level 2 with the text below them."""
    root: Element = html5lib.parseFragment(parser.render(text), namespaceHTMLElements=False)
    titles: list[str] = []
    sections: list[tuple[str, str]] = []
    for element in root:
        content = "".join(element.itertext())
        if element.tag == "h1":
            titles.append(flat(content))
        elif element.tag == "h2":
            sections.append((flat(content), ""))
        elif sections:
            assert element.tag == "p"
            assert {inner.tag for inner in element.iter()} <= {"p", "br"}
            sections[-1] = (sections[-1][0], flat(f"{sections[-1][1]} {content}"))
    return titles, sections


def texts_of(faq: FAQ) -> list[tuple[str, str]]:
    return [(flat(i.question), flat(i.answer)) for i in faq.items if i.question.strip() and i.answer.strip()]


def test_a_typical_faq() -> None:
    faq = FAQ.from_dict(samples.record())
    text = render_markdown(faq, title="Pricing", page_url=PAGE, website_url="https://www.tea.example/?a=(b)")

    assert (
        text
        == f"""\
# Pricing

[Tea & Sons](https://www.tea.example/?a=%28b%29) · <{PAGE}>

- [What does it cost?]({PAGE}#faq-pricing--what-does-it-cost)
- [Is there a "free" plan?]({PAGE}#faq-pricing--is-there-a-free-plan)
- [May I cancel?]({PAGE}#faq-pricing--may-i-cancel)

## What does it cost?

Nothing < 10 users; then €5 & taxes.

## Is there a "free" plan?

Yes.

It has:\\
\\- 1 site\\
\\- 3 FAQs

## May I cancel?

Any time, it's \\<b>your\\</b> choice.
"""
    )


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("record", [samples.nasty(), samples.multilingual()["ko"]], ids=["nasty", "ko"])
def test_texts_survive_a_parser(parser: MarkdownIt, record: dict[str, object]) -> None:
    faq = FAQ.from_dict(record)

    assert read(markdown(faq, faq.title), parser) == ([flat(faq.title)], texts_of(faq))


@pytest.mark.parametrize("mark", MARKS)
def test_markup_is_escaped_at_every_position(mark: str) -> None:
    answer = f"{mark} a\nb {mark} c\n{mark}\nd{mark}e\n{mark}\n\n{mark}\n\n   {mark}{mark} f {mark}"
    faq = FAQ("pricing", lang="en", items=(Item(0, f"{mark} a{mark}b {mark}", answer),))

    for parser in PARSERS:
        assert read(markdown(faq, title=mark), parser) == ([mark], texts_of(faq))


def texts() -> st.SearchStrategy[str]:
    """Text that is made of Markdown markup."""
    pieces = st.sampled_from(
        [*MARKS, "a", "Öl", "  ", "\t", "\n", "\n\n", "\r\n", "\x0b", "\f", "\u3000", "\0"]
    )
    return st.lists(pieces, min_size=1, max_size=12).map("".join)


@given(question=texts(), answer=texts(), title=texts())
def test_any_text_survives_a_parser(question: str, answer: str, title: str) -> None:
    faq = FAQ("pricing", lang="en", items=(Item(0, f"Q{question}", f"{answer}\n\n{question}x"),))
    text = markdown(faq, title=f"T{title}")

    for parser in PARSERS:
        assert read(text, parser) == ([flat(f"T{title}")], texts_of(faq))
    assert len(re.findall(r"^#{1,6} ", text, re.MULTILINE)) == 2


def test_items_without_question_or_answer_are_left_out() -> None:
    faq = FAQ("pricing", items=(Item(0, " ", "a"), Item(1, "q", "\n"), Item(2, "Q?", "A.")))

    assert read(markdown(faq), PARSERS[0])[1] == [("Q?", "A.")]


def test_a_vertical_tab_is_a_line_break_and_a_form_feed_a_space() -> None:
    faq = FAQ(
        "pricing",
        items=(Item(0, "Opening\x0bhours?\f", "Mon-Fri\x0b9 to 5\fdaily\x0b\x0bNot on\x0b\nMay 1."),),
    )

    shown = "## Opening hours?\n\nMon-Fri\\\n9 to 5 daily\n\nNot on\n\nMay 1.\n"
    assert markdown(faq).endswith(shown)


WHOLE = [
    "**Free** of charge.\n\n- one\n- two\n\n### Details\n\n[More](https://tea.example/more).",
    "```sh\n## not a heading\n\nmake\n```",
    "| a | b |\n|---|---|\n| 1 | 2 |",
    "    indented code",
]
"""Markdown answers that show the same within a page."""
BROKEN = [
    "```\nopen\n\ncode",
    "~~~\nopen",
    "<!-- open",
    "<pre>\nopen",
    "# One\n\n## Two\n\ntext",
    "One\n===\n\nTwo\n---\n\ntext",
    "[ref]\n\n[ref]: https://tea.example/ref",
    "So. <script>alert(1)</script>",
    "> <b>bold</b>",
    "![picture](https://tea.example/picture.png)",
    "[here](prices) and [there](javascript:alert(1))",
    "- ```\n  open\n\n  code",
]


@pytest.mark.parametrize("answer", [*WHOLE, *BROKEN])
def test_a_markdown_answer_stays_an_answer(answer: str) -> None:
    items = Item(0, "One?", answer), Item(1, "Two?", "[ref] *plain*"), Item(2, "Three?", answer)
    faq = FAQ("pricing", lang="en", items=items, answer_format="markdown")
    html = PARSERS[1].render(markdown(faq))
    root = html5lib.parseFragment(html, namespaceHTMLElements=False)
    shown = html5lib.parseFragment(
        fake_embed({"pricing": faq}).render("pricing"), namespaceHTMLElements=False
    )

    assert [flat("".join(e.itertext())) for e in root if e.tag in ("h1", "h2")] == [
        *("Title", "One?", "Two?", "Three?")
    ]
    for tag in ("script", "img"):
        assert root.find(f".//{tag}") is None
    links = [link.get("href") for link in root.iter("a") if PAGE not in str(link.get("href"))]
    assert links == [link.get("href") for link in shown.iter("a")]
    texts = [flat("".join(e.itertext())) for e in shown.iterfind(".//*[@class='faqsvc-answer']")]
    assert len(texts) == 3
    assert flat("".join(root.itertext())).endswith(
        " ".join(f"{item.question} {text}" for item, text in zip(items, texts, strict=True))
    )


@pytest.mark.parametrize("url", ["https://a.example/a b>(c)\n[d]", "https://a.example/<x>\\`"])
def test_a_url_cannot_end_a_link(url: str) -> None:
    html = PARSERS[0].render(link("a]b", url))
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)

    assert [a.text for a in tree.iter("a")] == ["a]b"]
    assert flat("".join(tree.itertext())) == "a]b"


def test_questions_of_a_section_are_below_its_heading() -> None:
    items = (
        Item(0, "Why?", "So.", "Orders"),
        Item(1, "How?", "#### By hand\n\nYes.", "Orders"),
        Item(2, "Who?", "We."),
    )
    faq = FAQ("tea", items=items, answer_format="markdown")
    text = render_markdown(faq, title="Tea", page_url="https://x.example")
    assert text.endswith(
        "\n\n## Orders\n\n### Why?\n\nSo.\n\n### How?\n\n#### By hand\n\nYes.\n\n## Who?\n\nWe.\n"
    )
