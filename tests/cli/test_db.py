"""`faqsvc db`: status, upgrade, backup, export and import."""

import json
import os
import re
import resource
import sqlite3
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import Storage, maintenance, open_storage
from faqsvc_embed.service.storage.values import Access, Preconditions
from tests.cli.support import command, environment, failure, faqsvc
from tests.service.storage.writes import access, put, title, write
from tests.support import samples


@pytest.fixture
def owner(database: str) -> Access:
    """A site with an FAQ in two languages and three revisions, and one that is gone."""
    storage = open_storage(database)
    owner = access(storage, "heron")
    write(storage, owner, title="One")
    write(storage, owner, title="Zwei", lang="de")
    write(storage, owner, title="Draft", is_draft=True)
    write(storage, owner, "gone")
    storage.removal.unpublish(owner, "gone", None, Preconditions())
    put(storage, FAQ.from_dict(samples.nasty()), site=owner.site)
    storage.close()
    return owner


def everything(storage: Storage, owner: Access) -> list[object]:
    """Return what the owner of a site sees, and what readers see."""
    faqs = storage.overview.page(owner.site, limit=10)[0]
    revisions = [
        storage.history.revision(owner, faq.slug, lang, number)
        for faq in faqs
        for lang in faq.languages
        for number in range(1, 1 + len(storage.history.revisions(owner, faq.slug, lang, limit=9)[0]))
    ]
    return [
        faqs,
        revisions,
        storage.sites.list(),
        storage.keys.list(),
        title(storage),
        title(storage, lang="de"),
    ]


