"""An FAQ as Markdown: what a parser of it reads is what was written."""

import re
from xml.etree.ElementTree import Element

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faqsvc_embed.files.to_markdown import items_to_markdown
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.markdown import link, page_markdown
from tests.support import samples

ADDRESS = "https://faq.tea.example/faq/pricing"
PARSERS = [MarkdownIt("commonmark"), MarkdownIt("gfm-like", {"linkify": False})]

MARKS = r"""\ ` * _ { } [ ] ( ) < > # + - . ! | ~ & ^ $ = : " ' / 1. 1) - + * > # ## === --- ``` ~~~ <b> &amp;
![x](y) [x](y) [x]: y <http://a.example> | a | b | a * b __c__ ~~d~~ <!-- e --> **""".split()  # noqa: SIM905


def markdown(faq: FAQ, title: str = "Title") -> str:
    return page_markdown(faq, title=title, address=ADDRESS)


def flat(text: str) -> str:
    """Return a text as a reader compares it: white space does not count, and controls are made visible."""
    return " ".join(re.sub("[\x00-\x08\x0e-\x1f\x7f-\x9f]", "\ufffd", text).split())


def read(text: str, parser: MarkdownIt) -> tuple[list[str], list[tuple[str, str]]]:
    """Return the texts of the first-level headings, and those of the second level with what follows them."""
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


def said(faq: FAQ) -> list[tuple[str, str]]:
    return [(flat(i.question), flat(i.answer)) for i in faq.items if i.question.strip() and i.answer.strip()]


def test_it_reads_well() -> None:  # X4
    faq = FAQ.from_dict(samples.record())
    text = page_markdown(faq, title="Pricing", address=ADDRESS, website_url="https://www.tea.example/?a=(b)")

    assert (
        text
        == f"""\
# Pricing

[Tea \\& Sons](https://www.tea.example/?a=%28b%29) · <{ADDRESS}>

- [What does it cost?]({ADDRESS}#faq-pricing--what-does-it-cost)
- [Is there a "free" plan?]({ADDRESS}#faq-pricing--is-there-a-free-plan)
- [May I cancel?]({ADDRESS}#faq-pricing--may-i-cancel)

## What does it cost?

Nothing \\< 10 users; then €5 \\& taxes.

## Is there a "free" plan?

Yes.

It has:\\
\\- 1 site\\
\\- 3 FAQs

## May I cancel?

Any time, it's \\<b\\>your\\</b\\> choice.
"""
    )


@pytest.mark.parametrize("parser", PARSERS)
@pytest.mark.parametrize("record", [samples.nasty(), samples.multilingual()["ko"]], ids=["nasty", "ko"])
def test_every_text_stays_a_text(parser: MarkdownIt, record: dict[str, object]) -> None:  # X4
    faq = FAQ.from_dict(record)

    assert read(markdown(faq, faq.title), parser) == ([flat(faq.title)], said(faq))


@pytest.mark.parametrize("mark", MARKS)
def test_a_mark_is_none_wherever_it_stands(mark: str) -> None:  # X4
    answer = f"{mark} a\nb {mark} c\n{mark}\nd{mark}e\n{mark}\n\n{mark}\n\n   {mark}{mark} f {mark}"
    faq = FAQ("pricing", lang="en", items=(Item(0, f"{mark} a{mark}b {mark}", answer),))

    for parser in PARSERS:
        assert read(markdown(faq, title=mark), parser) == ([mark], said(faq))


def texts() -> st.SearchStrategy[str]:
    """Lines made of everything that has a meaning in Markdown."""
    pieces = st.sampled_from(
        [*MARKS, "a", "Öl", "  ", "\t", "\n", "\n\n", "\r\n", "\x0b", "\f", "\u3000", "\0"]
    )
    return st.lists(pieces, min_size=1, max_size=12).map("".join)


@given(question=texts(), answer=texts(), title=texts())
def test_nothing_in_a_text_becomes_a_mark(question: str, answer: str, title: str) -> None:  # X4
    faq = FAQ("pricing", lang="en", items=(Item(0, f"Q{question}", f"{answer}\n\n{question}x"),))
    text = markdown(faq, title=f"T{title}")

    for parser in PARSERS:
        assert read(text, parser) == ([flat(f"T{title}")], said(faq))
    assert len(re.findall(r"^#{1,6} ", text, re.MULTILINE)) == 2


def test_an_item_that_the_page_does_not_show_is_not_there() -> None:
    faq = FAQ("pricing", items=(Item(0, " ", "a"), Item(1, "q", "\n"), Item(2, "Q?", "A.")))

    assert read(markdown(faq), PARSERS[0])[1] == [("Q?", "A.")]


def test_a_vertical_tab_ends_a_line_and_a_form_feed_is_a_space() -> None:
    faq = FAQ(
        "pricing",
        items=(Item(0, "Opening\x0bhours?\f", "Mon-Fri\x0b9 to 5\fdaily\x0b\x0bNot on\x0b\nMay 1."),),
    )

    assert items_to_markdown(faq.items) == (
        "## Opening hours?\n\nMon-Fri\\\n9 to 5 daily\n\nNot on\n\nMay 1.\n"
    )


@pytest.mark.parametrize("address", ["https://a.example/a b>(c)\n[d]", "https://a.example/<x>\\`"])
def test_an_address_ends_no_link(address: str) -> None:
    html = PARSERS[0].render(link("a]b", address))
    tree = html5lib.parseFragment(html, namespaceHTMLElements=False)

    assert [a.text for a in tree.iter("a")] == ["a]b"]
    assert flat("".join(tree.itertext())) == "a]b"
