"""Add the table that records deliveries to webhooks."""

from alembic import op
from sqlalchemy import BigInteger, Column, Text

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the table."""
    op.create_table(
        "webhooks",
        Column("digest", Text, primary_key=True),
        Column("delivered", BigInteger, nullable=False),
        Column("owner", Text),
        Column("owned_until", Text),
    )
