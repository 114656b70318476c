"""The elements that a page has once: found in a body that passes whole or in pieces, removed and merged."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, Item, Theme, to_json_ld
from faqsvc_embed.page.elements import PLAIN, ElementFilter, Printed, Surroundings, TextFilter, merge_pages
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.rendering.style import Style
from tests.support.parsed import attributes, json_ld, nonces, page_of, summary
from tests.support.samples import NASTY_TEXTS

RENDERER = Renderer()
TEAL = Style(theme=Theme(accent_color="teal"))
NONCE = Surroundings(nonce="x")


def faq(slug: str, *pairs: tuple[str, str], lang: str | None = "en") -> FAQ:
    pairs = pairs or ((f"What is {slug}?", f"It is {slug} – ü."),)
    return FAQ(slug, lang=lang, items=tuple(Item(n, q, a) for n, (q, a) in enumerate(pairs)))


A, B, C = faq("a"), faq("b"), faq("c", lang="de")


def printed(
    record: FAQ, ordinal: int = 1, style: Style | None = None, around: Surroundings = PLAIN, **options: Any
) -> Printed:
    fragment = RENDERER.fragment(record, style or Style(), ordinal)
    assert fragment is not None
    return Printed(fragment, around, fragment.json_ld if options.get("schema", True) else "")


def schema_of(*texts: str, nonce: str | None = None) -> Printed:
    return Printed(None, Surroundings(nonce=nonce), merge_pages(texts))


def html_of(*everything: Printed) -> str:
    return "<hr>".join(str(one.markup()) for one in everything)


def filtered(everything: Sequence[Printed | None], *pieces: bytes) -> bytes:
    """Return what leaves of a body that passes in pieces."""
    element_filter, rest = ElementFilter(everything), b""
    leaving = list[bytes]()
    for number, piece in enumerate(pieces, 1):
        ready, rest = element_filter.feed(rest + piece, last=number == len(pieces))
        leaving.append(ready)
    assert rest == b""
    return b"".join(leaving)


def whole(*everything: Printed) -> str:
    return filtered(everything, html_of(*everything).encode()).decode()


# What is printed


@pytest.mark.parametrize(
    "style", [Style(), TEAL, Style(variant="disclosure")], ids=["plain", "theme", "script"]
)
@pytest.mark.parametrize("around", [PLAIN, NONCE, Surroundings("none"), Surroundings("linked", folder="/f")])
def test_an_faq_is_printed_with_all_that_it_needs(style: Style, around: Surroundings) -> None:
    one = printed(A, style=style, around=around)
    html = str(one.markup())
    assert summary(html).faqs == page_of(A).faqs
    assert summary(html).faq_pages == page_of(A).faq_pages
    sheets = 2 if style is TEAL else 1
    assert summary(html).styles == (sheets if around.styles == "inline" else 0)
    links = attributes(html, "link", "href")
    assert len(links) == (sheets if around.styles == "linked" else 0)
    assert all(str(link).startswith("/f/") for link in links)
    scripts = attributes(html, "script:not([type])", "src")
    assert len(scripts) == (style.variant == "disclosure")
    assert all((src is not None) == (around.folder is not None) for src in scripts)
    assert set(nonces(html)) == {around.nonce}
    assert all(element in html for element in one.elements())
    assert html.rfind("</style>") < html.index("<section")


def test_without_a_folder_linked_styles_are_inline() -> None:
    assert summary(str(printed(A, around=Surroundings("linked")).markup())).styles == 1


@pytest.mark.parametrize("nonce", ["abc123==", 'a"b', "' onload='x", "<>&", "\ud800"])
def test_a_nonce_adds_no_attribute_and_can_be_encoded(nonce: str) -> None:
    html = str(printed(A, around=Surroundings(nonce=nonce)).markup())
    html.encode()
    assert len(set(nonces(html))) == 1
    assert attributes(html, "style, script", "onload") == [None, None]


# A body that passes whole


def test_a_single_faq_stays_as_it_is() -> None:
    body = f"<p>host</p>{html_of(printed(A))}<p>host</p>".encode()
    element_filter = ElementFilter([printed(A)])
    assert element_filter.feed(body, last=True) == (body, b"")
    assert not element_filter.has_changed


@pytest.mark.parametrize("body", [b"", b"\xff\x00 no text", b"<p>another response</p>"])
def test_a_body_without_our_elements_stays_as_it_is(body: bytes) -> None:
    element_filter = ElementFilter([printed(A), printed(B)])
    assert element_filter.feed(body, last=True) == (body, b"")
    assert not element_filter.has_changed


def test_two_faqs_have_one_stylesheet_and_one_faq_page_in_the_first_place() -> None:
    first, second = printed(A), printed(B)
    html = whole(first, second)
    assert summary(html) == page_of(A, B)
    assert html.index("application/ld+json") < html.index("faq-b")
    assert json_ld(html) == json_ld(str(schema_of(first.json_ld, second.json_ld).markup()))


def test_text_of_the_host_stays_byte_for_byte_and_is_no_pattern() -> None:
    before, after = rb"\1.*</body>$ \xff<style>", rb"\g<0>[</body></script>"
    body = html_of(printed(A), printed(B)).encode()
    left = filtered([printed(A), printed(B)], before + body + after)
    assert left.startswith(before)
    assert left.endswith(after)
    assert left[len(before) : -len(after)] == whole(printed(A), printed(B)).encode()


def test_the_order_is_that_of_the_document_and_not_of_the_calls() -> None:
    body = html_of(printed(B), printed(A)).encode()
    assert summary(filtered([printed(A), printed(B)], body)) == page_of(B, A)


def test_an_faq_that_is_not_in_the_body_is_not_in_its_faq_page() -> None:  # a mail, a view that failed
    body = html_of(printed(B), printed(C)).encode()
    assert summary(filtered([printed(A), printed(B), None, printed(C)], body)) == page_of(B, C)
    one = html_of(printed(B)).encode()
    assert filtered([printed(A), printed(B)], one) == one


@pytest.mark.parametrize("size", [None, 1, 7, 5000])
def test_an_faq_in_a_comment_leaves_the_elements_to_those_that_are_seen(size: int | None) -> None:
    hidden, first, second = printed(A), printed(B), printed(C)
    html = (
        f"<!-- <nav> --><!-- {html_of(hidden)} --><p>-</p>{html_of(first, second)}<!-- {html_of(hidden)} -->"
    )
    body = html.encode()
    pieces = [body] if size is None else [body[at : at + size] for at in range(0, len(body), size)]
    shown = summary(filtered([hidden, first, second], *pieces))
    assert (shown.faqs, shown.styles) == (page_of(B, C).faqs, 1)
    assert shown.faq_pages == page_of(B, C).faq_pages


def test_a_copy_of_a_result_has_no_styles_and_no_faq_page_again() -> None:
    one = printed(A)
    html = filtered([one], html_of(one, one).encode()).decode()
    assert (html.count("<style"), html.count('"FAQPage"'), html.count("<section")) == (1, 1, 2)


@pytest.mark.parametrize("style", [Style(), TEAL, Style(variant="disclosure")])
@pytest.mark.parametrize("around", [PLAIN, NONCE, Surroundings("none"), Surroundings("linked", folder="/f")])
@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le"])
def test_what_the_host_has_cached_is_merged_with_what_was_printed(
    charset: str, around: Surroundings, style: Style
) -> None:
    cached, shown = printed(B, style=style, around=around), printed(A, style=style, around=around)
    styles = [element for element in cached.elements() if "<style" in element or "<link" in element]
    for everything in ([], [shown]):
        body = html_of(cached, *everything, cached).encode(charset)
        element_filter = ElementFilter(everything, charset, [lambda text: text.encode(charset)])
        html = element_filter.feed(body, last=True)[0].decode(charset)
        assert [html.count(element) for element in styles] == [1] * len(styles)
        assert summary_of_questions(html) == page_of(B, *[A][: len(everything)]).faq_pages


def test_the_same_faq_twice_is_marked_up_once() -> None:
    assert summary(whole(printed(A), printed(A, 2))) == page_of(A, A)


def test_a_question_of_two_faqs_is_marked_up_once_with_the_first_answer() -> None:
    one = faq("one", ("Caf\u00e9?", "First."), ("Only one?", "Yes."))
    two = faq("two", ("Cafe\u0301? ", "Second."), ("Only two?", "Yes."))
    (node,) = json_ld(whole(printed(one), printed(two)))
    assert [(q["name"], q["acceptedAnswer"]["text"]) for q in node["mainEntity"]] == [
        ("Caf\u00e9?", "First."),
        ("Only one?", "Yes."),
        ("Only two?", "Yes."),
    ]


def test_faqs_of_two_languages_state_theirs_on_each_question() -> None:
    (node,) = json_ld(whole(printed(A), printed(C)))
    assert "inLanguage" not in node
    assert [question["inLanguage"] for question in node["mainEntity"]] == ["en", "de"]
    (node,) = json_ld(whole(printed(A), printed(B)))
    assert node["inLanguage"] == "en"


def test_another_theme_keeps_its_own_stylesheet() -> None:
    html = whole(printed(A), printed(B, style=TEAL), printed(C, style=TEAL))
    assert summary(html).styles == 2


def test_the_merged_faq_page_has_the_nonce_of_the_first() -> None:
    html = whole(printed(A, around=NONCE), printed(B, around=NONCE), printed(C, around=NONCE))
    assert (summary(html), nonces(html)) == (page_of(A, B, C), ["x", "x"])


def test_an_faq_page_that_was_printed_apart_is_merged_too() -> None:
    one = printed(A, schema=False)
    apart = schema_of(printed(A).json_ld)
    assert summary(whole(one, apart, printed(B))) == page_of(A, B)
    assert summary(whole(printed(B), one, apart)).faq_pages == page_of(B, A).faq_pages


def test_an_faq_that_was_printed_without_json_ld_has_none() -> None:
    html = whole(printed(A, schema=False), printed(B))
    assert summary(html) == page_of(A, B)._replace(faq_pages=page_of(B).faq_pages)


# A body that passes in pieces


@given(st.lists(st.integers(0, 30_000), max_size=8))
def test_a_body_is_sent_the_same_wherever_it_is_cut(cuts: list[int]) -> None:
    everything = [printed(A), printed(B), printed(A, 2), printed(C, style=TEAL)]
    body = f"<p>ä</p>{html_of(*everything)}<p>ö</p><sty".encode()
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[start:end] for start, end in pairwise(edges)]
    assert filtered(everything, *pieces) == filtered(everything, body)


def test_a_piece_is_sent_at_once_except_a_possible_start_of_an_element() -> None:
    everything = [printed(A), printed(B)]
    element_filter = ElementFilter(everything)
    assert element_filter.feed(b"<p>first</p>", last=False) == (b"<p>first</p>", b"")
    style = next(iter(everything[0].elements())).encode()
    assert element_filter.feed(b"<p>" + style[:50], last=False) == (b"<p>", style[:50])
    assert element_filter.feed(style[:50] + b"no such", last=False) == (style[:50] + b"no such", b"")
    assert element_filter.feed(style, last=False) == (style, b"")
    assert element_filter.feed(b"<p>" + style, last=False) == (b"<p>", b"")


def test_a_stream_has_the_questions_printed_before_its_first_faq_is_sent() -> None:
    everything: list[Printed | None] = [printed(A), printed(B)]
    element_filter = ElementFilter(everything)
    first, rest = element_filter.feed(html_of(printed(A)).encode(), last=False)
    everything.append(printed(C))
    second, _ = element_filter.feed(rest + html_of(printed(B), printed(C)).encode(), last=True)
    assert summary(first + second) == page_of(A, B, C)._replace(faq_pages=page_of(A, B).faq_pages)


def test_texts_are_filtered_as_bodies_are_even_if_they_cannot_be_encoded() -> None:
    everything = [printed(A), printed(B)]
    text_filter = TextFilter(everything)
    first = text_filter.feed(f"\ud800{html_of(printed(A))}")
    html = first + text_filter.feed(html_of(printed(B)), last=True)
    assert html[0] == "\ud800"
    assert summary(html[1:]) == page_of(A, B)


@pytest.mark.parametrize("charset", ["utf-16-le", "iso-8859-1", "utf-8"])
def test_a_body_in_another_charset_is_searched_in_it(charset: str) -> None:
    records = [faq(slug, (f"Größe {slug}?", "Groß.")) for slug in ("a", "b")]
    everything = [printed(record) for record in records]
    element_filter = ElementFilter(everything, charset, [lambda text: text.encode(charset)])
    body, rest = element_filter.feed(html_of(*everything).encode(charset), last=True)
    assert rest == b""
    assert summary(body.decode(charset)) == page_of(*records)


def summary_of_questions(html: str) -> list[list[str]]:
    return [[question["name"] for question in node["mainEntity"]] for node in json_ld(html)]


def all_of(faqs: Sequence[FAQ]) -> Iterator[Printed]:
    counts = dict[str, int]()
    for record in faqs:
        counts[record.slug] = ordinal = counts.get(record.slug, 0) + 1
        if RENDERER.fragment(record, Style(), ordinal) is not None:
            yield printed(record, ordinal)


texts = st.sampled_from((*NASTY_TEXTS, "Why?", "why? ", "", " ", "ü"))
pages = st.lists(st.lists(st.tuples(texts, texts), max_size=4), max_size=4)


@given(pages)
def test_any_page_has_at_most_one_faq_page_with_every_question(
    questions: list[list[tuple[str, str]]],
) -> None:
    faqs = [faq("same", *pairs) for pairs in questions if pairs]
    everything = list(all_of(faqs))
    items = [item for record in faqs for item in record.items]
    together = FAQ("all", items=tuple(Item(n, item.question, item.answer) for n, item in enumerate(items)))
    expected = to_json_ld(together)
    names = [question["name"] for question in expected.get("mainEntity", ())]
    assert summary_of_questions(whole(*everything)) == ([names] if names else [])
