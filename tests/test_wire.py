"""Records in JSON: read, or refused as `InvalidFAQ`, in linear time and within bounds of our own."""

import json
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.models.wire import MAX_CTA, MAX_CTA_DEPTH, MAX_INTEGER
from tests.support.growth import grows_linearly


def wire(**fields: str) -> str:
    """Return a record in JSON with further fields, written as JSON."""
    fields = {"items": "[]", **fields}
    return "".join(['{"slug":"p"', *(f',"{name}":{value}' for name, value in fields.items()), "}"])


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + "1" * opening.endswith(":") + closing * depth


# Nesting


NESTED = pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])


@NESTED
@pytest.mark.parametrize("name", ["cta", "items"])
def test_a_record_that_is_nested_too_deeply_is_refused(name: str, opening: str, closing: str) -> None:  # D4
    for depth in (10_000, 100_000):
        with pytest.raises(InvalidFAQ):
            FAQ.from_json(wire(**{name: nested(depth, opening, closing)}))


@NESTED
@pytest.mark.parametrize("name", ["unknown", "lang"])
def test_a_field_that_does_not_count_may_be_nested_as_deeply_as_python_reads(  # D4
    name: str, opening: str, closing: str
) -> None:
    for depth in (100, 10_000, 100_000):
        with suppress(InvalidFAQ):
            assert FAQ.from_json(wire(**{name: nested(depth, opening, closing)})) == FAQ("p")


def test_many_brackets_that_are_not_nested_are_accepted() -> None:
    flat = json.dumps([[], {}, [{}]] * 500)
    assert FAQ.from_json(wire(unknown=flat)) == FAQ("p")


@given(st.text('[]{}"\\ a\u00e9', min_size=101, max_size=300), st.booleans())
def test_brackets_in_a_text_are_not_levels(text: str, ensure_ascii: bool) -> None:
    record = {"slug": "p", "title": text, "items": [{"question": text, "answer": "[" * 200}], "[" * 200: 1}
    faq = FAQ.from_json(json.dumps(record, ensure_ascii=ensure_ascii))
    assert (faq.title, faq.items[0].question) == (text, text)


@NESTED
def test_a_call_to_action_may_be_less_deep(opening: str, closing: str) -> None:
    assert FAQ.from_json(wire(cta=nested(MAX_CTA_DEPTH, opening, closing))).cta is not None
    deeper = nested(MAX_CTA_DEPTH + 1, opening, closing)
    with pytest.raises(InvalidFAQ) as caught:
        FAQ.from_json(wire(cta=deeper))
    assert caught.value.path == "cta"
    with pytest.raises(InvalidFAQ):
        FAQ("p", cta=json.loads(deeper))


def test_a_record_that_was_read_can_be_written_from_a_deep_stack() -> None:
    faq = FAQ.from_json(wire(cta=nested(MAX_CTA_DEPTH)))

    def deeper(levels: int) -> str:
        return deeper(levels - 1) if levels else faq.to_json()

    assert FAQ.from_json(deeper(300)) == faq


# Sizes


def test_the_size_of_a_call_to_action_is_bounded() -> None:
    assert FAQ.from_json(wire(cta=json.dumps("x" * (MAX_CTA - 2)))).cta == "x" * (MAX_CTA - 2)
    with pytest.raises(InvalidFAQ) as caught:
        FAQ.from_json(wire(cta=json.dumps("x" * (MAX_CTA - 1))))
    assert caught.value.path == "cta"


@pytest.mark.parametrize("sign", [1, -1])
def test_the_size_of_an_integer_is_bounded(sign: int) -> None:
    item = '[{"question":"q","answer":"a","position":%d}]'
    assert FAQ.from_json(wire(cta=str(sign * MAX_INTEGER))).cta == sign * MAX_INTEGER
    assert FAQ.from_json(wire(items=item % (sign * 2**53))).items[0].position == sign * 2**53
    FAQ.from_dict({"slug": "p", "items": [], "cta": sign * MAX_INTEGER}).to_json()
    for name, value, path in (("cta", "%d", "cta"), ("items", item, "items[0].position")):
        for number in (sign * (MAX_INTEGER + 1), sign * 10**4_000):
            with pytest.raises(InvalidFAQ) as caught:
                FAQ.from_json(wire(**{name: value % number}))
            assert caught.value.path == path


