"""The index of searches in SQLite."""

from alembic import op

from faqsvc_embed.service.storage.trigrams import index_trigrams

revision = "0009"
down_revision = "0008"


def upgrade() -> None:
    if op.get_bind().dialect.name == "sqlite":
        index_trigrams(op.get_bind())
