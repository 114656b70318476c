"""What a result says of the texts of a call, and what it gives to paste."""

from collections.abc import Iterator
from typing import Any, Final

import pytest
from flask import Flask, render_template_string
from starlette.testclient import TestClient

from faqsvc_embed import FAQ, FAQClient, Publication
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.testing import fake_embed
from tests.mcp.support import SECRET, TEA, TEXTS, call, content, error, tokens
from tests.support import django_project as django
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.parsed import page_of, summary
from tests.support.starlette_host import app_of

SLUGS: Final = [
    "shop",
    'a "b"',
    "it's",
    "a}}b",
    "{{a",
    "{% a %}",
    "{# a #}",
    "a%}b%}c",
    "für uns",
    "<b>&amp;",
]


@pytest.mark.parametrize("slug", SLUGS)
def test_what_a_result_gives_to_paste_works_where_it_says(slug: str) -> None:
    shown = Publication(slug)
    faq = FAQ.from_dict(samples.record(slug, ("Open?", "Daily.")))
    embed = fake_embed({slug: faq})
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "home", lambda: render_template_string(shown.template))
    pages = {
        "Flask": app.test_client().get("/").text,
        "Starlette": TestClient(app_of(embed, shown.template)).get("/").text,
    }
    with django.project(django.page(""), embed):
        pages["Django's Jinja"] = django.render(shown.template, using="jinja")
        pages["Django"] = django.render(shown.django_template)
    assert {name: summary(page) for name, page in pages.items()} == dict.fromkeys(pages, page_of(faq))


@pytest.fixture
def keyless(faulty: FaultyServer) -> Iterator[FAQClient]:
    """A client without a key, which previews need not."""
    with FAQClient(faulty.base_url) as client:
        yield client


def preview(client: FAQClient, *answers: str, **fields: Any) -> dict[str, Any]:
    items = [{"question": f"Question {n}?", "answer": answer} for n, answer in enumerate(answers)]
    return content(call(client, "publish_faq", {**TEA, "items": items, **fields, "preview": True}))


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ("Yes, **all** of it.", "Yes, all of it."),
        ("Only *some*.", "Only some."),
        ("See [rates](https://www.tea.example/rates).", "See rates (https://www.tea.example/rates)."),
        ("- tea\n- coffee", "- tea\n- coffee"),
        ("1. Boil.\n2. Pour.", "1. Boil.\n2. Pour."),
        ("3. Wait:\n   - a\n   - b\n4. Drink.", "3. Wait:\n- a\n- b\n4. Drink."),
        ("Write `tea --hot`.", "Write tea --hot."),
        ("| a | b |\n| --- | --- |\n| c | d |", "a | b\nc | d"),
        ("<p>From <b>five</b> euros.</p>", "From five euros."),
        ("```\na  b\nc\n```", "a  b\nc"),
        ("*€15* a day", "€15 a day"),
        ("これは*重要*です", "これは重要です"),
        ("*중요*합니다", "중요합니다"),
        ("请*务必*联系", "请务必联系"),
        ("¿*Cuándo*? *¡Hoy!*", "¿Cuándo? ¡Hoy!"),
        ("See [rates](rates.html).", "See rates."),
        ("See [rates][1].\n\n[1]: https://www.tea.example/", "See rates (https://www.tea.example/)."),
        ("See <https://www.tea.example/>.", "See https://www.tea.example/."),
        ("~~Ten~~ euros", "Ten euros"),
        ("> Quoted.", "Quoted."),
        ("Tea &amp; cake", "Tea & cake"),
        ("Kund\\*innen \\[1\\]", "Kund*innen [1]"),
    ],
)
def test_markup_without_a_format_is_markdown_and_the_result_says_so(
    keyless: FAQClient, answer: str, shown: str
) -> None:
    found = preview(keyless, answer)
    assert found["answerFormat"] == "markdown"
    assert "answerFormat text" in found["note"]
    assert found["shown"] == f"Question 0?\n{shown}"
    as_typed = preview(keyless, answer, answerFormat="text")
    assert ("answerFormat text" in as_typed["note"], as_typed["answerFormat"]) == (False, "text")


@pytest.mark.parametrize(
    "answer",
    [
        "Five euros.",
        "2 * 3 * 4 = 24",
        "5*4*3",
        "snake_case_name",
        "Price* without *tax",
        "marked (*) or (**)",
        "a < b > c & d",
        "A[0](x y)",
        r"C:\tea \\server",
    ],
)
def test_plain_text_stays_plain(keyless: FAQClient, answer: str) -> None:
    found = preview(keyless, answer)
    assert found["answerFormat"] == "text"
    assert found["shown"] == f"Question 0?\n{answer}"


