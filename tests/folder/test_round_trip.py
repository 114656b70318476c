"""A record that is pulled as Markdown is read from the folder as it was, whatever its texts contain."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faqsvc_embed import FAQ, FAQEmbed, Item
from faqsvc_embed.files import WRITERS, Document
from faqsvc_embed.files.folder import Folder, file_name
from tests.support.samples import NASTY_TEXTS
from tests.support.strategies import any_text

_texts = any_text.map(lambda text: text.replace("\0", "")[:150]).filter(lambda text: bool(text.strip()))
_answers = st.one_of(
    _texts,
    st.lists(
        st.sampled_from(
            [
                *(
                    "# a",
                    "## b",
                    "```",
                    "~~~",
                    "<!--",
                    "-->",
                    "---",
                    "===",
                    "text",
                    "    x",
                    "- a",
                    "1. b",
                    "> c",
                ),
                *("<div>", "[a]: /b", "|a|b|\n|-|-|", "\n", "\n\n", "Q: a?", "A: b", *"\\` \t\r\u2028"),
            ]
        )
    )
    .map("".join)
    .filter(lambda text: bool(text.strip())),
)
_json = st.recursive(
    st.none() | st.booleans() | st.integers() | any_text, lambda v: st.lists(v) | st.dictionaries(any_text, v)
)
_slugs = st.sampled_from(["pricing", "a.de", "A b", "요금", "~", "-", "# a", "'", '"', "yes", "null", "1.5"])


@st.composite
def _records(draw: st.DrawFn) -> FAQ:
    pairs = draw(
        st.lists(
            st.tuples(_texts, _answers),
            min_size=1,
            max_size=3,
            unique_by=lambda pair: " ".join(pair[0].split()),
        )
    )
    lang = draw(st.sampled_from([None, "en", "zh-Hant-TW"]))
    return FAQ(
        slug=draw(_slugs),
        title=draw(st.just("") | _texts),
        # A file that names neither a language nor a website is somebody's own: its language is detected.
        website_name=draw(_texts if lang is None else st.just("") | _texts),
        lang=lang,
        items=tuple(Item(index, *pair) for index, pair in enumerate(pairs)),
        cta=draw(_json),
        answer_format=draw(st.sampled_from(["text", "markdown"])),
    )


def read_again(directory: Path, faq: FAQ) -> FAQ | None:
    path = directory / file_name(faq.slug, None)
    path.write_text(WRITERS[".md"](Document.from_faq(faq)), encoding="utf-8", newline="\n")
    try:
        (file,) = Folder(directory).files
    finally:
        path.unlink()
    assert file.problems == ()
    return file.faq


@given(_records())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
def test_a_record_is_read_as_it_was_written(tmp_path: Path, faq: FAQ) -> None:
    assert read_again(tmp_path, faq) == faq


@pytest.mark.parametrize("text", NASTY_TEXTS)
def test_a_hostile_text_is_read_as_it_was_written(tmp_path: Path, text: str) -> None:
    text = text.replace("\0", "")
    for answer_format in ("text", "markdown"):
        faq = FAQ("a", text[:100], text[:100], "en", (Item(0, text, text),), {"a": text}, answer_format)
        assert read_again(tmp_path, faq) == faq


def test_what_is_read_looks_like_what_was_pulled(tmp_path: Path) -> None:
    answer = "**So**:\n\n| a | b |\n|---|---|\n| 1 | 2 |\n"
    faq = FAQ("a", "T", "W", "en", (Item(0, "Why & how?", answer),), answer_format="markdown")
    (tmp_path / "a.md").write_text(WRITERS[".md"](Document.from_faq(faq)))
    embed = FAQEmbed(directory=tmp_path)
    assert embed.render("a") == embed.render(faq)
