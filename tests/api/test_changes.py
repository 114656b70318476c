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
from tests.support.growth import grows_linearly

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


def test_a_new_question_is_added_at_the_requested_place() -> None:
    new = {"question": "New?", "answer": "Yes.", "add": True}

    assert texts(apply(new))[-1] == ("New?", "Yes.", "Visits")
    assert texts(apply({**new, "after": "May I cancel?"}))[2] == ("New?", "Yes.", None)
    assert texts(apply({**new, "section": "Delivery"}))[4] == ("New?", "Yes.", "Delivery")
    assert texts(apply({**new, "section": "Press"}))[-1] == ("New?", "Yes.", "Press")
    assert [item.position for item in apply({**new, "after": "What does it cost?"})] == list(range(6))
    assert texts(apply({**new, "after": "Who brings it?", "section": "delivery"}))[4][2] == "Delivery"
    assert texts(apply({**new, "after": "Who brings it?", "section": "Press"}))[4][2] == "Press"


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


def test_a_section_is_renamed_by_moving_its_questions() -> None:
    names = [item.question for item in ITEMS]
    changed = apply(*({"question": name, "section": "Parcels"} for name in names[2:4]))
    assert [(item.question, item.section) for item in changed[2:]] == [
        (names[2], "Parcels"),
        (names[3], "Parcels"),
        (names[4], "Visits"),
    ]
    [first, *_] = apply({"question": names[0], "section": "Money"}, items=ITEMS[:1] + ITEMS[2:])
    assert first.question == names[2]  # questions without a section are above all others
    one = apply({"question": names[4], "section": "Shop"}, items=ITEMS[4:] + ITEMS[2:4])
    assert [item.section for item in one] == ["Shop", "Delivery", "Delivery"]


@pytest.mark.parametrize(
    ("change", "closest"),
    [
        ({"question": "What did it cost?", "remove": True}, "What does it cost?"),
        ({"question": "May one cancel?", "newQuestion": "New?", "answer": "No."}, "May I cancel?"),
        ({"question": "What's the cost?", "answer": "One euro."}, "What does it cost?"),
        ({"question": "New?", "answer": "Yes.", "add": True, "after": "Where are they?"}, "Where are you?"),
    ],
)
def test_a_question_that_is_not_there_is_refused_with_the_closest_ones(
    change: dict[str, Any], closest: str
) -> None:
    with pytest.raises(ChangeRefused) as caught:
        apply({"question": "May I cancel?", "answer": "No."}, change)
    found = caught.value
    assert (found.index, found.closest[0], found.code) == (1, closest, "unknown-question")


@pytest.mark.parametrize(
    "change",
    [
        {"question": "May I cancel?"},
        {"question": "May I cancel?", "after": "May I cancel?"},
        {"question": "May I cancel?", "newQuestion": "who brings it"},
        {"question": "may I cancel", "answer": "No.", "add": True},
        {"question": "New?", "add": True},
        {"question": "New?", "answer": "No.", "add": True, "id": "cancel"},
        {"question": "Who brings it?", "id": "cancel"},
        {"id": "cancel", "add": True, "answer": "No."},
        {"id": "missing", "answer": "No."},
        {"question": "May I cancel?", "remove": True, "answer": "No."},
        {"question": "Where are you?", "after": "How long does it take?", "section": "Visits"},
        {"question": "Missing?", "section": "Visits"},
    ],
)
def test_a_change_that_means_nothing_or_two_things_is_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ChangeRefused):
        apply(change)


def test_a_question_that_is_there_twice_is_not_changed_unless_its_id_tells_which() -> None:
    items = (Item(0, "Who?", "I."), Item(1, "Who?", "You.", id="you"))
    with pytest.raises(ChangeRefused):
        apply({"question": "Who?", "answer": "We."}, items=items)
    changed = apply({"question": "who", "answer": "We.", "id": "you"}, items=items)
    assert [item.answer for item in changed] == ["I.", "We."]


