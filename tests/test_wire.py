"""Records in JSON: read, or refused as `InvalidFAQ`, in linear time and within bounds of our own."""

import json
import time
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, InvalidFAQ
from faqsvc_embed.models.wire import MAX_CTA, MAX_CTA_DEPTH, MAX_INTEGER


def wire(**fields: str) -> str:
    """Return a record in JSON with further fields, written as JSON."""
    fields = {"items": "[]", **fields}
    return "".join(['{"slug":"p"', *(f',"{name}":{value}' for name, value in fields.items()), "}"])


def nested(depth: int, opening: str = "[", closing: str = "]") -> str:
    return opening * depth + "1" * opening.endswith(":") + closing * depth


# Nesting


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
@pytest.mark.parametrize("name", ["unknown", "lang", "cta", "items"])
def test_a_record_that_is_nested_too_deeply_is_refused(name: str, opening: str, closing: str) -> None:  # D4
    for depth in (10_000, 100_000):
        with pytest.raises(InvalidFAQ):
            FAQ.from_json(wire(**{name: nested(depth, opening, closing)}))


def test_many_brackets_that_are_not_nested_are_accepted() -> None:
    flat = json.dumps([[], {}, [{}]] * 500)
    assert FAQ.from_json(wire(unknown=flat)) == FAQ("p")


@given(st.text('[]{}"\\ a\u00e9', min_size=101, max_size=300), st.booleans())
def test_brackets_in_a_text_are_not_levels(text: str, ensure_ascii: bool) -> None:
    record = {"slug": "p", "title": text, "items": [{"question": text, "answer": "[" * 200}], "[" * 200: 1}
    faq = FAQ.from_json(json.dumps(record, ensure_ascii=ensure_ascii))
    assert (faq.title, faq.items[0].question) == (text, text)


@pytest.mark.parametrize(("opening", "closing"), [("[", "]"), ('{"a":', "}")])
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


SLOW: dict[str, str] = {
    "brackets in an unknown field": wire(unknown="[" + "[]," * 250_000 + "[]]"),
    "quotation marks": wire(unknown=json.dumps('"' * 400_000)),
    "backslashes": wire(unknown=json.dumps("\\" * 400_000)),
    "brackets and quotation marks": wire(unknown=json.dumps('["' * 250_000)),
    "lone surrogates": wire(title='"' + "\\ud800" * 150_000 + '"'),
    "pairs of surrogates and a lone one": wire(title='"' + "\\ud83d\\ude00" * 70_000 + '\\ud800"'),
    "digits in a call to action": wire(cta="1" + "0" * 60_000),
    "digits of fractions": wire(cta="[" + "0." + "1" * 60_000 + "]"),
    "exponents in a language": wire(lang="[" + "1e300," * 100_000 + "1]"),
    "exponents in a call to action": wire(cta="[" + "1e300," * 10_000 + "1]"),
    "a long language": wire(lang=json.dumps(["x" * 900_000])),
    "a number as language": wire(lang="9" * 900_000),
    "empty items": '{"slug":"p","items":[' + ",".join(['{"question":"","answer":""}'] * 30_000) + "]}",
}


@pytest.mark.parametrize("name", SLOW)
def test_a_long_record_is_read_or_refused_in_linear_time(name: str) -> None:
    times = list[float]()
    for _ in range(3):
        start = time.process_time()
        with suppress(InvalidFAQ):
            FAQ.from_json(SLOW[name])
        times.append(time.process_time() - start)
    assert min(times) < 0.15  # a quarter of a megabyte or more in each


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
