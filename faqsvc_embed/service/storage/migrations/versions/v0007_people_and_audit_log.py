"""Add people, the audit log, the bin, and what a translation was made from.

Each name of a valid key with the scope `publish` becomes an admin, because keys signed in at the desk.
"""

import secrets

from alembic import op
from sqlalchemy import BigInteger, Boolean, Column, ForeignKey, Integer, Text, UniqueConstraint, false, text

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Create the tables and the columns, and make people from keys."""
    op.create_table(
        "people",
        Column("id", Text, primary_key=True),
        Column("site", Text, ForeignKey("sites.id"), nullable=False),
        Column("email", Text),
        Column("name", Text, nullable=False),
        Column("role", Text, nullable=False),
        Column("created_at", Text, nullable=False),
        Column("removed_at", Text),
        UniqueConstraint("site", "email", name="one_person_an_email"),
    )
    op.create_table(
        "sign_in_links",
        Column("digest", Text, primary_key=True),
        Column("person", Text, ForeignKey("people.id"), nullable=False),
        Column("expires_at", Text, nullable=False, index=True),
    )
    op.create_table(
        "sessions",
        Column("digest", Text, primary_key=True),
        Column("person", Text, ForeignKey("people.id"), nullable=False),
        Column("created_at", Text, nullable=False),
        Column("expires_at", Text, nullable=False, index=True),
    )
    op.create_table(
        "audit_log",
        Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
        Column("at", Text, nullable=False),
        Column("site", Text),
        Column("action", Text, nullable=False),
        Column("key_id", Text),
        Column("person", Text),
        Column("slug", Text),
        Column("lang", Text),
        Column("revision", Integer),
        Column("subject", Text),
    )
    op.create_index("audit_log_by_site", "audit_log", ["site", "number"])
    op.add_column("api_keys", Column("created_by_key", Text))
    op.add_column("api_keys", Column("created_by_person", Text))
    op.add_column("faqs", Column("page_url", Text))
    op.add_column("faqs", Column("sealed", Boolean, nullable=False, server_default=false()))
    op.add_column("translations", Column("withdrawn", Integer))
    op.add_column("translations", Column("withdrawn_at", Text))
    op.add_column("translations", Column("binned_at", Text))
    op.create_index("ix_translations_binned_at", "translations", ["binned_at"])
    op.add_column("translations", Column("translated_from", Integer))
    op.add_column("revisions", Column("person_id", Text))
    op.add_column("revisions", Column("discarded_at", Text))
    op.add_column("last_event", Column("epoch", Text))
    op.execute(text("UPDATE last_event SET epoch = :epoch").bindparams(epoch=secrets.token_hex(4)))
    op.execute(
        "UPDATE translations SET withdrawn = (SELECT max(number) FROM revisions"
        " WHERE revisions.slug = translations.slug AND revisions.lang = translations.lang"
        " AND published_at IS NOT NULL) WHERE published IS NULL"
    )
    op.execute(
        "UPDATE translations SET withdrawn_at = (SELECT updated_at FROM faqs WHERE faqs.slug ="
        " translations.slug) WHERE withdrawn IS NOT NULL"
    )
    op.execute(
        "INSERT INTO people (id, site, name, role, created_at)"
        " SELECT MIN(id), site, CASE name WHEN '' THEN id ELSE name END, 'admin', MIN(created_at)"
        " FROM api_keys WHERE scope = 'publish' AND revoked_at IS NULL AND expires_at IS NULL"
        " AND site IS NOT NULL GROUP BY 2, 3"
    )
