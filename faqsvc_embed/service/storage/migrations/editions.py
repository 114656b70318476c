"""Copies the records of release 0.1 from its only table of records, `editions`."""

import hashlib
import json
import secrets
from typing import Any, Final

from sqlalchemy import Connection, text

from faqsvc_embed.models import FAQ
from faqsvc_embed.service.storage.values import search_text

BATCH: Final = 500

_SITE: Final = text(
    "INSERT INTO sites (id, name, listed, faq_count, byte_count, created_at)"
    " VALUES (:id, :name, :listed, 0, 0, :created_at)"
)
# Records that were never copied, or written again since.
_BATCH: Final = text(
    "SELECT e.slug, e.lang, e.record, e.website_url, e.updated_at, f.lang AS default_lang, f.owner, f.site"
    " FROM editions e JOIN faqs f ON f.slug = e.slug"
    " LEFT JOIN revisions r ON r.slug = e.slug AND r.lang = e.lang AND r.number = 1"
    " WHERE (e.slug > :slug OR (e.slug = :slug AND e.lang > :lang))"
    " AND (r.record IS NULL OR r.record <> e.record) ORDER BY e.slug, e.lang LIMIT :limit"
)

_COUNT: Final = (
    "UPDATE sites SET faq_count = (SELECT count(*) FROM faqs WHERE faqs.site = sites.id),"
    " byte_count = (SELECT COALESCE(sum({size}), 0) FROM revisions"
    " JOIN faqs ON faqs.slug = revisions.slug WHERE faqs.site = sites.id)"
)


def copy_editions(connection: Connection) -> None:
    """Copy every record that has not been copied yet."""
    _create_sites(connection)
    place = {"slug": "", "lang": ""}
    while rows := connection.execute(_BATCH, {**place, "limit": BATCH}).mappings().all():
        for row in rows:
            _copy(connection, row)
        place = {"slug": rows[-1]["slug"], "lang": rows[-1]["lang"]}
    is_sqlite = connection.dialect.name == "sqlite"
    size = "length(CAST(record AS BLOB))" if is_sqlite else "octet_length(record)"
    connection.execute(text(_COUNT.format(size=size)))


def _create_sites(connection: Connection) -> None:
    """Create a site for each key, and one for the FAQs without a key, which an operator stored."""
    keys = connection.execute(text("SELECT id, name, created_at FROM api_keys WHERE site IS NULL")).all()
    for key_id, name, created_at in keys:
        site = secrets.token_hex(4)
        connection.execute(_SITE, {"id": site, "name": name, "listed": False, "created_at": created_at})
        values = {"site": site, "key": key_id}
        connection.execute(text("UPDATE api_keys SET site = :site WHERE id = :key"), values)
        connection.execute(text("UPDATE faqs SET site = :site WHERE owner = :key"), values)
    connection.execute(
        text("UPDATE faqs SET site = (SELECT site FROM api_keys WHERE id = faqs.owner) WHERE site IS NULL")
    )
    oldest = connection.scalar(text("SELECT MIN(created_at) FROM faqs WHERE site IS NULL"))
    if oldest is not None:
        site = secrets.token_hex(4)
        connection.execute(_SITE, {"id": site, "name": "operator", "listed": False, "created_at": oldest})
        connection.execute(text("UPDATE faqs SET site = :site WHERE site IS NULL"), {"site": site})


def _copy(connection: Connection, row: Any) -> None:
    key = {"slug": row["slug"], "lang": row["lang"]}
    record = json.loads(row["record"])
    connection.execute(text("DELETE FROM revisions WHERE slug = :slug AND lang = :lang"), key)
    connection.execute(text("DELETE FROM translations WHERE slug = :slug AND lang = :lang"), key)
    connection.execute(
        text(
            "INSERT INTO translations (slug, lang, newest, published, search_text)"
            " VALUES (:slug, :lang, 1, 1, :search_text)"
        ),
        {**key, "search_text": search_text(FAQ.from_dict(record))},
    )
    connection.execute(
        text(
            "INSERT INTO revisions (slug, lang, number, record, digest, title, website_name, website_url,"
            " key_id, created_at, published_at) VALUES (:slug, :lang, 1, :record, :digest, :title,"
            " :name, :url, :key_id, :time, :time)"
        ),
        {
            **key,
            "record": row["record"],
            "digest": hashlib.sha256(row["record"].encode()).hexdigest()[:32],
            "title": str(record.get("title", "")).replace("\0", "\ufffd"),
            "name": str(record.get("websiteName", "")).replace("\0", "\ufffd"),
            "url": row["website_url"],
            "key_id": row["owner"],
            "time": row["updated_at"],
        },
    )
    connection.execute(
        text(
            "UPDATE faqs SET state = 'published', updated_at = COALESCE("
            "CASE WHEN updated_at > :time THEN updated_at END, :time) WHERE slug = :slug"
        ),
        {**key, "time": row["updated_at"]},
    )