def test_the_section_tells_apart_questions_with_one_text_and_so_does_the_answer_of_one_to_remove() -> None:
    items: tuple[Item, ...] = (
        Item(0, "Who?", "I.", "Tea"),
        Item(1, "When?", "Now.", "Tea"),
        Item(2, "Who?", "You.", "Cake"),
        Item(3, "Who?", "They.", "Cake"),
        Item(4, "Who?", "They.", "Cake"),
    )
    changed = apply({"question": "who", "answer": "We.", "section": "tea"}, items=items)
    assert [item.answer for item in changed if item.section == "Tea"] == ["We.", "Now."]
    for _ in range(2):
        items = apply({"question": "Who?", "answer": "They.", "section": "Cake", "remove": True}, items=items)
    assert texts(items) == [("Who?", "I.", "Tea"), ("When?", "Now.", "Tea"), ("Who?", "You.", "Cake")]
    for change in (
        {"answer": "You."},
        {"remove": True},
        {"remove": True, "answer": "You.", "section": "Tea"},
    ):
        with pytest.raises(ChangeRefused, match=r"is the name of .* its id"):
            apply({"question": "Who?", **change}, items=items)


def test_an_faq_keeps_at_least_one_question_and_at_most_a_thousand() -> None:
    replaced = ({"question": "A?", "remove": True}, {"question": "B?", "answer": "B.", "add": True})
    [only] = apply(*replaced, items=(Item(0, "A?", "A."),))
    assert only.question == "B?"
    with pytest.raises(ChangeRefused):
        apply({"question": "B?", "remove": True}, items=(only,))
    full = tuple(Item(number, f"Question {number}?", "Yes.") for number in range(1000))
    with pytest.raises(ChangeRefused):
        apply({"question": "One more?", "answer": "No.", "add": True}, items=full)


SPELLINGS: Final = [
    ("Wie  läuft das?", "Wie la\u0308uft das?"),
    ("What does “good to print” mean?", 'What does "good to print" mean?'),
    ("Why doesn’t an A3 poster cost twice as much?", "Why doesn't an A3 poster cost twice as much"),
    ("Prices – what’s included?", "prices - what's  included"),
    ("¿Hacen envíos al extranjero?", "Hacen envíos al extranjero"),
    ("Livrez-vous à l’étranger\u00a0?", "livrez-vous à l'étranger?"),
    ("Was heißt „druckfertig“?", "Was heisst 'druckfertig'..."),
    ("送料はいくらですか？", "送料はいくらですか"),
    ("「返品」はできますか。", "返品はできますか?"),
    ("ＦＡＱとは？", "faqとは"),
    ("배송비는 얼마인가요?", "배송비는 얼마인가요"),
    ("运费是多少？", "运费是多少?!"),
]


@pytest.mark.parametrize(("question", "asked"), SPELLINGS)
def test_a_question_in_another_spelling_is_that_question_and_keeps_its_words(
    question: str, asked: str
) -> None:
    items = (Item(0, question, "Old."), ITEMS[1])
    changed = apply({"question": asked, "answer": "New."}, items=items)
    assert texts(changed)[0] == (question, "New.", None)
    for again in ({"question": asked, "answer": "New.", "add": True}, {"id": "cancel", "newQuestion": asked}):
        with pytest.raises(ChangeRefused) as caught:
            apply(again, items=items)
        assert caught.value.closest == (question,)


def test_an_exact_text_wins_and_a_spelling_of_several_questions_is_refused() -> None:
    items = (Item(0, "Open?", "Yes."), Item(1, "“Open”", "No.", id="quoted"), ITEMS[0])
    assert [item.answer for item in apply({"question": "Open?", "answer": "New."}, items=items)][:2] == [
        "New.",
        "No.",
    ]
    with pytest.raises(ChangeRefused) as caught:
        apply({"question": "open", "answer": "New."}, items=items)
    assert set(caught.value.closest) == {"Open?", "“Open”"}
    assert apply({"id": "quoted", "answer": "New."}, items=items)[1].answer == "New."


def test_a_question_is_found_by_its_id_and_given_another_one() -> None:
    changed = apply(
        {"id": "cancel", "answer": "Yes."},
        {"question": "cancel", "newQuestion": "Can I cancel?"},
        {"question": "Can I cancel?", "id": "stop"},
        {"question": "New?", "answer": "Yes.", "add": True, "id": "cancel", "section": " delivery"},
    )
    assert changed[1] == Item(1, "Can I cancel?", "Yes.", id="stop")
    assert changed[4] == Item(4, "New?", "Yes.", "Delivery", "cancel")
    with pytest.raises(ChangeRefused) as caught:
        apply({"id": "cancel", "question": "Is there a way out?", "answer": "No."})
    assert caught.value.closest == ("May I cancel?",)


