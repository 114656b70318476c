"""The operations of a client: the requests that its methods send, and how the responses are parsed.

Each method returns a coroutine for the connection. Invalid arguments are raised at once, in the caller's
thread.
"""

from collections.abc import Coroutine
from datetime import datetime
from functools import partial
from typing import Any, Final, Literal, TypeVar

from faqsvc_embed.api import publish_response as responses
from faqsvc_embed.api.contract import (
    LIST_PATH,
    MAX_LIMIT,
    FAQList,
    FAQSummary,
    Preview,
    Revision,
    RevisionList,
    State,
)
from faqsvc_embed.api.fields import invalid_slug, is_same_slug, is_slug
from faqsvc_embed.api.publish_request import (
    ChangeFields,
    Changes,
    GenerateFields,
    PublishFields,
    change_request,
    generate_request,
    publish_request,
)
from faqsvc_embed.api.requests import (
    Request,
    faq_url,
    get_request,
    read_request,
    with_query,
    write_request,
)
from faqsvc_embed.api.responses import Fetched, Response, parse_response
from faqsvc_embed.client.connection import Connection
from faqsvc_embed.errors import (
    ConfigurationError,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    OutcomeUnknown,
    quoted,
)
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.settings import Settings

MAX_READS: Final = 5
"""Number of attempts to read the newest revision while others write."""

T = TypeVar("T")
Work = Coroutine[Any, Any, T | FAQError]


