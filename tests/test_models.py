"""Records and publications: frozen values, or one clear error."""

import json
import pickle
from collections import UserDict
from collections.abc import Callable
from contextlib import suppress
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, cast

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, InvalidFAQ, Item
from tests.support import samples
from tests.support.strategies import any_text, odd_values, records


def wire(**changes: object) -> dict[str, Any]:
    return {"slug": "p", "items": [{"position": 0, "question": "Q?", "answer": "A."}], **changes}


def test_a_record_has_the_fields_of_the_specification_in_snake_case() -> None:
    faq = FAQ.from_dict(samples.pricing())
    assert (faq.slug, faq.title, faq.website_name, faq.lang, faq.cta) == (
        "pricing",
        "Pricing",
        "Tea & Sons",
        "en",
        None,
    )
    assert faq.items[1] == Item(1, 'Is there a "free" plan?', "Yes.\n\nIt has:\n- 1 site\n- 3 FAQs")


def test_a_record_can_be_made_by_position_in_the_order_that_is_documented() -> None:
    faq = FAQ("shop", "Shop", "Poster shop", "en", (Item(0, "Why?", "So."),), None, "markdown", "We help.")
    assert (faq.answer_format, faq.introduction, faq.website_url) == ("markdown", "We help.", None)


@pytest.mark.parametrize("make", [samples.pricing, samples.nasty, samples.large])
def test_a_record_is_written_as_it_was_read(make: Any) -> None:
    record = make()
    faq = FAQ.from_dict(record)
    assert faq.to_dict() == record
    assert json.loads(faq.to_json()) == record
    assert FAQ.from_json(faq.to_json()) == FAQ.from_json(faq.to_json().encode()) == faq


@given(records)
def test_any_record_survives_being_written_and_read(record: dict[str, Any]) -> None:
    record = {**record, "cta": None}
    faq = FAQ.from_dict(record)
    assert FAQ.from_dict(faq.to_dict()) == faq
    assert FAQ.from_json(faq.to_json()) == faq


@given(records)
def test_a_record_is_the_same_from_json_and_from_a_mapping(record: dict[str, Any]) -> None:
    record = {**record, "cta": None, "unknown": None}
    text = json.dumps(record)
    assert FAQ.from_json(text) == FAQ.from_json(text.encode()) == FAQ.from_dict(json.loads(text))


@given(any_text, any_text)
def test_every_text_of_a_record_can_be_encoded(title: str, text: str) -> None:
    record = wire(
        title=title, websiteName=text, items=[{"position": 0, "question": text, "answer": title + text}]
    )
    faq = FAQ.from_dict(record)
    faq.to_json().encode()
    assert Item(0, title, text).question.encode().decode() == faq.title
    assert FAQ("p", title).title == faq.title


@pytest.mark.parametrize("positions", [[2, 0, 1], [0, 0, 0], [-1, 5, 3], [2**53, 0, -(2**53)]])
def test_items_are_sorted_by_position_and_ties_keep_their_order(positions: list[int]) -> None:
    pairs = list(zip(positions, ("z?", "y?", "x?"), strict=True))
    expected = [question for _, question in sorted(pairs, key=itemgetter(0))]
    wired = wire(items=[{"position": p, "question": question, "answer": "A"} for p, question in pairs])
    built = FAQ("p", items=tuple(Item(p, question, "A") for p, question in pairs))
    for faq in (FAQ.from_dict(wired), built):
        assert [item.question for item in faq.items] == expected


def test_a_missing_position_is_the_index() -> None:
    items = [{"question": "a?", "answer": "A"}, {"question": "b?", "answer": "B", "position": None}]
    assert [item.position for item in FAQ.from_dict(wire(items=items)).items] == [0, 1]


@pytest.mark.parametrize("record", [wire(), wire(title=None, websiteName=None, lang=None)])
def test_optional_fields_may_be_missing_or_null(record: dict[str, Any]) -> None:
    faq = FAQ.from_dict(record)
    assert (faq.title, faq.website_name, faq.lang, faq.cta) == ("", "", None, None)
    assert "lang" not in faq.to_dict()


