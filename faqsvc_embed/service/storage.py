"""What the service keeps: FAQs in their languages, and who published them.

An FAQ is a slug with an owner and a language of its own; what is read is one of its editions, one a
language, kept as the JSON that is sent.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from faqsvc_embed.api.reading import is_slug, not_a_slug
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQNotFound, InvalidFAQ, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.database import Connection, Database, migrate, storable, timestamp
from faqsvc_embed.service.keys import Keys
from faqsvc_embed.service.slugs import new_slug
from faqsvc_embed.service.sqlite import SQLite
from faqsvc_embed.service.submission import Submission

DEFAULT_URL: Final = "sqlite:///faqsvc.db"
DEFAULT_LANGUAGE: Final = "en"
RETRY_WINDOW: Final = timedelta(hours=24)
"""How long a publication is remembered by its Idempotency-Key."""

_ORDER: Final = {lang: place for place, lang in enumerate(LANGUAGES)}


class NotTheOwner(FAQError):
    """The FAQ belongs to another key."""


class AlreadyUsed(FAQError):
    """The Idempotency-Key came before, with another body."""


class Edition(NamedTuple):
    """An FAQ in one language: `record` is the JSON of the read endpoint."""

    lang: str
    record: str
    website_url: str = ""


class Listed(NamedTuple):
    """An FAQ in a list: its own language, and what it is called there."""

    slug: str
    lang: str
    title: str
    website_name: str


@dataclass(frozen=True, slots=True)
class Retry:
    """What makes a publication safe to send again: the Idempotency-Key and the digest of the body."""

    key: str
    body_digest: str


def utc_now() -> datetime:
    """Return the time of the wall clock."""
    return datetime.now(UTC)


def open_storage(url: str = DEFAULT_URL, clock: Callable[[], datetime] = utc_now) -> "Storage":
    """Open a database, and bring its schema forward.

    `sqlite:///faqsvc.db` is a file; three slashes lead to a path relative to the working directory, four
    to an absolute one. `postgresql://…` is what libpq reads.

    Raises:
        ConfigurationError: the address names no database that could be one.
        StorageUnavailable: it cannot be opened.
    """
    database = _database(url)
    migrate(database)
    database.close()  # so that a server may fork after creating its application
    return Storage(database, clock)


def _database(url: str) -> Database:
    if url.startswith(("postgresql://", "postgres://")):
        try:
            from faqsvc_embed.service.postgresql import PostgreSQL
        except ImportError:  # of psycopg, or of the libpq that it needs
            raise ConfigurationError(
                "database is a PostgreSQL, and psycopg is not installed: "
                "pip install 'faqsvc-embed[postgresql]'"
            ) from None
        return PostgreSQL(url)
    path = url.removeprefix("sqlite:///")
    if path in (url, "", ":memory:"):
        shown = "not shown, for it may hold a password" if "@" in url else quoted(url)
        raise ConfigurationError(
            f"database is {shown}: sqlite:///FILE, with a fourth slash for an absolute path, or "
            "postgresql://USER:PASSWORD@HOST:PORT/NAME is accepted"
        )
    return SQLite(path)


class Storage:
    """FAQs and keys in a database. Every method blocks, any thread may call it."""

    def __init__(self, database: Database, clock: Callable[[], datetime] = utc_now) -> None:
        self._database = database
        self._clock = clock
        self.keys = Keys(database, clock)

    def close(self) -> None:
        """Close idle connections; the storage stays usable."""
        self._database.close()

    def ping(self) -> None:
        """Ask the database for something small.

        Raises:
            StorageUnavailable: it does not answer.
        """
        with self._database.reading() as connection:
            connection.execute("SELECT 1").fetchone()

    def edition(self, slug: str, lang: str | None = None) -> Edition | None:
        """Return an FAQ in a language, or in its own if it has not that one; None if there is no FAQ."""
        with self._database.reading() as connection:
            row = connection.execute(
                "SELECT editions.lang, editions.record, editions.website_url"
                " FROM faqs JOIN editions ON editions.slug = faqs.slug"
                " WHERE faqs.slug = :slug AND editions.lang IN (faqs.lang, :lang)"
                " ORDER BY CASE WHEN editions.lang = :lang THEN 0 ELSE 1 END LIMIT 1",
                {"slug": slug, "lang": lang},
            ).fetchone()
        return None if row is None else Edition(*row)

    def languages(self, slug: str) -> tuple[str, ...]:
        """Return the languages of an FAQ, its own first; empty if there is no FAQ."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT editions.lang, faqs.lang FROM faqs JOIN editions ON editions.slug = faqs.slug"
                " WHERE faqs.slug = :slug",
                {"slug": slug},
            ).fetchall()
        return tuple(sorted((lang for lang, _ in rows), key=lambda lang: (lang != rows[0][1], _ORDER[lang])))

    def listed(self, *, after: str = "", limit: int) -> list[Listed]:
        """Return up to `limit` FAQs in the order of their slugs, from the first one after `after`."""
        with self._database.reading() as connection:
            rows = connection.execute(
                "SELECT faqs.slug, faqs.lang, editions.title, editions.website_name"
                " FROM faqs JOIN editions ON editions.slug = faqs.slug AND editions.lang = faqs.lang"
                " WHERE faqs.slug > :after ORDER BY faqs.slug LIMIT :limit",
                {"after": after, "limit": limit},
            ).fetchall()
        return [Listed(*row) for row in rows]

    def put(self, faq: FAQ, *, website_url: str = "") -> None:
        """Store a record under its own slug, whoever owns it: the operator's way, for seeding.

        The first language that is stored under a slug is the FAQ's own. Positions are counted anew.

        Raises:
            FAQNotFound: no FAQ can have this slug.
            InvalidFAQ: its language is none of the service's.
        """
        if not is_slug(faq.slug):
            raise not_a_slug(faq.slug)
        if faq.lang not in LANGUAGES:
            raise InvalidFAQ(
                f"lang is {quoted(faq.lang)}: one of {', '.join(LANGUAGES)} is accepted", path="lang"
            )
        with self._database.writing() as connection:
            self._claim(connection, faq.slug, None, faq.lang)
            self._write(connection, faq, faq.lang, website_url)

    def publish(self, submission: Submission, *, owner: str, retry: Retry | None = None) -> str:
        """Store what a key publishes and return its slug; it is on disk when this returns.

        Raises:
            FAQNotFound: it is to replace an FAQ that does not exist.
            NotTheOwner: it is to replace an FAQ of another key.
            AlreadyUsed: the Idempotency-Key came with another body in the last 24 hours.
        """
        with self._database.writing() as connection:
            if retry is not None and (earlier := self._claim_retry(connection, owner, retry)):
                return earlier
            if submission.slug is None:
                lang = submission.lang or DEFAULT_LANGUAGE
                slug = self._claim_new(connection, submission, owner, lang)
            else:
                slug = submission.slug
                own = self._own_language(connection, slug, owner)
                lang = submission.lang or own
            faq = FAQ(
                slug=slug,
                title=submission.title or f"{submission.website_name} FAQ",
                website_name=submission.website_name,
                items=submission.items,
            )
            self._write(connection, faq, lang, submission.website_url)
            if retry is not None:
                connection.execute(
                    "UPDATE publications SET slug = :slug WHERE owner = :owner AND idempotency_key = :key",
                    {"owner": owner, "key": retry.key, "slug": slug},
                )
        return slug

    def _claim(self, connection: Connection, slug: str, owner: str | None, lang: str) -> bool:
        """Take a slug if it is free; return whether it was."""
        sql = (
            "INSERT INTO faqs (slug, owner, lang, created_at) VALUES (:slug, :owner, :lang, :now)"
            " ON CONFLICT (slug) DO NOTHING"
        )
        values = {"slug": slug, "owner": owner, "lang": lang, "now": timestamp(self._clock())}
        return connection.execute(sql, values).rowcount == 1

    def _claim_new(self, connection: Connection, submission: Submission, owner: str, lang: str) -> str:
        words = f"{submission.website_name} {submission.title or ''}"
        while True:
            slug = new_slug(words, submission.website_url)
            if self._claim(connection, slug, owner, lang):
                return slug

    def _own_language(self, connection: Connection, slug: str, owner: str) -> str:
        row = connection.execute("SELECT owner, lang FROM faqs WHERE slug = :slug", {"slug": slug}).fetchone()
        if row is None:
            raise FAQNotFound(f"there is no FAQ {slug!r}; without slug, a new one is published")
        if row[0] != owner:
            raise NotTheOwner(f"the FAQ {slug!r} belongs to another key")
        return str(row[1])

    def _write(self, connection: Connection, faq: FAQ, lang: str, website_url: str) -> None:
        """Write an edition, over the one of the same language if there is one."""
        record = FAQ(
            slug=faq.slug,
            title=faq.title,
            website_name=faq.website_name,
            lang=lang,
            items=tuple(Item(index, item.question, item.answer) for index, item in enumerate(faq.items)),
            cta=faq.cta,
        )
        connection.execute(
            "INSERT INTO editions (slug, lang, website_url, title, website_name, record, updated_at)"
            " VALUES (:slug, :lang, :website_url, :title, :website_name, :record, :now)"
            " ON CONFLICT (slug, lang) DO UPDATE SET website_url = excluded.website_url,"
            " title = excluded.title, website_name = excluded.website_name,"
            " record = excluded.record, updated_at = excluded.updated_at",
            {
                "slug": faq.slug,
                "lang": lang,
                "website_url": website_url,
                "title": storable(record.title),
                "website_name": storable(record.website_name),
                "record": record.to_json(),
                "now": timestamp(self._clock()),
            },
        )

    def _claim_retry(self, connection: Connection, owner: str, retry: Retry) -> str | None:
        """Return the slug of the publication that this one repeats; if there is none, be the first.

        Two at the same time meet at the INSERT, where one waits for the transaction of the other to end.
        """
        now = self._clock()
        connection.execute(
            "DELETE FROM publications WHERE created_at < :oldest", {"oldest": timestamp(now - RETRY_WINDOW)}
        )
        values = {"owner": owner, "key": retry.key, "body_digest": retry.body_digest, "now": timestamp(now)}
        is_first = connection.execute(
            "INSERT INTO publications (owner, idempotency_key, body_digest, slug, created_at)"
            " VALUES (:owner, :key, :body_digest, '', :now)"
            " ON CONFLICT (owner, idempotency_key) DO NOTHING",
            values,
        ).rowcount
        if is_first:
            return None
        body_digest, slug = connection.execute(
            "SELECT body_digest, slug FROM publications WHERE owner = :owner AND idempotency_key = :key",
            {"owner": owner, "key": retry.key},
        ).fetchone()
        if body_digest != retry.body_digest:
            raise AlreadyUsed(f"the Idempotency-Key {retry.key!r} came before, with another body")
        return str(slug)