def test_a_record_that_is_small_enough_may_have_any_number_of_questions() -> None:
    record: dict[str, Any] = {"slug": "p", "items": [{"question": "", "answer": ""}] * 10_000}
    assert len(FAQ.from_json(json.dumps(record)).items) == len(FAQ.from_dict(record).items) == 10_000


LONG: dict[str, Callable[[int], str]] = {
    "brackets in an unknown field": lambda count: wire(unknown="[" + "[]," * count + "[]]"),
    "quotation marks": lambda count: wire(unknown=json.dumps('"' * count)),
    "backslashes": lambda count: wire(unknown=json.dumps("\\" * count)),
    "brackets and quotation marks": lambda count: wire(unknown=json.dumps('["' * count)),
    "lone surrogates": lambda count: wire(title='"' + "\\ud800" * count + '"'),
    "pairs of surrogates and a lone one": lambda count: wire(
        title='"' + "\\ud83d\\ude00" * count + '\\ud800"'
    ),
    "digits in a call to action": lambda count: wire(cta="1" + "0" * count),
    "digits of fractions": lambda count: wire(cta="[" + "0." + "1" * count + "]"),
    "exponents in a language": lambda count: wire(lang="[" + "1e300," * count + "1]"),
    "exponents in a call to action": lambda count: wire(cta="[" + "1e300," * count + "1]"),
    "a long language": lambda count: wire(lang=json.dumps(["x" * count])),
    "a number as language": lambda count: wire(lang="9" * count),
    "empty items": lambda count: wire(items=json.dumps([{"question": "", "answer": ""}] * count)),
}


@pytest.mark.parametrize("name", LONG)
def test_a_long_record_is_read_or_refused_in_linear_time(name: str) -> None:
    def read(text: str) -> None:
        with suppress(InvalidFAQ):
            FAQ.from_json(text)

    assert grows_linearly(read, LONG[name], 5_000)


# Lone surrogates


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (r"\ud800", "\ufffd"),
        (r"\uDC00", "\ufffd"),
        (r"\ud800x\udfff", "\ufffdx\ufffd"),
        (r"\udc00\ud800", "\ufffd\ufffd"),
        (r"\ud83d\ude00 \ud800", "😀 \ufffd"),
        (r"\ud800\ud83d\ude00", "\ufffd😀"),
        (r"\ud83d\ude00\ude00", "😀\ufffd"),
        (r"\ud800 \\ud800 \\\ud800", "\ufffd \\ud800 \\\ufffd"),
        (r"\"\ud800\"", '"\ufffd"'),
        (r"\ud800\n\u00e9", "\ufffd\né"),
    ],
)
def test_an_escaped_lone_surrogate_is_a_replacement_character(written: str, read: str) -> None:
    for text in (wire(title=f'"{written}"'), wire(title=f'"{written}"').encode()):
        assert FAQ.from_json(text).title == read
    faq = FAQ.from_json(wire(title=f'"{written}"', cta=f'{{"{written}": ["{written}"]}}'))
    assert faq.cta == {read: [read]}
    faq.to_json().encode()


def test_a_key_with_a_lone_surrogate_is_ignored_as_any_unknown_key() -> None:
    text = '{"slug":"p","items":[{"question":"q","answer":"a","\\ud800":1}],"\\ud800":1}'
    assert FAQ.from_json(text) == FAQ.from_dict(json.loads(text))
    assert len(FAQ.from_json(text).items) == 1


@pytest.mark.parametrize("cta", ["1e999", "-1e999", "NaN", "Infinity", "-Infinity", "[1e999]"])
def test_no_number_beyond_json_gets_in_beside_a_lone_surrogate(cta: str) -> None:
    with pytest.raises(InvalidFAQ):
        FAQ.from_json(wire(title='"\\ud800"', cta=cta))
    with pytest.raises(InvalidFAQ):
        FAQ.from_json(wire(cta=cta))


def test_only_the_fields_of_a_record_are_read_from_a_mapping() -> None:
    item = {"question": "q", "answer": "a", "votes": object()}
    record: dict[Any, Any] = {"slug": "p", "items": [item], "x": object(), 5: 6, b"slug": 7}
    assert len(FAQ.from_dict(record).items) == 1
