"""A document that is written as Markdown is read as the same document, whatever its texts contain."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from faqsvc_embed import FAQ
from faqsvc_embed.files import WRITERS, Document
from faqsvc_embed.files.markdown_text import escape, escape_line, unescape
from tests.files.support import read
from tests.support import samples
from tests.support.strategies import any_text

write = WRITERS[".md"]


def test_a_record_reads_well() -> None:
    assert (
        write(Document.from_faq(FAQ.from_dict(samples.pricing())))
        == """\
---
slug: pricing
websiteName: Tea & Sons
lang: en
answerFormat: text
---

# Pricing

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


def test_sections_and_ids_are_headings(tmp_path: Path) -> None:
    items = [
        {"question": "Why?", "answer": "So."},
        {"question": "Where?", "answer": "Here.", "section": "Orders", "id": "where"},
        {"question": "How {#x}?", "answer": "So.", "section": "Orders"},
        {"question": "When?", "answer": "Now.", "section": "Payment"},
    ]
    document = Document(answer_format="markdown", items=items)
    text = write(document)
    assert text.endswith(
        "\n## Why?\n\nSo.\n\n## Orders\n\n### Where? {#where}\n\nHere.\n\n### How {\\#x}?\n\nSo.\n"
        "\n## Payment\n\n### When?\n\nNow.\n"
    )
    assert read(tmp_path, "faq.md", text) == document


def encodable(text: str) -> str:
    """Return a text as a record has it."""
    return text.encode("utf-8", "replace").decode()


_texts = any_text.map(encodable)
_pieces = st.sampled_from(
    [
        *("# a", "## b", "```", "~~~", "<!--", "-->", "---", "===", "text", "    x", "- a", "1. b", "> c"),
        *("<div>", "<script>", "[a]: /b", "|a|b|\n|-|-|", "\n", "\n\n", *"\\` \t\r\0\u2028"),
    ]
)
_markdown = st.lists(_pieces).map("".join)
_items = st.fixed_dictionaries(
    {"question": _texts, "answer": _texts | _markdown},
    optional={"section": _texts.filter(bool) | st.just("Orders"), "id": st.just("ship")},
)


def is_written(item: dict[str, str]) -> bool:
    """Return whether an item has a text; in a section, it has a question with words and an answer."""
    if "section" in item:
        return any(map(str.isalnum, item["question"])) and bool(item["answer"].strip())
    return bool(item["question"] or item["answer"])


_documents = st.builds(
    Document,
    slug=st.none() | st.just("tea"),
    title=st.none() | _texts.filter(bool),
    website_name=st.none() | _texts.filter(bool),
    lang=st.sampled_from([None, "ko"]),
    answer_format=st.sampled_from(["text", "markdown"]),
    cta=st.none() | st.just({"label": "Buy", "price": [1, 2.5, None, True]}) | _texts,
    items=st.lists(_items.filter(is_written), max_size=3),
)


@given(_documents)
@example(Document(items=[], answer_format="text"))
@example(Document(items=[], answer_format="text", title="How?"))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_every_document_is_read_again_as_it_was(tmp_path: Path, document: Document) -> None:
    assert read(tmp_path, "faq.md", write(document)) == document


@pytest.mark.parametrize("answer_format", ["text", "markdown"])
@pytest.mark.parametrize(
    "answer",
    [
        "## Why?\n\nSo.",
        "```\nunclosed",
        "<!-- unclosed",
        " spaces \n",
        "a\r\nb",
        "nul \0",
        "---\na: b\n---",
        "[a]: https://x.example",
        "",
    ],
)
def test_an_answer_cannot_begin_another_question(tmp_path: Path, answer_format: str, answer: str) -> None:
    items = [{"question": "How?", "answer": answer}, {"question": "# Why?", "answer": "So."}]
    document = Document(answer_format=answer_format, items=items)
    assert read(tmp_path, "faq.md", write(document)) == document


@pytest.mark.parametrize("answer", ["**So**, see [this](https://x.example).", "- a\n- b\n\n```sh\n# c\n```"])
def test_a_markdown_answer_is_written_as_it_is(answer: str) -> None:
    document = Document(answer_format="markdown", items=[{"question": "How?", "answer": answer}])
    assert write(document).endswith(f"\n\n## How?\n\n{answer}\n")


@given(_texts)
def test_text_in_markdown_means_itself(text: str) -> None:
    assert unescape(escape(text)) == text
    assert unescape(escape_line(text)) == text
    assert "\n" not in escape_line(text)
    # To a renderer, too: nothing but paragraphs, with line ends.
    blocks = MarkdownIt("commonmark").enable(["table", "strikethrough"]).parse(escape(text))
    assert {block.type for block in blocks} <= {"paragraph_open", "inline", "paragraph_close"}
    inlines = {inline.type for block in blocks for inline in block.children or ()}
    assert inlines <= {"text", "text_special", "softbreak", "hardbreak"}
