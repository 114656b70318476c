"""Files in CSV, JSON and YAML: the body of a publication, a record, or only the items."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faqsvc_embed import FAQ, Item, PublishRejected
from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.files import READERS, WRITERS, Document, UnreadableFile
from faqsvc_embed.files.folder import read_faq_file
from tests.files.support import BODY, ITEMS, PAIRS, WHOLE, read, refusal
from tests.support import samples
from tests.support.cases import sampled
from tests.support.growth import grows_linearly


@pytest.mark.parametrize("name", ["faq.txt", "faq", "faq.docx"])
def test_an_unknown_ending_is_refused_with_those_that_are_known(tmp_path: Path, name: str) -> None:
    message = refusal(tmp_path, name, "x")
    assert [ending for ending in READERS if ending not in message] == []


@pytest.mark.parametrize("content", [b"\xff\xfe\xfd", b'{"a": "\xe9"}'])
def test_a_file_that_is_not_utf_8_is_refused(tmp_path: Path, content: bytes) -> None:
    assert "UTF-8" in refusal(tmp_path, "faq.json", content)


def test_a_large_file_is_refused(tmp_path: Path) -> None:
    assert "10000000 bytes" in refusal(tmp_path, "faq.md", b"x" * 10_000_001)


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    from faqsvc_embed.files import read_file

    with pytest.raises(FileNotFoundError):
        read_file(tmp_path / "faq.md")


@given(st.text(max_size=100))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@pytest.mark.parametrize("ending", [".json", ".yaml", ".csv"])
def test_whatever_a_file_holds_it_is_read_or_refused(tmp_path: Path, ending: str, text: str) -> None:
    try:
        document = read(tmp_path, f"faq{ending}", text)
    except UnreadableFile:
        return
    assert isinstance(document, Document)


_NAMES = (
    "question",
    "q",
    "answer",
    "a",
    "answer2",
    "title",
    "text",
    "items",
    "faqs",
    "section",
    "id",
    "lang",
)
_OTHERS = ("en", "de", "Frage", "pay_q", "pay_a", "@type", "mainEntity", "問", "", " ", "-", "1")
_VALUES = st.recursive(
    st.sampled_from(("Why?", "So it is.", "", "en", "{{ x }}", None, 0, True, 1.5)),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(_NAMES + _OTHERS), inner, max_size=5)
    ),
    max_leaves=25,
)


@given(_VALUES)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_structure_a_file_has_it_is_read_or_refused(tmp_path: Path, value: object) -> None:
    (tmp_path / "faq.json").write_text(json.dumps(value))
    file = read_faq_file(tmp_path / "faq.json")
    assert file.problems or file.faq is not None
    if file.document is not None:
        assert all(file.document.all_notes())


@pytest.mark.parametrize(
    "value",
    [
        [{"": f"Why {n}?", " ": "So it is, as was said.", "-": "x"} for n in range(3)],
        {"lang": ["en"], "title": {"en": "FAQ", "de": "Fragen"}, "items": [{"q": "Why?", "a": "So."}]},
    ],
)
def test_values_of_unusual_types_are_read_or_refused(tmp_path: Path, value: object) -> None:
    (tmp_path / "faq.json").write_text(json.dumps(value))
    file = read_faq_file(tmp_path / "faq.json")
    assert file.problems or file.faq is not None
    assert file.document is None or file.document.all_notes() is not None


def test_a_problem_is_located_in_the_file() -> None:
    document = Document(items=[{}, {}], positions=["row 2", "row 5"])
    assert document.locate("items[1].answer is empty") == "row 5: answer is empty"
    assert (
        document.locate("items[1].question repeats that of items[0]")
        == "row 5: question repeats that of row 2"
    )
    assert document.locate("items[7] is nonsense") == "items[7] is nonsense"


@pytest.mark.parametrize(
    ("content", "document"),
    [
        (BODY, WHOLE),
        ({**BODY, "unknown": 1}, WHOLE),
        ({**BODY, "cta": None}, replace(WHOLE, answer_format="text")),
        ({**BODY, "items": [{"position": n, **pair} for n, pair in enumerate(PAIRS)]}, WHOLE),
        ({"website_url": "https://tea.example", "Website Name": "Tea", "title": "", "faqs": PAIRS},
         Document(website_url="https://tea.example", website_name="Tea", items=PAIRS)),
        (PAIRS, ITEMS),
        ([{"Q": pair["question"], "A": pair["answer"]} for pair in PAIRS], ITEMS),
    ],
    ids=["body", "unknown fields", "of a service", "record", "other cases", "list",
          "q and a"],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["json", "yaml"])
def test_a_file_holds_a_publication_a_record_or_its_items(
    tmp_path: Path, ending: str, content: object, document: Document
) -> None:
    assert read(tmp_path, f"faq.{ending}", json.dumps(content)) == document


@pytest.mark.parametrize("ending", ["json", "yaml"])
@pytest.mark.parametrize(
    ("positions", "order"),
    [
        ([2, 0, 1], [1, 2, 0]),
        ([10, 9, -1], [2, 1, 0]),
        ([1, 1, 0], [2, 0, 1]),
        ([1, 0, None], [0, 1, 2]),
        ([1, "first", 0], [0, 1, 2]),
        ([1, [0], 0], [0, 1, 2]),
        ([1, float("inf"), 0], [0, 1, 2]),
    ],
)
def test_items_are_in_the_order_of_their_positions_if_each_has_one(
    tmp_path: Path, ending: str, positions: list[object], order: list[int]
) -> None:
    items = [
        {"question": f"{n}?", "answer": "Yes."} | ({} if position is None else {"position": position})
        for n, position in enumerate(positions)
    ]
    document = read(tmp_path, f"faq.{ending}", json.dumps({"items": items}, indent=0))
    assert [item["question"] for item in document.items] == [f"{n}?" for n in order]


def test_a_problem_names_the_place_of_an_item_in_the_file(tmp_path: Path) -> None:
    items = [{"position": 1, "question": "Why?"}, {"position": 0, "question": "Who?", "answer": "We."}]
    written = json.dumps(items, indent=0)
    assert (
        read(tmp_path, "a.json", written).locate("items[1].answer is missing") == "items[0].answer is missing"
    )
    assert (
        read(tmp_path, "a.yaml", written).locate("items[1].answer is missing") == "line 2: answer is missing"
    )


def test_a_record_is_written_as_the_json_that_is_read_again(tmp_path: Path) -> None:
    document = Document.from_faq(FAQ.from_dict(samples.nasty()))
    assert read(tmp_path, "faq.json", WRITERS[".json"](document)) == document


def test_every_scalar_of_yaml_is_text(tmp_path: Path) -> None:
    content = """\
