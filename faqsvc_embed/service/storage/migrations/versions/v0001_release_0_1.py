"""Create the tables of release 0.1 if they are missing, with a version that release 0.1 can read."""

import sqlalchemy
from alembic import op
from sqlalchemy import Column, ForeignKey, Integer, Text

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Create the tables."""
    if sqlalchemy.inspect(op.get_bind()).has_table("editions"):
        return
    versions = op.create_table("schema_version", Column("version", Integer, nullable=False))
    op.bulk_insert(versions, [{"version": 2}])
    op.create_table(
        "api_keys",
        Column("id", Text, primary_key=True),
        Column("name", Text, nullable=False),
        Column("digest", Text, nullable=False, unique=True),
        Column("ending", Text, nullable=False),
        Column("created_at", Text, nullable=False),
        Column("last_used_at", Text),
        Column("revoked_at", Text),
    )
    op.create_table(
        "faqs",
        Column("slug", Text, primary_key=True),
        Column("owner", Text, ForeignKey("api_keys.id")),
        Column("lang", Text, nullable=False),
        Column("created_at", Text, nullable=False),
    )
    op.create_table(
        "editions",
        Column("slug", Text, ForeignKey("faqs.slug"), primary_key=True),
        Column("lang", Text, primary_key=True),
        Column("website_url", Text, nullable=False),
        Column("record", Text, nullable=False),
        Column("updated_at", Text, nullable=False),
    )
