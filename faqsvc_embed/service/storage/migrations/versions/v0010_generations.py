"""The generations that run at once, counted over all processes."""

from alembic import op
from sqlalchemy import Column, Text

revision = "0010"
down_revision = "0009"


def upgrade() -> None:
    op.create_table(
        "generations",
        Column("token", Text, primary_key=True),
        Column("site", Text, nullable=False, index=True),
        Column("ends_at", Text, nullable=False),
    )
