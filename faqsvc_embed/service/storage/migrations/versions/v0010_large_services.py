"""Indexes for services with many sites and for searches, and the writes and generations of a site.

No later migration has changed the indexes, so they are read from `schema.py`. One that changes them must list
these here.
"""

from itertools import chain

from alembic import op
from sqlalchemy import BigInteger, Column

from faqsvc_embed.service.storage import schema
from faqsvc_embed.service.storage.trigrams import index_trigrams

revision = "0010"
down_revision = "0007"


def upgrade() -> None:
    connection = op.get_bind()
    op.add_column("sites", Column("write_arrival", BigInteger, nullable=False, server_default="0"))
    op.drop_index("ix_translations_binned_at", "translations")
    schema.metadata.create_all(connection, [schema.generations, schema.wall_clock])
    for index in chain.from_iterable(table.indexes for table in schema.metadata.sorted_tables):
        index.create(connection, checkfirst=True)
    index_trigrams(connection)
