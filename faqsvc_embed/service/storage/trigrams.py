"""A search index of all sequences of three characters, which finds any part of a word.

PostgreSQL has it by the extension `pg_trgm`. In SQLite it is a table of FTS5, which triggers keep up to date.
Its rows have the numbers that `search_rows` gives: those of a site are one range, so a search of the site
reads nothing of the others.
"""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import Connection, literal_column, select, text
from sqlalchemy.exc import DBAPIError

from faqsvc_embed.service.storage.schema import sites, translations

LENGTH: Final = 3
"""Characters of a trigram; shorter words are not found by the index."""
SMALL: Final = 1000
"""FAQs of a site that are searched without the index."""
MAX_RARE: Final = 3000
"""If more translations may have the words, a page of the list is soon full without the index."""

_EXTENSION: Final = "CREATE EXTENSION IF NOT EXISTS pg_trgm"
_TABLE: Final = """
CREATE VIRTUAL TABLE translations_by_trigram USING fts5(
  words, content = '', columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1')
"""
_REMOVE: Final = """
  INSERT INTO translations_by_trigram (translations_by_trigram, rowid, words)
    SELECT 'delete', id, old.search_text FROM search_rows WHERE slug = old.slug AND lang = old.lang;
"""
_ADD: Final = """
  INSERT INTO translations_by_trigram (rowid, words)
    SELECT id, new.search_text FROM search_rows WHERE slug = new.slug AND lang = new.lang;
"""
_NUMBER: Final = """
  INSERT INTO search_rows
    SELECT coalesce((SELECT max(id) + 1 FROM search_rows WHERE site = faqs.site),
                    (SELECT (coalesce(max(id), 0) >> 32) + 1 FROM search_rows) << 32),
           faqs.site, faqs.slug, new.lang
    FROM faqs WHERE faqs.slug = new.slug;
"""


def _trigger(event: str, *steps: str) -> str:
    return f"CREATE TRIGGER {event} BEGIN {' '.join(steps)} END"


_ROWS_AND_TRIGGERS: Final = (
    "CREATE TABLE search_rows (id INTEGER PRIMARY KEY, site TEXT, slug TEXT, lang TEXT, UNIQUE (slug, lang))",
    "CREATE INDEX search_rows_by_site ON search_rows (site)",
    _trigger("search_insert AFTER INSERT ON translations", _NUMBER, _ADD),
    _trigger(
        "search_update AFTER UPDATE OF search_text ON translations WHEN old.search_text <> new.search_text",
        *(_REMOVE, _ADD),
    ),
    _trigger(
        "search_delete AFTER DELETE ON translations",
        *(_REMOVE, "DELETE FROM search_rows WHERE slug = old.slug AND lang = old.lang;"),
    ),
    """
INSERT INTO search_rows
  SELECT (dense_rank() OVER (ORDER BY site) << 32) + row_number() OVER (PARTITION BY site),
         site, faqs.slug, translations.lang
  FROM translations JOIN faqs ON faqs.slug = translations.slug
""",
    """
INSERT INTO translations_by_trigram (rowid, words)
  SELECT id, search_text FROM search_rows JOIN translations USING (slug, lang) ORDER BY id
""",
)
_FIND: Final = """
SELECT slug FROM search_rows WHERE id IN (
  SELECT rowid FROM translations_by_trigram WHERE translations_by_trigram MATCH :trigrams
    AND rowid BETWEEN (SELECT min(id) FROM search_rows WHERE site = :site)
      AND (SELECT max(id) FROM search_rows WHERE site = :site)
  LIMIT :limit)
"""
_IS_THERE: Final = {
    "sqlite": "(SELECT name FROM sqlite_master WHERE name = 'translations_by_trigram')",
    "postgresql": "to_regclass('translations_by_trigram')",
}


def index_trigrams(connection: Connection) -> None:
    """Index the texts of translations. Where the database cannot, searches read the texts of the site."""
    is_sqlite = connection.dialect.name == "sqlite"
    try:
        with connection.begin_nested():
            connection.exec_driver_sql(_TABLE if is_sqlite else _EXTENSION)
    except DBAPIError:  # it is not installed, or the user may not create it
        return
    if is_sqlite:
        for statement in _ROWS_AND_TRIGGERS:
            connection.exec_driver_sql(statement)
        return
    # Another application may have installed it in a schema of its own.
    schema = connection.scalar(
        text(
            "SELECT quote_ident(nspname) FROM pg_extension JOIN pg_namespace n ON n.oid = extnamespace"
            " WHERE extname = 'pg_trgm'"
        )
    )
    columns = f"search_text {schema}.gin_trgm_ops"
    connection.execute(text(f"CREATE INDEX translations_by_trigram ON translations USING gin ({columns})"))


def find_with_trigrams(connection: Connection, site: str, words: Sequence[str]) -> Sequence[str] | None:
    """Return the slugs of the FAQs that may have all words; None means that the caller reads all texts.

    That is faster if the site is small, or the words are in many FAQs. It is necessary if the words are
    short, or the database lacks the index. In PostgreSQL, the FAQs are those of all sites.
    """
    words = [word for word in words if len(word) >= LENGTH]
    is_there = literal_column(_IS_THERE[connection.dialect.name]).is_not(None)
    size = select(sites.c.faq_count).where(sites.c.id == site, is_there)
    if not words or (connection.scalar(size) or 0) <= SMALL:
        return None
    if connection.dialect.name == "sqlite":
        trigrams = {word[start : start + LENGTH] for word in words for start in range(len(word) - 2)}
        quoted = " AND ".join('"{}"'.format(trigram.replace('"', '""')) for trigram in sorted(trigrams))
        values = {"site": site, "trigrams": quoted, "limit": MAX_RARE + 1}
        found = connection.scalars(text(_FIND), values).all()
    else:
        columns = translations.c
        matching = (columns.search_text.contains(word, autoescape=True) for word in words)
        found = connection.scalars(select(columns.slug).where(*matching).limit(MAX_RARE + 1)).all()
    return None if len(found) > MAX_RARE else found
