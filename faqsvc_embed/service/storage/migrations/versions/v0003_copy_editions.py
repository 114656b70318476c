"""Copy the records of release 0.1: each becomes revision 1, and each key gets a site.

The copies are made in batches, each in a transaction of its own on PostgreSQL, so that no lock lasts long.
"""

from alembic import op

from faqsvc_embed.service.storage.migrations.editions import copy_editions

revision = "0003"
down_revision = "0002"


def upgrade() -> None:
    """Copy in batches."""
    if op.get_bind().dialect.name == "sqlite":
        copy_editions(op.get_bind())
    else:
        with op.get_context().autocommit_block():
            copy_editions(op.get_bind())
