"""Adds the source of each revision of a translation."""

from alembic import op
from sqlalchemy import Column, Integer

from faqsvc_embed.service.storage.maintenance import COPY_SOURCES

revision = "0011"
down_revision = "0010"


def upgrade() -> None:
    op.add_column("revisions", Column("translated_from", Integer))
    op.execute(COPY_SOURCES)
