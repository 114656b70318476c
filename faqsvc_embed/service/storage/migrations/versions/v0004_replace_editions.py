"""Replace the table `editions` by a view, so that processes of release 0.1 can still read.

Their writes fail from now on; otherwise they would be lost.
"""

from alembic import op

from faqsvc_embed.service.storage.migrations.editions import copy_editions

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Copy what was written meanwhile, and replace the table."""
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        op.execute("LOCK TABLE editions IN ACCESS EXCLUSIVE MODE")
    copy_editions(connection)
    op.drop_table("editions")
    op.execute(
        "CREATE VIEW editions AS SELECT revisions.slug, revisions.lang, revisions.website_url,"
        " revisions.record, revisions.created_at AS updated_at, revisions.title, revisions.website_name"
        " FROM revisions JOIN translations ON translations.slug = revisions.slug"
        " AND translations.lang = revisions.lang AND translations.published = revisions.number"
    )
