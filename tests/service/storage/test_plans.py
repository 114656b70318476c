"""What the databases read for each statement: the rows of one site, never a table of all sites."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, Final

import psycopg
import pytest
from sqlalchemy import Connection, Engine, event, select, update

from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.logs import EntryFilter
from faqsvc_embed.service.storage.overview import FAQCursor, Filter
from faqsvc_embed.service.storage.schema import faqs, translations
from faqsvc_embed.service.storage.values import Access, IdempotencyKey, Preconditions
from tests.benchmarks.large import COMMON, RARE, START, fill, key_id, site_id
from tests.service.storage.test_api_keys import replaced_by
from tests.service.storage.writes import write

SIZES: Final = {"sqlite": (400, 40), "postgresql": (4_000, 200)}
"""FAQs and sites: PostgreSQL rightly scans small tables, and SQLite chooses without statistics."""
TABLES: Final = {
    *("sites", "api_keys", "people", "sign_in_links", "sessions", "faqs", "translations", "revisions"),
    *("audit_log", "idempotency_keys", "previews"),
}
"""The tables of all sites."""
LARGE: Final = {"api_keys", "faqs", "translations", "revisions", "audit_log"}
"""Those that are filled with thousands of rows."""
SITE: Final = site_id(7)
NONE: Final = Preconditions()

pytestmark = pytest.mark.system

Statement = tuple[str, Any]


@pytest.fixture(scope="module")
def filled(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Storage]:
    """A database with many sites."""
    if request.param == "sqlite":
        url = f"sqlite:///{tmp_path_factory.mktemp('plans')}/faqsvc.db"
    else:
        url = request.getfixturevalue("postgres").new_database()
    storage = open_storage(url)
    fill(storage, *SIZES[request.param])
    yield storage
    storage.close()


both = pytest.mark.parametrize("filled", ["sqlite", "postgresql"], indirect=True)


@contextmanager
def statements() -> Iterator[list[Statement]]:
    """Collect the statements that are sent to databases."""
    sent = list[Statement]()

    def collect(_: Connection, __: Any, statement: str, parameters: Any, *___: Any) -> None:
        one = parameters[0] if isinstance(parameters, list) else parameters
        if re.match("SELECT|INSERT|UPDATE|DELETE|WITH", statement):
            sent.append((statement, one))

    event.listen(Engine, "before_cursor_execute", collect)
    try:
        yield sent
    finally:
        event.remove(Engine, "before_cursor_execute", collect)


def scanned(storage: Storage, statement: Statement) -> list[str]:
    """Return the steps of a statement's plan that read whole tables."""
    with storage.database.reading() as connection:
        if storage.database.is_sqlite:
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement[0]}", statement[1])
            steps = [row[3] for row in rows]
            names = [re.match(r"SCAN (\w+?)(_\d+)?( USING.*)?$", step) for step in steps]
            found = [step for step, name in zip(steps, names, strict=True) if name and name[1] in TABLES]
            found = [step for step in found if "purged_translations" not in step]  # has only those
            # Nearly all translations are not in the bin.
            return found + [step for step in steps if "binned_translations" in step and "binned_at=?" in step]
        driver: Any = connection.connection.driver_connection
        cursor = psycopg.ClientCursor(driver)
        plan = cursor.execute(f"EXPLAIN (FORMAT JSON) {statement[0]}", statement[1]).fetchone()
        return list(_scans(plan[0][0]["Plan"]))  # type: ignore[index]


def _scans(node: dict[str, Any]) -> Iterator[str]:
    # The rows of a plan are those that its filter leaves.
    is_whole = node["Node Type"] == "Seq Scan" or (node["Plan Rows"] > 1000 and "Index Cond" not in node)
    if is_whole and node.get("Relation Name") in LARGE:
        yield f"{node['Node Type']} of {node['Relation Name']}"
    for child in node.get("Plans", []):
        yield from _scans(child)


