"""Add the tables of sites, translations and revisions. Nothing that release 0.1 reads is changed."""

from alembic import op
from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Integer,
    Text,
)

revision = "0002"
down_revision = "0001"


def upgrade() -> None:
    """Create the tables, and the new columns without values."""
    op.create_table(
        "sites",
        Column("id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("listed", Boolean, nullable=False),
        Column("website_url", Text),
        Column("accent_color", Text),
        Column("max_faqs", Integer),
        Column("max_bytes", BigInteger),
        Column("faq_count", Integer, nullable=False),
        Column("byte_count", BigInteger, nullable=False),
        Column("created_at", Text, nullable=False),
    )
    # With a default, because release 0.1 goes on inserting rows until its processes have ended.
    op.add_column("api_keys", Column("site", Text))
    op.add_column("api_keys", Column("scope", Text, nullable=False, server_default="publish"))
    op.add_column("api_keys", Column("expires_at", Text))
    op.add_column("faqs", Column("site", Text))
    op.add_column("faqs", Column("state", Text, nullable=False, server_default="draft"))
    op.add_column("faqs", Column("updated_at", Text))
    op.create_index("faqs_by_site", "faqs", ["site", "updated_at", "slug"])
    op.create_table(
        "translations",
        Column("slug", Text, ForeignKey("faqs.slug"), primary_key=True),
        Column("lang", Text, primary_key=True),
        Column("newest", Integer, nullable=False),
        Column("published", Integer),
        Column("search_text", Text, nullable=False),
    )
    op.create_table(
        "revisions",
        Column("slug", Text, primary_key=True),
        Column("lang", Text, primary_key=True),
        Column("number", Integer, primary_key=True, autoincrement=False),
        Column("record", Text, nullable=False),
        Column("digest", Text, nullable=False),
        Column("title", Text, nullable=False),
        Column("website_name", Text, nullable=False),
        Column("website_url", Text, nullable=False),
        Column("key_id", Text, ForeignKey("api_keys.id")),
        Column("created_at", Text, nullable=False),
        Column("published_at", Text),
        ForeignKeyConstraint(["slug", "lang"], ["translations.slug", "translations.lang"]),
    )
    op.create_table(
        "events",
        Column("number", BigInteger, primary_key=True, autoincrement=False),
        Column("slug", Text, nullable=False),
        Column("lang", Text, nullable=False),
        Column("revision", Integer),
        Column("created_at", Text, nullable=False),
    )
    last_event = op.create_table("last_event", Column("number", BigInteger, nullable=False))
    op.bulk_insert(last_event, [{"number": 0}])
    op.create_table(
        "idempotency_keys",
        Column("site", Text, ForeignKey("sites.id"), primary_key=True),
        Column("key", Text, primary_key=True),
        Column("body_digest", Text, nullable=False),
        Column("slug", Text, nullable=False),
        Column("lang", Text, nullable=False),
        Column("number", Integer, nullable=False),
        Column("created_at", Text, nullable=False, index=True),
    )
    op.create_table(
        "previews",
        Column("digest", Text, primary_key=True),
        Column("slug", Text, nullable=False),
        Column("expires_at", Text, nullable=False, index=True),
    )
