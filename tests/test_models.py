"""Records: what the wire sends comes in as frozen values, or as one clear error."""

import json
import pickle
import re
from collections import UserDict
from contextlib import suppress
from itertools import product
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, ConfigurationError, FAQState, FAQUnavailable, InvalidFAQ, Item, Publication
from tests.support import samples
from tests.support.clock import EPOCH
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


@pytest.mark.parametrize("make", [samples.pricing, samples.nasty, samples.large])
def test_a_record_goes_out_as_it_came_in(make: Any) -> None:
    record = make()
    faq = FAQ.from_dict(record)
    assert faq.to_dict() == record
    assert json.loads(faq.to_json()) == record
    assert FAQ.from_json(faq.to_json()) == FAQ.from_json(faq.to_json().encode()) == faq


@given(records)
def test_every_odd_record_survives_both_ways(record: dict[str, Any]) -> None:
    record = {**record, "cta": None}
    faq = FAQ.from_dict(record)
    assert FAQ.from_dict(faq.to_dict()) == faq
    assert FAQ.from_json(faq.to_json()) == faq


@given(records)
def test_a_record_read_from_json_equals_the_one_read_from_its_mapping(record: dict[str, Any]) -> None:
    record = {**record, "cta": None, "unknown": None}
    text = json.dumps(record)
    assert FAQ.from_json(text) == FAQ.from_json(text.encode()) == FAQ.from_dict(json.loads(text))


@given(any_text, any_text)
def test_no_text_of_a_record_holds_what_no_encoder_can_write(title: str, text: str) -> None:  # E4
    record = wire(
        title=title, websiteName=text, items=[{"position": 0, "question": text, "answer": title + text}]
    )
    faq = FAQ.from_dict(record)
    faq.to_json().encode()
    assert Item(0, title, text).question.encode().decode() == faq.title
    assert FAQ("p", title).title == faq.title


def test_lone_surrogates_become_replacement_characters_one_each() -> None:  # E2
    assert Item(0, "a\ud800b", "\udfff\udc00").question == "a\ufffdb"
    assert Item(0, "a", "\udfff\udc00").answer == "\ufffd\ufffd"
    escaped = '{"slug":"p","title":"\\ud83d\\ude00 \\ud800","items":[]}'
    assert FAQ.from_json(escaped).title == "😀 \ufffd"


@pytest.mark.parametrize("positions", [[2, 0, 1], [0, 0, 0], [-1, 5, 3], [10**30, 0, -(10**30)]])
def test_items_come_in_the_order_of_their_positions_and_ties_keep_theirs(positions: list[int]) -> None:  # J6
    items = [{"position": p, "question": f"{n}?", "answer": "A"} for n, p in enumerate(positions)]
    expected = [f"{n}?" for n, _ in sorted(enumerate(positions), key=lambda pair: pair[1])]
    assert [item.question for item in FAQ.from_dict(wire(items=items)).items] == expected
    built = FAQ("p", items=tuple(Item(p, f"{n}?", "A") for n, p in enumerate(positions)))
    assert [item.question for item in built.items] == expected


def test_a_missing_position_is_the_index() -> None:
    items = [{"question": "a?", "answer": "A"}, {"question": "b?", "answer": "B", "position": None}]
    assert [item.position for item in FAQ.from_dict(wire(items=items)).items] == [0, 1]


@pytest.mark.parametrize("record", [wire(), wire(title=None, websiteName=None, lang=None)])
def test_what_is_not_required_may_be_missing_or_null(record: dict[str, Any]) -> None:
    faq = FAQ.from_dict(record)
    assert (faq.title, faq.website_name, faq.lang, faq.cta) == ("", "", None, None)
    assert "lang" not in faq.to_dict()


@pytest.mark.parametrize("lang", ["", "en_US", '"><script>', 5, ["en"], {"a": 1}, "a" * 500, None])
def test_a_language_that_is_no_tag_counts_as_absent(lang: object) -> None:  # J13
    assert FAQ.from_dict(wire(lang=lang)).lang is None


@pytest.mark.parametrize("lang", ["en", "zh-Hant-TW", "pt-BR"])
def test_a_language_that_is_a_tag_is_kept_even_if_it_is_none_of_the_seven(lang: str) -> None:
    assert FAQ.from_dict(wire(lang=lang)).lang == lang