def reads(storage: Storage) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield what editors and programs of a site read."""
    admin = storage.people.list(SITE)[0]
    access, key = admin.access, key_id(7, 2)
    slug = storage.overview.page(SITE, limit=1)[0][0].slug
    for wanted in (
        Filter(),
        Filter(search=RARE),
        Filter(search=f"{COMMON} {RARE}", lang="de"),
        Filter(state="draft"),
        Filter(state="unpublished"),
        Filter(state="binned"),
        Filter(lang="fr"),
    ):
        yield f"{wanted}", partial(storage.overview.page, SITE, wanted, limit=2)
        for after in (str(FAQCursor(START, "a", START)), str(FAQCursor(START, "a"))):
            yield f"{wanted} {after}", partial(storage.overview.page, SITE, wanted, limit=2, after=after)
    yield "languages", lambda: storage.overview.published_languages(SITE)
    yield "FAQ", lambda: storage.overview.faq(access, slug)
    yield "FAQ in the bin", lambda: storage.overview.binned(access, slug)
    yield "blocked slugs", lambda: storage.overview.blocked(SITE, 100)
    yield "history", lambda: storage.history.revisions(access, slug, None, limit=20)
    yield "revision", lambda: storage.history.revision(access, slug, None)
    for past in (None, key):
        yield f"keys {past}", partial(storage.keys.page, SITE, limit=2, after=past)
    yield "key", lambda: storage.keys.get(SITE, key)
    yield "predecessors", lambda: replaced_by(storage, key)
    yield "keys of a person", lambda: storage.keys.made_by_person(admin.id)
    yield "verify", lambda: storage.keys.verify("fs_live_x")
    for past in (None, admin.id):
        yield f"people {past}", partial(storage.people.page, SITE, limit=2, after=past)
    yield "names", lambda: storage.people.names(SITE)
    yield "address", lambda: storage.people.with_email("p7@heron.example")
    yield "site", lambda: storage.sites.get(SITE)
    for about in ({}, {"key": key}, {"person": "p7@heron.example"}, {"slug": slug}):
        wanted_entries = EntryFilter(SITE, **about)
        yield f"log {about}", partial(storage.audit.entries, wanted_entries, limit=100)
    yield "record", lambda: storage.publications.get(slug)
    yield "languages of a record", lambda: storage.publications.languages(slug)
    yield "changes", lambda: storage.changes.after(0, 10, [slug])


@both
def test_no_read_of_a_site_reads_the_rows_of_others(filled: Storage) -> None:
    found = dict[str, list[str]]()
    for name, read in reads(filled):
        with statements() as sent:
            read()
        if steps := [step for one in sent for step in scanned(filled, one)]:
            found[name] = steps

    assert found == {}


def test_the_bin_of_a_site_takes_no_longer_when_those_of_others_are_large(tmp_path: Path) -> None:
    storage = open_storage(f"sqlite:///{tmp_path}/faqsvc.db")
    fill(storage, 500, 20)
    mine = storage.overview.page(SITE, limit=1)[0][0].slug
    storage.removal.bin(storage.people.list(SITE)[0].access, mine, None, NONE)
    done = list[None]()  # once for every 100 instructions of SQLite

    def watch(connection: Connection, *_: Any) -> None:
        driver: Any = connection.connection.driver_connection
        driver.set_progress_handler(lambda: done.append(None), 100)

    def steps(others: int) -> int:
        with storage.database.writing() as connection:
            theirs = faqs.c.site.in_([site_id(number) for number in range(8, 8 + others)])
            binned = update(translations).where(translations.c.slug.in_(select(faqs.c.slug).where(theirs)))
            connection.execute(binned.values(binned_at=START))
            connection.execute(update(faqs).where(theirs).values(state="binned"))
        done.clear()
        assert [faq.slug for faq in storage.overview.page(SITE, Filter(state="binned"), limit=2)[0]] == [mine]
        return len(done)

    event.listen(Engine, "before_cursor_execute", watch)
    try:
        few = steps(2)
        assert steps(12) <= 2 * few
    finally:
        event.remove(Engine, "before_cursor_execute", watch)
        storage.close()


@both
def test_no_write_reads_the_rows_of_other_sites(filled: Storage) -> None:
    access = filled.people.list(SITE)[0].access
    slug = filled.overview.page(SITE, limit=1)[0][0].slug
    once = IdempotencyKey("once", "digest")
    with statements() as sent:
        write(filled, access, slug, title="New", lang="en")
        write(filled, access, slug, title="Neu", lang="de", is_draft=True)
        write(filled, access, None, idempotency_key=once)
        filled.removal.bin(access, slug, "de", NONE)
        filled.history.create_preview(access, slug, None)
        filled.removal.unpublish(access, slug, None, NONE)
        filled.removal.restore(access, slug)
        filled.removal.bin(access, slug, None, NONE)
        filled.removal.restore(access, slug)
        filled.removal.purge(access, slug, None, NONE)
        filled.removal.unblock(slug, access)
        filled.removal.empty_bin()
        filled.keys.revoke(key_id(7, 2), with_children=True, by=access)
        filled.keys.rotate(key_id(7, 4), overlap=timedelta(hours=1), by=access)
        person = filled.people.add("Mia", role="editor", email="mia@heron.example", site=SITE)
        cookie = filled.sign_ins.redeem_link(filled.sign_ins.create_link(person))
        filled.sign_ins.person(cookie or "")
        filled.sign_ins.end(cookie or "")
        filled.people.remove(person.id, with_keys=True)
        filled.removal.delete_site(site_id(9))

    assert {(step, one[0]) for one in sent for step in scanned(filled, one)} == set()


@both
def test_a_publication_takes_few_statements(filled: Storage) -> None:
    access = Access(key_id(8, 0), site_id(8))
    write(filled, access, "one", title="Old")
    with statements() as sent:
        write(filled, access, "one", title="New")
    lock = next(at for at, (sql, _) in enumerate(sent) if sql.startswith("UPDATE last_event"))

    assert len(sent) <= 12  # and BEGIN and COMMIT
    assert len(sent[lock:]) <= 2  # with COMMIT, three under the lock of all sites