def test_questions_are_moved_to_the_beginning_after_another_one_and_out_of_a_section() -> None:
    changed = apply(
        {"question": "Where are you?", "after": ""},
        {"question": "May I cancel?", "after": "Who brings it?"},
        {"question": "How long does it take?", "section": ""},
    )
    assert texts(changed) == [
        ("Where are you?", "In Kyoto.", None),
        ("What does it cost?", "Nothing.", None),
        ("How long does it take?", "A day.", None),
        ("Who brings it?", "A courier.", "Delivery"),
        ("May I cancel?", "Any time.", "Delivery"),
    ]


def test_a_section_is_moved_by_a_change_with_its_name_and_the_new_place() -> None:
    sections = ("Visits", None, None, "Delivery", "Delivery")
    changed = apply({"question": "Where are you?", "section": "visits", "after": ""})
    assert tuple(item.section for item in changed) == sections
    for name in ("How long does it take?", "Who brings it?"):
        changed = apply({"question": name, "section": "Delivery", "after": "Where are you?"})
        assert [item.question for item in changed] == [ITEMS[n].question for n in (0, 1, 4, 2, 3)]
        changed = apply({"question": name, "section": "Delivery", "after": "May I cancel?"})
        assert [changed[2].question, changed[4]] == [name, ITEMS[4]]  # the first of its section


PARAPHRASES: Final = {
    "en": {
        "Do you ship abroad?": ["Do you deliver internationally?", "Do you ship to other countries?"],
        "How much does shipping cost?": ["What are the shipping costs?", "How much is postage?"],
        "How long does delivery take?": [
            "How long will delivery take?",
            "How many days until my order arrives?",
        ],
        "Can I return a poster?": ["Can posters be sent back?", "Is it possible to return an item?"],
        "Who pays for the return?": ["Who covers the cost of returns?"],
        "Which payment methods do you accept?": ["How can I pay?", "What payment options are there?"],
        "Can I change my order after I have placed it?": ["Can an order be modified afterwards?"],
        "Do you print on recycled paper?": ["Is your paper recycled?"],
        "Where is your shop?": ["Where can I find your store?"],
        "How do I get an invoice?": ["How can I obtain an invoice?"],
        "Can I pay in dollars?": [],
        "Are the posters framed?": ["Do the posters come with a frame?"],
    },
    "de": {
        "Liefern Sie ins Ausland?": ["Versenden Sie auch in andere Länder?", "Liefert ihr ins Ausland?"],
        "Was kostet der Versand?": ["Wie hoch sind die Versandkosten?"],
        "Wie lange dauert die Lieferung?": ["Wie lang ist die Lieferzeit?"],
        "Kann ich ein Plakat zurückgeben?": ["Kann man Plakate zurückschicken?"],
        "Wer bezahlt die Rücksendung?": ["Wer trägt die Kosten der Rücksendung?"],
        "Welche Zahlungsarten gibt es?": ["Wie kann ich bezahlen?"],
        "Kann ich meine Bestellung noch ändern?": ["Lässt sich eine Bestellung nachträglich ändern?"],
        "Drucken Sie auf Recyclingpapier?": [],
        "Wo ist Ihr Laden?": ["Wo finde ich Ihr Geschäft?"],
        "Wie bekomme ich eine Rechnung?": ["Wie erhalte ich eine Rechnung?"],
    },
    "fr": {
        "Livrez-vous à l’étranger ?": ["Expédiez-vous vers d'autres pays ?"],
        "Combien coûte la livraison ?": ["Quels sont les frais de livraison ?"],
        "Combien de temps prend la livraison ?": ["Quel est le délai de livraison ?"],
        "Puis-je retourner une affiche ?": ["Est-il possible de renvoyer une affiche ?"],
        "Qui paie le retour ?": ["Qui prend en charge les frais de retour ?"],
        "Quels moyens de paiement acceptez-vous ?": ["Comment puis-je payer ?"],
        "Puis-je modifier ma commande ?": ["Peut-on changer une commande déjà passée ?"],
        "Imprimez-vous sur du papier recyclé ?": ["Votre papier est-il recyclé ?"],
        "Où se trouve votre boutique ?": ["Où est votre magasin ?"],
        "Comment obtenir une facture ?": ["Comment puis-je recevoir une facture ?"],
    },
    "es": {
        "¿Hacen envíos al extranjero?": ["¿Envían a otros países?"],
        "¿Cuánto cuesta el envío?": ["¿Cuáles son los gastos de envío?"],
        "¿Cuánto tarda la entrega?": ["¿En cuánto tiempo llega el pedido?"],
        "¿Puedo devolver un póster?": ["¿Se puede devolver un póster?"],
        "¿Quién paga la devolución?": ["¿Quién corre con los gastos de devolución?"],
        "¿Qué formas de pago aceptan?": ["¿Cómo puedo pagar?"],
        "¿Puedo cambiar mi pedido?": ["¿Es posible modificar un pedido ya hecho?"],
        "¿Imprimen en papel reciclado?": ["¿Usan papel reciclado?"],
        "¿Dónde está su tienda?": ["¿Dónde se encuentra la tienda?"],
        "¿Cómo obtengo una factura?": ["¿Cómo puedo pedir una factura?"],
    },
    "ja": {
        "海外への発送はできますか？": ["海外に配送してもらえますか"],
        "送料はいくらですか？": ["配送料はどのくらいですか？"],
        "届くまで何日かかりますか？": ["配達にどれくらい日数がかかりますか？"],
        "ポスターを返品できますか？": ["ポスターの返品は可能ですか？"],
        "返品の送料は誰が負担しますか？": ["返品時の送料はどちらの負担ですか？"],
        "どの支払い方法が使えますか？": ["支払い方法を教えてください"],
        "注文後に変更できますか？": ["注文の内容を後から変更することは可能ですか？"],
        "再生紙に印刷していますか？": ["紙は再生紙ですか？"],
        "お店はどこにありますか？": ["店舗の場所はどこですか？"],
        "領収書はもらえますか？": ["領収書を発行してもらえますか？"],
    },
    "ko": {
        "해외로 배송되나요?": ["해외 배송이 가능한가요?"],
        "배송비는 얼마인가요?": ["배송료가 얼마예요?"],
        "배송은 얼마나 걸리나요?": ["배송 기간은 어느 정도인가요?"],
        "포스터를 반품할 수 있나요?": ["포스터 반품이 되나요?"],
        "반품 비용은 누가 부담하나요?": ["반품 시 비용은 누가 내나요?"],
        "어떤 결제 수단을 사용할 수 있나요?": ["결제 방법에는 무엇이 있나요?"],
        "주문을 변경할 수 있나요?": ["주문한 뒤에 바꿀 수 있나요?"],
        "재생지에 인쇄하나요?": ["재생 종이를 쓰나요?"],
        "매장은 어디에 있나요?": ["매장 위치가 어디인가요?"],
        "영수증은 어떻게 받나요?": ["영수증을 받으려면 어떻게 하나요?"],
    },
    "zh": {
        "可以寄到国外吗？": ["能寄往国外吗？"],
        "运费是多少？": ["运费要多少钱？"],
        "多久能送到？": ["送货需要多长时间？"],
        "海报可以退货吗？": ["海报能不能退？"],
        "退货运费由谁承担？": ["退货的运费谁来付？"],
        "支持哪些付款方式？": ["可以用什么方式付款？"],
        "下单后可以修改订单吗？": ["订单提交后还能改吗？"],
        "你们用再生纸印刷吗？": ["是用再生纸吗？"],
        "你们的店在哪里？": ["店铺地址在哪儿？"],
        "怎么开发票？": ["如何获取发票？"],
    },
}
"""Other words for a question, which stand for what models write, in the seven languages."""


