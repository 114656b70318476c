"""update_faq changes what it names, and undoes nobody's work."""

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any, Final

import pytest
from jsonschema import Draft202012Validator
from mcp.types import CallToolResult

from faqsvc_embed import FAQClient
from faqsvc_embed.errors import RevisionConflict
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.storage import open_storage
from tests.mcp.support import TEXTS, call, content, error, output_schema, texts, tokens
from tests.support.running import running

pytestmark = pytest.mark.system

WEBSITE: Final = {"website_url": "https://www.tea.example", "website_name": "Tea & Sons", "lang": "en"}


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of our service, and keys of each scope."""
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('service')}/faqsvc.db")
    keys = {scope: storage.keys.create(scope, scope=scope) for scope in ("draft", "publish")}
    with running(create_app(storage, writes_per_minute=None)) as address:
        yield address, keys
    storage.close()


@pytest.fixture
def owner(keys: tuple[str, dict[str, str]]) -> Iterator[FAQClient]:
    """A client that may do everything."""
    with FAQClient(keys[0], keys[1]["publish"]) as client:
        yield client


def put(client: FAQClient, slug: str, count: int = 3, **fields: Any) -> None:
    """Publish an FAQ with numbered questions."""
    items = [(f"Question {number}?", f"Answer {number}.") for number in range(count)]
    client.publish_faq(slug=slug, **{**WEBSITE, "items": items, **fields})


def update(
    client: FAQClient, slug: str, revision: int, *changes: dict[str, Any], **extra: Any
) -> CallToolResult:
    """Call update_faq."""
    return call(client, "update_faq", {"slug": slug, "revision": revision, "changes": list(changes), **extra})


def conflict(result: CallToolResult) -> dict[str, Any]:
    """Return the content of a conflict."""
    assert result.is_error, texts(result)
    found = result.structured_content
    assert isinstance(found, dict)
    assert found["code"] == "revision-conflict"
    return found


def answers(client: FAQClient, slug: str, **lang: str) -> list[str]:
    """Return the public answers."""
    return [item.answer for item in client.get_faq(slug, **lang).items]


def test_an_update_changes_only_the_named_questions_and_says_how_to_undo_it(owner: FAQClient) -> None:
    put(owner, "kept", title="Prices", answer_format="markdown")
    read = content(call(owner, "get_faq", {"slug": "kept"}))
    written = content(update(owner, "kept", read["revision"], {"question": "Question 1?", "answer": "New."}))
    Draft202012Validator(output_schema("update_faq")).validate(written)
    assert (written["slug"], written["revision"], written["state"]) == ("kept", 2, "published")
    assert written["changed"] == [{"question": "Question 1?", "before": "Answer 1.", "after": "New."}]
    assert written["undo"] == "faqsvc revert kept 1 --lang en"
    faq = owner.get_faq("kept")
    assert (faq.title, faq.website_name, faq.answer_format) == ("Prices", "Tea & Sons", "markdown")
    assert answers(owner, "kept") == ["Answer 0.", "New.", "Answer 2."]


def test_title_and_introduction_are_read_and_changed(owner: FAQClient) -> None:
    put(owner, "titled", title="Prices", introduction="In euros.")
    read = content(call(owner, "get_faq", {"slug": "titled"}))
    assert (read["title"], read["introduction"]) == ("Prices", "In euros.")
    change = {"question": "Question 1?", "answer": "New."}
    content(update(owner, "titled", 1, change, title="Our prices"))
    assert (owner.get_faq("titled").title, owner.get_faq("titled").introduction) == (
        "Our prices",
        "In euros.",
    )
    told = content(update(owner, "titled", 2, change | {"answer": "Newer."}, introduction=""))
    assert "introduction" in told["note"]
    assert (owner.get_faq("titled").title, owner.get_faq("titled").introduction) == ("Our prices", None)


def test_of_a_long_answer_the_result_shows_the_words_that_changed(owner: FAQClient) -> None:
    before, after = (f"{'Long. ' * 200}{price} euros.{' Long.' * 200}" for price in ("Five", "Six"))
    put(owner, "long", items=[("Price?", before)])
    (changed,) = content(update(owner, "long", 1, {"question": "Price?", "answer": after}))["changed"]
    assert ("Five euros." in changed["before"], "Six euros." in changed["after"]) == (True, True)
    assert max(map(len, changed.values())) < 200


def test_a_translation_has_the_website_of_the_published_revision(owner: FAQClient) -> None:
    put(owner, "relaunch")
    put(owner, "relaunch", website_name="Secret", answer_format="markdown", draft=True)
    german = {"question": "Frage?", "answer": "Antwort."}
    assert content(update(owner, "relaunch", 0, german, lang="de"))["state"] == "published"
    faq = owner.get_faq("relaunch", lang="de")
    assert (faq.website_name, faq.answer_format) == ("Tea & Sons", "text")


def act_before_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let somebody act just before the tool writes."""
    publish = FAQClient.apublish_faq

    async def after(client: FAQClient, **fields: Any) -> Any:
        act()
        return await publish(client, **fields)

    monkeypatch.setattr(FAQClient, "apublish_faq", after)


