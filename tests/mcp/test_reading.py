"""The tools that read: get_faq and get_faq_jsonld."""

import json
from typing import Final

import pytest
from jsonschema import Draft202012Validator

from faqsvc_embed import FAQ, FAQClient, to_json_ld, to_json_ld_string
from faqsvc_embed.api.fields import MAX_ANSWER
from tests.mcp.support import TEXTS, call, content, error, output_schema, shown, texts, tokens
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer

READERS: Final = ["get_faq", "get_faq_jsonld"]


def test_get_faq_returns_the_record(client: FAQClient) -> None:
    found = content(call(client, "get_faq", {"slug": "pricing"}))
    assert found == shown(samples.pricing())
    Draft202012Validator(output_schema("get_faq")).validate(found)


def test_the_schema_of_get_faq_describes_every_field(client: FAQClient, faulty: FaultyServer) -> None:
    large = samples.record("large", *[(f"Question {n}?", TEXTS["english"]) for n in range(150)])
    faulty.serve(large, {"FAQ-Revision": "3"})
    found = content(call(client, "get_faq", {"slug": "large"}))
    assert found["revision"] == 3
    schema = output_schema("get_faq")["properties"]
    assert set(schema) == set(found)
    assert set(schema["items"]["items"]["properties"]) == set(found["items"][0])


def test_get_faq_jsonld_returns_the_faqpage(client: FAQClient) -> None:
    result = call(client, "get_faq_jsonld", {"slug": "pricing"})
    faq = FAQ.from_dict(samples.pricing())
    assert content(result) == to_json_ld(faq)
    assert texts(result) == [to_json_ld_string(faq)]
    Draft202012Validator(output_schema("get_faq_jsonld")).validate(content(result))


def test_a_language_is_requested_unless_it_is_null_and_a_read_carries_no_key(
    client: FAQClient, faulty: FaultyServer
) -> None:
    faulty.serve({**samples.pricing(), "lang": "ko"}, lang="ko")
    call(client, "get_faq", {"slug": "pricing", "lang": "ko"})
    content(call(client, "get_faq", {"slug": "pricing", "lang": None, "offset": None}))
    assert [(request.target, "x-plugin-key" in request.headers) for request in faulty.log] == [
        ("/api/v1/faq/pricing?lang=ko", False),
        ("/api/v1/faq/pricing", False),
    ]


def test_another_language_than_the_one_that_was_asked_for_is_named(
    client: FAQClient, faulty: FaultyServer
) -> None:
    faulty.serve({**samples.pricing(), "lang": "de"})
    note = content(call(client, "get_faq", {"slug": "pricing", "lang": "ja"}))["note"]
    assert all(part in note for part in ("This is in de", "no published translation into ja", "revision 0"))
    assert "into ja" in texts(call(client, "get_faq_jsonld", {"slug": "pricing", "lang": "ja"}))[1]
    assert "note" not in content(call(client, "get_faq", {"slug": "pricing", "lang": "de-CH"}))


def test_every_text_comes_as_data(client: FAQClient, faulty: FaultyServer) -> None:
    record = {**samples.nasty(), "cta": {"label": "\ud800", "x": "\u2028"}}
    faulty.behave(behaviours.body(json.dumps(record).encode()))
    found = content(call(client, "get_faq", {"slug": "nasty"}))
    assert found["items"] == shown(samples.nasty())["items"]
    content(call(client, "get_faq_jsonld", {"slug": "nasty"}))


# Large FAQs


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", ["korean", "quotes"])
def test_a_large_faq_comes_in_parts(client: FAQClient, faulty: FaultyServer, name: str, text: str) -> None:
    pairs = [(f"Question {n}?", f"{n}: {TEXTS[text]}".strip()) for n in range(40)]
    faulty.serve(samples.record("large", *pairs))
    parts, offset = list[tuple[str, str]](), 0
    for _ in range(40):
        result = call(client, name, {"slug": "large", "offset": offset})
        found = content(result)
        assert tokens(result) < 25_000
        if name == "get_faq":
            assert found["total"] == 40
            parts += [(item["question"], item["answer"]) for item in found["items"]]
        else:
            parts += [(q["name"], q["acceptedAnswer"]["text"]) for q in found["mainEntity"]]
        if len(parts) == 40:
            break
        assert f"{offset} to {len(parts) - 1} of 40" in (found.get("note") or texts(result)[1])
        offset = len(parts)
    assert parts == pairs
    assert offset > 0
    assert len(texts(result)) == 1
    assert "nextOffset" not in found


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("text", ["english", "emoji"])
def test_an_answer_that_is_too_large_is_cut_with_a_note(
    client: FAQClient, faulty: FaultyServer, name: str, text: str
) -> None:
    long = TEXTS[text] * 100
    faulty.serve(samples.record("long", ("Long?", long), ("Short?", "Yes."), title=long, website_name=long))
    result = call(client, name, {"slug": "long"})
    assert tokens(result) < 25_000
    found = content(result)
    assert f"{len(long)} characters" in json.dumps(found, ensure_ascii=False)
    note = found["note"] if name == "get_faq" else texts(result)[1]
    assert f" {client.settings.base_url}/api/v1/faq/long has the full text" in note
    Draft202012Validator(output_schema(name)).validate(found)


@pytest.mark.parametrize("name", READERS)
def test_the_longest_answer_that_can_be_published_is_not_cut(
    client: FAQClient, faulty: FaultyServer, name: str
) -> None:
    long = (TEXTS["english"] * 20)[:MAX_ANSWER]
    faulty.serve(samples.record("long", ("Long?", long)))
    assert long in json.dumps(content(call(client, name, {"slug": "long"})))


def test_an_offset_beyond_the_end_is_refused_with_the_number_of_items(
    client: FAQClient, faulty: FaultyServer
) -> None:
    assert "3 items" in error(call(client, "get_faq", {"slug": "pricing", "offset": 3}))
    faulty.behave(behaviours.body(b'{"items": [], "next": null}'))
    assert "offset is 9, but 0 FAQs" in error(call(client, "list_faqs", {"offset": 9}))


def test_an_offset_counts_the_questions_of_the_faqpage(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.serve(samples.record("twice", ("Twice?", "Yes."), ("Twice?", "Yes."), ("Empty?", " ")))
    assert "1 question" in error(call(client, "get_faq_jsonld", {"slug": "twice", "offset": 1}))


def test_a_large_call_to_action_is_left_out(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.serve({**samples.pricing(), "cta": {"text": "x" * 10_000}})
    assert content(call(client, "get_faq", {"slug": "pricing"}))["cta"] is None


def test_an_faq_without_an_answer_has_no_faqpage(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.serve(samples.record("empty", ("Question?", " ")))
    assert "'empty'" in error(call(client, "get_faq_jsonld", {"slug": "empty"}))
