"""Changes of single questions: a pure function, compared with a plain model, and `FAQClient.change_faq`."""

import json
from collections.abc import Iterator
from typing import Any, Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from faqsvc_embed import FAQClient, PublishRejected
from faqsvc_embed.api.changes import ChangeRefused, apply_changes
from faqsvc_embed.api.contract import Change
from faqsvc_embed.errors import OutcomeUnknown, RevisionConflict
from faqsvc_embed.models import Item
from tests.api.support import SECRET
from tests.support import faulty as behaviours
from tests.support.faulty import FaultyServer

ITEMS = (
    Item(0, "What does it cost?", "Nothing."),
    Item(1, "May I cancel?", "Any time.", id="cancel"),
    Item(2, "How long does it take?", "A day.", "Delivery"),
    Item(3, "Who brings it?", "A courier.", "Delivery"),
    Item(4, "Where are you?", "In Kyoto.", "Visits"),
)


def apply(*changes: dict[str, Any], items: tuple[Item, ...] = ITEMS) -> tuple[Item, ...]:
    return apply_changes(items, [msgspec.convert(change, Change) for change in changes])


def texts(items: tuple[Item, ...]) -> list[tuple[str, str, str | None]]:
    return [(item.question, item.answer, item.section) for item in items]


def test_an_answer_is_replaced_and_the_other_items_stay_as_they_are() -> None:
    changed = apply({"question": "May I cancel?", "answer": "Within 14 days."})

    assert changed == (ITEMS[0], Item(1, "May I cancel?", "Within 14 days.", id="cancel"), *ITEMS[2:])


def test_white_space_and_the_unicode_form_of_a_name_do_not_matter() -> None:
    items = (Item(0, "Wie  läuft das?", "So."),)
    [changed] = apply({"question": "Wie la\u0308uft das?", "answer": "Anders."}, items=items)

    assert (changed.question, changed.answer) == ("Wie  läuft das?", "Anders.")


def test_a_new_question_is_added_at_the_requested_place() -> None:
    new = {"question": "New?", "answer": "Yes."}

    assert texts(apply(new))[-1] == ("New?", "Yes.", "Visits")
    assert texts(apply({**new, "after": "May I cancel?"}))[2] == ("New?", "Yes.", None)
    assert texts(apply({**new, "section": "Delivery"}))[4] == ("New?", "Yes.", "Delivery")
    assert texts(apply({**new, "section": "Press"}))[-1] == ("New?", "Yes.", "Press")
    assert [item.position for item in apply({**new, "after": "What does it cost?"})] == list(range(6))


def test_a_question_is_renamed_and_keeps_its_id() -> None:
    changed = apply(
        {"question": "May I cancel?", "newQuestion": "Can I cancel?"},
        {"question": "Can I cancel?", "answer": "Yes."},
    )
    assert changed[1] == Item(1, "Can I cancel?", "Yes.", id="cancel")


def test_a_question_is_moved_to_the_end_of_a_section() -> None:
    changed = apply({"question": "What does it cost?", "section": "Delivery", "answer": "5 euros."})

    assert [item.question for item in changed[:3]] == [ITEMS[n].question for n in (1, 2, 3)]
    assert texts(changed)[3] == ("What does it cost?", "5 euros.", "Delivery")


@pytest.mark.parametrize(
    ("change", "closest"),
    [
        ({"question": "What did it cost?", "remove": True}, "What does it cost?"),
        ({"question": "May one cancel?", "newQuestion": "New?", "answer": "No."}, "May I cancel?"),
        ({"question": "New?", "answer": "Yes.", "after": "Where are they?"}, "Where are you?"),
    ],
)
def test_a_question_that_is_not_there_is_refused_with_the_closest_ones(
    change: dict[str, Any], closest: str
) -> None:
    with pytest.raises(ChangeRefused) as caught:
        apply({"question": "May I cancel?", "answer": "No."}, change)
    assert (caught.value.index, caught.value.closest[0]) == (1, closest)


@pytest.mark.parametrize(
    "change",
    [
        {"question": "May I cancel?"},
        {"question": "May I cancel?", "after": "Who brings it?"},
        {"question": "May I cancel?", "newQuestion": "Who  brings it?"},
        {"question": "May I cancel?", "remove": True, "answer": "No."},
        {"question": "New?", "answer": "No.", "after": "Who brings it?", "section": "Visits"},
        {"question": "Missing?", "section": "Visits"},
    ],
)
def test_a_change_that_means_nothing_or_two_things_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ChangeRefused):
        apply(change)


