"""A large database: by default 1,000 sites with 100,000 FAQs, of which one site has a fifth.

`python -m tests.benchmarks.large URL [FAQS SITES]` fills a new database.
"""

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from sqlalchemy import Table, insert, text

from faqsvc_embed.api.content import revision_digest, stored_record
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage import Storage, open_storage, schema
from faqsvc_embed.service.storage.values import search_text

Row = dict[str, Any]

START: Final = datetime(2026, 1, 1, tzinfo=UTC)
WEBSITE: Final = "https://www.heron.example"
COMMON: Final = "delivery"
"""A word that every eighth question has."""
RARE: Final = "zeppelin"
"""A word that no question has."""
BATCH: Final = 2_000
KEYS: Final = 10
"""API keys of each site; half of them are revoked."""
_STEMS: Final = [
    "ship",
    "pay",
    "return",
    "price",
    "order",
    "account",
    "print",
    "frame",
    "colour",
    "size",
    "paper",
    "gift",
    "card",
    "post",
    "heron",
]
_ENDS: Final = ["ing", "ment", "er", "able", "ance", "age", "ion", "ory", "ness", "ful"]


def site_id(number: int) -> str:
    """Return the id of a site; site 0 is the largest."""
    return f"{0x10000000 + number:08x}"


def key_id(site: int, number: int) -> str:
    """Return the id of an API key of a site."""
    return f"{0x30000000 + site * KEYS + number:08x}"


def fill(storage: Storage, faqs: int = 100_000, sites: int = 1_000) -> None:
    """Fill an empty database with FAQs, their translations and history, keys, people and an audit log."""
    chosen = random.Random(7)
    vocabulary = [stem + end for stem in _STEMS for end in _ENDS]
    pool = [_item(chosen, vocabulary, number) for number in range(2_000)]
    sizes = [faqs // 5, *[(faqs - faqs // 5) // (sites - 1)] * (sites - 1)]
    with storage.database.writing() as connection:
        if storage.database.is_sqlite:
            connection.execute(text("PRAGMA cache_size = -200000"))
        connection.execute(insert(schema.sites), [_site(number, size) for number, size in enumerate(sizes)])
        connection.execute(insert(schema.people), [_person(number) for number in range(sites)])
        keys = [_key(site, number) for site in range(sites) for number in range(KEYS)]
        connection.execute(insert(schema.api_keys), keys)
    number = 0
    batch = _Batch(storage)
    for site, size in enumerate(sizes):
        for _ in range(size):
            number += 1
            for table, row in _faq(chosen, pool, site, number):
                batch.add(table, row)
    batch.write()
    if not storage.database.is_sqlite:
        with storage.database.reading() as connection:
            connection.execute(text("SET statement_timeout = 0"))
            connection.execute(text("VACUUM ANALYZE"))
            connection.invalidate()


class _Batch:
    """Rows that are written together, in the order of the tables."""

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._tables = (schema.faqs, schema.translations, schema.revisions, schema.audit_log)
        self._rows: dict[Table, list[Row]] = {table: [] for table in self._tables}

    def add(self, table: Table, row: Row) -> None:
        """Add a row."""
        self._rows[table].append(row)
        if table is schema.faqs and len(self._rows[table]) > BATCH:
            last = self._rows[table].pop()
            self.write()
            self._rows[table].append(last)

    def write(self) -> None:
        """Write all rows."""
        with self._storage.database.writing() as connection:
            for table in self._tables:
                if self._rows[table]:
                    connection.execute(insert(table), self._rows[table])
                self._rows[table] = []


def _item(chosen: random.Random, vocabulary: list[str], number: int) -> Item:
    words = [chosen.choice(vocabulary) for _ in range(36)]
    if number % 8 == 0:
        words[3] = COMMON
    return Item(0, " ".join(words[:6]).capitalize() + "?", " ".join(words[6:]).capitalize() + ".")


def _site(number: int, size: int) -> Row:
    counts = {"faq_count": size, "byte_count": size * 5_000}
    return {
        "id": site_id(number),
        "name": f"Site {number}",
        "listed": number % 3 == 0,
        **counts,
        "created_at": START,
    }


def _person(number: int) -> Row:
    address = {"email": f"p{number}@heron.example", "name": f"Person {number}", "role": "admin"}
    return {"id": f"{0x20000000 + number:08x}", "site": site_id(number), **address, "created_at": START}


def _key(site: int, number: int) -> Row:
    identity = key_id(site, number)
    ended = START + timedelta(days=5) if number % 2 else None
    secret = {"digest": identity * 8, "ending": identity[-4:], "scope": "publish", "name": "ci"}
    at = START + timedelta(hours=number)
    return {"id": identity, "site": site_id(site), **secret, "created_at": at, "revoked_at": ended}


def _faq(chosen: random.Random, pool: list[Item], site: int, number: int) -> Iterator[tuple[Table, Row]]:
    """Yield the rows of an FAQ: a fifth also in German, a tenth in French, a tenth with a draft."""
    slug, at = f"{chosen.choice(_STEMS)}-{number:06}", START + timedelta(minutes=number)
    has_draft = number % 10 == 0
    is_new = number % 30 == 0
    state = "draft" if is_new else "published"
    mine = {"slug": slug, "site": site_id(site), "lang": "en", "state": state, "sealed": False}
    yield schema.faqs, {**mine, "created_at": at, "updated_at": at}
    for lang in ("en", *(["de"] if number % 5 == 0 else []), *(["fr"] if number % 10 == 1 else [])):
        count = 1 if is_new else 2 + number % 2
        items = tuple(Item(at, item.question, item.answer) for at, item in enumerate(chosen.sample(pool, 8)))
        faq = FAQ(slug, f"{slug} in {lang}", "Heron", items=items, website_url=WEBSITE)
        record = stored_record(faq, slug, lang)
        text_ = record.to_json()
        revision: Row = {
            "slug": slug,
            "lang": lang,
            "record": text_,
            "digest": revision_digest(WEBSITE, text_),
        }
        revision |= {"title": record.title, "website_name": "Heron", "website_url": WEBSITE, "created_at": at}
        published = (count - 1 or None) if has_draft else count
        translation = {"slug": slug, "lang": lang, "newest": count, "published": published}
        yield schema.translations, translation | {"search_text": search_text(record)}
        for each in range(1, count + 1):
            is_draft = published is None or each > published
            key = key_id(site, number % KEYS)
            dated = {"number": each, "key_id": key, "published_at": None if is_draft else at}
            yield schema.revisions, revision | dated
            entry: Row = {"at": at, "site": site_id(site), "key_id": key, "slug": slug, "lang": lang}
            yield schema.audit_log, entry | {"action": "draft" if is_draft else "publish", "revision": each}


if __name__ == "__main__":
    opened = open_storage(sys.argv[1])
    fill(opened, *map(int, sys.argv[2:]))
    opened.close()
