"""The methods of a client: the requests that they send, and how the responses are parsed.

Invalid arguments are raised in the caller's thread, before anything is sent. The background loop returns
errors as values. They are raised only for the caller, so that no traceback leads to a response or to the key.
"""

import asyncio
import traceback
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import CancelledError
from contextlib import aclosing
from datetime import UTC, datetime
from functools import partial
from typing import Any, Final, Literal, TypeVar, Unpack

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
from faqsvc_embed.api.requests import Request, faq_url, owner_request, read_request, with_query, write_request
from faqsvc_embed.api.responses import Fetched, Outcome, Response, parse_response
from faqsvc_embed.cache.reader import forget_written
from faqsvc_embed.errors import (
    AuthenticationError,
    ConfigurationError,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    OutcomeUnknown,
    quoted,
    without_keys,
)
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from faqsvc_embed.runtime.bounded_log import logger
from faqsvc_embed.runtime.threads import wait_for
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import APIKey

T = TypeVar("T")
Parse = Callable[[Response, datetime], T | FAQError]

MAX_READS: Final = 5
"""Number of attempts to read the newest revision while others write."""
_NO_KEY: Final = (
    "no API key: set FAQSVC_API_KEY, or api_key in Python; `faqsvc keys create` makes one, and so does the "
    "desk, under Site, Keys"
)


