"""Removes a site from a database, with everything that it owns."""

import time
from typing import Final

from sqlalchemy import delete, select, update

from faqsvc_embed.service.storage import audit
from faqsvc_embed.service.storage.schema import (
    api_keys,
    faqs,
    idempotency_keys,
    people,
    sessions,
    sign_in_links,
    sites,
)
from faqsvc_embed.service.storage.storage import Storage
from faqsvc_embed.service.storage.values import UNCONDITIONAL, Access

PAUSE: Final = 0.01
"""Seconds after each FAQ: another process that waits for an SQLite file only looks now and then."""


def delete_site(storage: Storage, site: str) -> int:
    """Delete a site with its FAQs, their history, its keys and its people; return how many FAQs it had.

    Published FAQs become 410, and no other site can use their slugs. If this is interrupted, another call
    continues. The keys are revoked first.

    Raises:
        UnknownSite: there is no such site.
    """
    storage.sites.get(site)
    mine = select(people.c.id).where(people.c.site == site)
    with storage.database.writing() as connection:
        connection.execute(
            update(api_keys)
            .where(api_keys.c.site == site, api_keys.c.revoked_at.is_(None))
            .values(revoked_at=storage.clock())
        )
        for table in (sessions, sign_in_links):
            connection.execute(delete(table).where(table.c.person.in_(mine)))
        slugs = connection.scalars(select(faqs.c.slug).where(faqs.c.site == site, faqs.c.state != "purged"))
        found = list(slugs)
    for slug in found:
        storage.removal.purge(Access(None, site), slug, None, UNCONDITIONAL)
        time.sleep(PAUSE)
    with storage.database.writing() as connection:
        connection.execute(update(faqs).where(faqs.c.site == site).values(site=None))
        for table in (idempotency_keys, api_keys, people):
            connection.execute(delete(table).where(table.c.site == site))
        connection.execute(delete(sites).where(sites.c.id == site))
        audit.log(connection, audit.OPERATOR, "site-remove", storage.clock(), site=site, subject=site)
    return len(found)
