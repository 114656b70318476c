"""Sites, which own FAQs and API keys, and the generations that run for them."""

import secrets
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple, TypedDict, Unpack

from sqlalchemy import Connection, delete, func, insert, select, update

from faqsvc_embed.errors import ConfigurationError, FAQError
from faqsvc_embed.service.storage.database import StoragePart
from faqsvc_embed.service.storage.logs import OPERATOR, log
from faqsvc_embed.service.storage.schema import generations, last_event, sites
from faqsvc_embed.service.storage.values import Access
from faqsvc_embed.text import is_name

MAX_NAME: Final = 100
DEFAULT_NAME: Final = "default"


class UnknownSite(FAQError, LookupError):
    """There is no site with this id, or there are several and none is named."""


class Site(NamedTuple):
    """A site. `is_listed` says whether llms.txt, the sitemap and the index name its FAQs.

    New FAQs at the desk get `website_url`, which is empty if unknown.
    """

    id: str
    name: str
    is_listed: bool
    faq_count: int
    byte_count: int
    created_at: datetime
    max_faqs: int | None
    max_bytes: int | None
    website_url: str

    @property
    def given_name(self) -> str:
        """The name; empty before somebody gives the site one."""
        return "" if self.name == DEFAULT_NAME else self.name


_COLUMNS: Final = (
    *(sites.c[name] for name in ("id", "name", "listed", "faq_count", "byte_count", "created_at")),
    *(sites.c.max_faqs, sites.c.max_bytes),
    func.coalesce(sites.c.website_url, ""),
)


class Description(TypedDict, total=False):
    """What can be changed of a site; None leaves a value as it is, and 0 is the limit of the service."""

    name: str | None
    listed: bool | None
    max_faqs: int | None
    max_bytes: int | None
    website_url: str | None


class Sites(StoragePart):
    """The sites in a database.

    The methods raise:
        ConfigurationError: the name is empty, has more than 100 characters, or control characters.
        UnknownSite: there is no such site.
    """

    def create(self, name: str, *, listed: bool = False) -> str:
        """Create a site and return its id."""
        with self._database.writing() as connection:
            return _insert(connection, _site_name(name), self._clock(), listed=listed)

    def list(self) -> list[Site]:
        """Return all sites, ordered by their creation."""
        query = select(*_COLUMNS).order_by(sites.c.created_at, sites.c.id)
        return [Site(*row) for row in self._rows(query)]

    def get(self, site: str) -> Site:
        """Return a site by its id."""
        row = self._first(select(*_COLUMNS).where(sites.c.id == site))
        if row is None:
            raise UnknownSite(f"no site has the id {site!r}; `faqsvc sites list` prints all ids")
        return Site(*row)

    def update(self, access: Access, **description: Unpack[Description]) -> None:
        """Change the given fields of a site, for a person of the site or the operator."""
        values: dict[str, Any] = {name: value for name, value in description.items() if value is not None}
        if "name" in values:
            values["name"] = _site_name(values["name"])
        values |= {name: values[name] or None for name in ("max_faqs", "max_bytes") if name in values}
        with self._database.writing() as connection:
            find_site(connection, access.site)
            if values:
                connection.execute(update(sites).where(sites.c.id == access.site).values(values))
                log(connection, access, "site-set", self._clock(), subject=access.site)

    def begin_generation(self, site: str, maximum: int, lifetime: float) -> str | None:
        """Count a generation for at most `lifetime` seconds; return its token, or None if `maximum` run."""
        token, now = secrets.token_hex(8), self._clock()
        row = {"token": token, "site": site, "ends_at": now + timedelta(seconds=lifetime)}
        running = select(func.count()).where(generations.c.site == site)
        with self._database.writing() as connection:
            lock_site(connection, site)
            connection.execute(delete(generations).where(generations.c.ends_at <= now))
            if connection.scalars(running).one() >= maximum:
                return None
            connection.execute(insert(generations), row)
        return token

    def end_generation(self, token: str) -> None:
        """Count a generation no longer."""
        with self._database.writing() as connection:
            connection.execute(delete(generations).where(generations.c.token == token))


def resolve_site(connection: Connection, site: str | None, now: datetime) -> str:
    """Lock a site and return its id; raise UnknownSite as `find_site` does.

    The default is the only site, which is created if there is none.
    """
    if site is None and find_site(connection, None) is None:
        connection.execute(select(last_event).with_for_update())  # so that others do not create it, too
    found = find_site(connection, site) or _insert(connection, DEFAULT_NAME, now)
    lock_site(connection, found)
    return found


def lock_site(connection: Connection, site: str | None) -> None:
    """Lock a site until the end of the transaction. Others can still write rows that refer to it."""
    connection.execute(select(sites.c.id).where(sites.c.id == site).with_for_update(key_share=True))


def find_site(connection: Connection, site: str | None) -> str | None:
    """Return the id of a site, by default of the only one; None if there is no site yet.

    Raises UnknownSite if there is no such site, or if there are several.
    """
    query = select(sites.c.id).limit(2)
    ids = connection.scalars(query if site is None else query.where(sites.c.id == site)).all()
    if site is None and len(ids) > 1:
        raise UnknownSite("there are several sites: name one with --site; `faqsvc sites list` prints all ids")
    if site is not None and not ids:
        raise UnknownSite(f"no site has the id {site!r}; `faqsvc sites list` prints all ids")
    return next(iter(ids), None)


def _insert(connection: Connection, name: str, now: datetime, *, listed: bool = False) -> str:
    site = secrets.token_hex(4)
    row = {"id": site, "name": name, "listed": listed, "faq_count": 0, "byte_count": 0, "created_at": now}
    connection.execute(insert(sites), row)
    log(connection, OPERATOR, "site-create", now, site=site, subject=site)
    return site


def _site_name(name: str) -> str:
    if not name.strip():
        raise ConfigurationError("the name of a site is empty")
    return check_name(name)


def check_name(name: str) -> str:
    """Return the name of a site, a key or a person; raise ConfigurationError if it is not valid."""
    if len(name) > MAX_NAME or not is_name(name):
        raise ConfigurationError(
            f"name is {name[:MAX_NAME]!r}: expected up to {MAX_NAME} characters without control characters"
        )
    return name
