"""The source of each revision of a translation, and an index of lists by state."""

from alembic import op
from sqlalchemy import Column, Integer

revision = "0011"
down_revision = "0010"

SOURCES = """
UPDATE revisions SET translated_from = coalesce(
  (SELECT translated_from FROM translations
   WHERE slug = revisions.slug AND lang = revisions.lang AND newest = revisions.number),
  (SELECT max(number) FROM revisions AS source JOIN faqs USING (slug, lang)
   WHERE source.slug = revisions.slug AND source.created_at <= revisions.created_at))
WHERE lang <> (SELECT lang FROM faqs WHERE slug = revisions.slug)
"""
"""The source of an older revision is the one that was the newest when the revision was written."""


def upgrade() -> None:
    op.create_index("faqs_by_state_and_time", "faqs", ["site", "state", "updated_at", "slug"])
    op.add_column("revisions", Column("translated_from", Integer))
    op.execute(SOURCES)