@pytest.mark.parametrize("cta", [None, {}, {"label": "Buy", "nested": {"x": [1, 2.5, None]}}, "text", 5, []])
def test_a_call_to_action_is_kept_as_it_came(cta: object) -> None:  # K10
    faq = FAQ.from_json(json.dumps(wire(cta=cta)))
    assert faq.cta == cta
    assert faq.to_dict()["cta"] == cta


def test_a_record_shares_its_call_to_action_with_nobody() -> None:
    cta: dict[str, Any] = {"label": "Buy", "links": [{"to": "/"}]}
    faqs = [FAQ("p", cta=cta), FAQ.from_dict(wire(cta=cta))]
    cta["links"][0]["to"] = "/elsewhere"
    for faq in faqs:
        faq.to_dict()["cta"]["links"].append("x")
        faq.to_dict()["cta"]["label"] = "Sell"
        assert faq.cta == {"label": "Buy", "links": [{"to": "/"}]}


def test_a_call_to_action_that_could_not_be_json_is_refused_wherever_it_comes_from() -> None:  # D4
    round_and_round = list[Any]()
    round_and_round.append(round_and_round)
    for cta in (round_and_round, {1: 2}, {"x": object()}, float("nan")):
        with pytest.raises(InvalidFAQ, match=r"^no FAQ record: cta: ") as built:
            FAQ("p", cta=cta)
        with pytest.raises(InvalidFAQ) as read:
            FAQ.from_dict(wire(cta=cta))
        assert (str(built.value), built.value.path) == (str(read.value), "cta")


def test_unknown_fields_are_no_error() -> None:  # K10
    items = [{"question": "Q?", "answer": "A.", "position": 0, "votes": 5}]
    assert FAQ.from_dict(wire(x=1, items=items, websiteUrl="https://x")) == FAQ.from_dict(wire())


def test_any_mapping_and_any_iterable_of_items_will_do() -> None:
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
def test_what_is_no_record_is_an_error_that_names_the_path(record: Any, path: str) -> None:
    with pytest.raises(InvalidFAQ) as from_dict:
        FAQ.from_dict(record)
    with pytest.raises(InvalidFAQ) as from_json:
        FAQ.from_json(json.dumps(record))
    for error in (from_dict.value, from_json.value):
        assert error.path == path
        assert (path or "the record") in str(error)


def test_items_that_were_built_wrongly_are_told_at_once() -> None:
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
    b'{"slug":"p","items":[],"x":' + b'{"a":' * 100_000 + b"1" + b"}" * 100_000 + b"}",
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
def test_hostile_json_is_an_invalid_faq_and_nothing_worse(text: bytes) -> None:  # D4
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
def test_rare_but_harmless_json_is_a_clean_record(text: bytes) -> None:  # D4
    assert FAQ.from_json(text) == FAQ("p")


@given(st.one_of(st.binary(), odd_values.map(json.dumps), any_text))
@example('{"slug": "\\ud800", "items": []}')
def test_whatever_arrives_is_a_record_or_an_invalid_faq(text: str | bytes) -> None:  # D4
    with suppress(InvalidFAQ):
        FAQ.from_json(text)


@given(odd_values)
def test_whatever_a_mapping_holds_is_a_record_or_an_invalid_faq(value: Any) -> None:  # D4
    for record in (value, wire(items=value), wire(items=[value]), wire(title=value), wire(lang=value)):
        with suppress(InvalidFAQ):
            FAQ.from_dict(record)


def test_records_do_not_change() -> None:
    faq = FAQ.from_dict(samples.pricing())
    for name in ("slug", "items", "title"):
        with pytest.raises(AttributeError):
            setattr(faq, name, "other")
    with pytest.raises(AttributeError):
        faq.items[0].answer = "other"  # type: ignore[misc]
    assert isinstance(faq.items, tuple)
    assert pickle.loads(pickle.dumps(faq)) == faq


def test_a_publication_holds_the_fields_of_the_specification() -> None:
    publication = Publication("p", "https://faq.example.com/faq/p", {"npm": "npm install"})
    assert (publication.slug, publication.faq_url) == ("p", "https://faq.example.com/faq/p")
    assert publication.install["npm"] == "npm install"


