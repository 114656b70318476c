"""`faqsvc db`: the database of a service."""

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from faqsvc_embed.cli.options import FilePath, check_exists, database_option, json_option, open_existing
from faqsvc_embed.cli.output import note, print_result, replacing
from faqsvc_embed.errors import FAQError

if TYPE_CHECKING:
    from faqsvc_embed.service.storage.database import Database


@click.group()
def db() -> None:
    """Upgrade, back up, restore and copy the database of a service.

    \b
      faqsvc db status
      faqsvc db backup faqs-monday.db
      faqsvc db restore faqs-monday.db
      faqsvc db export > faqs.ndjson
      faqsvc db import faqs.ndjson --database postgresql://faqs@db/faqs
    """


@db.command()
@database_option
@json_option
def status(database: str, as_json: bool) -> None:
    """Print the version of the schema and the number of FAQs.

    Exit status: 0; 1 if an upgrade is needed.
    """
    from faqsvc_embed.service.storage import Storage, maintenance

    opened = _opened(database)
    opened.must_exist()
    needs_upgrade = maintenance.needs_upgrade(opened)
    found: dict[str, object] = {
        "schema": maintenance.version(opened),
        "newest": maintenance.HEAD,
        "needsUpgrade": needs_upgrade,
    }
    if not needs_upgrade:
        sites = Storage(opened).sites.list()
        found["sites"], found["faqs"] = len(sites), sum(site.faq_count for site in sites)
    print_result(as_json, found, "\n".join(f"{name}: {value}" for name, value in found.items()))
    sys.exit(1 if needs_upgrade else 0)


@db.command()
@database_option
@click.option("--create", is_flag=True, help="Create the database file if there is none.")
def upgrade(database: str, create: bool) -> None:
    """Upgrade the schema to this release. Services of the previous release can read during the upgrade."""
    from faqsvc_embed.service.storage import open_storage

    if not create:
        check_exists(database)
    open_storage(database).close()


@db.command()
@database_option
@click.argument("file", type=FilePath(dir_okay=False, path_type=Path))
def backup(database: str, file: Path) -> None:
    """Copy an SQLite database to the new FILE, while the service runs.

    The database may be from an earlier release. For PostgreSQL, use pg_dump.
    """
    from faqsvc_embed.service.storage import maintenance

    opened = _opened(database)
    opened.must_exist()
    maintenance.backup(opened, file)


@db.command()
@database_option
@click.argument("file", type=FilePath(exists=True, dir_okay=False, path_type=Path))
def restore(database: str, file: Path) -> None:
    """Replace an SQLite database with the backup FILE.

    Stop the service first. If this fails, the database stays as it was. A missing database is created. For
    PostgreSQL, use pg_restore.
    """
    from faqsvc_embed.service.storage import maintenance

    maintenance.restore(_opened(database), file)


def _opened(url: str) -> "Database":
    """Open a database of any release until the command ends."""
    from faqsvc_embed.service.storage.database import Database

    database = Database(url)
    click.get_current_context().call_on_close(database.close)
    return database


@db.command("export")
@database_option
@click.argument("file", type=FilePath(dir_okay=False, allow_dash=True), default="-")
def export_(database: str, file: str) -> None:
    """Write sites, keys and FAQs with their history as lines of JSON.

    Without FILE, they are printed. A FILE that exists is replaced when the export is complete. Only you can
    read the new file.
    """
    from faqsvc_embed.service.storage import maintenance

    opened = open_existing(database).database
    # Opening /dev/stdout would truncate the file that a shell appends to.
    target, path = "-" if file == "/dev/stdout" else file, Path(file)
    is_kept = target == "-" or (path.exists() and not path.is_file())  # a pipe or a device
    with (
        nullcontext(target) if is_kept else replacing(path.resolve()) as opened_file,
        click.open_file(str(opened_file), "w", encoding="utf-8") as output,
    ):
        output.writelines(f"{line}\n" for line in maintenance.export_lines(opened))


@db.command("import")
@database_option
@click.argument("file", type=click.File("rb"))
def import_(database: str, file: IO[bytes]) -> None:
    """Import the export FILE into an empty database.

    A missing SQLite file is created.
    """
    from faqsvc_embed.service.storage import maintenance, open_storage
    from faqsvc_embed.service.storage.database import Database

    is_new = not Database(database).exists()
    storage = open_storage(database)
    click.get_current_context().call_on_close(storage.close)
    try:
        count = maintenance.import_lines(storage.database, file)
    except FAQError:
        if is_new:
            storage.database.delete()
        raise
    note(f"{count} FAQs")
