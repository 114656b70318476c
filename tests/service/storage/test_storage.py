"""FAQs in a database: stored, read and exported, safe from threads, forks and kill -9."""

import json
import os
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import delete

from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.errors import Gone
from faqsvc_embed.service.storage.logs import EntryFilter
from faqsvc_embed.service.storage.maintenance import TransferFailed, backup, export_lines, import_lines
from faqsvc_embed.service.storage.schema import revisions
from faqsvc_embed.service.storage.values import Preconditions
from tests.service.storage.writes import access, put, title, write
from tests.support import samples
from tests.support.postgres import Postgres

PRICING = FAQ.from_dict(samples.pricing())


def test_a_reader_does_not_wait_for_a_writer(storage: Storage) -> None:
    put(storage, PRICING)
    with storage.database.writing() as connection, ThreadPoolExecutor(1) as thread:
        connection.execute(delete(revisions))

        assert thread.submit(title, storage, "pricing").result(timeout=60) is not None


# Processes


def python(code: str, url: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-W", "error", "-c", code, url]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)


FORKER = """
import os, sys
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import open_storage
from tests.service.storage.writes import put

storage = open_storage(sys.argv[1])
storage.sites.create("tests")
storage.close()
child = os.fork()
put(storage, FAQ("parent" if child else "child", lang="en"))
storage.close()
if child:
    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.system
def test_a_storage_can_be_used_after_a_fork(database_url: str) -> None:
    with python(FORKER, database_url) as forker:
        assert forker.wait(120) == 0
    storage = open_storage(database_url)
    found = [title(storage, slug) for slug in ("child", "parent")]
    storage.close()

    assert found == ["", ""]


WRITER = """
import sys
from concurrent.futures import ThreadPoolExecutor
from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage import open_storage
from tests.service.storage.writes import put

storage = open_storage(sys.argv[1])
storage.sites.create("tests")

def work(number):
    put(storage, FAQ(f"faq-{number}", lang="en", title="x" * 10_000))
    print(f"{number}\\n", end="", flush=True)

with ThreadPoolExecutor(4) as threads:
    list(threads.map(work, range(100_000)))
"""


@pytest.mark.system
def test_kill_9_loses_nothing_acknowledged(database_url: str) -> None:
    with python(WRITER, database_url) as writer:
        assert writer.stdout is not None
        acknowledged = set[int]()
        for line in writer.stdout:
            acknowledged.add(int(line))
            if len(acknowledged) == 50:
                writer.send_signal(signal.SIGKILL)
                break
        acknowledged.update(int(line) for line in writer.stdout if line.endswith("\n"))
    storage = open_storage(database_url)
    site = storage.sites.list()[0]
    missing = [number for number in acknowledged if title(storage, f"faq-{number}") != "x" * 10_000]
    listed = storage.overview.page(site.id, limit=1000)[0]
    storage.close()

    assert missing == []
    assert site.faq_count == len(listed)  # none is half there


@pytest.mark.system
def test_an_export_is_imported_into_the_other_kind_of_database(
    storage: Storage, postgres: Postgres, tmp_path_factory: pytest.TempPathFactory
) -> None:
    key = storage.keys.create("deploy", site=storage.sites.create("heron", listed=True), scope="draft")
    owner = access(storage)
    write(storage, owner, title="One")
    write(storage, owner, title="Zwei\x00", lang="de", is_draft=True)
    write(storage, owner, "gone")
    storage.removal.unpublish(owner, "gone", None, Preconditions())
    write(storage, owner, "binned")
    storage.removal.bin(owner, "binned", None, Preconditions())
    write(storage, owner, "purged")
    storage.removal.purge(owner, "purged", None, Preconditions())
    mia = storage.people.add("Mia", email="mia@heron.example", role="admin", site=owner.site)
    new = tmp_path_factory.mktemp("export") / "faqsvc.db"
    url = postgres.new_database() if storage.database.is_sqlite else f"sqlite:///{new}"
    lines = list(export_lines(storage.database))
    other = open_storage(url)
    assert import_lines(other.database, lines) == 2

    assert list(export_lines(other.database)) == lines
    assert other.keys.verify(key) == storage.keys.verify(key)
    assert other.publications.get("tea") == storage.publications.get("tea")
    assert other.people.list() == [mia]
    assert other.audit.entries(EntryFilter(), limit=99) == storage.audit.entries(EntryFilter(), limit=99)
    assert write(other, owner, title="Later").number == 2
    assert other.audit.entries(EntryFilter(), limit=1)[0][0].slug == "tea"
    other.removal.restore(owner, "binned")
    with pytest.raises(Gone):
        write(other, owner, "purged")
    with pytest.raises(TransferFailed):
        import_lines(other.database, lines)
    if not storage.database.is_sqlite:
        with pytest.raises(TransferFailed, match="pg_dump"):
            backup(storage.database, new)
    other.close()


def test_an_export_of_the_previous_release_keeps_the_sources_of_translations(
    storage: Storage, tmp_path: Path
) -> None:
    """It has them with the translations, not with the revisions."""
    owner = access(storage)
    for lang in ("en", "de", "en"):
        write(storage, owner, lang=lang, title=lang)
    lines = [json.loads(line) for line in export_lines(storage.database)]
    for row in (line["row"] for line in lines[1:]):
        if row.pop("translated_from", None) is None and (row.get("lang"), row.get("newest")) == ("de", 1):
            row["translated_from"] = 1
    other = open_storage(f"sqlite:///{tmp_path}/other.db")
    import_lines(other.database, map(json.dumps, lines))
    found = [(one.lang, one.translated_from) for one in other.overview.faq(owner, "tea").translations]
    other.close()
    assert found == [("en", None), ("de", 1)]


def test_drafts_leave_the_version_of_what_is_published_alone(storage: Storage) -> None:
    writers = [access(storage, f"site {number}") for number in range(20)]
    for who in writers:
        storage.sites.update(who, listed=True)
    before = storage.changes.version()
    for number, who in enumerate(writers[::2]):
        write(storage, who, f"tea-{number}", is_draft=True)
        assert storage.changes.version() == before
    write(storage, writers[0], "milk")
    assert storage.changes.version() != before
