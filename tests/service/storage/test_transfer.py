"""Exports, between the two kinds of database."""

import pytest

from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.audit import Wanted
from faqsvc_embed.service.storage.transfer import TransferFailed, backup, export_lines, import_lines
from faqsvc_embed.service.storage.values import Gone, Preconditions
from tests.service.storage.writes import access, write
from tests.support.postgres import Postgres


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
    assert other.audit.entries(Wanted()) == storage.audit.entries(Wanted())
    assert write(other, owner, title="Later").number == 2
    assert other.audit.entries(Wanted(), limit=1)[0].slug == "tea"
    other.removal.restore(owner, "binned")
    with pytest.raises(Gone):
        write(other, owner, "purged")
    with pytest.raises(TransferFailed):
        import_lines(other.database, lines)
    if not storage.database.is_sqlite:
        with pytest.raises(TransferFailed, match="pg_dump"):
            backup(storage.database, new)
    other.close()