def test_markup_in_a_question_or_title_is_named_because_readers_see_it_as_typed(keyless: FAQClient) -> None:
    assert "'**Tea**' as typed" in preview(keyless, "Yes.", title="**Tea**")["note"]
    for question, is_named in (("Is <b>tea</b> free?", True), ("What does `tea --hot` do?", False)):
        arguments = {**TEA, "items": [{"question": question, "answer": "Yes."}], "preview": True}
        assert ("as typed" in content(call(keyless, "publish_faq", arguments))["note"]) == is_named


def test_the_title_that_readers_see_is_named_if_the_call_has_none(keyless: FAQClient) -> None:
    assert "'Tea & Sons FAQ'" in preview(keyless, "Yes.")["note"]
    assert "'Tea & Sons FAQ'" not in preview(keyless, "Yes.", title="Tea")["note"]


def test_plain_answers_beside_markdown_are_shown_as_typed(keyless: FAQClient) -> None:
    found = preview(keyless, "**Yes.**", "2 * 3\n4 * 5", "2 \\* 3", introduction="A_B and C_D")
    answers = ("Yes.", "2 * 3\n4 * 5", "2 * 3")
    questions = (f"Question {number}?\n{answer}" for number, answer in enumerate(answers))
    assert found["shown"] == "\n\n".join(("A_B and C_D", *questions))


def test_what_readers_do_not_see_is_named_with_its_line(keyless: FAQClient) -> None:
    found = preview(keyless, "**One**\n\n[two](javascript:x) <script>three</script>", "{{ four }}")
    assert len(found["notShown"]) >= 3
    assert all(text.startswith("Question ") and "line " in text for text in found["notShown"])
    markup = "<p>See <a href='javascript:x'>two</a> <iframe src='https://www.tea.example/v'></iframe></p>"
    note = preview(keyless, "Yes.", f"{markup}<script>three</script>")["note"]
    for lost in ("the link to 'javascript:'", "<iframe>", "<script>"):
        assert f"items[1]: {lost} is not shown" in note


def test_an_empty_text_counts_as_left_out(keyless: FAQClient) -> None:
    item = {"question": "Open?", "answer": "Yes.", "section": "", "id": ""}
    texts = dict.fromkeys(("title", "introduction", "slug", "lang", "answerFormat"), "")
    found = content(call(keyless, "publish_faq", {**TEA, "items": [item], **texts, "preview": True}))
    assert (found["shown"], "template" in found) == ("Open?\nYes.", False)


def test_what_is_shown_is_bounded(keyless: FAQClient) -> None:
    items = [{"question": f"Question {n}?", "answer": f"**{TEXTS['korean']}** [a](x:y)"} for n in range(150)]
    introduction = TEXTS["korean"] * 6
    fields = {**TEA, "items": items, "introduction": introduction, "title": "가" * 200}
    result = call(keyless, "publish_faq", {**fields, "preview": True})
    assert tokens(result) < 25_000
    assert "cut" in content(result)["shown"]


@pytest.mark.parametrize(
    ("items", "note"),
    [
        (
            [("Is it “free”?", "a"), ("Why?", "b"), ('is it "free"', "c")],
            "items[2]: asks the same as items[0].",
        ),
        ([("Is it free?", "tea"), ("Why?", "tea")], "items[1]: has the id 'tea', as items[0] does"),
    ],
    ids=["the same question", "one id"],
)
def test_items_that_ask_the_same_or_have_one_id_are_named(
    keyless: FAQClient, items: list[tuple[str, str]], note: str
) -> None:
    given = [{"question": question, "answer": "Yes.", "id": item_id} for question, item_id in items]
    assert note in content(call(keyless, "publish_faq", {**TEA, "items": given, "preview": True}))["note"]


def test_a_service_that_cannot_be_reached_is_named_with_what_to_ask_the_user(faulty: FaultyServer) -> None:
    faulty.refuse()
    for address in (faulty.base_url, "https://nowhere.invalid"):
        with FAQClient(address, SECRET) as client:
            for name, arguments in (("get_faq", {"slug": "tea"}), ("list_faqs", {})):
                message = error(call(client, name, arguments))
                assert all(part in message for part in (address, "FAQSVC_BASE_URL", "runs")), message
    with FAQClient(faulty.base_url) as keyless:
        assert "FAQSVC_API_KEY" in error(call(keyless, "list_faqs", {}))