def test_a_question_that_is_there_twice_is_not_changed() -> None:
    with pytest.raises(ChangeRefused):
        apply({"question": "Who?", "answer": "We."}, items=(Item(0, "Who?", "I."), Item(1, "Who?", "You.")))


def test_an_faq_keeps_at_least_one_question_and_at_most_a_thousand() -> None:
    replaced = ({"question": "A?", "remove": True}, {"question": "B?", "answer": "B."})
    [only] = apply(*replaced, items=(Item(0, "A?", "A."),))
    assert only.question == "B?"
    with pytest.raises(ChangeRefused):
        apply({"question": "B?", "remove": True}, items=(only,))
    full = tuple(Item(number, f"Question {number}?", "Yes.") for number in range(1000))
    with pytest.raises(ChangeRefused):
        apply({"question": "One more?", "answer": "No."}, items=full)


NAMES = st.sampled_from([f"Question {letter}?" for letter in "abcdefgh"])
SECTIONS = st.sampled_from(["Orders", "Visits", "Press"])
CHANGES = st.one_of(
    st.fixed_dictionaries({"question": NAMES, "answer": st.text("xyz", min_size=1, max_size=3)}),
    st.fixed_dictionaries({"question": NAMES, "answer": st.just("added"), "after": NAMES}),
    st.fixed_dictionaries({"question": NAMES, "newQuestion": NAMES}, optional={"answer": st.just("renamed")}),
    st.fixed_dictionaries({"question": NAMES, "remove": st.just(True)}),
    st.fixed_dictionaries({"question": NAMES, "section": SECTIONS}, optional={"answer": st.just("moved")}),
)
Model = list[tuple[str, str, str | None]]


def model(rows: Model, change: dict[str, Any]) -> Model | None:
    """Return the questions after a change as the design describes it; None if it is refused."""
    name = change["question"]
    found = next((row for row in rows if row[0] == name), None)
    if found is None and "answer" in change and "newQuestion" not in change:
        if "section" in change:
            return moved(rows, (name, change["answer"], change["section"]))
        after = change.get("after", rows[-1][0])
        for number, row in enumerate(rows):
            if row[0] == after:
                return [*rows[: number + 1], (name, change["answer"], row[2]), *rows[number + 1 :]]
        return None
    if found is None:
        return None
    if "remove" in change:
        return [row for row in rows if row is not found]
    new = change.get("newQuestion", name)
    if new != name and any(row[0] == new for row in rows):
        return None
    changed = (new, change.get("answer", found[1]), found[2])
    if "section" in change:
        return moved([row for row in rows if row is not found], (*changed[:2], change["section"]))
    return [changed if row is found else row for row in rows]


def moved(rows: Model, row: tuple[str, str, str | None]) -> Model:
    last = max((n for n, other in enumerate(rows) if other[2] == row[2]), default=len(rows) - 1)
    return [*rows[: last + 1], row, *rows[last + 1 :]]


@settings(max_examples=100)
@given(st.sets(NAMES, min_size=1), st.lists(CHANGES, min_size=10, max_size=10))
def test_random_changes_give_the_same_result_as_a_plain_model(
    names: set[str], changes: list[dict[str, Any]]
) -> None:
    """A hundred examples of ten changes are a thousand changes."""
    items = tuple(Item(number, name, f"Answer {number}.") for number, name in enumerate(sorted(names)))
    for change in changes:
        expected = model(texts(items), change)
        if expected:
            items = apply(change, items=items)
            assert texts(items) == expected
        else:
            with pytest.raises(ChangeRefused):
                apply(change, items=items)


CHANGE: Final = {"question": "How much is a poster?", "answer": "Six euros."}
CURRENT: Final[dict[str, Any]] = {
    "revision": 3,
    "etag": '"new"',
    "state": "published",
    "createdAt": "2026-11-25T12:00:00Z",
    "key": "Mia",
    "items": [{"position": 0, "question": "How much is a poster?", "answer": "Seven euros."}],
}


@pytest.fixture
def client(faulty: FaultyServer) -> Iterator[FAQClient]:
    """A client of a faulty service."""
    with FAQClient(faulty.base_url, SECRET) as client:
        yield client


