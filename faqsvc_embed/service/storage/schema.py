"""The tables of the service.

A site has people and API keys, and owns FAQs. An FAQ has translations, and each translation has revisions
1, 2, 3 …, whose text is never changed; `translations.published` is the number of the published one.
"""

from datetime import datetime
from typing import Any, Final

from sqlalchemy import (
    BigInteger,
    Boolean,
    Column,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    MetaData,
    Table,
    Text,
    TypeDecorator,
    UniqueConstraint,
    false,
    text,
)


class Timestamp(TypeDecorator[datetime]):
    """A time in UTC as ISO 8601 text, which sorts by time in both databases."""

    impl: type[Text] = Text
    cache_ok: bool | None = True

    def process_bind_param(self, value: datetime | None, _: Any) -> str | None:
        return None if value is None else value.isoformat(timespec="microseconds")

    def process_result_value(self, value: str | None, _: Any) -> datetime | None:
        return None if value is None else datetime.fromisoformat(value)


def _partial(name: str, *columns: str, where: str = "") -> Index:
    """Return an index of some rows, by default of those whose first column is not NULL."""
    condition = text(where or f"{columns[0]} IS NOT NULL")
    return Index(name, *columns, sqlite_where=condition, postgresql_where=condition)


metadata: Final = MetaData()

sites: Final = Table(
    "sites",
    metadata,
    Column("id", Text, primary_key=True),
    Column("name", Text, nullable=False),
    Column("listed", Boolean, nullable=False),  # whether llms.txt, the sitemap and the index name its FAQs
    Column("website_url", Text),
    Column("accent_color", Text),  # not used
    Column("max_faqs", Integer),  # NULL means the limit of the service
    Column("max_bytes", BigInteger),
    Column("faq_count", Integer, nullable=False),
    Column("byte_count", BigInteger, nullable=False),  # of all records, with their history
    Column("created_at", Timestamp, nullable=False),
    # The generic cell rate algorithm's theoretical arrival time, in microseconds since 1970.
    Column("write_arrival", BigInteger, nullable=False, server_default="0"),
    Index("listed_sites", "id", sqlite_where=text("listed = 1"), postgresql_where=text("listed")),
)

api_keys: Final = Table(
    "api_keys",
    metadata,
    Column("id", Text, primary_key=True),
    Column("site", Text, ForeignKey("sites.id")),
    Column("name", Text, nullable=False),
    Column("scope", Text, nullable=False),
    Column("digest", Text, nullable=False, unique=True),
    Column("ending", Text, nullable=False),
    Column("created_at", Timestamp, nullable=False),
    Column("last_used_at", Timestamp),
    Column("expires_at", Timestamp),
    Column("revoked_at", Timestamp),
    Column("created_by_key", Text),  # by the operator, if neither is set
    Column("created_by_person", Text),
    Index("api_keys_by_site", "site", "created_at"),
    _partial("api_keys_by_key", "created_by_key"),
    _partial("api_keys_by_person", "created_by_person"),
)

people: Final = Table(
    "people",
    metadata,
    Column("id", Text, primary_key=True),
    Column("site", Text, ForeignKey("sites.id"), nullable=False),
    Column("email", Text),  # in lower case; NULL for a person who is known by name alone
    Column("name", Text, nullable=False),
    Column("role", Text, nullable=False),  # editor, publisher or admin
    Column("created_at", Timestamp, nullable=False),
    Column("removed_at", Timestamp),
    UniqueConstraint("site", "email", name="one_person_an_email"),
    Index("people_by_email", "email"),
)

sign_in_links: Final = Table(
    "sign_in_links",
    metadata,
    Column("digest", Text, primary_key=True),  # of the token; the row is deleted when the link is used
    Column("person", Text, ForeignKey("people.id"), nullable=False, index=True),
    Column("expires_at", Timestamp, nullable=False, index=True),
)

sessions: Final = Table(
    "sessions",
    metadata,
    Column("digest", Text, primary_key=True),  # of the cookie; the row is deleted 30 days after the end
    Column("person", Text, ForeignKey("people.id"), nullable=False, index=True),
    Column("created_at", Timestamp, nullable=False),
    Column("expires_at", Timestamp, nullable=False, index=True),
)

faqs: Final = Table(
    "faqs",
    metadata,
    Column("slug", Text, primary_key=True),
    Column("site", Text, ForeignKey("sites.id")),
    Column("lang", Text, nullable=False),  # the default language
    Column("state", Text, nullable=False),  # draft, published, unpublished, binned or purged
    Column("created_at", Timestamp, nullable=False),
    Column("updated_at", Timestamp),
    Column("page_url", Text),  # the page of the website that shows it
    # Purged for ever: nobody may use the slug again until an admin allows it.
    Column("sealed", Boolean, nullable=False, server_default=false()),
    Index("faqs_by_site", "site", "updated_at", "slug"),
    Index("faqs_by_state", "site", "state", "slug"),
    Index("faqs_by_state_and_time", "site", "state", "updated_at", "slug"),
)

