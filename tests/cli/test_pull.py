"""`faqsvc pull`: Markdown files with which an application shows FAQs without the service."""

import logging
import os
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.cli import main
from faqsvc_embed.files.folder import Folder
from tests.cli.support import failure, faqsvc
from tests.support import faulty as faults
from tests.support import samples
from tests.support.faulty import FaultyServer


def pull(*arguments: str) -> Result:
    with pytest.MonkeyPatch.context() as patch:
        # As in a process of its own, where a log without handlers goes to standard error.
        patch.setattr(logging.getLogger(), "handlers", [])
        return CliRunner().invoke(main, ["pull", *arguments])


@pytest.fixture
def service(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> FaultyServer:
    """A service with an FAQ in two languages and another in its own only, to which the environment leads."""
    monkeypatch.setenv("FAQSVC_BASE_URL", faulty.base_url)
    for lang in (None, "en", "ko"):
        faulty.serve(samples.record("pricing", title=f"In {lang}", lang=lang or "en"), lang=lang)
    faulty.serve(samples.record("legal", title="Legal", lang="de"))
    return faulty


def titles(service: FaultyServer, directory: Path) -> dict[str, str | None]:
    with FAQEmbed(service.base_url, directory=directory, offline=True) as embed:
        states = {
            f"{slug} {lang}": embed.use_faq(slug, lang=lang)
            for slug in ("pricing", "legal")
            for lang in (None, "ko", "fr")
        }
        return {name: state.data.title if state.data else None for name, state in states.items()}


def test_an_application_runs_from_the_pulled_files(service: FaultyServer, tmp_path: Path) -> None:
    result = pull("pricing", "legal", "--to", str(tmp_path / "faqs"))
    assert (result.exit_code, result.stderr) == (0, "")
    names = [Path(line).name for line in result.stdout.splitlines()]
    assert names == ["pricing.md", "pricing.ko.md", "legal.md"]
    assert titles(service, tmp_path / "faqs") == {
        "pricing None": "In None",
        "pricing ko": "In ko",
        "pricing fr": "In None",
        "legal None": "Legal",
        "legal ko": "Legal",
        "legal fr": "Legal",
    }


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_files_are_readable_as_the_umask_says(service: FaultyServer, tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        assert pull("pricing", "--to", str(tmp_path / "faqs")).exit_code == 0
    finally:
        os.umask(before)
    files = {stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "faqs").iterdir()}
    assert files == {0o666 & ~umask}
    assert stat.S_IMODE((tmp_path / "faqs").stat().st_mode) == 0o777 & ~umask


@pytest.mark.parametrize("trouble", [faults.status(404), faults.status(500)])
def test_nothing_changes_when_an_faq_cannot_be_read(
    service: FaultyServer, tmp_path: Path, trouble: faults.Behaviour
) -> None:
    assert pull("pricing", "--to", str(tmp_path)).exit_code == 0
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    service.then(*[faults.healthy] * 8, trouble)
    assert failure(pull("pricing", "legal", "--to", str(tmp_path))).count("'legal'") == 1
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_nothing_changes_when_a_file_cannot_be_written(
    service: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rename, renamed = os.replace, list[object]()

    def out_of_space(old: str, new: str) -> None:
        renamed.append(new)
        if len(renamed) == 1:
            raise OSError(28, "No space left on device")
        rename(old, new)

    monkeypatch.setattr(os, "replace", out_of_space)
    assert str(tmp_path / "pricing") in failure(pull("pricing", "--to", str(tmp_path)))
    assert list(tmp_path.iterdir()) == []


def pull_into(directory: Path) -> Result:
    return faqsvc("pull", "pricing", "--to", str(directory))


def contents(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_files_change_only_with_their_content(service: FaultyServer, tmp_path: Path) -> None:
    pull_into(tmp_path)
    before = contents(tmp_path)
    times = [path.stat().st_mtime_ns for path in tmp_path.iterdir()]
    service.serve(samples.record("pricing", title="In None"), {"ETag": '"new"', "Cache-Control": "max-age=5"})
    assert pull_into(tmp_path).exit_code == 0
    assert [path.stat().st_mtime_ns for path in tmp_path.iterdir()] == times
    assert contents(tmp_path) == before


def test_the_file_of_a_language_that_is_no_longer_published_is_named(
    service: FaultyServer, tmp_path: Path
) -> None:
    (tmp_path / "pricing.fr.md").write_text("## Quoi ?\n\nÇa.\n")
    result = pull_into(tmp_path)
    assert (result.exit_code, "pricing.fr.md" in result.stderr) == (0, True)


def test_a_file_with_another_ending_is_not_doubled(service: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "pricing.yaml").write_text("items: []")
    assert "pricing.yaml" in failure(pull_into(tmp_path))
    assert list(contents(tmp_path)) == ["pricing.yaml"]


def test_a_file_that_somebody_wrote_is_replaced_only_if_it_has_no_other_text(
    service: FaultyServer, tmp_path: Path
) -> None:
    pull_into(tmp_path)
    pulled = (tmp_path / "pricing.md").read_text()
    fields = "answerFormat: text\nlang: en-US\ndraft: false"
    written = f"---\n{fields}\n---\n{pulled.rpartition('---')[2]}"
    (tmp_path / "pricing.md").write_text(f"{written}\n## Is this new?\n\nIt is not published.\n")
    assert "pricing.md" in failure(pull_into(tmp_path))
    assert "It is not published." in (tmp_path / "pricing.md").read_text()
    (tmp_path / "pricing.md").write_text(f"{written}\n\n")
    assert pull_into(tmp_path).exit_code == 0
    assert (tmp_path / "pricing.md").read_text() == pulled


def test_settings_of_an_application_do_not_count(
    service: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_DIRECTORY", str(tmp_path / "nowhere"))
    assert pull_into(tmp_path).exit_code == 0


@pytest.mark.parametrize(
    "slug", ["README", "readme", "_a", ".a", "a.de", "A", "a b?", "요금", "ü" * 100, "con:"]
)
def test_any_slug_has_a_file_that_is_read_again(faulty: FaultyServer, tmp_path: Path, slug: str) -> None:
    record: dict[str, Any] = samples.record(slug, lang="en")
    faulty.serve(record)
    result = faqsvc("pull", slug, "--to", str(tmp_path), "--base-url", faulty.base_url)
    assert result.exit_code == 0
    files = Folder(tmp_path).files
    assert [(file.slug, file.lang, file.faq) for file in files] == [(slug, None, FAQ.from_dict(record))]


def test_an_faq_that_no_folder_would_accept_is_not_written(faulty: FaultyServer, tmp_path: Path) -> None:
    faulty.serve(samples.record("pricing", ("Why?", " ")))
    arguments = ("pull", "pricing", "--to", str(tmp_path))
    assert "pricing" in failure(faqsvc(*arguments, "--base-url", faulty.base_url))
    assert list(tmp_path.iterdir()) == []
