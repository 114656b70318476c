"""`faqsvc pull`: a directory from which an application shows its FAQs without the service."""

import os
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.cli import main
from faqsvc_embed.stores.directory import DirectoryStore
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer


@pytest.fixture
def theirs(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> FaultyServer:
    """A service with one FAQ in seven languages and another in one, to which the environment leads."""
    monkeypatch.setenv("FAQSVC_BASE_URL", faulty.base_url)
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    faulty.serve(samples.pricing())
    faulty.serve(samples.record("hours", ("Open?", "Daily.")))
    return faulty


def pull(*arguments: str | Path) -> Result:
    return CliRunner().invoke(main, ["pull", *map(str, arguments)])


def contents(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in directory.iterdir()} if directory.exists() else {}


def test_what_was_pulled_is_shown_without_the_service(theirs: FaultyServer, tmp_path: Path) -> None:  # R7, R8
    result = pull("pricing", "hours", "--to", tmp_path / "faqs")
    assert (result.exit_code, result.stderr) == (0, "")
    assert sorted(result.stdout.splitlines()) == sorted(
        str(tmp_path / "faqs" / name) for name in contents(tmp_path / "faqs")
    )
    theirs.refuse()
    with FAQEmbed(theirs.base_url, store=f"file:{tmp_path / 'faqs'}", offline=True) as embed:
        assert embed.get_faq("pricing") == FAQ.from_dict(samples.pricing())
        assert embed.get_faq("hours").items[0].answer == "Daily."


def test_each_language_is_a_file(theirs: FaultyServer, tmp_path: Path) -> None:
    result = pull("pricing", "--lang", "en", "--lang", "ko-KR", "--lang", "ko", "--to", tmp_path)
    assert len(result.stdout.splitlines()) == 2
    with FAQEmbed(theirs.base_url, store=f"file:{tmp_path}", offline=True) as embed:
        shown = {lang: embed.get_faq("pricing", lang=lang).title for lang in ("en", "ko")}
    assert shown == {"en": "Prices", "ko": "요금"}


def test_nothing_is_written_if_one_cannot_be_read(theirs: FaultyServer, tmp_path: Path) -> None:
    pull("pricing", "--to", tmp_path / "faqs")
    before = contents(tmp_path / "faqs")
    theirs.serve(samples.record("pricing", ("New?", "Yes.")))
    result = pull("pricing", "not-there", "--to", tmp_path / "faqs")
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    assert "'not-there'" in result.stderr
    assert contents(tmp_path / "faqs") == before
    theirs.behave(behaviours.status(500))
    assert pull("pricing", "--to", tmp_path / "new").exit_code == 1
    assert not (tmp_path / "new").exists()


def test_nothing_is_changed_if_one_cannot_be_written(
    theirs: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pull("pricing", "--to", tmp_path)
    before = contents(tmp_path)
    theirs.serve(samples.record("pricing", ("New?", "Yes.")))
    write = DirectoryStore.write

    def fill_up(store: DirectoryStore, key: object, copy: object) -> None:
        if getattr(key, "slug", "") == "hours":
            raise OSError(28, "No space left on device")
        write(store, key, copy)  # type: ignore[arg-type]

    monkeypatch.setattr(DirectoryStore, "write", fill_up)
    result = pull("pricing", "hours", "--to", tmp_path)
    assert (result.exit_code, result.stderr) == (1, f"Error: {tmp_path}: No space left on device\n")
    assert contents(tmp_path) == before


def test_a_directory_that_can_be_none_is_named(theirs: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    result = pull("pricing", "--to", tmp_path / "file" / "faqs")
    assert (result.exit_code, result.stdout) == (1, "")
    assert str(tmp_path / "file" / "faqs") in result.stderr
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("arguments", [["pricing"], ["--to", "x"], ["pricing", "--to", "x", "--lang", "tlh"]])
def test_a_mistake_of_usage_is_told_as_one(theirs: FaultyServer, arguments: list[str]) -> None:
    assert pull(*arguments).exit_code == 2