websiteName: Tea & Sons
title:
items:
  - question: Is it free?
    answer: yes
  - question: Since when?
    answer: 2026-11-21
  - question: How?
    answer: |
      One line.

      Another.
"""
    document = read(tmp_path, "faq.yaml", content)
    assert document == Document(
        website_name="Tea & Sons",
        items=[
            {"question": "Is it free?", "answer": "yes"},
            {"question": "Since when?", "answer": "2026-11-21"},
            {"question": "How?", "answer": "One line.\n\nAnother."},
        ],
    )
    assert document.positions == ["line 4", "line 6", "line 8"]


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("faq.json", "{", "not JSON"),
        ("faq.json", "7", "7"),
        ("faq.json", "[" * 100_000, "nested too deeply"),
        ("faq.json", "[\n// Prices\n]", "line 2"),
        ("faq.json", '{"faq": [{"head": "Tea", "texts": ["Hot."]}]}', "faq[].head, faq[].texts[]"),
        ("faq.yaml", "a: [", "not YAML"),
        ("faq.yaml", "a: [*b]", "alias 'b'"),
        ("faq.yaml", "items: []\n---\nitems: []\n", "line 3: the file has more than one document"),
        ("faq.yaml", "", "None"),
        (
            "faq.yaml",
            "- question: faq.pay.title\n  answer: faq.pay.text\n",
            "line 1: 'faq.pay.title' is a key",
        ),
        ("faq.csv", "question,answer\nfaq.pay.title,faq.pay.text\n", "row 2: 'faq.pay.title' is a key"),
    ],
)
def test_a_file_in_another_format_is_refused(tmp_path: Path, name: str, content: str, named: str) -> None:
    assert named in refusal(tmp_path, name, content)


def test_a_text_of_yaml_can_hold_any_number_of_brackets(tmp_path: Path) -> None:
    answer = "[" * 500 + "{" * 500
    document = read(tmp_path, "faq.yaml", f"items: [{{question: How.js, answer: '{answer}'}}]")
    assert document.items == [{"question": "How.js", "answer": answer}]


@pytest.mark.parametrize(
    ("name", "content", "line", "key"),
    [
        (
            "faq.yaml",
            "items:\n- question: A\n  answer: B\n  question: C\n  answer: D\n",
            "line 4",
            "question",
        ),
        ("faq.yaml", "items:\n- {question: A, answer: B}\nslug: tea\nitems: []\n", "line 4", "items"),
        ("faq.yaml", "items:\n- {question: A, answer: B, 'answer': C}\n", "line 2", "answer"),
        ("faq.yaml", "cta:\n  label: A\n  label: B\nitems: []\n", "line 3", "label"),
        ("faq.yaml", "? [a, b]\n: 1\n? [a, b]\n: 2\n", "line 3", "a"),
        ("faq.md", "---\ntitle: A\nlang: en\ntitle: B\n---\n## Why?\n\nSo.\n", "line 4", "title"),
        ("faq.json", '{"items": [{"question": "A", "answer": "B", "question": "C"}]}', "", "question"),
        ("faq.json", '[{"question": "A", "answer": "B", "answer": "C"}]', "", "answer"),
        ("faq.json", '{"items": [], "items": []}', "", "items"),
        ("faq.jsonld", '{"@type": "FAQPage", "mainEntity": [], "mainEntity": []}', "", "mainEntity"),
    ],
)
def test_a_key_that_is_there_twice_is_refused_because_one_text_would_be_lost(
    tmp_path: Path, name: str, content: str, line: str, key: str
) -> None:
    message = refusal(tmp_path, name, content)
    assert line in message
    assert key in message


@pytest.mark.parametrize("ending", WRITERS)
def test_sections_ids_addresses_and_the_revision_survive(tmp_path: Path, ending: str) -> None:
    items = (Item(0, "Open?", "Yes.", "Hours", "open"), Item(1, "Closed?", "No."))
    faq = FAQ(
        "hours",
        "Hours",
        "Heron",
        "en",
        items,
        website_url="https://a.example",
        page_url="https://a.example/h",
    )
    document = read(tmp_path, f"faq{ending}", WRITERS[ending](Document.from_faq(faq, 7)))
    assert (document.to_faq("hours"), document.revision, document.unknown) == (faq, 7, [])


@pytest.mark.parametrize("revision", ["0", "-1", "x", "true"])
@pytest.mark.parametrize("name", ["hours.yaml", "hours.md"])
def test_a_revision_that_is_no_number_is_refused(tmp_path: Path, name: str, revision: str) -> None:
    text = f"revision: {revision}\nitems:\n- question: Open?\n  answer: Yes.\n"
    text = f"---\n{text}---\n" if name.endswith(".md") else text
    with pytest.raises(PublishRejected, match="revision"):
        read(tmp_path, name, text).to_faq("hours")


@pytest.mark.parametrize(
    ("content", "positions"),
    [
        ("question,answer\nWhat does it cost?,Nothing.\nMay I cancel?,Any time.\n", ["row 2", "row 3"]),
        ("\ufeffQuestion;Answer\r\nWhat does it cost?;Nothing.\r\nMay I cancel?;Any time.\r\n",
         ["row 2", "row 3"]),
        ("ANSWER\tID\tQUESTION\nNothing.\t1\tWhat does it cost?\nAny time.\t2\tMay I cancel?\n",
         ["row 2", "row 3"]),
        ('sep=;\n"Question ";"Answer"\n"What does it cost?";"Nothing."\n;\n\n"May I cancel?";"Any time."\n',
         ["row 2", "row 5"]),
        ("Category,Q,A,,\nx,What does it cost?,Nothing.,,\nx,May I cancel?,Any time.\n", ["row 2", "row 3"]),
        ("faq_category,post_title,post_content\n,What does it cost?,Nothing.\n,May I cancel?,Any time.\n",
         ["row 2", "row 3"]),
    ],
    ids=["plain", "of a spreadsheet", "tabs", "sep and empty rows", "empty cells", "of WordPress"],
)  # fmt: skip
def test_items_come_with_their_rows(tmp_path: Path, content: str, positions: list[str]) -> None:
    document = read(tmp_path, "faq.csv", content)
    assert (document, document.positions) == (ITEMS, positions)
    assert read(tmp_path, "faq.CSV", content.removeprefix("\ufeff").encode("utf-16")) == ITEMS


@pytest.mark.parametrize(
    "names",
    [
        *("question,answer", "질문,답변", "質問,回答", "问题,答案"),
        *("Pregunta,Respuesta", "Question,Réponse", "Frage,Antwort", "Frage,Respuesta"),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", sampled(["\n", "\r\n", "\r"], ["\r\n"]))
def test_columns_have_names_in_many_languages(tmp_path: Path, names: str, separator: str, end: str) -> None:
    rows = [[], names.split(","), [], *(list(pair.values()) for pair in PAIRS)]
    content = "\ufeff" + "".join(separator.join(row) + end for row in rows)
    assert read(tmp_path, "faq.csv", content) == ITEMS


def test_other_columns_are_named(tmp_path: Path) -> None:
    document = read(tmp_path, "faq.csv", "id,Question,Answer,Notes,\n1,a,b,c\n")
    assert document.unknown == ["Notes"]


def test_a_cell_can_hold_lines_quotes_and_separators(tmp_path: Path) -> None:
    content = 'question,answer\n"How, and ""why""?","One.\n\nTwo; three."\nNo answer?\n'
    document = read(tmp_path, "faq.csv", content)
    assert document.items == [
        {"question": 'How, and "why"?', "answer": "One.\n\nTwo; three."},
        {"question": "No answer?", "answer": ""},
    ]
    assert document.positions == ["row 2", "row 3"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("question,answer\nIs it free?,Yes.\nDo you open?,Yes, from ten to four\n", "row 3"),
        ("question,answer,,\nDo you open?,Yes, from ten to four\n", "row 2"),
        ("answer,question\n\nYes, we do,Do you open?\n", "row 3"),
        ('question,answer\n"x" y,z', "row 2"),
        ('question,answer\n"two\nlines",a\n"x" y,z', "row 3"),
        ("question,answer,Question\na,b,c\n", "'question'"),
        ("Frage,Antwort,Antwort \na,b,c\n", "'Antwort'"),
    ],
    ids=[
        *("unquoted comma", "empty columns", "comma first", "bad quotes", "after a cell with lines"),
        *("two columns of questions", "two columns of answers"),
    ],
)
def test_a_row_or_column_that_would_lose_text_is_refused(tmp_path: Path, content: str, named: str) -> None:
    assert named in refusal(tmp_path, "faq.csv", content)


@pytest.mark.parametrize("answer", ["x" * 140_000, '"' + "x" * 140_000, '"' + "x\n" * 70_000 + '"'])
def test_an_answer_that_no_cell_can_hold_is_refused_by_the_length_of_answers(
    tmp_path: Path, answer: str
) -> None:
    message = refusal(tmp_path, "faq.csv", f"question,answer\na,b\nWhy?,{answer}\n")
    assert "row 3" in message
    assert str(MAX_ANSWER) in message


@pytest.mark.parametrize("content", ["", "Was;Wie\nx;y\n", "question\nx\n", "\0\n"])
def test_a_table_without_the_two_columns_is_refused(tmp_path: Path, content: str) -> None:
    assert "question and answer" in refusal(tmp_path, "faq.csv", content)


def test_a_record_of_the_service_without_a_format_is_text_whatever_its_answers_look_like(
    tmp_path: Path,
) -> None:
    record = FAQ("a", "A", "", "en", (Item(0, "Why?", "**So** it is."),), None)
    assert read(tmp_path, "a.json", record.to_json()).answer_format == "text"


_RECORDS = {
    "pairs.yaml": "cost_q: What does it cost?\ncost_a: Nothing.\n"
    "cancel_q: May I cancel?\ncancel_a: Any time.\n",
    "numbers.json": '{"faq1_question": "What does it cost?", "faq1_answer": "Nothing.",'
    ' "faq2_question": "May I cancel?", "faq2_answer": "Any time.", "faq3_question": "", "faq3_answer": ""}',
    "front.md": "---\ntitle: FAQ\ncost_question: What does it cost?\ncost_answer_1: Nothing.\n"
    "cancel_question: May I cancel?\ncancel_answer_1: Any time.\n---\n",
    "other-names.yaml": "- sp: What does it cost?\n  svar: Nothing.\n"
    "- sp: May I cancel?\n  svar: Any time.\n",
    "keyed.json": '{"a": {"t": "What does it cost?", "p": "Nothing, not ever, to nobody."},'
    ' "b": {"t": "May I cancel?", "p": "Any time, or when you like."}}',
    "groups.yaml": "-\n  - title: What does it cost?\n    body: Nothing.\n"
    "-\n  - title: May I cancel?\n    body: Any time.\n",
    "aliases.yaml": "a: &a\n  question: What does it cost?\n  answer: Nothing.\nitems:\n  - *a\n",
    "languages.csv": "id,q_en,q_fr,a_en,a_fr\n1,What does it cost?,Quoi ?,Nothing.,Rien.\n"
    "2,May I cancel?,Puis-je ?,Any time.,Oui.\n",
    "paragraphs.csv": "question,p1,p2\nWhat does it cost?,Nothing: to nobody,And not ever.\n"
    "May I cancel?,Any time: or not,Or rather never.\n",
    "points.yaml": "faq:\n- name: What does it cost?\n  bullet_point: [Nothing., Not ever.]\n"
    "- name: May I cancel?\n  bullet_point: [Any time., Or rather never.]\n",
    "bars.csv": "question|answer\nWhat does it cost?|Nothing.\nMay I cancel?|Any time.\n",
    "numbered.csv": ",Question,Answer\n0,What does it cost?,Nothing.\n1,May I cancel?,Any time.\n",
    "spaces.csv": 'question, answer\nWhat does it cost?, "Nothing, ever"\nMay I cancel?, "Any time, yes"\n',
    "rules.yaml": "---\ntitle: FAQ\nfaq:\n  - question: What does it cost?\n    answer: Nothing.\n"
    "  - question: May I cancel?\n    answer: Any time.\n---\n",
    "keys.yaml": "1:\n  ques: What does it cost?\n  ans: Nothing.\n"
    "2:\n  ques: May I cancel?\n  ans: Any time.\n",
    "words-after-labels.json": '{"title": "FAQ", "q_price": "What does it cost?", "a_price": "Nothing.",'
    ' "q_cancel_early": "May I cancel?", "a_cancel_early": "Any time."}',
    "titles.json": '{"name": "Heron", "price_title": "What does it cost?", "price_text": "Nothing.",'
    ' "q3-title": "May I cancel?", "q3-step-1": "Any time.", "q3-step-2": "Call."}',
    "parts.json": '{"question 1": "What does it cost?", "answer 1": "Nothing.", '
    '"question 2": "May I cancel?", "answer 2.1": "Any time.",'
    ' "answer 2.1.1": "Even at night.", "answer 2.2": "Or rather never."}',
    "parts-of-sections.json": '{"q1_1": "What does it cost?", "a1_1": "Nothing.", "q1_2": "May I cancel?",'
    ' "a1_2": "Any time.", "q1": "Where?"}',
    "steps.yaml": "- q: What does it cost?\n  a: Nothing.\n  step: 1\n"
    "- q: May I cancel?\n  a: Any time.\n  step: 2\n",
    "again.csv": "question,answer\nWhat does it cost?,Nothing.\n\nquestion,answer\nMay I cancel?,Any time.\n",
    "camel.json": '{"priceQuestion": "What does it cost?", "priceAnswer": "Nothing.",'
    ' "cancelQuestion": "May I cancel?", "cancelAnswer": "Any time.", "data": "x"}',
    "groups-of-pairs.json": '{"a": {"title": "Price", "q1": "What does it cost?",'
    ' "a1": "Nothing, not ever, to nobody."}, "b": {"title": "Us", "q1": "May I cancel?",'
    ' "a1": "Any time, anybody.", "q2": "Where are you?", "a2": "Nothing."}}',
    "descriptions.json": '{"faq": [{"title": "What does it cost?", "desc": "Nothing."},'
    ' {"title": "May I cancel?", "desc": "Any time."}]}',
    "table.toml": '[[faq]]\nquestion = "What does it cost?"\nanswer = "Nothing."\n'
    '[[faq]]\nquestion = "May I cancel?"\nanswer = """\nAny time."""\n',
    "endings.yaml": "items:\n- qFr: Quoi ?\n  qEn: What does it cost?\n  aFr: Rien.\n  aEn: Nothing.\n"
    "- qFr: Puis-je ?\n  qEn: May I cancel?\n  aFr: Oui.\n  aEn: Any time.\n",
    "labels-of-answers.json": '{"title": "FAQ", "price": "What does it cost?", "priceAnswer": "Nothing.",'
    ' "q3": "May I cancel?", "q3_answer": "Any time."}',
    "one-paragraph.json": '{"a": {"title": "What does it cost?",'
    ' "p1": "Nothing, not ever, to nobody at all.", "p2": "So it is."},'
    ' "b": {"title": "May I cancel?", "p": "Any time, or when you like."}}',
    "versions.json": '{"data": [{"question": "What does it cost?", "answer": "Nothing.", "__v": 0},'
    ' {"question": "May I cancel?", "answer": "Any time.", "__v": 0}]}',
    "keys-of-a-document.json": '{"price": {"control": "What does it cost?", "panel": "Nothing, not ever."},'
    ' "draft": {"control": "May I cancel?", "panel": "Any time, or when you like."}}',
    "above-names.csv": "Ours,\n\nQuestions,Answers\nWhat does it cost?,Nothing.\nMay I cancel?,Any time.\n",
    "uses.md": "---\nuses:\n- title: Reading a book\n  text: In bed.\n- title: Writing\n  text: At a desk.\n"
    "faq:\n- q: What does it cost?\n  a: Nothing.\n- q: May I cancel?\n  a: Any time.\n---\n",
    "scripts.json": '{"en": {"What does it cost?": "Nothing.", "May I cancel?": "Any time."},'
    ' "zhHant": [{"q": "\u591a\u5c11\u9322\uff1f", "a": "\u514d\u8cbb\u3002"}]}',
    "lists.csv": "What does it cost?,Nothing; not ever; to nobody\nMay I cancel?,Any time: or not\n"
    "Why?,Any time; so\n",
    "prices.csv": 'question,answer\nWhat does it cost?,"Nothing:\n\n| a | b |\n| --- | --- |\n| 0 | 0 |"\n'
    "May I cancel?,Any time.\n",
    "some-sections.csv": "question,answer,section\nWhat does it cost?,Nothing; so\n"
    "May I cancel?,Any time; so\nWhy?,Nothing; so\n",
    "no-names.csv": "What does it cost?,Nothing: not ever\nMay I cancel?,Any time: or not\n"
    "Why?,Any time: so\n",
}


@pytest.mark.parametrize("name", _RECORDS)
def test_what_asks_is_a_question_whatever_its_field_is_called(tmp_path: Path, name: str) -> None:
    items = read(tmp_path, name, _RECORDS[name]).items
    second = "What does it cost?" if name == "aliases.yaml" else "May I cancel?"
    assert [item["question"] for item in items][:2] == ["What does it cost?", second]
    assert all(item["answer"].startswith(("Nothing", "Any time")) for item in items)
    assert not any(item["answer"].endswith(("2", "Nothing.\n\nAny time.")) for item in items)
    assert name not in ("paragraphs.csv", "points.yaml", "parts.json") or items[1]["answer"].endswith(
        "Or rather never."
    )


def test_a_cell_that_is_merged_over_rows_names_the_section_of_each(tmp_path: Path) -> None:
    rows = "category,question,answer\nPay,Why?,So.\n,How?,So.\n{},Where?,There.\n,When?,Now.\n"
    for name, sections in (("Ship", ["Pay", "Pay", "Ship", "Ship"]), ("Pay", ["Pay", None, "Pay", None])):
        items = read(tmp_path, "a.csv", rows.format(name)).items
        assert [item.get("section") for item in items] == sections


@pytest.mark.parametrize(
    ("name", "left_out"),
    [
        ("a.json", '[{"question": {"en": "Why?", "de": "Warum?"}, "answer": {"en": "So.", "de": "Darum."}}]'),
        ("a.yaml", "- {question: {en: 'Why?', fil: 'Bakit?'}, answer: {en: So., fil: Kasi.}}"),
        ("a.yaml", "title: {en: Prices, de: Preise}\nitems: [{q: 'Why?', a: So.}]"),
        ("a.yaml", "- {questionEn: 'Why?', questionDe: 'Warum?', answerEn: So., answerDe: Darum.}"),
        ("a.json", '[{"topic": "Prices"}, {"fields": {"question": "Why?", "answer": "So."}}]'),
        ("a.yaml", "draft: {reason: None}\nitems: [{q: 'Why?', a: So.}]"),
        ("a.json", '[{"question": "Why?", "answer": {"text": "So.", "hint": "Ask again in May."}}]'),
        ("a.md", "---\nuses: [{title: Reading, text: In bed.}]\nfaq: [{q: 'Why?', a: So.}]\n---\n"),
        ("a.json", '[{"question": "Why?", "answer": "So.", "answerBy": "Ann", "items": {"of": {}}}]'),
    ],
)
def test_texts_of_records_that_are_not_read_are_named(tmp_path: Path, name: str, left_out: str) -> None:
    document = read(tmp_path, name, left_out)
    assert [(item["question"], item["answer"]) for item in document.items] == [("Why?", "So.")]
    notes = " ".join(document.all_notes())
    named = (".de", ".fil", "questionDe", "topic", "draft", "uses", "[].items", ".hint")
    assert any(word in notes for word in named)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.json", '{"articles": [{"title": "Why not?", "body": "No.", "draft": true}, HOW, WHY]}'),
        ("a.json", '[{"attributes": {"q": "Why not?", "a": "No.", "publishedAt": null}}, HOW, WHY]'),
        (
            "a.json",
            '[{"title": "Old", "isHidden": true, "items": [{"q": "Why not?", "a": "No."}]}, HOW, WHY]',
        ),
        ("a.yaml", "- {q: 'Why not?', a: 'No.', status: Draft}\n- HOW\n- WHY\n"),
        ("a.csv", "q,a,Published\nWhy not?,No.,no\nHow?,Like this.,yes\nWhy?,So.,yes\n"),
        ("a.csv", "질문,답변,공개여부\nWhy not?,No.,N\nHow?,Like this.,Y\nWhy?,So.,Y\n"),
    ],
)
def test_a_question_that_its_file_calls_hidden_is_left_out_and_named(
    tmp_path: Path, name: str, text: str
) -> None:
    for word, record in (("HOW", '{"q": "How?", "a": "Like this."}'), ("WHY", '{"q": "Why?", "a": "So."}')):
        text = text.replace(word, record)
    document = read(tmp_path, name, text)
    assert [item["question"] for item in document.items] == ["How?", "Why?"]
    (note,) = [
        note for note in document.all_notes() if note.startswith(("row 2: ", "line 1: ", "items[0]: "))
    ]
    assert "left out" in note


@pytest.mark.parametrize("mark", ["status: draft", "published: false", "isDraft: true"])
def test_a_file_that_says_so_is_a_draft(tmp_path: Path, mark: str) -> None:
    assert read(tmp_path, "a.md", f"---\n{mark}\n---\n## Why?\n\nSo.\n").draft is True
    for other in (
        "hidden: true",
        "isHidden: true",
        "status: 0",
    ):  # from a menu, and of a program
        assert not read(tmp_path, "b.md", f"---\n{other}\n---\n## Why?\n\nSo.\n").draft
    # Where most questions are hidden, none is lost.
    one = "- {{q: 'Why {0}?', a: So., hidden: {1}}}\n"
    records = one.format(1, "false") + one.format(2, "true") + one.format(3, "true")
    document = read(tmp_path, "a.yaml", records)
    assert (document.draft, len(document.items), len(document.notes)) == (True, 3, 1)
    # The active question may be the one whose answer is open.
    document = read(tmp_path, "a.yaml", records.replace("hidden", "active"))
    assert (document.draft, len(document.items)) == (None, 3)


def test_rows_above_the_names_of_columns_are_named(tmp_path: Path) -> None:
    document = read(tmp_path, "a.csv", "Our questions,\nquestion,answer\nWhy?,So.\n")
    (note,) = document.notes
    assert (document.positions, note.startswith("row 1: ")) == (["row 3"], True)


@pytest.mark.parametrize(
    ("content", "line"),
    [('title = "x', "line 1"), ("x\ny = 1", "line 1"), ("a = 1\nb = 2\na = 3\n", "line 3")],
)
def test_an_error_in_toml_is_located(tmp_path: Path, content: str, line: str) -> None:
    assert refusal(tmp_path, "a.toml", content).startswith(f"{line}: not TOML: ")
    document = refusal(tmp_path, "a.md", f"+++\n{content}\n+++\n## Why?\n\nSo.\n")
    assert document.startswith(f"line {int(line[5:]) + 1}: not TOML: ")


def test_a_key_of_toml_with_very_many_parts_is_refused_at_once(tmp_path: Path) -> None:
    key = ".".join("a" * 100_000)
    assert refusal(tmp_path, "a.toml", f"\n{key} = 1\n").startswith("line 2: more than 200 full stops")


@pytest.mark.parametrize(
    ("content", "section"),
    [
        ("- nom: Prix\n  liste:\n    - question: Why?\n      answer: So.\n", "Prix"),
        ("- prices:\n    - q: Why?\n      a: So.\n- other:\n    - q: Who?\n      a: We.\n", "prices"),
        ("- question: Why?\n  answer: So.\n  categories: [Our prices]\n", "Our prices"),
        ("- name: Dear?\n  desc: All.\n  entries:\n  - question: Why?\n    answer: So.\n", "Dear?"),
        ("- question: [{q: 'Why?', a: So.}]\n- question: [{q: 'Who?', a: We.}]\n", None),
        ("1:\n  question: Why?\n  answer: So.\n2:\n  question: Who?\n  answer: We.\n", None),
        ("- Why?: So.\n- Who?: We.\n", None),
        ("- Prices:\n  - Why?: So.\n  - Who?: We.\n- Other:\n  - When?: Now.\n", "Prices"),
        (
            "topics: {pay: Prices}\nicons: {pay: cash}\n"
            "items:\n- {question: 'Why?', answer: So., topic: pay}\n",
            "Prices",
        ),
    ],
    ids=["name", "key", "list of one", "name that asks", "lists", "number", "question", "in a key", "topic"],
)
def test_the_name_of_a_group_is_the_section_of_its_questions(
    tmp_path: Path, content: str, section: str | None
) -> None:
    document = read(tmp_path, "a.yaml", content)
    assert document.items[0].get("section") == section
    assert "topics" not in document.unknown


@pytest.mark.parametrize("lang", ["de", None])
def test_records_in_several_languages_are_read_in_one(tmp_path: Path, lang: str | None) -> None:
    pairs = {"en": {"title": "Why?", "text": "So."}, "de": {"title": "Warum?", "text": "Darum."}}
    whole = {code: [{"question": pair["title"], "answer": pair["text"]}] for code, pair in pairs.items()}
    stated = {} if lang is None else {"lang": lang}
    for name, value in (
        ("a.json", {**stated, **whole}),
        ("b.json", [{"id": 7, **pairs}, {"id": 8, **pairs}]),
    ):
        document = read(tmp_path, name, json.dumps(value))
        expected = "Warum?" if lang and name == "a.json" else "Why?"
        assert {item["question"] for item in document.items} == {expected}
        assert [field for field in document.unknown if field.endswith(("de", "en"))]


def test_questions_in_several_languages_are_read_in_one(tmp_path: Path) -> None:
    value = {"faq": {"en": {"Why?": "So.", "Who?": "We."}, "de": {"Warum?": "Darum.", "Wer?": "Wir."}}}
    document = read(tmp_path, "a.json", json.dumps(value))
    assert [item["question"] for item in document.items] == ["Why?", "Who?"]
    assert document.unknown == ["items[].de"]


def test_nested_mappings_of_languages_are_read_once_each(tmp_path: Path) -> None:
    content = '{"de": {}, "en": ' * 40 + "{}" + "}" * 40  # twice for each level took hours
    with pytest.raises(ValueError, match="no questions found"):
        read(tmp_path, "a.json", content)


def test_texts_of_html_without_tags_lose_their_character_references(tmp_path: Path) -> None:
    content = '[{"question": "What is &quot;tea&quot;?", "answer": "A drink &amp; more."}]'
    item = read(tmp_path, "a.json", content).items[0]
    assert (item["question"], item["answer"]) == ('What is "tea"?', "A drink & more.")


def test_a_title_and_an_introduction_are_read_in_the_format_of_the_answers(tmp_path: Path) -> None:
    texts = {"title": "All <br />about tea", "introduction": "<p>Tea &amp; cake</p>"}
    document = read(tmp_path, "a.json", json.dumps({**texts, "items": PAIRS}))
    assert (document.title, document.introduction) == ("All about tea", "Tea & cake")


def test_markdown_beside_markdown_is_markdown(tmp_path: Path) -> None:
    items = [
        {"question": "Is it _really_ hot?", "answer": "- Yes, _so_ hot."},
        {"question": "Why?", "answer": "**So.**"},
        {"question": "How?", "answer": 'See <img src="/a.png" alt="the picture">.'},
        {"question": "Where?", "answer": "[Here](shop/)."},
        {"question": "Who?", "answer": "[We]({{ site.url }}/we)."},
    ]
    document = read(tmp_path, "a.json", json.dumps(items))
    assert document.answer_format == "markdown"
    assert [item["question"] for item in document.items] == [
        "Is it really hot?",
        "Why?",
        "How?",
        "Where?",
        "Who?",
    ]
    assert [item["answer"] for item in document.items] == [
        "- Yes, _so_ hot.",
        "**So.**",
        "See ![the picture](/a.png).",
        "[Here](shop/).",
        "[We]({{ site.url }}/we).",
    ]


def test_records_that_do_not_ask_are_refused_with_their_place(tmp_path: Path) -> None:
    content = "- title: Tea\n  text: Hot.\n- title: Cake\n  text: Sweet.\n"
    assert refusal(tmp_path, "a.yaml", content).startswith("line 1: few texts in")
    texts = "- en: {q: Why not, a: So.}\n  de: {q: Wer nicht, a: Wir.}\n"
    assert read(tmp_path, "b.yaml", texts * 2).positions == ["line 1", "line 3"]
    assert "{}" in refusal(tmp_path, "c.yaml", "{}\n")


@pytest.mark.parametrize("question", ["Delivery", "Do you deliver?"])
def test_a_file_may_have_one_question(tmp_path: Path, question: str) -> None:
    fields = {"lang": "en", "question": question, "answer": "By post.", "order": 3, "category": "Orders"}
    document = read(tmp_path, "a.json", json.dumps(fields))
    assert (document.lang, document.unknown) == ("en", ["items[].order"])
    assert document.items == [{"question": question, "answer": "By post.", "section": "Orders"}]


def test_labels_of_a_form_are_no_question(tmp_path: Path) -> None:
    content = "fi:\n  new_question: Kysymys\n  new_answer: Vastaus\n  updated: Tallennettu\n"
    assert "no questions found" in refusal(tmp_path, "faq.fi.yml", content)


def test_parts_of_an_answer_are_no_languages(tmp_path: Path) -> None:
    content = "- q: How?\n  a: {step1: Press a key., step2: Wait.}\n"
    assert read(tmp_path, "a.yaml", content).items[0]["answer"] == "Press a key.\n\nWait."


def test_a_list_beside_an_answer_continues_it(tmp_path: Path) -> None:
    content = "- pregunta: ¿Qué?\n  respuesta: Entre ellas\n  items:\n    - item: Redes\n    - item: Carta\n"
    assert read(tmp_path, "a.yaml", content).items[0]["answer"] == "Entre ellas\n\n- Redes\n- Carta"


def test_lines_of_html_are_one_answer(tmp_path: Path) -> None:
    content = '[{"question": "Why?", "answer": ["So:", "<ol>", "<li>one</li>", "</ol>"]}]'
    assert read(tmp_path, "a.json", content).items[0]["answer"] == "So:\n\n1. one"


def test_html_that_no_page_shows_is_named(tmp_path: Path) -> None:
    markup = "<p>See <a href='javascript:x'>two</a></p><iframe src='https://heron.example/v'></iframe>"
    items = [{"question": "Open?", "answer": "Yes."}, {"question": "Where?", "answer": markup}]
    items += [{"question": "Film?", "answer": "<iframe src='https://heron.example/v'></iframe>"}]
    assert list(read(tmp_path, "a.json", json.dumps(items)).all_notes()) == [
        "items[1]: the link to 'javascript:' is not shown",
        "items[1]: <iframe> is not shown",
        "items[2]: <iframe> is not shown",
    ]


def test_the_metadata_of_a_page_is_no_question() -> None:
    text = "---\ntitle: Questions\nmeta:\n  title: Questions\n  description: Answers.\n---\n## Why?\nSo.\n"
    assert [item["question"] for item in READERS[".md"](text).items] == ["Why?"]


@pytest.mark.parametrize(
    "text",
    [
        *(nested * 1_000 for nested in ("[", "{a: ", "- ", "? ")),
        "".join(f"{' ' * n}a:\n" for n in range(150)),
        "&a [*a]",
    ],
)
def test_yaml_that_is_nested_too_deeply_is_refused(text: str, tmp_path: Path) -> None:
    assert "nested more than 100 levels deep" in refusal(tmp_path, "a.yaml", text)


def test_aliases_are_not_copied_without_end(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    assert "too many aliases" in refusal(tmp_path, "a.yaml", "\n".join(lines))


def test_an_answer_may_go_on_in_fields_with_numbers(tmp_path: Path) -> None:
    text = '{"items": [{"question": "Why?", "answer": "So.", "answer2": "And so."}]}'
    assert read(tmp_path, "faq.json", text).items == [{"question": "Why?", "answer": "So.\n\nAnd so."}]


def test_a_mapping_of_questions_to_answers_needs_nothing_around_it(tmp_path: Path) -> None:
    assert read(tmp_path, "faq.yaml", "Why?: So.\nWho?: We.\n").items == [
        {"question": "Why?", "answer": "So."},
        {"question": "Who?", "answer": "We."},
    ]


def test_a_box_with_a_title_beside_a_list_of_questions_is_no_question_and_is_named(tmp_path: Path) -> None:
    box = {"title": "Do you need more help?", "body": "Write to us."}
    for questions in ({"items": PAIRS}, {"faq": {"left": PAIRS}}):
        document = read(tmp_path, "faq.json", json.dumps({**questions, "help": box}))
        assert (document.items, document.unknown) == (PAIRS, ["help"])


def test_lists_that_are_called_faq_are_no_sections(tmp_path: Path) -> None:
    text = "left_faq:\n- q: Why?\n  a: So.\nright_faq:\n- q: Who?\n  a: We.\n"
    assert read(tmp_path, "faq.yaml", text).items == [
        {"question": "Why?", "answer": "So."},
        {"question": "Who?", "answer": "We."},
    ]


@pytest.mark.matrix
def test_the_work_on_numbered_fields_grows_linearly() -> None:
    def text(count: int) -> str:
        return json.dumps({f"{kind}{number}": f"Why {number}?" for kind in "qa" for number in range(count)})

    assert len(READERS[".json"](text(500)).items) == 500
    assert grows_linearly(READERS[".json"], text, 500)


@pytest.mark.matrix
def test_the_work_on_short_rows_of_a_wide_table_grows_linearly() -> None:
    def text(count: int) -> str:
        return f"question,answer{',note' * count}\n" + "Why?,So.\n" * count

    assert len(READERS[".csv"](text(500)).items) == 500
    assert grows_linearly(READERS[".csv"], text, 500)


@pytest.mark.parametrize("sections", [["shipping", "returns"], ["", "", "", "", "", "Delivery"]])
def test_sections_in_lower_case_or_of_few_questions_are_kept(tmp_path: Path, sections: list[str]) -> None:
    items = [
        {"question": f"Why {place}?", "answer": "So.", "section": section}
        for place, section in enumerate(sections)
    ]
    read_items = read(tmp_path, "faq.json", json.dumps({"items": items})).items
    assert [item.get("section", "") for item in read_items] == sections


@pytest.mark.parametrize(
    "questions",
    [
        ("3 days or 5?", "4 days or 5?"),
        ("C. elegans?", "D. rerio?"),
        ("1.0: what is new?", "2.0: what is new?"),
    ],
)
def test_numbers_and_letters_that_count_no_questions_are_kept(questions: tuple[str, str]) -> None:
    text = json.dumps([{"question": question, "answer": "So."} for question in questions])
    assert tuple(item["question"] for item in READERS[".json"](text).items) == questions


def test_questions_in_records_have_no_numbers_and_labels() -> None:
    document = READERS[".json"](
        '[{"q": "Q. Why?", "a": "So."}, {"q": "Q. How?", "a": "Thus."}, {"q": "Q. Who?", "a": "I."}]'
    )
    assert [item["question"] for item in document.items] == ["Why?", "How?", "Who?"]