@pytest.mark.parametrize("lang", ["", "en_US", '"><script>', 5, ["en"], {"a": 1}, "a" * 500, None])
def test_a_language_that_is_not_a_tag_is_none(lang: object) -> None:
    assert FAQ.from_dict(wire(lang=lang)).lang is None


@pytest.mark.parametrize("lang", ["en", "zh-Hant-TW", "pt-BR"])
def test_any_language_tag_is_kept(lang: str) -> None:
    assert FAQ.from_dict(wire(lang=lang)).lang == lang


@pytest.mark.parametrize("cta", [None, {}, {"label": "Buy", "nested": {"x": [1, 2.5, None]}}, "text", 5, []])
def test_a_call_to_action_is_any_json_value(cta: object) -> None:
    faq = FAQ.from_json(json.dumps(wire(cta=cta)))
    assert faq.cta == cta
    assert faq.to_dict()["cta"] == cta


def test_a_record_has_its_call_to_action_to_itself() -> None:
    cta: dict[str, Any] = {"label": "Buy", "links": [{"to": "/"}]}
    faqs = [FAQ("p", cta=cta), FAQ.from_dict(wire(cta=cta))]
    cta["links"][0]["to"] = "/elsewhere"
    for faq in faqs:
        faq.to_dict()["cta"]["links"].append("x")
        faq.to_dict()["cta"]["label"] = "Sell"
        assert faq.cta == {"label": "Buy", "links": [{"to": "/"}]}


def endless() -> list[Any]:
    inner = list[Any]()
    inner.append(inner)
    return inner


@pytest.mark.parametrize(
    "cta",
    [endless(), {1: 2}, {"x": object()}, float("nan"), [float("inf")], b"x", {1, 2}],
    ids=lambda cta: type(cta).__name__,
)
def test_a_call_to_action_that_is_not_json_is_refused(cta: object) -> None:
    with pytest.raises(InvalidFAQ) as built:
        FAQ("p", cta=cta)
    with pytest.raises(InvalidFAQ) as read:
        FAQ.from_dict(wire(cta=cta))
    assert built.value.path == read.value.path == "cta"


def test_unknown_fields_are_ignored() -> None:
    items = [{"question": "Q?", "answer": "A.", "position": 0, "votes": 5}]
    assert FAQ.from_dict(wire(x=1, items=items, website="https://x")) == FAQ.from_dict(wire())


def test_a_record_is_any_mapping_with_any_iterable_of_items() -> None:
    items = ({"question": f"{n}?", "answer": "A"} for n in range(2))
    faq = FAQ.from_dict(MappingProxyType({"slug": "p", "items": items}))
    assert len(faq.items) == 2
    item = UserDict[str, Any]({"question": "Q?", "answer": "A", "position": 0})
    assert FAQ.from_dict(UserDict[str, Any]({"slug": "p", "items": (item,)})).items == (Item(0, "Q?", "A"),)


@pytest.mark.parametrize(
    ("record", "path"),
    [
        ({}, "slug"),
        ({"slug": "p"}, "items"),
        ({"items": []}, "slug"),
        (wire(slug=None), "slug"),
        (wire(slug=5), "slug"),
        (wire(title=5), "title"),
        (wire(websiteName=[]), "websiteName"),
        (wire(items=None), "items"),
        (wire(items={}), "items"),
        (wire(items="abc"), "items"),
        (wire(items=[1]), "items[0]"),
        (wire(items=[None]), "items[0]"),
        (wire(items=[{"question": "a", "answer": "b"}, {"question": "c"}]), "items[1].answer"),
        (wire(items=[{"answer": "b"}]), "items[0].question"),
        (wire(items=[{"question": 5, "answer": "b"}]), "items[0].question"),
        (wire(items=[{"question": "a", "answer": None}]), "items[0].answer"),
        (wire(items=[{"question": "a", "answer": "b", "position": "0"}]), "items[0].position"),
        (wire(items=[{"question": "a", "answer": "b", "position": 1.5}]), "items[0].position"),
        (wire(items=[{"question": "a", "answer": "b", "position": True}]), "items[0].position"),
        ([], ""),
        (None, ""),
        ("text", ""),
        (5, ""),
    ],
)
def test_an_invalid_record_is_an_error_with_the_path_of_the_invalid_part(record: Any, path: str) -> None:
    with pytest.raises(InvalidFAQ) as from_dict:
        FAQ.from_dict(record)
    with pytest.raises(InvalidFAQ) as from_json:
        FAQ.from_json(json.dumps(record))
    for error in (from_dict.value, from_json.value):
        assert error.path == path
        assert (path or "the record") in str(error)