def test_a_paraphrase_is_refused_with_the_question_that_it_means_among_the_closest() -> None:
    """A session reads the refusal, and names one of the closest or gives up; none leaves two questions."""
    sessions, found = 0, 0
    for questions in PARAPHRASES.values():
        items = tuple(Item(at, question, "Old.") for at, question in enumerate(questions))
        for meant, asked in ((one, words) for one, others in questions.items() for words in others):
            with pytest.raises(ChangeRefused) as caught:
                apply({"question": asked, "answer": "New."}, items=items)
            sessions += 1
            assert (caught.value.code, len(caught.value.closest) <= 3) == ("unknown-question", True)
            if meant in caught.value.closest:
                found += 1
                changed = apply({"question": meant, "answer": "New."}, items=items)
                assert [item.question for item in changed if item.answer == "New."] == [meant]
    assert (sessions, found) >= (76, 74)
    with pytest.raises(ChangeRefused) as caught:  # "return" alone shares some letters with several others
        apply(
            {"question": "Returns?", "answer": "New."},
            items=tuple(Item(at, question, "Old.") for at, question in enumerate(PARAPHRASES["en"])),
        )
    assert set(caught.value.closest) == {"Can I return a poster?", "Who pays for the return?"}


@pytest.mark.parametrize("is_equal", [False, True], ids=["different questions", "equal questions"])
def test_the_work_of_changes_grows_linearly(is_equal: bool) -> None:
    def make(count: int) -> tuple[tuple[Item, ...], list[Change]]:
        if is_equal:
            equal = tuple(Item(n, "Who?", "We.", "Part") for n in range(count))
            return equal, [Change(question="Who?", section="part", remove=True)] * (count - 1)
        items = tuple(Item(n, f"Question {n}?", "Yes.", f"Part {n % 4}") for n in range(count))
        changes = (
            Change(question=f"question {n}", answer="No.", section=f"Part {n % 3}") for n in range(count)
        )
        return items, list(changes)

    assert grows_linearly(lambda made: apply_changes(*made), make, 100)


