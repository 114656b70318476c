"""Adds the source of each revision of a translation."""

from alembic import op
from sqlalchemy import Column, Integer

revision = "0011"
down_revision = "0010"

SOURCES = """
UPDATE revisions SET translated_from = (
  SELECT translated_from FROM translations WHERE slug = revisions.slug AND lang = revisions.lang)
WHERE (slug, lang, number) IN (
  SELECT slug, translations.lang, newest FROM translations JOIN faqs USING (slug)
  WHERE translations.translated_from IS NOT NULL AND translations.lang <> faqs.lang)
"""
"""Only the newest revisions get their source, because readers wait meanwhile. Others are compared by time."""


def upgrade() -> None:
    op.add_column("revisions", Column("translated_from", Integer))
    op.execute(SOURCES)
