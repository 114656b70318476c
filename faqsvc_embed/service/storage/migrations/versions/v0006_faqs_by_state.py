"""Add the index that lists the published FAQs of a site by slug."""

from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Create the index."""
    op.create_index("faqs_by_state", "faqs", ["site", "state", "slug"])
