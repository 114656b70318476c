"""An index for searches on PostgreSQL, which finds any part of a word, by the extension `pg_trgm`."""

from typing import Final

from sqlalchemy import Connection, text
from sqlalchemy.exc import DBAPIError

INDEX: Final = "translations_by_trigram"


def index_trigrams(connection: Connection) -> None:
    """Index the texts of translations. Without the extension, searches read the texts of the site."""
    if connection.dialect.name != "postgresql":
        return
    try:
        with connection.begin_nested():
            connection.execute(text("CREATE EXTENSION IF NOT EXISTS pg_trgm"))
    except DBAPIError:  # it is not installed, or the user may not create it
        return
    # Another application may have installed it in a schema of its own.
    schema = connection.scalar(
        text(
            "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
            " WHERE extname = 'pg_trgm'"
        )
    )
    connection.execute(
        text(f"CREATE INDEX {INDEX} ON translations USING gin (search_text {schema}.gin_trgm_ops)")
    )
