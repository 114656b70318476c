"""FAQs in CSV, as spreadsheets save them."""

from dataclasses import replace
from pathlib import Path

import pytest

from faqsvc_embed.api.fields import MAX_ANSWER
from tests.files.support import ITEMS, PAIRS, read, refusal
from tests.support.cases import sampled


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
    ],
    ids=["plain", "of a spreadsheet", "tabs", "sep and empty rows", "empty cells"],
)  # fmt: skip
def test_items_come_with_their_rows(tmp_path: Path, content: str, positions: list[str]) -> None:
    document = read(tmp_path, "faq.csv", content)
    assert (document, document.positions) == (ITEMS, positions)
    assert read(tmp_path, "faq.CSV", content.removeprefix("\ufeff").encode("utf-16")) == ITEMS


@pytest.mark.parametrize(
    ("names", "lang"),
    [
        ("question,answer", None),
        ("질문,답변", "ko"),
        ("質問,回答", "ja"),
        ("问题,答案", "zh"),
        ("Pregunta,Respuesta", "es"),
        ("Question,Réponse", "fr"),
        ("Frage,Antwort", "de"),
        ("Frage,Respuesta", None),
    ],
)
@pytest.mark.parametrize("separator", [",", ";", "\t"])
@pytest.mark.parametrize("end", sampled(["\n", "\r\n", "\r"], ["\r\n"]))
def test_columns_are_named_in_any_of_the_languages_which_is_that_of_the_content(
    tmp_path: Path, names: str, lang: str | None, separator: str, end: str
) -> None:
    rows = [[], names.split(","), [], *(list(pair.values()) for pair in PAIRS)]
    content = "\ufeff" + "".join(separator.join(row) + end for row in rows)
    assert read(tmp_path, "faq.csv", content) == replace(ITEMS, lang=lang)


def test_other_columns_are_named(tmp_path: Path) -> None:
    document = read(tmp_path, "faq.csv", "id,Question,Answer,Notes,\n1,a,b,c\n")
    assert document.unknown == ["id", "Notes"]


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