translations: Final = Table(
    "translations",
    metadata,
    Column("slug", Text, ForeignKey("faqs.slug"), primary_key=True),
    Column("lang", Text, primary_key=True),
    Column("newest", Integer, nullable=False),
    Column("published", Integer),
    Column("search_text", Text, nullable=False),  # of the newest revision, as `search_text()` returns it
    Column("withdrawn", Integer),  # the revision that was published before it was unpublished
    Column("withdrawn_at", Timestamp),  # equal for all translations that were unpublished together
    # In the bin. Without revisions, it was purged for ever: nobody may write it until an admin allows it.
    Column("binned_at", Timestamp),
    Column("translated_from", Integer),  # replaced by that of `revisions`
    # Partial: SQLite would use a full one to find nearly all rows, those that are not in the bin.
    _partial("binned_translations", "binned_at"),
    # All that filters of lists ask for, without the texts.
    Index("translation_states", "slug", "lang", "binned_at", "newest", "published", "withdrawn"),
    # Those that were purged: all others have a text.
    _partial("purged_translations", "slug", "lang", where="search_text = ''"),
)

revisions: Final = Table(
    "revisions",
    metadata,
    Column("slug", Text, primary_key=True),
    Column("lang", Text, primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("record", Text, nullable=False),  # JSON, byte for byte as readers get it
    Column("digest", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("website_name", Text, nullable=False),
    Column("website_url", Text, nullable=False),
    Column("key_id", Text, ForeignKey("api_keys.id"), index=True),
    Column("created_at", Timestamp, nullable=False),
    Column("published_at", Timestamp),  # when it was first published
    Column("person_id", Text),  # by the operator, if there is no key either
    Column("discarded_at", Timestamp),  # when this draft was discarded
    # Of a translation: the revision in the default language that it was made from.
    Column("translated_from", Integer),
    ForeignKeyConstraint(["slug", "lang"], ["translations.slug", "translations.lang"]),
)

events: Final = Table(
    "events",
    metadata,
    Column("number", BigInteger, primary_key=True, autoincrement=False),
    Column("slug", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("revision", Integer),  # NULL if the translation was unpublished
    Column("created_at", Timestamp, nullable=False),
)

# Each event increments the one row of this table. The lock on the row lasts until the end of the transaction,
# so events become visible in the order of their numbers.
last_event: Final = Table(
    "last_event",
    metadata,
    Column("number", BigInteger, nullable=False),
    Column("epoch", Text),  # changes whenever the numbers may have gone back: after a restore or an import
)

audit_log: Final = Table(
    "audit_log",
    metadata,
    Column("number", BigInteger().with_variant(Integer, "sqlite"), primary_key=True),
    Column("at", Timestamp, nullable=False),
    Column("site", Text),
    Column("action", Text, nullable=False),
    Column("key_id", Text),  # by the operator, if neither is set
    Column("person", Text),  # the email address or, without one, the name
    Column("slug", Text),
    Column("lang", Text),
    Column("revision", Integer),
    Column("subject", Text),  # the key, the person or the site that was changed
    Index("audit_log_by_site", "site", "number"),
    *(_partial(f"audit_log_by_{name}", name, "number") for name in ("key_id", "person", "slug", "subject")),
)

idempotency_keys: Final = Table(
    "idempotency_keys",
    metadata,
    Column("site", Text, ForeignKey("sites.id"), primary_key=True),
    Column("key", Text, primary_key=True),
    Column("body_digest", Text, nullable=False),
    Column("slug", Text, nullable=False),
    Column("lang", Text, nullable=False),
    Column("number", Integer, nullable=False),
    Column("created_at", Timestamp, nullable=False, index=True),
)

previews: Final = Table(
    "previews",
    metadata,
    Column("digest", Text, primary_key=True),
    Column("slug", Text, nullable=False, index=True),
    Column("expires_at", Timestamp, nullable=False, index=True),
)

# The generations that run; one that a killed process has left ends by itself.
generations: Final = Table(
    "generations",
    metadata,
    Column("token", Text, primary_key=True),
    Column("site", Text, nullable=False, index=True),
    Column("ends_at", Timestamp, nullable=False),
)

# At most one row: for how long the wall clock has run without a jump.
wall_clock: Final = Table(
    "wall_clock",
    metadata,
    Column("since", Timestamp, nullable=False),
    Column("seen", Timestamp, nullable=False),
)