def conflict(current: Any) -> behaviours.Behaviour:
    """Respond with a conflict."""
    problem = {"code": "revision-conflict", "revision": 3, "current": current}
    return behaviours.body(json.dumps(problem).encode(), status=412)


def test_one_answer_is_a_small_request(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.body(b'{"slug": "prices", "revision": 2, "state": "draft"}'))
    written = client.change_faq("prices", iter([CHANGE]), if_match='"old"', lang="de-CH", draft=True)
    assert (written.revision, written.state) == (2, "draft")
    (request,) = faulty.log
    assert (request.method, request.target) == ("PATCH", "/api/v1/faq/prices?lang=de")
    assert request.headers["if-match"] == '"old"'
    assert json.loads(request.body) == {"changes": [CHANGE], "draft": True}
    headers = sum(len(name) + len(value) + 4 for name, value in request.headers.items())
    assert headers + len(request.body) < 1_000


@pytest.mark.parametrize(
    ("fields", "sent"),
    [
        ({"title": "Prices"}, {"title": "Prices"}),
        ({"introduction": "All prices in *euros*."}, {"introduction": "All prices in *euros*."}),
        ({"introduction": ""}, {"introduction": None}),
        ({"title": None, "introduction": None}, {}),
    ],
)
def test_title_and_introduction_are_changed_with_questions_or_alone(
    client: FAQClient, faulty: FaultyServer, fields: Any, sent: Any
) -> None:
    faulty.behave(behaviours.body(b'{"slug": "prices", "revision": 2, "state": "published"}'))
    client.change_faq("prices", [CHANGE], if_match='"old"', **fields)
    if sent:
        client.change_faq("prices", [], if_match='"old"', **fields)
    assert [json.loads(request.body) for request in faulty.log] == [{"changes": [CHANGE], **sent}, sent][
        : 1 + bool(sent)
    ]


def test_a_conflict_has_the_current_text(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(conflict(CURRENT))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    current = caught.value.current
    assert (current.revision, current.etag, current.key) == (3, '"new"', "Mia")
    assert [(item.question, item.answer) for item in current.items] == [
        ("How much is a poster?", "Seven euros.")
    ]


def test_the_current_text_may_be_long(client: FAQClient, faulty: FaultyServer) -> None:
    items = [{"position": n, "question": f"Question {n}?", "answer": "가" * 1_000} for n in range(100)]
    faulty.behave(conflict({**CURRENT, "items": items}))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert len(caught.value.current.items) == 100


@pytest.mark.parametrize("current", [None, "x", {}, {**CURRENT, "items": "x"}])
def test_a_conflict_without_a_text_is_one_too(client: FAQClient, faulty: FaultyServer, current: Any) -> None:
    faulty.behave(conflict(current))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert (caught.value.revision, caught.value.current) == (3, None)


def test_no_text_of_a_conflict_has_the_key(client: FAQClient, faulty: FaultyServer) -> None:
    items = [{"position": 0, "question": "Open?", "answer": SECRET}]
    faulty.behave(conflict({**CURRENT, "items": items}))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert "s3cret" not in caught.value.current.items[0].answer


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ([], "changes"),
        ("text", "changes"),
        ([{"answer": "x"}], "changes[0].question"),
        ([CHANGE, {"question": "Open?", "remove": "yes"}], "changes[1].remove"),
        ([{"question": "Open?", "answer": "x" * 30_000}], "changes[0].answer"),
    ],
)
def test_an_invalid_change_is_not_sent(
    client: FAQClient, faulty: FaultyServer, changes: Any, problem: str
) -> None:
    with pytest.raises(PublishRejected) as caught:
        client.change_faq("prices", changes, if_match='"old"')
    assert any(problem in found for found in caught.value.problems)
    assert faulty.log == []


@pytest.mark.parametrize("etag", [None, "", "old"])
def test_a_change_needs_the_entity_tag_that_was_read(
    client: FAQClient, faulty: FaultyServer, etag: Any
) -> None:
    with pytest.raises(PublishRejected, match="if_match"):
        client.change_faq("prices", [CHANGE], if_match=etag)
    assert faulty.log == []


def test_a_change_without_a_response_may_have_been_made(client: FAQClient, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.reset)
    with pytest.raises(OutcomeUnknown, match="if_match"):
        client.change_faq("prices", [CHANGE], if_match='"old"')
    assert len(faulty.log) == 1
