"""What one response shows once: its styles, its one FAQPage, and the time that it may wait."""

import json
import time
from collections.abc import Callable, Sequence
from typing import Any

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import escape

from faqsvc_embed import FAQ, Item, Theme
from faqsvc_embed.page import context as pages
from faqsvc_embed.page.context import Page
from faqsvc_embed.rendering.assets import stylesheet, stylesheet_name, theme_address, theme_rule
from faqsvc_embed.rendering.json_ld import page_node, serialise
from faqsvc_embed.rendering.renderer import Block, Look, Renderer
from tests.support.strategies import records

RENDERER = Renderer()
STYLE = f"<style>{stylesheet()}</style>\n"
TEAL = Theme(accent_color="teal")
LARGE = Theme(question_size=30)


def faq(slug: str, *pairs: tuple[str, str], lang: str | None = "en") -> FAQ:
    pairs = pairs or ((f"What is {slug}?", f"It is {slug}."),)
    return FAQ(slug, lang=lang, items=tuple(Item(n, q, a) for n, (q, a) in enumerate(pairs)))


A, B = faq("a"), faq("b")


def block(record: FAQ, ordinal: int = 1, theme: Theme | None = None) -> Block:
    rendered = RENDERER.block(record, Look(theme or Theme(), True, 2), ordinal)
    assert rendered is not None
    return rendered


def place(page: Page, shown: Block, **options: Any) -> str:
    return str(page.place(shown, **{"nonce": None, "schema": True, "styles": "inline", **options}))


def script(*faqs: FAQ, nonce: str = "") -> str:
    return f'\n<script type="application/ld+json"{nonce}>{serialise(page_node(faqs))}</script>'


def scripts(html: str | bytes) -> list[Any]:
    """Return the nodes of all JSON-LD scripts of a page."""
    text = html.decode() if isinstance(html, bytes) else html
    tree = html5lib.parse(text, namespaceHTMLElements=False)
    return [json.loads(e.text) for e in tree.iter("script") if e.get("type") == "application/ld+json"]


def questions(node: dict[str, Any]) -> list[str]:
    return [entry["name"] for entry in node["mainEntity"]]


# Styles


def test_the_first_block_brings_the_stylesheet_and_the_script() -> None:  # P8, J1, J16
    page = Page()
    assert place(page, block(A)) == f"{STYLE}{block(A).html}{script(A)}"
    assert place(page, block(B)) == block(B).html


def test_ten_blocks_have_one_stylesheet() -> None:  # T6
    page = Page()
    shown = [place(page, block(A, ordinal)) for ordinal in range(1, 11)]
    assert shown == [f"{STYLE}{block(A).html}{script(A)}", *(block(A, n).html for n in range(2, 11))]


def test_equal_themes_have_one_rule_and_another_theme_has_its_own() -> None:  # T6
    page = Page()
    same = Theme(accent_color="#008080")
    assert [
        place(page, block(A, 1, TEAL)),
        place(page, block(A, 2, same)),
        place(page, block(A, 3, LARGE)),
        place(page, block(A, 4)),
    ] == [
        f"<style>{stylesheet()}{theme_rule(TEAL)[1]}</style>\n{block(A, 1, TEAL).html}{script(A)}",
        block(A, 2, TEAL).html,
        f"<style>{theme_rule(LARGE)[1]}</style>\n{block(A, 3, LARGE).html}",
        block(A, 4).html,
    ]


def test_a_linked_stylesheet_and_a_linked_theme_are_linked_once() -> None:  # C3, T6
    page, linked = Page(), {"styles": "linked", "files": "/faqsvc", "schema": False}
    link = f"/faqsvc/{stylesheet_name()}"
    theme = f'<link rel="stylesheet" href="/faqsvc/{escape(theme_address(TEAL))}">\n'
    assert [
        place(page, block(A), **linked),
        place(page, block(B), **linked),
        place(page, block(A, 2, TEAL), **linked),
        place(page, block(B, 2, TEAL), **linked),
    ] == [
        f'<link rel="stylesheet" href="{link}">\n{block(A).html}',
        block(B).html,
        f"{theme}{block(A, 2, TEAL).html}",
        block(B, 2, TEAL).html,
    ]