class AsyncMethods:
    """The asynchronous methods of a client, whose copies send over the same connections."""

    def __init__(self, settings: Settings, generation_timeout: float) -> None:
        self.settings: Settings = settings
        self._generation_timeout = generation_timeout
        self._blocks = False
        """Whether the methods block the thread of their caller, and so await nothing (`at_once`)."""
        # Imported here, so that importing the package loads no HTTP client.
        from faqsvc_embed.api.transport import Transport

        self._transport = Transport(settings.max_bytes, keeps_connections=True)
        self._background = BackgroundLoop()

    async def aget_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return an FAQ as `get_faq` does."""
        return (await self.aget_published(slug, lang=lang)).faq

    async def aget_published(self, slug: str, *, lang: str | None = None) -> Fetched:
        """Return an FAQ as `get_published` does."""
        if not is_slug(slug):
            raise invalid_slug(slug)
        fresh, lang = {"cache-control": "no-cache"}, self._language(lang)
        request = read_request(self.settings.base_url, slug, lang, headers=fresh)
        outcome: Outcome = await self._send(
            request, lambda response, now: parse_response(response, request, slug, now), is_public=True
        )
        if isinstance(outcome, Fetched):
            return outcome
        raise outcome.error

    async def apublish_faq(self, **publication: Unpack[PublishFields]) -> Publication:
        """Publish as `publish_faq` does."""
        request = publish_request(self.settings.base_url, **publication)
        return await self._write(request, publication.get("slug"))

    async def achange_faq(self, slug: str, changes: Changes, **change: Unpack[ChangeFields]) -> Publication:
        """Change an FAQ as `change_faq` does."""
        request = change_request(self._url(slug, change.get("lang")), changes, **change)
        return await self._write(request, slug)

    async def apublish_revision(self, slug: str, number: int, *, lang: str | None = None) -> Publication:
        """Publish a revision as `publish_revision` does."""
        url = self._url(slug, lang, f"/revisions/{_number(number)}/publish")
        return await self._write(write_request("POST", url), slug)

    async def _write(self, request: Request, slug: object) -> Publication:
        is_new = request.method == "POST" and bool(request.body)
        parse = partial(responses.parse_publication, accepted=(201,) if is_new else (200, 201))
        try:
            written = await self._send(request, parse)
            if slug and not is_same_slug(written.slug, str(slug)):
                # A kept connection may carry a response to an earlier request.
                raise OutcomeUnknown(f"the response for FAQ {slug!r} is about {written.slug!r}")
        except OutcomeUnknown as error:
            raise responses.with_advice(error, request) if request.body else error from None
        forget_written(self.settings.base_url, written.slug)
        return written

    async def arestore_faq(self, slug: str) -> FAQSummary:
        """Bring an FAQ back as `restore_faq` does."""
        request = write_request("POST", self._url(slug, None, "/restore"))
        restored = await self._send(request, partial(responses.parse_struct, struct=FAQSummary))
        forget_written(self.settings.base_url, slug)
        return restored

    async def aunpublish_faq(
        self, slug: str, *, lang: str | None = None, purge: bool | Literal["now"] = False
    ) -> None:
        """Unpublish an FAQ as `unpublish_faq` does."""
        if purge not in (True, False, "now"):
            raise ConfigurationError(f"purge is {quoted(purge)}; use False, True or 'now'")
        query = {False: None, True: "true", "now": "now"}[purge]
        await self._send(write_request("DELETE", self._url(slug, lang, purge=query)), responses.parse_done)
        forget_written(self.settings.base_url, slug)

    async def apreview_faq(self, slug: str, *, lang: str | None = None) -> Preview:
        """Return a preview token as `preview_faq` does."""
        request = write_request("POST", self._url(slug, lang, "/preview"))
        return await self._send(request, partial(responses.parse_struct, struct=Preview))

    async def aget_revision(
        self, slug: str, number: int, *, lang: str | None = None
    ) -> responses.StoredRevision:
        """Return a revision as `get_revision` does."""
        url = self._url(slug, lang, f"/revisions/{_number(number)}")
        return await self._send(owner_request(url), responses.parse_revision)

    async def anewest_revision(self, slug: str, *, lang: str | None = None) -> responses.StoredRevision:
        """Return the newest revision as `newest_revision` does."""
        for _ in range(MAX_READS):
            newest = await self._newest_entry(slug, lang)
            found = await self.aget_revision(slug, newest.revision, lang=lang)
            if found.state == newest.state:
                break  # else somebody has written: an old revision looks like an unpublished FAQ
        return found

    async def _newest_entry(self, slug: str, lang: str | None) -> Revision:
        async with aclosing(self._revisions(slug, lang, limit=10)) as entries:
            async for entry in entries:
                if not entry.discarded:
                    return entry
        raise FAQNotFound(f"the FAQ {quoted(slug)} has no revision")

    async def arevisions(self, slug: str, *, lang: str | None = None) -> list[Revision]:
        """Return the history as `revisions` does."""
        return [entry async for entry in self._revisions(slug, lang, limit=MAX_LIMIT)]

    def _revisions(self, slug: str, lang: str | None, *, limit: int) -> AsyncGenerator[Revision, None]:
        url = self._url(slug, None, "/revisions")
        return self._entries(url, RevisionList, limit=str(limit), lang=_supported(lang))

    async def alist_faqs(
        self, *, text: str | None = None, state: State | None = None, lang: str | None = None
    ) -> list[FAQSummary]:
        """List FAQs as `list_faqs` does."""
        # An FAQ that is changed meanwhile is on a later page again.
        query = {"limit": str(MAX_LIMIT), "q": text, "state": state, "lang": _supported(lang)}
        entries = self._entries(self.settings.base_url + LIST_PATH, FAQList, **query)
        newest = {entry.slug: entry async for entry in entries}
        return sorted(newest.values(), key=lambda entry: (entry.updated_at, entry.slug), reverse=True)

    async def _entries(self, url: str, struct: type[Any], **query: str | None) -> AsyncGenerator[Any, None]:
        """Yield the entries of all pages of a list."""
        after, seen = None, set[str | None]()
        while after not in seen:  # else the service sends the same pages again and again
            seen.add(after)
            request = owner_request(with_query(url, after=after, **query))
            page = await self._send(request, partial(responses.parse_struct, struct=struct))
            for entry in page.items:
                yield entry
            if page.next is None or not page.items:
                return
            after = page.next

    async def agenerate_faq(
        self, website_url: str, **options: Unpack[GenerateFields]
    ) -> list[responses.GeneratedItem]:
        """Generate as `generate_faq` does."""
        request = generate_request(self.settings.base_url, website_url, **options)
        return await self._send(request, responses.parse_generation, timeout=self._generation_timeout)

    def _url(self, slug: str, lang: str | None, rest: str = "", **query: str | None) -> str:
        """Return the address of an FAQ, or of `rest` below it; None is the default language."""
        if not is_slug(slug):
            raise invalid_slug(slug)
        return faq_url(self.settings.base_url, slug, rest, lang=_supported(lang), **query)

    def _language(self, lang: str | None) -> str | None:
        """Return the language of a read; without `strict`, the setting `lang` replaces an unsupported one."""
        language = _supported(lang) if self.settings.strict else lookup(lang if isinstance(lang, str) else "")
        return language or self.settings.lang

    async def _send(
        self, request: Request, parse: Parse[T], *, is_public: bool = False, timeout: float | None = None
    ) -> T:
        """Send a request once, with the API key unless it `is_public`, and return the parsed response.

        A Ctrl-C, or cancelling the task that awaits it, cancels the request.
        """
        key = None if is_public else self.settings.api_key
        if key is None and not is_public:
            raise AuthenticationError(_NO_KEY)
        work = self._exchange(request, parse, key, timeout or self.settings.timeout)
        try:
            future = self._background.submit(work)
        except (RuntimeError, OSError) as error:  # OSError: too many open files
            work.close()
            raise FAQUnavailable(f"cannot start a thread to send with: {error}") from None
        try:
            if self._blocks:
                wait_for(future)
                outcome = future.result()
            else:
                outcome = await asyncio.wrap_future(future)
        except (CancelledError, asyncio.CancelledError):
            if not self._blocks and (task := asyncio.current_task()) is not None and task.cancelling():
                raise
            outcome = _failed(request, "the client was closed during the request")
        except BaseException:
            future.cancel()
            raise
        if isinstance(outcome, FAQError):
            raise outcome
        return outcome

    async def _exchange(
        self, request: Request, parse: Parse[T], key: APIKey | None, timeout: float
    ) -> T | FAQError:
        """Return the parsed response to a request, or an error."""
        about = f"{request.method} {request.url}"
        if self.settings.offline:
            return FAQUnavailable(f"offline: {about} is not sent")
        try:
            response = await self._transport.send(request, timeout, key=key)
            if isinstance(response, FAQError):
                return _masked(response, key)
            return parse(response if key is None else responses.masked(response, key), datetime.now(UTC))
        except Exception as error:  # a bug of this package: the log must not show the key
            text = "".join(traceback.format_exception(error))
            logger.error("%s failed:\n%s", about, key.mask(text) if key else without_keys(text))
            return _failed(request, f"{about} failed: {type(error).__name__}; the log has the traceback")


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


def _failed(request: Request, message: str) -> FAQError:
    """Return the error for a request without a usable response. A write may have been done."""
    return FAQUnavailable(message) if request.method == "GET" else OutcomeUnknown(message)


def _masked(error: FAQError, key: APIKey | None) -> FAQError:
    """Return an error of the HTTP client with the key masked in its message."""
    copied = error.without_traceback()
    if key is not None:
        copied.args = (key.mask(str(error)),)
    return copied
