"""`faqsvc pull --format markdown`: files for a folder in git, from which an application shows FAQs."""

import os
import stat
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.files.folder import Folder
from tests.cli.support import failure, faqsvc
from tests.support import faulty as faults
from tests.support import samples
from tests.support.faulty import FaultyServer


@pytest.fixture
def service(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> FaultyServer:
    """A service with an FAQ in two languages, to which the environment leads."""
    monkeypatch.setenv("FAQSVC_BASE_URL", faulty.base_url)
    for lang in (None, "en", "ko"):
        faulty.serve(samples.record("pricing", title=f"In {lang or 'en'}", lang=lang or "en"), lang=lang)
    return faulty


def pull(directory: Path, *arguments: str) -> Result:
    return faqsvc("pull", *(arguments or ["pricing"]), "--to", str(directory), "--format", "markdown")


def contents(directory: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in directory.iterdir()}


def test_an_application_shows_the_files_without_the_service(service: FaultyServer, tmp_path: Path) -> None:
    result = pull(tmp_path / "faqs")
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.splitlines() == [f"{tmp_path}/faqs/pricing.md", f"{tmp_path}/faqs/pricing.ko.md"]
    embed = FAQEmbed(service.base_url, directory=tmp_path / "faqs", offline=True)
    assert embed.get_faq("pricing") == FAQ.from_dict(samples.record("pricing", title="In en", lang="en"))
    assert embed.get_faq("pricing", lang="ko").title == "In ko"


def test_files_change_only_with_their_content(service: FaultyServer, tmp_path: Path) -> None:
    pull(tmp_path)
    before = contents(tmp_path)
    times = [path.stat().st_mtime_ns for path in tmp_path.iterdir()]
    service.serve(samples.record("pricing", title="In en"), {"ETag": '"new"', "Cache-Control": "max-age=5"})
    assert pull(tmp_path).exit_code == 0
    assert [path.stat().st_mtime_ns for path in tmp_path.iterdir()] == times
    assert contents(tmp_path) == before


def test_every_user_may_read_them(service: FaultyServer, tmp_path: Path) -> None:
    umask = os.umask(0o022)
    try:
        pull(tmp_path)
    finally:
        os.umask(umask)
    assert {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()} == {0o644}


def test_a_failure_changes_nothing(service: FaultyServer, tmp_path: Path) -> None:
    pull(tmp_path)
    before = contents(tmp_path)
    service.serve(samples.record("pricing", title="New"), lang="en")
    service.then(faults.healthy, faults.healthy, faults.status(503))
    failure(pull(tmp_path))
    failure(pull(tmp_path, "pricing", "unknown"))
    assert contents(tmp_path) == before


def test_check_fails_where_a_file_differs(service: FaultyServer, tmp_path: Path) -> None:
    check = ("pricing", "--check")
    missing = pull(tmp_path / "faqs", *check)
    assert missing.exit_code == 1
    assert not (tmp_path / "faqs").exists()
    pull(tmp_path / "faqs")
    same = pull(tmp_path / "faqs", *check)
    assert (same.exit_code, same.output) == (0, "")
    service.serve(samples.record("pricing", title="New", lang="ko"), lang="ko")
    result = pull(tmp_path / "faqs", *check)
    assert (result.exit_code, result.stderr) == (1, "")
    assert [line.split()[0] for line in result.stdout.splitlines()] == [f"{tmp_path}/faqs/pricing.ko.md"]
    assert "In ko" in contents(tmp_path / "faqs")["pricing.ko.md"]


def test_check_finds_a_language_that_is_published_no_more(service: FaultyServer, tmp_path: Path) -> None:
    pull(tmp_path)
    (tmp_path / "pricing.fr.md").write_text("## Quoi ?\n\nÇa.\n")
    result = pull(tmp_path, "pricing", "--check")
    assert (result.exit_code, "pricing.fr.md" in result.stdout) == (1, True)
    result = pull(tmp_path)
    assert (result.exit_code, "pricing.fr.md" in result.stderr) == (0, True)
    assert pull(tmp_path, "pricing", "--check", "--lang", "ko").exit_code == 0


def test_check_works_for_the_files_of_a_store(service: FaultyServer, tmp_path: Path) -> None:
    arguments = ("pull", "pricing", "--to", str(tmp_path))
    assert faqsvc(*arguments, "--check").exit_code == 1
    assert faqsvc(*arguments).exit_code == 0
    assert faqsvc(*arguments, "--check").exit_code == 0


def test_a_file_with_another_ending_is_not_doubled(service: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "pricing.yaml").write_text("items: []")
    assert "pricing.yaml" in failure(pull(tmp_path))
    assert list(contents(tmp_path)) == ["pricing.yaml"]


def test_settings_of_an_application_do_not_count(
    service: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_DIRECTORY", str(tmp_path / "nowhere"))
    assert pull(tmp_path).exit_code == 0


@pytest.mark.parametrize(
    "slug", ["README", "readme", "_a", ".a", "a.de", "A", "a b?", "요금", "ü" * 100, "con:"]
)
def test_any_slug_has_a_file_that_is_read_again(faulty: FaultyServer, tmp_path: Path, slug: str) -> None:
    record: dict[str, Any] = samples.record(slug, lang="en")
    faulty.serve(record)
    result = faqsvc(
        "pull", slug, "--to", str(tmp_path), "--format", "markdown", "--base-url", faulty.base_url
    )
    assert result.exit_code == 0
    files = Folder(tmp_path).files
    assert [(file.slug, file.lang, file.faq) for file in files] == [(slug, None, FAQ.from_dict(record))]


def test_an_faq_that_no_folder_would_accept_is_not_written(faulty: FaultyServer, tmp_path: Path) -> None:
    faulty.serve(samples.record("pricing", ("Why?", " ")))
    arguments = ("pull", "pricing", "--to", str(tmp_path), "--format", "markdown")
    assert "pricing" in failure(faqsvc(*arguments, "--base-url", faulty.base_url))
    assert list(tmp_path.iterdir()) == []