def test_without_styles_there_is_neither_style_nor_link() -> None:  # T8
    assert place(Page(), block(A, 1, TEAL), styles="none") == f"{block(A, 1, TEAL).html}{script(A)}"


@pytest.mark.parametrize("nonce", ["abc123==", 'a"b', "' onload='x", "<>&"])
def test_the_nonce_is_on_style_and_script_and_adds_no_attribute(nonce: str) -> None:  # E7, C4
    html = place(Page(), block(A), nonce=nonce)
    tree = html5lib.parse(html, namespaceHTMLElements=False)
    (style,), (data,) = tree.iter("style"), tree.iter("script")
    assert style.attrib == {"nonce": nonce}
    assert data.attrib == {"type": "application/ld+json", "nonce": nonce}


def test_without_a_nonce_there_is_no_such_attribute() -> None:  # C4
    assert "nonce" not in place(Page(), block(A), nonce=None) + place(Page(), block(A), nonce="")


def test_blocks_of_one_slug_are_counted() -> None:  # A14
    page = Page()
    assert page.ordinal("a") == 1
    place(page, block(A))
    place(page, block(B))
    place(page, block(A, 2), schema=False)
    assert (page.ordinal("a"), page.ordinal("b"), page.ordinal("c")) == (3, 2, 1)


# One FAQPage


def test_one_block_leaves_a_response_as_it_is() -> None:  # S1
    page = Page()
    body = f"<p>host</p>{place(page, block(A))}<p>host</p>".encode()
    assert page.is_settled
    assert page.merge(body) == body


def test_a_page_without_a_block_leaves_a_response_as_it_is() -> None:
    page = Page()
    assert page.is_settled
    assert page.merge(b"\xff\x00 no text") == b"\xff\x00 no text"


def test_two_blocks_are_merged_into_the_first_script_in_document_order() -> None:  # J1, J12
    page = Page()
    body = f"<p>ä</p>{place(page, block(A))}<hr>{place(page, block(B))}<p>ö</p>"
    assert not page.is_settled
    assert page.merge(body.encode()) == body.replace(script(A), script(A, B)).encode()
    assert questions(scripts(page.merge(body.encode()))[0]) == ["What is a?", "What is b?"]


def test_the_merged_script_keeps_the_nonce_of_the_first() -> None:  # C4
    page = Page()
    body = place(page, block(A), nonce='x"') + place(page, block(B), nonce="y")
    quoted = ' nonce="x&#34;"'
    expected = body.replace(script(A, nonce=quoted), script(A, B, nonce=quoted))
    assert page.merge(body.encode()).decode() == expected


def test_the_same_faq_twice_is_marked_up_once() -> None:  # J12
    page = Page()
    body = place(page, block(A)) + place(page, block(A, 2))
    assert page.is_settled
    assert page.merge(body.encode()) == body.encode()


def test_a_question_of_two_faqs_appears_once_with_the_first_answer() -> None:  # J12
    one = faq("one", ("Caf\u00e9?", "First."), ("Only one?", "Yes."))
    two = faq("two", ("Cafe\u0301? ", "Second."), ("Only two?", "Yes."))
    page = Page()
    body = place(page, block(one)) + place(page, block(two))
    (node,) = scripts(page.merge(body.encode()))
    assert [(q["name"], q["acceptedAnswer"]["text"]) for q in node["mainEntity"]] == [
        ("Caf\u00e9?", "First."),
        ("Only one?", "Yes."),
        ("Only two?", "Yes."),
    ]


def test_faqs_of_two_languages_say_theirs_on_each_question() -> None:  # J13
    page = Page()
    body = place(page, block(A)) + place(page, block(faq("c", lang="de")))
    (node,) = scripts(page.merge(body.encode()))
    assert "inLanguage" not in node
    assert [q["inLanguage"] for q in node["mainEntity"]] == ["en", "de"]


def test_insertion_is_by_place_and_not_by_pattern() -> None:  # D8
    first, second = faq("a", (r"\1 \g<0> .*?", "\\u003c $& \\")), faq("b", (r"(?P<x>)\\", r"\0"))
    page = Page()
    before, after = rb"\1.*</body>$", rb"\g<0>[</body>"
    html = place(page, block(first)) + place(page, block(second))
    expected = html.replace(script(first), script(first, second)).encode()
    assert page.merge(before + html.encode() + after) == before + expected + after