@pytest.mark.parametrize(
    ("make", "path"),
    [
        (lambda: FAQ(slug=cast(Any, None)), "slug"),
        (lambda: FAQ("pricing", title=cast(Any, 1)), "title"),
        (lambda: FAQ("pricing", website_name=cast(Any, b"Shop")), "website_name"),
        (lambda: Item(0, cast(Any, None), "Yes."), "question"),
        (lambda: Item(0, "Is it?", cast(Any, 1)), "answer"),
        (lambda: Item(cast(Any, "0"), "Is it?", "Yes."), "position"),
        (lambda: Item(True, "Is it?", "Yes."), "position"),
        (lambda: FAQ("pricing", items=cast(Any, None)), "items"),
    ],
)
def test_a_value_of_another_type_is_refused_with_its_name(make: Callable[[], object], path: str) -> None:
    with pytest.raises(InvalidFAQ, match=path) as raised:
        make()
    assert raised.value.path == path


@pytest.mark.parametrize("text", [None, 5, bytearray(b"{}")])
def test_what_is_neither_text_nor_bytes_is_not_json(text: Any) -> None:
    with pytest.raises(InvalidFAQ):
        FAQ.from_json(text)


def test_items_of_another_type_are_refused_when_the_record_is_made() -> None:
    with pytest.raises(InvalidFAQ, match="from_dict") as caught:
        FAQ("p", items=({"question": "Q?", "answer": "A"},))  # type: ignore[arg-type]
    assert caught.value.path == "items[0]"


HOSTILE = [
    b"",
    b" ",
    b"null",
    b"<html>",
    b"{",
    b'{"slug":"p","items":[]',
    b'{"slug":"p","items":[]}}',
    b'{"slug":"p","items":[]} trailing',
    b'{"slug":"p","items":[],"cta":' + b"[" * 100_000,
    b'{"slug":"p","items":[],"cta":' + b"[" * 100_000 + b"]" * 100_000 + b"}",
    b'\xef\xbb\xbf{"slug":"p","items":[],"x":' + b"[" * 100_000,
    b'{"slug":"p","items":[],"cta":' + b"9" * 5_000 + b"}",
    b'{"slug":"p","items":[{"question":"q","answer":"a","position":' + b"9" * 5_000 + b"}]}",
    b'{"slug":"p","items":[],"cta":NaN}',
    b'{"slug":"p","items":[],"cta":Infinity}',
    b'{"slug":"p","items":[],"cta":1e999}',
    b'{"slug":"p","items":[],"cta":-Infinity}',
    b'{"slug":"p","items":[],"title":"\xff"}',
    '{"slug":"p","items":[]}'.encode("utf-16"),
    '{"slug":"p","items":[]}'.encode("utf-32-le"),
    '{"slug":"p","items":[],"title":"Köln"}'.encode("latin-1"),
    b'{"slug":"p","items":[],"title":"\x00"}',
    b'{"slug":"p","items":[],"title":"\\x00"}',
    b"{'slug':'p','items':[]}",
    b"\x1f\x8b\x08\x00",
    b'"' * 10_000,
]


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:60]))
def test_hostile_json_is_an_invalid_faq_and_nothing_worse(text: bytes) -> None:
    with pytest.raises(InvalidFAQ) as caught:
        FAQ.from_json(text)
    assert len(str(caught.value)) < 500


