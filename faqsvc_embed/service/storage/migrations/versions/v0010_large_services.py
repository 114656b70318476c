"""Adds the rate of a site's writes and trigrams for searches; drops an index that lists no longer use."""

from alembic import op
from sqlalchemy import BigInteger, Column

from faqsvc_embed.service.storage.trigrams import index_trigrams

revision = "0010"
down_revision = "0007"


def upgrade() -> None:
    op.add_column("sites", Column("write_arrival", BigInteger, nullable=False, server_default="0"))
    op.drop_index("ix_translations_binned_at", "translations")
    index_trigrams(op.get_bind())
