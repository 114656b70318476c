"""Sites, which own FAQs and API keys."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, TypedDict, Unpack

from sqlalchemy import Connection, Row, insert, select, update

from faqsvc_embed.errors import ConfigurationError, FAQError
from faqsvc_embed.service.storage.audit import OPERATOR, log
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.schema import sites
from faqsvc_embed.service.storage.values import NO_QUOTA, Access, Quota
from faqsvc_embed.text import is_name

MAX_NAME: Final = 100
DEFAULT_NAME: Final = "default"


class UnknownSite(FAQError, LookupError):
    """There is no site with this id, or there are several and none is named."""


@dataclass(frozen=True, slots=True)
class Site:
    """A site. `is_listed` says whether llms.txt, the sitemap and the index name its FAQs.

    `website_url` and `accent_color` are empty if unknown. The desk begins new FAQs with the address,
    and shows previews in the colour.
    """

    id: str
    name: str
    is_listed: bool
    faq_count: int
    byte_count: int
    created_at: datetime
    quota: Quota = NO_QUOTA
    website_url: str = ""
    accent_color: str = ""


class Description(TypedDict, total=False):
    """What can be changed of a site; None leaves a value as it is."""

    name: str | None
    listed: bool | None
    website_url: str | None
    accent_color: str | None


class Sites:
    """The sites in a database."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def create(self, name: str, *, listed: bool = False, quota: Quota = NO_QUOTA) -> str:
        """Create a site and return its id.

        Raises:
            ConfigurationError: the name is empty, has more than 100 characters, or control characters.
        """
        with self._database.writing() as connection:
            return self._insert(connection, _site_name(name), listed, quota)

    def list(self) -> list[Site]:
        """Return all sites, ordered by their creation."""
        with self._database.reading() as connection:
            rows = connection.execute(select(sites).order_by(sites.c.created_at, sites.c.id)).all()
        return [_site(row) for row in rows]

    def get(self, site: str) -> Site:
        """Return a site by its id.

        Raises:
            UnknownSite: there is no such site.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(sites).where(sites.c.id == site)).first()
        if row is None:
            raise UnknownSite(f"no site has the id {site!r}; `faqsvc sites list` prints all ids")
        return _site(row)

    def update(
        self, access: Access, *, quota: Quota | None = None, **description: Unpack[Description]
    ) -> None:
        """Change what is given of a site, for a person of the site or the operator.

        Raises:
            ConfigurationError: the name is empty, has more than 100 characters, or control characters.
        """
        values: dict[str, Any] = {name: value for name, value in description.items() if value is not None}
        if "name" in values:
            values["name"] = _site_name(values["name"])
        if quota is not None:
            values |= {"max_faqs": quota.faqs, "max_bytes": quota.bytes}
        if values:
            with self._database.writing() as connection:
                connection.execute(update(sites).where(sites.c.id == access.site).values(values))
                log(connection, access, "site-set", self._clock(), subject=access.site)

    def resolve(self, connection: Connection, site: str | None) -> str:
        """Return the id of a site, by default of the only one, which is created if there is none.

        Raises:
            UnknownSite: there is no such site, or there are several.
        """
        return self.find(connection, site) or self._insert(connection, DEFAULT_NAME, False, NO_QUOTA)

    def find(self, connection: Connection, site: str | None) -> str | None:
        """Return the id of a site, by default of the only one; None if there is no site yet.

        Raises:
            UnknownSite: there is no such site, or there are several.
        """
        query = select(sites.c.id).limit(2)
        ids = connection.scalars(query if site is None else query.where(sites.c.id == site)).all()
        if site is None and len(ids) > 1:
            raise UnknownSite(
                "there are several sites: name one with --site; `faqsvc sites list` prints all ids"
            )
        if site is not None and not ids:
            raise UnknownSite(f"no site has the id {site!r}; `faqsvc sites list` prints all ids")
        return next(iter(ids), None)

    def _insert(self, connection: Connection, name: str, listed: bool, quota: Quota) -> str:
        site, now = secrets.token_hex(4), self._clock()
        row = {"id": site, "name": name, "listed": listed, "max_faqs": quota.faqs, "max_bytes": quota.bytes}
        row |= {"faq_count": 0, "byte_count": 0, "created_at": now}
        connection.execute(insert(sites), row)
        log(connection, OPERATOR, "site-create", now, site=site, subject=site)
        return site


def _site(row: Row[Any]) -> Site:
    quota = Quota(row.max_faqs, row.max_bytes)
    return Site(
        row.id,
        row.name,
        row.listed,
        row.faq_count,
        row.byte_count,
        row.created_at,
        quota,
        row.website_url or "",
        row.accent_color or "",
    )


def _site_name(name: str) -> str:
    if not name.strip():
        raise ConfigurationError("the name of a site is empty")
    return check_name(name)


def check_name(name: str) -> str:
    """Return the name of a site or key.

    Raises:
        ConfigurationError: it has more than 100 characters, or control characters.
    """
    if len(name) > MAX_NAME or not is_name(name):
        raise ConfigurationError(
            f"name is {name[:MAX_NAME]!r}: expected up to {MAX_NAME} characters without control characters"
        )
    return name
