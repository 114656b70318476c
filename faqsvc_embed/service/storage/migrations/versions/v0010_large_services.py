"""Indexes for services with many sites and for searches, and the writes and generations of a site."""

from typing import Final

from alembic import op
from sqlalchemy import BigInteger, Column, Text, text

from faqsvc_embed.service.storage.trigrams import index_trigrams

revision = "0010"
down_revision = "0007"

INDEXES: Final = (
    ("api_keys_by_site", "api_keys", ["site", "created_at"]),
    ("people_by_email", "people", ["email"]),
    ("ix_sign_in_links_person", "sign_in_links", ["person"]),
    ("ix_sessions_person", "sessions", ["person"]),
    ("ix_revisions_key_id", "revisions", ["key_id"]),
    ("ix_previews_slug", "previews", ["slug"]),
    (
        "translation_states",
        "translations",
        ["slug", "lang", "binned_at", "newest", "published", "withdrawn"],
    ),
)
PARTIAL: Final = (
    ("binned_translations", "translations", ["binned_at"]),
    ("api_keys_by_key", "api_keys", ["created_by_key"]),
    ("api_keys_by_person", "api_keys", ["created_by_person"]),
    ("audit_log_by_key_id", "audit_log", ["key_id", "number"]),
    ("audit_log_by_person", "audit_log", ["person", "number"]),
    ("audit_log_by_slug", "audit_log", ["slug", "number"]),
    ("audit_log_by_subject", "audit_log", ["subject", "number"]),
)
"""Indexes of the rows whose first column is not NULL."""


def upgrade() -> None:
    op.add_column("sites", Column("write_arrival", BigInteger, nullable=False, server_default="0"))
    op.create_index(
        "listed_sites", "sites", ["id"], sqlite_where=text("listed = 1"), postgresql_where=text("listed")
    )
    op.drop_index("ix_translations_binned_at", "translations")
    for name, table, columns in INDEXES:
        op.create_index(name, table, columns)
    for name, table, columns in PARTIAL:
        condition = text(f"{columns[0]} IS NOT NULL")
        op.create_index(name, table, columns, sqlite_where=condition, postgresql_where=condition)
    op.create_table("wall_clock", Column("since", Text, nullable=False), Column("seen", Text, nullable=False))
    has_none = text("search_text = ''")
    name, table, columns = "purged_translations", "translations", ["slug", "lang"]
    op.create_index(name, table, columns, sqlite_where=has_none, postgresql_where=has_none)
    op.create_table(
        "generations",
        Column("token", Text, primary_key=True),
        Column("site", Text, nullable=False, index=True),
        Column("ends_at", Text, nullable=False),
    )
    index_trigrams(op.get_bind())
