"""Files of any format."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from faqsvc_embed.files import READERS, Document, UnreadableFile
from tests.files.support import read, refusal


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


def test_a_problem_is_located_in_the_file() -> None:
    document = Document(items=[{}, {}], positions=["row 2", "row 5"])
    assert document.locate("items[1].answer is empty") == "row 5: answer is empty"
    assert (
        document.locate("items[1].question repeats that of items[0]")
        == "row 5: question repeats that of row 2"
    )
    assert document.locate("items[7] is nonsense") == "items[7] is nonsense"