NAMES = st.sampled_from([f"Question {letter}?" for letter in "abcdefgh"])
SECTIONS = st.sampled_from(["Orders", "Visits", "Press"])
ADDED = {"question": NAMES, "answer": st.just("added"), "add": st.just(True)}
CHANGES = st.one_of(
    st.fixed_dictionaries({"question": NAMES, "answer": st.text("xyz", min_size=1, max_size=3)}),
    st.fixed_dictionaries(ADDED),
    st.fixed_dictionaries({**ADDED, "after": NAMES}),
    st.fixed_dictionaries({**ADDED, "section": SECTIONS}),
    st.fixed_dictionaries({"question": NAMES, "after": NAMES}),
    st.fixed_dictionaries({"question": NAMES, "newQuestion": NAMES}, optional={"answer": st.just("renamed")}),
    st.fixed_dictionaries({"question": NAMES, "remove": st.just(True)}),
    st.fixed_dictionaries({"question": NAMES, "section": SECTIONS}, optional={"answer": st.just("moved")}),
)
Model = list[tuple[str, str, str | None]]


def model(rows: Model, change: dict[str, Any]) -> Model | None:
    """Return the questions after a change as the design describes it; None if it is refused."""
    name = change["question"]
    found = next((row for row in rows if row[0] == name), None)
    if (found is None) is not ("add" in change):
        return None
    if found is None and "section" in change:
        return moved(rows, (name, change["answer"], change["section"]))
    if found is None or "after" in change:
        rows = [row for row in rows if row is not found]
        after = change.get("after", rows[-1][0] if rows else "")
        for number, row in enumerate(rows):
            if row[0] == after:
                answer = change.get("answer", found[1] if found else "")
                return [*rows[: number + 1], (name, answer, row[2]), *rows[number + 1 :]]
        return None
    if "remove" in change:
        return [row for row in rows if row is not found]
    new = change.get("newQuestion", name)
    if new != name and any(row[0] == new for row in rows):
        return None
    changed = (new, change.get("answer", found[1]), found[2])
    if "section" in change and ("answer" not in change or change["section"] != found[2]):
        place, rest = rows.index(found), [row for row in rows if row is not found]
        if not found[2] or any(row[2] == change["section"] for row in rest):
            return moved(rest, (*changed[:2], change["section"]))
        old = [number for number, row in enumerate(rest, 1) if row[2] == found[2]]
        place = max(old, default=place)
        return [*rest[:place], (*changed[:2], change["section"]), *rest[place:]]
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
        ({"introduction": ""}, {"introduction": None}),
        ({"title": None, "introduction": None}, {}),
    ],
)
def test_title_and_introduction_are_changed_with_questions_or_alone(
    client: FAQClient, faulty: FaultyServer, fields: Any, sent: Any
) -> None:
    faulty.behave(behaviours.body(b'{"slug": "prices", "revision": 2, "state": "published"}'))
    for changes in ([CHANGE], []) if sent else ([CHANGE],):
        client.change_faq("prices", changes, if_match='"old"', **fields)
        expected = {"changes": changes, **sent} if changes else sent
        assert json.loads(faulty.log[-1].body) == expected


@pytest.mark.parametrize("count", [1, 100])
def test_a_conflict_has_the_current_text_even_if_it_is_long(
    client: FAQClient, faulty: FaultyServer, count: int
) -> None:
    items = [{"position": n, "question": f"Question {n}?", "answer": "가" * 1_000} for n in range(count)]
    faulty.behave(conflict({**CURRENT, "items": items}))
    with pytest.raises(RevisionConflict) as caught:
        client.change_faq("prices", [CHANGE], if_match='"old"')
    current = caught.value.current
    assert (current.revision, current.etag, current.key) == (3, '"new"', "Mia")
    assert msgspec.to_builtins(current.items) == items


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