@pytest.mark.parametrize(
    "text",
    [
        b'\xef\xbb\xbf{"slug":"p","items":[]}',
        b'{"slug":"first","slug":"p","items":[],"items":[]}',
        b'\r\n\t {"items" : [ ] , "slug" : "\\u0070"} \n',
        b'{"slug":"p","items":[],"x":1e999}',
        b'{"slug":"p","items":[],"lang":"\\ud800"}',
    ],
)
def test_unusual_json_is_read(text: bytes) -> None:
    assert FAQ.from_json(text) == FAQ("p")


@given(st.one_of(st.binary(), odd_values.map(json.dumps), any_text))
@example('{"slug": "\\ud800", "items": []}')
def test_any_bytes_are_a_record_or_an_invalid_faq(text: str | bytes) -> None:
    with suppress(InvalidFAQ):
        FAQ.from_json(text)


@given(odd_values)
def test_any_mapping_is_a_record_or_an_invalid_faq(value: Any) -> None:
    for record in (value, wire(items=value), wire(items=[value]), wire(title=value), wire(lang=value)):
        with suppress(InvalidFAQ):
            FAQ.from_dict(record)


def test_records_are_frozen() -> None:
    faq = FAQ.from_dict(samples.pricing())
    for name in ("slug", "items", "title"):
        with pytest.raises(AttributeError):
            setattr(faq, name, "other")
    with pytest.raises(AttributeError):
        faq.items[0].answer = "other"  # type: ignore[misc]
    assert isinstance(faq.items, tuple)
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        assert pickle.loads(pickle.dumps(faq, protocol)) == faq


class Text(str):
    """As templates, mappers and loaders make it."""

    __slots__ = ()


def test_subclasses_of_str_become_str() -> None:
    item = {"position": 0, "question": Text("q?"), "answer": Text("a")}
    faq = FAQ.from_dict({"slug": Text("x"), "title": Text("t"), "lang": Text("de"), "items": [item]})
    texts = [faq.slug, faq.title, faq.lang, faq.items[0].question, faq.items[0].answer]
    assert [(type(text), text) for text in texts] == [(str, text) for text in ("x", "t", "de", "q?", "a")]


ADDITIVE: Final = {"websiteUrl": "https://tea.example", "pageUrl": "https://tea.example/help"}


def test_a_section_an_id_and_two_addresses_are_additive_fields_of_a_record() -> None:
    item = {"position": 0, "question": "Q?", "answer": "A.", "section": "Orders", "id": "ship"}
    faq = FAQ.from_dict(wire(items=[item], **ADDITIVE))
    assert faq.items == (Item(0, "Q?", "A.", section="Orders", id="ship"),)
    assert (faq.website_url, faq.page_url) == tuple(ADDITIVE.values())
    assert FAQ.from_json(faq.to_json()) == faq
    assert faq.to_dict().items() >= wire(items=[item], **ADDITIVE).items()
    assert not set(ADDITIVE) & FAQ.from_dict(wire()).to_dict().keys()


@pytest.mark.parametrize(
    "value", [17, "", {"a": 1}, "x" * 2_001, "two words\n", 1e300, ["a"], "javascript:x"]
)
def test_an_additive_field_of_another_form_counts_as_absent(value: object) -> None:
    item = {"position": 0, "question": "Q?", "answer": "A."}
    record = wire(items=[{**item, "id": value, "section": value if value != "two words\n" else 0}])
    record |= dict.fromkeys(ADDITIVE, value)
    if value == "javascript:x":
        record["items"][0]["section"] = None
    for faq in (FAQ.from_dict(record), FAQ.from_json(json.dumps(record))):
        assert faq == FAQ.from_dict(wire(items=[item]))


@pytest.mark.parametrize("fields", [{"section": "x" * 201}, {"section": 3}, {"id": "a b"}, {"id": ""}])
def test_an_item_with_an_invalid_section_or_id_is_refused(fields: dict[str, Any]) -> None:
    with pytest.raises(InvalidFAQ) as caught:
        Item(0, "Q?", "A.", **fields)
    assert caught.value.path in fields