@pytest.mark.usefixtures("owner")
def test_status_names_the_schema_and_what_is_stored(database: str) -> None:
    result = faqsvc("db", "status", "--json", "--database", database)
    found = json.loads(result.stdout)

    assert (result.exit_code, found["needsUpgrade"], found["sites"], found["faqs"]) == (0, False, 1, 3)
    assert "faqs: 3" in faqsvc("db", "status", "--database", database).stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ["db", "status"],
        ["db", "upgrade"],
        ["db", "export"],
        ["db", "backup", "copy.db"],
        ["serve"],
        ["keys", "create"],
        ["keys", "list"],
        ["sites", "list"],
        ["sites", "create", "a"],
    ],
)
def test_a_mistyped_database_is_an_error_and_not_a_new_file(
    tmp_path: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/typo.db"
    assert "typo.db" in failure(faqsvc(*arguments, "--database", url))
    monkeypatch.setenv("FAQSVC_DATABASE_URL", url)
    assert "typo.db" in failure(faqsvc(*arguments))
    assert list(tmp_path.iterdir()) == []


def test_the_default_database_is_created_by_keys_create_and_by_no_command_that_reads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for arguments in (["keys", "list"], ["sites", "list"], ["db", "status"]):
        message = failure(faqsvc(*arguments))
        assert (str(tmp_path / "faqsvc.db") in message, "FAQSVC_DATABASE_URL" in message) == (True, True)
    assert list(tmp_path.iterdir()) == []
    assert faqsvc("keys", "create").exit_code == 0
    assert len(faqsvc("keys", "list").stdout.splitlines()) == 1


def test_a_backup_is_the_database_as_it_was(tmp_path: Path, database: str, owner: Access) -> None:
    copy = tmp_path / "copy.db"
    storage = open_storage(database)
    before = everything(storage, owner)
    with storage.database.writing():  # others may write meanwhile
        assert faqsvc("db", "backup", str(copy), "--database", database).exit_code == 0
    write(storage, owner, title="Later")
    storage.close()
    restored = open_storage(f"sqlite:///{copy}")

    assert everything(restored, owner) == before
    assert "exists" in failure(faqsvc("db", "backup", str(copy), "--database", database))
    restored.close()


def test_a_backup_replaces_the_database_all_of_it(tmp_path: Path, database: str, owner: Access) -> None:
    copy = tmp_path / "copy.db"
    storage = open_storage(database)
    before = everything(storage, owner)
    assert faqsvc("db", "backup", str(copy), "--database", database).exit_code == 0
    write(storage, owner, title="Later")
    write(storage, owner, "later")
    last = storage.changes.version()[0]  # still in the write-ahead log
    assert faqsvc("db", "restore", str(copy), "--database", database).exit_code == 0

    assert everything(storage, owner) == before
    assert storage.changes.version()[0].number_of(last.event_id()) is None  # readers of the feed begin again
    storage.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["copy.db", Path(database).name]


@pytest.mark.parametrize(("write_to", "read_from"), [("backup", "restore"), ("export", "import")])
def test_a_backup_or_an_export_replaces_a_lost_database(
    tmp_path: Path, database: str, owner: Access, write_to: str, read_from: str
) -> None:
    copy, url = str(tmp_path / "copy"), f"sqlite:///{tmp_path}/new.db"
    assert faqsvc("db", write_to, copy, "--database", database).exit_code == 0
    assert faqsvc("db", read_from, copy, "--database", url).exit_code == 0
    first, second = open_storage(database), open_storage(url)
    assert everything(second, owner) == everything(first, owner)
    assert write(second, owner, title="Later").number == 3
    first.close()
    second.close()
    if read_from == "import":
        assert "not empty" in failure(faqsvc("db", "import", copy, "--database", url))


@pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\0" + bytes(4080)])
def test_a_file_that_is_no_backup_changes_nothing(
    tmp_path: Path, database: str, owner: Access, content: bytes
) -> None:
    file = tmp_path / "other.db"
    file.write_bytes(content)
    storage = open_storage(database)
    before = everything(storage, owner)
    assert "other.db" in failure(faqsvc("db", "restore", str(file), "--database", database))
    assert everything(storage, owner) == before
    storage.close()


def test_commands_that_only_read_change_no_byte_of_a_database(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE notes (id INTEGER)")
    before = file.read_bytes()
    for arguments in (["db", "status"], ["keys", "list"], ["sites", "list"], ["db", "export"]):
        assert faqsvc(*arguments, "--database", f"sqlite:///{file}").exit_code == 1
    assert file.read_bytes() == before


def _lacks_a_table(database: str, _: pytest.MonkeyPatch) -> None:
    with closing(sqlite3.connect(database.removeprefix("sqlite:///"))) as connection:
        connection.execute("DROP TABLE last_event")


def _is_interrupted(_: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> Iterator[str]:
        yield "{}"
        raise KeyboardInterrupt

    monkeypatch.setattr(maintenance, "export_lines", interrupted)


@pytest.mark.usefixtures("owner")
@pytest.mark.parametrize("breaks", [_lacks_a_table, _is_interrupted])
def test_an_export_that_does_not_end_leaves_the_earlier_one(
    tmp_path: Path, database: str, monkeypatch: pytest.MonkeyPatch, breaks: Callable[..., None]
) -> None:
    folder = tmp_path / "exports"
    folder.mkdir()
    earlier, new = folder / "faqs.ndjson", folder / "new.ndjson"
    faqsvc("db", "export", str(earlier), "--database", database)
    before = earlier.read_bytes()
    breaks(database, monkeypatch)
    for file in (earlier, new):
        assert faqsvc("db", "export", str(file), "--database", database).exit_code == 1
    assert (earlier.read_bytes(), list(folder.iterdir())) == (before, [earlier])


@pytest.mark.usefixtures("owner")
def test_only_its_owner_can_read_an_export(tmp_path: Path, database: str) -> None:
    file, link = tmp_path / "faqs.ndjson", tmp_path / "latest.ndjson"
    link.symlink_to(file)
    for target in (file, file, link):
        assert faqsvc("db", "export", str(target), "--database", database).exit_code == 0
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        file.chmod(0o644)
    assert link.is_symlink()


@pytest.mark.usefixtures("owner")
def test_an_export_is_written_to_a_pipe(tmp_path: Path, database: str) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with open(os.open(pipe, os.O_RDONLY | os.O_NONBLOCK), "rb") as reader:
        assert faqsvc("db", "export", str(pipe), "--database", database).exit_code == 0
        assert reader.read() == faqsvc("db", "export", "-", "--database", database).stdout_bytes


@pytest.mark.system
@pytest.mark.usefixtures("owner")
def test_an_export_to_standard_output_keeps_what_is_there(tmp_path: Path, database: str) -> None:
    file = tmp_path / "log"
    file.write_text("before\n")
    with file.open("a") as log:
        arguments = command("db", "export", "/dev/stdout", "--database", database)
        subprocess.run(arguments, stdout=log, env=environment(), check=True)
    exported = faqsvc("db", "export", "--database", database).stdout_bytes
    assert file.read_bytes() == b"before\n" + exported


@pytest.mark.parametrize("name", ["backup", "export"])
def test_a_copy_that_does_not_fit_on_the_disk_is_named_and_leaves_no_part(
    tmp_path: Path, database: str, name: str
) -> None:
    storage = open_storage(database)
    put(storage, FAQ.from_dict(samples.large()), site=access(storage, "heron").site)
    storage.close()
    file = tmp_path / "exports" / "faqs"
    file.parent.mkdir()
    if name == "export":
        file.write_text("earlier")
    ran = subprocess.run(
        command("db", name, str(file), "--database", database),
        preexec_fn=partial(resource.setrlimit, resource.RLIMIT_FSIZE, (65_536, 65_536)),
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert (ran.returncode, ran.stderr.count("\n"), str(file) in ran.stderr) == (1, 1, True)
    left = {path.name: path.read_text() for path in file.parent.iterdir()}
    assert left == ({"faqs": "earlier"} if name == "export" else {})


def test_import_counts_the_faqs_that_status_counts(tmp_path: Path, database: str, owner: Access) -> None:
    storage = open_storage(database)
    storage.removal.bin(owner, "gone", None, Preconditions())
    storage.close()
    file, url = tmp_path / "faqs.ndjson", f"sqlite:///{tmp_path}/new.db"
    faqsvc("db", "export", str(file), "--database", database)
    imported = faqsvc("db", "import", str(file), "--database", url)
    status = json.loads(faqsvc("db", "status", "--json", "--database", url).stdout)
    assert (status["faqs"], imported.stderr.split()) == (2, ["2", "FAQs"])


@pytest.mark.parametrize(
    "damage",
    [
        b"{}",
        b'{"table": "users", "row": {}}',
        b'{"table": "faqs"}',
        b'{"table": "faqs", "row": {"slug": "\\ud800"}}',
        b'{"table": "revisions", "row": {"number": 99999999999999999999}}',
        b"\x00",
        b"\xff",
        b"[" * 100_000,
    ],
    ids=["empty", "table", "row", "surrogate", "number", "control character", "latin-1", "deep"],
)
@pytest.mark.usefixtures("owner")
def test_a_damaged_export_changes_nothing(tmp_path: Path, database: str, damage: bytes) -> None:
    lines = faqsvc("db", "export", "--database", database).stdout_bytes.splitlines()
    file, url = tmp_path / "faqs.ndjson", f"sqlite:///{tmp_path}/new.db"
    file.write_bytes(b"\n".join([*lines[:-1], damage, lines[-1]]))

    assert f"line {len(lines)}" in failure(faqsvc("db", "import", str(file), "--database", url))
    assert list(tmp_path.glob("new.db*")) == []
    assert faqsvc("db", "upgrade", "--create", "--database", url).exit_code == 0
    assert f"line {len(lines)}" in failure(faqsvc("db", "import", str(file), "--database", url))
    assert faqsvc("sites", "list", "--database", url).output == ""


@pytest.mark.usefixtures("owner")
def test_an_export_that_an_editor_has_saved_is_imported(tmp_path: Path, database: str) -> None:
    export = faqsvc("db", "export", "--database", database).stdout_bytes
    file, url = tmp_path / "faqs.ndjson", f"sqlite:///{tmp_path}/new.db"
    file.write_bytes(b"\xef\xbb\xbf" + export.replace(b"\n", b"\r\n") + b"\r\n")
    assert faqsvc("db", "import", str(file), "--database", url).exit_code == 0
    assert faqsvc("db", "export", "--database", url).stdout_bytes == export


@pytest.mark.parametrize(
    "left_out",
    [r', "(sealed|page_url)": [^,}]+', r', "[a-z_]+": null'],
    ids=["columns that an earlier release did not have", "values that are null"],
)
@pytest.mark.usefixtures("owner")
def test_rows_of_an_export_may_lack_columns(tmp_path: Path, database: str, left_out: str) -> None:
    export = faqsvc("db", "export", "--database", database).stdout
    file, url = tmp_path / "faqs.ndjson", f"sqlite:///{tmp_path}/new.db"
    file.write_text(re.sub(left_out, "", export))
    assert faqsvc("db", "import", str(file), "--database", url).exit_code == 0
    assert faqsvc("db", "export", "--database", url).stdout == export


@pytest.mark.usefixtures("owner")
def test_an_export_without_its_end_changes_nothing(tmp_path: Path, database: str) -> None:
    lines = faqsvc("db", "export", "--database", database).stdout.splitlines(keepends=True)
    file, url = tmp_path / "faqs.ndjson", f"sqlite:///{tmp_path}/new.db"
    for length in range(len(lines)):
        file.write_text("".join(lines[:length]))
        assert "incomplete" in failure(faqsvc("db", "import", str(file), "--database", url))
    assert list(tmp_path.glob("new.db*")) == []