class Operations:
    """The operations of one service."""

    def __init__(self, connection: Connection, generation_timeout: float) -> None:
        self._connection = connection
        self._generation_timeout = generation_timeout
        self.settings: Settings = connection.settings

    def read(self, slug: str, lang: str | None) -> Work[Fetched]:
        """Read an FAQ; caches must revalidate it."""
        if not is_slug(slug):
            raise invalid_slug(slug)
        request = read_request(self.settings.base_url, slug, self._language(lang))
        request = Request(request.url, {**request.headers, "cache-control": "no-cache"})

        def parse(response: Response, now: datetime) -> Fetched | FAQError:
            outcome = parse_response(response, request, slug, now)
            if isinstance(outcome, Fetched):
                return outcome
            return getattr(outcome, "error", None) or FAQUnavailable("not modified")

        return self._connection.exchange(request, parse)

    def publish(self, publication: PublishFields) -> Work[Publication]:
        """Publish an FAQ."""
        request = publish_request(self.settings.base_url, **publication)
        return self._write(request, publication.get("slug"))

    def change(self, slug: str, changes: Changes, change: ChangeFields) -> Work[Publication]:
        """Change some questions of an FAQ."""
        return self._write(change_request(self._url(slug, change.get("lang")), changes, **change), slug)

    def publish_revision(self, slug: str, number: int, lang: str | None) -> Work[Publication]:
        """Publish a revision."""
        url = self._url(slug, lang, f"/revisions/{_number(number)}/publish")
        return self._write(write_request("POST", url), slug)

    def _write(self, request: Request, slug: object) -> Work[Publication]:
        key = self._connection.key()
        is_new = request.method == "POST" and bool(request.body)
        parse = partial(responses.parse_publication, accepted=(201,) if is_new else (200, 201))

        async def exchange() -> Publication | FAQError:
            outcome = await self._connection.exchange(request, parse, key)
            if isinstance(outcome, Publication) and slug and not is_same_slug(outcome.slug, str(slug)):
                # A kept connection may carry a response to an earlier request.
                outcome = OutcomeUnknown(f"the response for FAQ {slug!r} is that of {outcome.slug!r}")
            if isinstance(outcome, OutcomeUnknown) and request.body:
                return responses.with_advice(outcome, request)
            return outcome

        return exchange()

    def restore(self, slug: str) -> Work[FAQSummary]:
        """Bring an FAQ back."""
        request = write_request("POST", self._url(slug, None, "/restore"))
        parse = partial(responses.parse_struct, struct=FAQSummary)
        return self._connection.exchange(request, parse, self._connection.key())

    def unpublish(self, slug: str, lang: str | None, purge: bool | Literal["now"]) -> Work[None]:
        """Unpublish an FAQ."""
        if purge not in (True, False, "now"):
            raise ConfigurationError(f"purge is {quoted(purge)}; use False, True or 'now'")
        query = {False: None, True: "true", "now": "now"}[purge]
        request = write_request("DELETE", self._url(slug, lang, purge=query))
        return self._connection.exchange(request, responses.parse_done, self._connection.key())

    def preview(self, slug: str, lang: str | None) -> Work[Preview]:
        """Make a preview token."""
        request = write_request("POST", self._url(slug, lang, "/preview"))
        parse = partial(responses.parse_struct, struct=Preview)
        return self._connection.exchange(request, parse, self._connection.key())

    def revision(self, slug: str, number: int, lang: str | None) -> Work[responses.StoredRevision]:
        """Read one revision."""
        request = get_request(self._url(slug, lang, f"/revisions/{_number(number)}"))
        return self._connection.exchange(request, responses.parse_revision, self._connection.key())

    def faqs(self, text: str | None, state: State | None, lang: str | None) -> Work[list[FAQSummary]]:
        """List the FAQs of the site. One that is changed meanwhile is on a later page again."""
        query = {"q": text, "state": state, "lang": _supported(lang)}

        async def collect() -> list[FAQSummary] | FAQError:
            entries = await self._pages(self.settings.base_url + LIST_PATH, FAQList, **query)
            if isinstance(entries, FAQError):
                return entries
            newest = {entry.slug: entry for entry in entries}
            return sorted(newest.values(), key=lambda entry: (entry.updated_at, entry.slug), reverse=True)

        return collect()

    def revisions(self, slug: str, lang: str | None) -> Work[list[Revision]]:
        """List the revisions of an FAQ."""
        return self._pages(self._url(slug, None, "/revisions"), RevisionList, lang=_supported(lang))

    def newest(self, slug: str, lang: str | None) -> Work[responses.StoredRevision]:
        """Read the newest revision that is not a discarded draft."""
        key, parse = self._connection.key(), partial(responses.parse_struct, struct=RevisionList)
        url, language = self._url(slug, None, "/revisions"), _supported(lang)

        async def entry() -> Revision | FAQError:
            after = None
            while True:
                request = get_request(with_query(url, lang=language, limit="10", after=after))
                page = await self._connection.exchange(request, parse, key)
                if isinstance(page, FAQError):
                    return page
                if found := next((one for one in page.items if not one.discarded), None):
                    return found
                if page.next is None or page.next == after:
                    return FAQNotFound(f"the FAQ {quoted(slug)} has no revision")
                after = page.next

        async def find() -> responses.StoredRevision | FAQError:
            for _ in range(MAX_READS):
                listed = await entry()
                if isinstance(listed, FAQError):
                    return listed
                found = await self.revision(slug, listed.revision, lang)
                if isinstance(found, FAQError) or found.state == listed.state:
                    break  # otherwise, somebody has written between the two requests
            return found

        return find()

    async def _pages(self, url: str, struct: type[Any], **query: str | None) -> list[Any] | FAQError:
        """Return the entries of all pages of a list."""
        key, parse = self._connection.key(), partial(responses.parse_struct, struct=struct)
        entries, after = list[Any](), None
        while True:
            request = get_request(with_query(url, limit=str(MAX_LIMIT), after=after, **query))
            page = await self._connection.exchange(request, parse, key)
            if isinstance(page, FAQError):
                return page
            entries += page.items
            if page.next is None or page.next == after or not page.items:
                return entries
            after = page.next

    def generate(self, website_url: str, options: GenerateFields) -> Work[list[responses.GeneratedItem]]:
        """Generate items."""
        request = generate_request(self.settings.base_url, website_url, **options)
        parse = responses.parse_generation
        timeout = self._generation_timeout
        return self._connection.exchange(request, parse, self._connection.key(), timeout=timeout)

    def _url(self, slug: str, lang: str | None, rest: str = "", **query: str | None) -> str:
        """Return the address of an FAQ, or of `rest` below it; None is the default language."""
        if not is_slug(slug):
            raise invalid_slug(slug)
        return faq_url(self.settings.base_url, slug, rest, lang=_supported(lang), **query)

    def _language(self, lang: str | None) -> str | None:
        """Return the language of a read; without `strict`, the setting `lang` replaces an unsupported one."""
        language = _supported(lang) if self.settings.strict else lookup(lang if isinstance(lang, str) else "")
        return language or self.settings.lang


def _supported(lang: str | None) -> str | None:
    """Return the supported language that `lang` means; None is the default language."""
    language = lookup(lang) if isinstance(lang, str) else None
    if language is None and lang is not None:
        raise ConfigurationError(f"lang is {quoted(lang)}; use one of {', '.join(LANGUAGES)}")
    return language


def _number(number: object) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or number < 1:
        raise ConfigurationError(
            f"the revision is {quoted(number)}; use a number from revisions(), 1 or more"
        )
    return number