def test_a_translation_that_somebody_else_has_just_made_is_a_conflict(
    owner: FAQClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(owner, "race")
    act_before_write(monkeypatch, lambda: put(owner, "race", items=[("Frage?", "Mias.")], lang="de"))
    found = conflict(update(owner, "race", 0, {"question": "Frage?", "answer": "Meine."}, lang="de"))
    assert found["current"]["items"] == [{"question": "Frage?", "answer": "Mias."}]
    assert answers(owner, "race", lang="de") == ["Mias."]


def test_a_conflict_has_the_text_of_somebody_else(owner: FAQClient) -> None:
    put(owner, "shared")
    mias = {"question": "Question 0?", "answer": "Mia's.", "section": "Delivery", "id": "ship"}
    put(owner, "shared", items=[mias, {"question": "Question 1?", "answer": "Answer 1."}])
    found = conflict(update(owner, "shared", 1, {"question": "Question 0?", "answer": "The agent's."}))
    assert (found["current"]["revision"], found["current"]["items"][0]) == (2, mias)
    assert answers(owner, "shared") == ["Mia's.", "Answer 1."]
    assert (
        content(update(owner, "shared", 2, {"question": "Question 1?", "answer": "Both."}))["revision"] == 3
    )
    assert answers(owner, "shared") == ["Mia's.", "Both."]


def test_an_unpublished_draft_is_a_conflict(owner: FAQClient) -> None:
    put(owner, "waiting")
    put(owner, "waiting", items=[("Question 0?", "From June.")], draft=True)
    found = conflict(update(owner, "waiting", 1, {"question": "Question 0?", "answer": "New."}))
    assert found["current"]["items"] == [{"question": "Question 0?", "answer": "From June."}]
    assert "draft" in found["message"]
    assert answers(owner, "waiting")[0] == "Answer 0."


def test_changing_an_unpublished_draft_does_not_publish_it(owner: FAQClient) -> None:
    put(owner, "unfinished")
    put(owner, "unfinished", items=[("Question 0?", "From June."), ("Question 1?", "Secret.")], draft=True)
    written = content(update(owner, "unfinished", 2, {"question": "Question 0?", "answer": "New."}))
    assert (written["revision"], written["state"], "undo" in written) == (3, "draft", False)
    assert "added to it" in written["note"]  # and not that the key may write drafts only
    assert answers(owner, "unfinished") == [f"Answer {number}." for number in range(3)]
    assert [item.answer for item in owner.newest_revision("unfinished").faq.items] == ["New.", "Secret."]


def test_a_change_that_changes_nothing_has_nothing_to_undo(owner: FAQClient) -> None:
    put(owner, "same")
    written = content(update(owner, "same", 1, {"question": "Question 0?", "answer": "Answer 0."}))
    assert (written["revision"], "undo" in written) == (1, False)


def test_an_unpublished_faq_is_not_published_again(owner: FAQClient) -> None:
    put(owner, "taken")
    owner.unpublish_faq("taken")
    message = error(update(owner, "taken", 1, {"question": "Question 0?", "answer": "New."}))
    assert "undo: true" in message
    assert "undo: true" in error(update(owner, "taken", 7, {"question": "Question 0?", "answer": "New."}))
    assert [faq.state for faq in owner.list_faqs() if faq.slug == "taken"] == ["unpublished"]


def test_a_large_conflict_has_only_the_questions_that_the_changes_name(owner: FAQClient) -> None:
    put(owner, "large", items=[(f"Question {number}?", TEXTS["korean"]) for number in range(100)])
    put(owner, "large", items=[(f"Question {number}?", TEXTS["korean"] + "!") for number in range(100)])
    result = update(owner, "large", 1, {"question": "Question 70?", "answer": "New."})
    assert [item["question"] for item in conflict(result)["current"]["items"]] == ["Question 70?"]
    assert tokens(result) < 25_000


def test_many_long_changes_are_shown_in_part(owner: FAQClient) -> None:
    put(owner, "rewritten", items=[(f"Question {n}?", TEXTS["korean"]) for n in range(100)])
    changes = [
        {"question": f"question {n}", "answer": f"[a](x:y) {TEXTS['korean'][::-1]}"} for n in range(100)
    ]
    result = update(owner, "rewritten", 1, *changes)
    assert tokens(result) < 25_000
    assert content(result)["changed"][0]["question"] == "Question 0?"


def test_one_answer_of_200_costs_less_than_a_kilobyte(owner: FAQClient) -> None:
    put(owner, "many", 200)
    result = update(owner, "many", 1, {"question": "Question 7?", "answer": "New."})
    assert len(result.model_dump_json(by_alias=True, exclude_none=True)) < 1_000
    assert answers(owner, "many") == [f"Answer {n}." if n != 7 else "New." for n in range(200)]


def test_items_go_back_in_as_get_faq_gave_them(owner: FAQClient) -> None:
    items = [
        {"question": f"Question {n}?", "answer": "Yes.", "section": "Tea" if n < 2 else "Cake", "id": f"q{n}"}
        for n in range(3)
    ]
    put(owner, "echoed", items=items)
    read = content(call(owner, "get_faq", {"slug": "echoed"}))["items"]
    told = content(update(owner, "echoed", 1, *read))
    assert ("changed" in told, "undo" in told, "Nothing was written" in told["note"]) == (False, False, True)
    content(update(owner, "echoed", 1, {**read[0], "answer": "No."}))
    after = content(call(owner, "get_faq", {"slug": "echoed"}))["items"]
    assert after == [{**read[0], "answer": "No."}, *read[1:]]
    content(update(owner, "echoed", 2, {**read[0], "answer": "No!", "section": "Cake"}))
    after = content(call(owner, "get_faq", {"slug": "echoed"}))["items"]
    assert [(item["question"], item["section"]) for item in after] == [
        ("Question 1?", "Tea"),
        ("Question 2?", "Cake"),
        ("Question 0?", "Cake"),
    ]
    twins = [{"question": "Twin?", "answer": "Yes.", "section": section} for section in ("Tea", "Cake")]
    put(owner, "twins", items=twins)
    content(update(owner, "twins", 1, {**twins[0], "answer": "No."}))
    assert answers(owner, "twins") == ["No.", "Yes."]
    message = error(update(owner, "echoed", 3, {**after[0], "position": 2}))
    assert ("'position'" in message, "after" in message) == (True, True)
    translated = [{**item, "question": f"Frage {n}?"} for n, item in enumerate(read)]
    content(update(owner, "echoed", 0, *translated[::-1], lang="de", title="Tee"))
    assert len(content(call(owner, "get_faq", {"slug": "echoed", "lang": "de"}))["items"]) == 3


BLANK: Final = {
    **dict.fromkeys(("question", "answer", "newQuestion", "after", "section", "id"), ""),
    **dict.fromkeys(("add", "remove"), False),
}
"""A change as some models write it: with every field, empty if it is left out."""


def test_the_empty_texts_of_a_form_count_as_left_out(owner: FAQClient) -> None:
    items = [
        {"question": f"Question {n}?", "answer": "Yes.", "section": "Tea", "id": f"q{n}"} for n in range(3)
    ]
    put(owner, "forms", items=items, introduction="Welcome.")
    texts = {"title": "", "introduction": "", "answerFormat": "", "lang": ""}
    new = {**BLANK, "question": "Question 1?", "answer": "No."}
    content(update(owner, "forms", 1, new, **texts))
    faq = owner.get_faq("forms")
    assert faq.introduction == "Welcome."
    assert [item.to_fields() for item in faq.items] == [items[0], {**items[1], "answer": "No."}, items[2]]
    content(update(owner, "forms", 2, {**BLANK, "question": "Question 0?", "remove": True}))
    content(update(owner, "forms", 3, {**BLANK, "id": "q2", "answer": "Maybe."}))
    assert answers(owner, "forms") == ["No.", "Maybe."]
    titled = call(owner, "update_faq", {"slug": "forms", "revision": 4, "title": "Tea", "changes": []})
    assert content(titled)["shown"] == "Tea"


def test_one_of_two_equal_questions_is_removed_by_the_item_that_get_faq_returned(owner: FAQClient) -> None:
    pairs = [("Who?", "I."), ("Who?", "You."), ("Who?", "You."), ("Where?", "Here.")]
    put(owner, "doubled", items=pairs)
    message = error(update(owner, "doubled", 1, {"question": "Who?", "answer": "We."}))
    assert all(part in message for part in ("remove one", "its answer")), message
    read = content(call(owner, "get_faq", {"slug": "doubled"}))["items"]
    told = content(update(owner, "doubled", 1, *({**read[1], "remove": True} for _ in range(2))))
    assert [(item.question, item.answer) for item in owner.get_faq("doubled").items] == [pairs[0], pairs[3]]
    assert told["changed"] == [{"question": "Who?", "remove": True, "before": "You.", "after": ""}] * 2


def test_a_draft_of_a_translation_is_published_by_the_command_of_its_result(owner: FAQClient) -> None:
    put(owner, "two-drafts")
    change = {"question": "Frage?", "answer": "Ja."}
    told = content(update(owner, "two-drafts", 0, change, lang="de", title="Tee", draft=True))
    assert "at the desk, or with `faqsvc revert two-drafts 1 --lang de`" in told["note"]


@pytest.mark.parametrize(
    ("given", "named", "unnamed"),
    [
        (
            {"changes": [{"question": "Question 1?", "after": "Question 7?"}]},
            ["`after`", '"Question 0?"'],
            "add",
        ),
        (
            {"changes": [{"question": "Open?", "answer": "Yes.", "add": True, "after": "Question 7?"}]},
            ["`after`", '"Question 0?"'],
            "`add`",
        ),
        ({"changes": [{"id": "question-1", "answer": "New."}]}, ["name it by its text"], "add: true"),
        ({"changes": [{"question": "Parking?", "answer": "No."}]}, ["add: true"], "one of these"),
        (
            {"lang": "fr", "revision": 0, "title": "Aide"},
            ["a change with question and answer for each"],
            "add",
        ),
        (
            {"lang": "fr", "revision": 0, "changes": [{"question": "Q?", "remove": True}]},
            ["translation"],
            "add",
        ),
        (
            {"lang": "fr", "revision": 0, "changes": [{"question": "Q?", "section": "A"}]},
            ["translation"],
            "add",
        ),
        ({"draft": False}, ["changes", "No tool publishes a draft"], "add"),
        ({"websiteName": "sparrow"}, ["'websiteName'", "at the desk", "slug never"], "add"),
    ],
    ids=lambda value: "",
)
def test_an_error_advises_what_helps_and_nothing_else(
    owner: FAQClient, given: dict[str, Any], named: list[str], unnamed: str
) -> None:
    put(owner, "advised")
    message = error(call(owner, "update_faq", {"slug": "advised", "revision": 1, **given}))
    assert [part for part in named if part not in message] == []
    assert unnamed not in message


def test_the_place_of_a_question_is_not_shown_as_its_answer(owner: FAQClient) -> None:
    put(
        owner,
        "ordered",
        items=[{"question": f"Question {n}?", "answer": "Yes.", "section": f"{n}"} for n in range(3)],
    )
    moved, new = (
        {"question": "Question 2?", "after": ""},
        {"question": "Open?", "answer": "Yes.", "add": True},
    )
    changed = content(update(owner, "ordered", 1, moved, {**new, "after": "Question 2?"}))["changed"]
    assert changed[0] == {"question": "Question 2?", "movedAfter": "", "section": "0"}
    assert (changed[1]["movedAfter"], changed[1]["before"], changed[1]["after"]) == (
        "Question 2?",
        "",
        "Yes.",
    )


def test_markup_in_a_new_question_is_named(owner: FAQClient) -> None:
    put(owner, "marked")
    told = content(update(owner, "marked", 1, {"question": "Question 1?", "newQuestion": "Is it **free**?"}))
    assert "'Is it **free**?' as typed" in told["note"]
    told = content(update(owner, "marked", 2, {"question": "is it **free**", "answer": "Yes."}))
    assert "note" not in told


def test_a_revision_that_is_not_the_newest_blames_nobody(owner: FAQClient) -> None:
    put(owner, "ahead")
    for revision in (0, 7):
        told = conflict(update(owner, "ahead", revision, {"question": "Question 1?", "answer": "x"}))
        assert told["message"].startswith("Nothing was written: the newest revision is 1")


def test_all_changes_are_made_or_none(owner: FAQClient) -> None:
    put(owner, "whole")
    changes = ({"question": "Question 0?", "answer": "New."}, {"question": "Qestion 1?", "remove": True})
    message = error(update(owner, "whole", 1, *changes))
    assert "changes[1]" in message
    assert "Question 1?" in message  # the closest one
    assert len(owner.revisions("whole")) == 1


def test_revision_0_makes_a_translation(owner: FAQClient) -> None:
    put(owner, "translated", title="Prices", answer_format="markdown")
    german = {"question": "Frage?", "answer": "Antwort."}
    assert "revision 0" in error(update(owner, "translated", 1, german, lang="de"))
    written = content(update(owner, "translated", 0, german, lang="de"))
    assert (written["lang"], written["revision"]) == ("de", 1)
    assert owner.get_faq("translated", lang="de").answer_format == "markdown"
    assert owner.get_faq("translated").title == "Prices"
    assert conflict(update(owner, "translated", 0, german, lang="de"))["current"]["revision"] == 1


def test_a_draft_can_be_asked_for_and_changed(owner: FAQClient, keys: tuple[str, dict[str, str]]) -> None:
    put(owner, "drafted")
    written = content(update(owner, "drafted", 1, {"question": "Question 0?", "answer": "New."}, draft=True))
    assert (written["state"], "previewUrl" in written, "undo" in written) == ("draft", True, False)
    with FAQClient(keys[0], keys[1]["draft"]) as assistant:
        written = content(update(assistant, "drafted", 2, {"question": "Question 1?", "answer": "New."}))
    assert (written["state"], "previewUrl" in written) == ("draft", True)
    assert [item.answer for item in owner.newest_revision("drafted").faq.items] == [
        "New.",
        "New.",
        "Answer 2.",
    ]
    assert answers(owner, "drafted")[0] == "Answer 0."


@pytest.mark.parametrize("order", sorted({"".join(order) for order in permutations("ppaa")}))
def test_edits_of_a_person_and_an_agent_are_both_kept_or_one_is_refused(owner: FAQClient, order: str) -> None:
    """Each reads, then writes an answer of its own, in every order."""
    slug = f"interleaved-{order}"
    put(owner, slug)
    known, told, done = dict[str, Any](), set[str](), set[str]()

    def person() -> None:
        if "person" not in known:
            known["person"] = owner.newest_revision(slug)
            return
        read = known["person"]
        items = [
            (item.question, "Mia's." if n == 0 else item.answer) for n, item in enumerate(read.faq.items)
        ]
        try:
            put(owner, slug, items=items, if_match=read.etag)
            done.add("person")
        except RevisionConflict as error:
            told.update(["person"] if error.current.items[2].answer == "The agent's." else [])

    def agent() -> None:
        if "agent" not in known:
            known["agent"] = content(call(owner, "get_faq", {"slug": slug}))["revision"]
            return
        result = update(owner, slug, known["agent"], {"question": "Question 2?", "answer": "The agent's."})
        if result.is_error:
            assert conflict(result)["current"]["items"][0]["answer"] == "Mia's."
            told.add("agent")
        else:
            done.add("agent")

    for who in order:
        person() if who == "p" else agent()
    assert done | told == {"person", "agent"}
    shown = answers(owner, slug)
    assert (shown[0] == "Mia's.", shown[2] == "The agent's.") == ("person" in done, "agent" in done)


def test_a_translation_does_not_make_an_unpublished_faq_public_again(owner: FAQClient) -> None:
    put(owner, "withdrawn")
    owner.unpublish_faq("withdrawn")
    german = {"question": "Frage?", "answer": "Antwort."}
    message = error(update(owner, "withdrawn", 0, german, lang="de"))
    assert all(part in message for part in ("was unpublished", "undo: true", "With draft"))
    assert [faq.state for faq in owner.list_faqs() if faq.slug == "withdrawn"] == ["unpublished"]
    written = content(update(owner, "withdrawn", 0, german, lang="de", draft=True))
    assert written["state"] == "draft"


def test_an_faq_that_is_unpublished_during_an_update_stays_unpublished(
    owner: FAQClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(owner, "closing")
    act_before_write(monkeypatch, lambda: owner.unpublish_faq("closing"))
    assert "undo: true" in error(update(owner, "closing", 1, {"question": "Question 0?", "answer": "New."}))
    assert [faq.state for faq in owner.list_faqs(text="closing")] == ["unpublished"]


def test_publishing_while_the_newest_revision_is_read_is_a_conflict(
    owner: FAQClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(owner, "raced")
    read = FAQClient.aget_revision

    async def after_somebody(self: FAQClient, slug: str, number: int, *, lang: str | None = None) -> object:
        monkeypatch.undo()
        with FAQClient(owner.settings.base_url, owner.settings.api_key) as other:
            put(other, "raced", title="Prices")
        return await read(self, slug, number, lang=lang)

    monkeypatch.setattr("faqsvc_embed.client.methods.AsyncMethods.aget_revision", after_somebody)
    result = update(owner, "raced", 1, {"question": "Question 0?", "answer": "New."})
    assert conflict(result)["current"]["revision"] == 2


def test_markdown_that_comes_to_a_plain_faq_makes_it_markdown_if_no_old_answer_looks_different(
    owner: FAQClient,
) -> None:
    put(owner, "plain")
    written = content(update(owner, "plain", 1, {"question": "Question 1?", "answer": "**Yes**, all."}))
    assert ("Markdown" in written["note"], written["shown"]) == (True, "Question 1?\nYes, all.")
    assert owner.get_faq("plain").answer_format == "markdown"
    typed = [("Question 0?", "2 * 3\n4 * 5 _x_"), ("Question 1?", "Yes."), ("Question 2?", "- a")]
    put(owner, "typed", items=typed)
    change = {"question": "question 1", "answer": "**Yes**, all."}
    message = error(update(owner, "typed", 1, change))
    assert all(part in message for part in ("'Question 0?'", '"text"', '"markdown"')), message
    assert owner.get_faq("typed").answer_format == "text"
    content(update(owner, "typed", 1, change, answerFormat="text"))
    assert answers(owner, "typed")[1] == "**Yes**, all."
    content(update(owner, "typed", 2, change, answerFormat="markdown"))
    assert owner.get_faq("typed").answer_format == "markdown"
    put(owner, "replaced", items=typed[:1])
    content(update(owner, "replaced", 1, {"question": "Question 0?", "answer": "**New.**"}))
    assert owner.get_faq("replaced").answer_format == "markdown"


def test_html_in_a_new_answer_is_read_as_publish_faq_reads_it(owner: FAQClient) -> None:
    put(owner, "html", items=[("What is *it*?", "Tea."), ("Question 1?", "5 * 3\n2 * 4")])
    changes = (
        {"question": "What is *it*?", "answer": "<p>From <b>five</b> euros</p><p>a_b</p>"},
        {"question": "Is **this** new?", "answer": "2 * 3\n4 * 5", "add": True},
        {"question": "Question 1?", "answer": "Yes."},
    )
    content(update(owner, "html", 1, *changes))
    assert [item.to_fields() for item in owner.get_faq("html").items] == [
        {"question": "What is *it*?", "answer": "From **five** euros\n\na_b"},
        {"question": "Question 1?", "answer": "Yes."},
        {"question": "Is this new?", "answer": "2 \\* 3\\\n4 \\* 5"},
    ]


def test_title_introduction_and_format_are_changed_without_a_question(owner: FAQClient) -> None:
    put(owner, "alone", items=[("Sum?", "2 *3* 4"), ("Open?", "Yes.")])
    result = call(owner, "update_faq", {"slug": "alone", "revision": 1, "title": "Prices"})
    assert content(result)["shown"] == "Prices"
    fields = {"introduction": "*New*", "answerFormat": "markdown"}
    told = content(call(owner, "update_faq", {"slug": "alone", "revision": 2, **fields}))
    assert (told["shown"], "'Sum?'" in told["note"], "'Open?'" in told["note"]) == ("New", True, False)


def test_the_closest_questions_are_named_in_full(owner: FAQClient) -> None:
    long = f"Is it true that {'very ' * 80}long questions are asked?"
    put(owner, "lengthy", items=[(long, "Yes."), ("Open?", "Yes.")])
    message = error(update(owner, "lengthy", 1, {"question": long.replace("true", "right"), "answer": "No."}))
    assert long in message
    assert message.count("Is it true") == 1


def test_a_translation_without_a_title_is_told_to_have_one(owner: FAQClient) -> None:
    put(owner, "untitled", title="Prices")
    german = {"question": "Frage?", "answer": "**Ja.**", "section": "Eins", "id": "one"}
    written = content(update(owner, "untitled", 0, german, lang="de"))
    assert all(part in written["note"] for part in ("title", "Markdown", "3 questions"))
    item = owner.get_faq("untitled", lang="de").items[0]
    assert (item.section, item.id, owner.get_faq("untitled", lang="de").answer_format) == (
        "Eins",
        "one",
        "markdown",
    )