def test_a_response_that_does_not_hold_our_script_is_left_alone() -> None:  # S6
    page = Page()
    place(page, block(A))
    place(page, block(B))
    assert page.merge(b"<p>another response</p>") == b"<p>another response</p>"


@given(st.lists(records.map(lambda record: FAQ.from_dict({**record, "cta": None})), max_size=5))
def test_any_page_has_at_most_one_faq_page_with_every_question(faqs: Sequence[FAQ]) -> None:  # J1, J12, J16
    page, html = Page(), "<!doctype html><p>host</p>"
    for record in faqs:
        rendered = RENDERER.block(record, Look(Theme(), True, 2), page.ordinal(record.slug))
        if rendered is not None:
            html += place(page, rendered)
    merged = page.merge(html.encode())
    expected = page_node(faqs)
    assert scripts(merged) == ([expected] if expected else [])
    assert page.is_settled is (merged == html.encode())


# faq_schema()


def test_schema_prints_what_was_left_to_it_in_document_order() -> None:  # J1, J12
    page = Page()
    shown = place(page, block(A), schema=False) + place(page, block(B), schema=False)
    assert shown == f"{STYLE}{block(A).html}{block(B).html}"
    assert page.schema() == script(A, B)
    assert page.schema() == ""
    assert page.is_settled


def test_without_a_later_schema_what_was_left_is_not_marked_up() -> None:  # J16
    page = Page()
    body = place(page, block(A), schema=False) + place(page, block(B))
    assert page.is_settled
    assert scripts(body) == [page_node([B])]


def test_schema_adds_to_a_script_that_is_printed_already() -> None:  # J1
    page = Page()
    body = place(page, block(A)) + place(page, block(B), schema=False)
    assert page.is_settled
    assert page.schema() == ""
    assert scripts(page.merge(body.encode())) == [page_node([A, B])]


def test_a_block_after_schema_joins_what_schema_printed() -> None:  # J1, J12
    page = Page()
    body = place(page, block(A), schema=False) + page.schema() + place(page, block(B))
    assert scripts(page.merge(body.encode())) == [page_node([A, B])]


def test_schema_of_one_faq_is_its_own_and_leaves_the_rest_for_later() -> None:
    page = Page()
    page.defer(A)
    assert page.schema(B) == script(B)
    assert page.schema() == ""
    assert page.merge(script(B).encode()) == script(B, A).encode()


def test_schema_carries_the_nonce() -> None:  # C4, E7
    assert Page().schema(A, '"') == script(A, nonce=' nonce="&#34;"')


def test_schema_of_nothing_is_nothing_and_leaves_room_for_the_next() -> None:  # J5, J16
    page = Page()
    assert page.schema() == ""
    assert page.schema(FAQ("empty")) == ""
    assert place(page, block(A), styles="none") == f"{block(A).html}{script(A)}"
    assert page.is_settled


# The budget


@pytest.fixture
def passing(monkeypatch: pytest.MonkeyPatch) -> Callable[[float], None]:
    """A monotonic clock that is moved by hand."""
    now = [100.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])

    def advance(seconds: float) -> None:
        now[0] += seconds

    return advance


def test_waits_one_after_another_add_up(passing: Callable[[float], None]) -> None:  # R2
    page = Page()
    assert page.left(1.0) == 1.0
    for seconds, left in ((0.25, 0.75), (0.5, 0.25), (0.5, 0.0)):
        page.start_waiting()
        passing(seconds)
        page.stop_waiting()
        passing(10)  # what the host does meanwhile does not count
        assert page.left(1.0) == left


def test_waits_at_the_same_time_count_once(passing: Callable[[float], None]) -> None:  # R2
    page = Page()
    page.start_waiting()
    passing(0.25)
    page.start_waiting()
    passing(0.25)
    page.stop_waiting()
    passing(0.25)
    page.stop_waiting()
    assert page.waited == 0.75
    assert page.left(0.5) == 0.0


# The current page


def test_pages_begin_and_end_inside_each_other() -> None:
    outer, inner = Page(), Page()
    assert pages.current() is None
    first = pages.begin(outer)
    second = pages.begin(inner)
    assert pages.current() is inner
    pages.end(second)
    assert pages.current() is outer
    pages.end(first)
    assert pages.current() is None