RECORD = FAQ.from_dict(samples.pricing())
DOWN = FAQUnavailable("down")


@pytest.mark.parametrize(
    ("state", "is_loading", "status", "is_refetch_error"),
    [
        (FAQState(data=RECORD, source="memory"), False, "success", False),
        (FAQState(data=RECORD, is_fetching=True, is_stale=True), False, "success", False),
        (FAQState(data=RECORD, error=DOWN, is_stale=True, is_degraded=True), False, "success", True),
        (FAQState(is_fetching=True), True, "pending", False),
        (FAQState(error=DOWN), False, "error", False),
    ],
)
def test_a_state_says_of_itself_what_its_parts_mean(
    state: FAQState, is_loading: bool, status: str, is_refetch_error: bool
) -> None:  # U2, U3
    assert state.is_loading is is_loading
    assert state.status == status
    assert state.is_refetch_error is is_refetch_error
    assert not state.is_loading or state.is_fetching


def test_a_state_tells_the_language_served_from_the_one_asked_for() -> None:  # L5
    state = FAQState(data=RECORD, lang_requested="ko")
    assert (state.lang_requested, state.lang_served) == ("ko", "en")
    assert FAQState(is_fetching=True, lang_requested="ko").lang_served is None


def test_a_state_is_a_snapshot_with_an_age_that_is_never_negative() -> None:  # U4, U8
    assert FAQState(data=RECORD).age is None
    assert FAQState(data=RECORD, updated_at=EPOCH.replace(year=9000)).age == 0.0
    with pytest.raises(AttributeError):
        FAQState(error=DOWN).data = RECORD  # type: ignore[misc]


def test_a_state_outside_the_table_cannot_be() -> None:  # U1, U2, U3
    """A copy may be stale all by itself: offline, or where the service lets nothing be reused."""
    columns: dict[str, Any] = {
        "data": RECORD,
        "error": DOWN,
        "is_fetching": True,
        "is_stale": True,
        "is_degraded": True,
    }
    table = {
        "data",
        "data is_fetching",
        "data is_stale",
        "data is_fetching is_stale",
        "data is_fetching is_stale is_degraded",
        "data error is_stale is_degraded",
        "is_fetching",
        "error",
    }
    accepted = set[str]()
    for chosen in product([False, True], repeat=len(columns)):
        names = [name for name, is_set in zip(columns, chosen, strict=True) if is_set]
        with suppress(ConfigurationError):
            FAQState(**{name: columns[name] for name in names})
            accepted.add(" ".join(names))
    assert accepted == table


@pytest.mark.parametrize(
    ("parts", "message"),
    [
        ({}, "without data, either is_fetching is true or error says why not"),
        ({"error": DOWN, "is_fetching": True}, "error has to be None"),
        ({"error": DOWN, "source": "memory"}, "source is 'none'"),
        ({"error": DOWN, "updated_at": EPOCH}, "updated_at is None"),
        ({"data": RECORD, "error": DOWN}, "it goes with an error"),
        ({"data": RECORD, "is_degraded": True, "is_stale": True}, "it goes with an error"),
        ({"data": RECORD, "error": DOWN, "is_degraded": True}, "is_stale as well"),
        ({"data": RECORD, "updated_at": EPOCH.replace(tzinfo=None)}, "a datetime in UTC is accepted"),
    ],
)
def test_a_state_that_contradicts_itself_says_how(parts: dict[str, Any], message: str) -> None:  # U1, U8
    with pytest.raises(ConfigurationError, match=f"^no FAQState: .*{re.escape(message)}"):
        FAQState(**parts)


class Text(str):
    """As templates, mappers and loaders make it."""

    __slots__ = ()


def test_text_of_another_kind_is_taken_as_text() -> None:
    item = {"position": 0, "question": Text("q?"), "answer": Text("a")}
    faq = FAQ.from_dict({"slug": Text("x"), "title": Text("t"), "lang": Text("de"), "items": [item]})
    texts = [faq.slug, faq.title, faq.lang, faq.items[0].question, faq.items[0].answer]
    assert [(type(text), text) for text in texts] == [(str, text) for text in ("x", "t", "de", "q?", "a")]
