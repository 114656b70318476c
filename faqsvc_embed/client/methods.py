"""The methods of a client: the requests that they send, and how the responses are parsed.

Invalid arguments are raised in the caller's thread, before anything is sent.
"""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from typing import Any, Final, Literal, Unpack

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
from faqsvc_embed.api.requests import Request, faq_url, get_request, read_request, with_query, write_request
from faqsvc_embed.api.responses import Fetched, parse_response
from faqsvc_embed.cache.reader import forget_written
from faqsvc_embed.client.connection import Connection
from faqsvc_embed.errors import ConfigurationError, FAQNotFound, FAQUnavailable, OutcomeUnknown, quoted
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.models.wire import Publication
from faqsvc_embed.settings import Settings

MAX_READS: Final = 5
"""Number of attempts to read the newest revision while others write."""


class AsyncMethods:
    """The asynchronous methods of a client. Over a connection that blocks, they await nothing (`at_once`)."""

    def __init__(self, connection: Connection, generation_timeout: float) -> None:
        self._connection = connection
        self._generation_timeout = generation_timeout
        self.settings: Settings = connection.settings

    async def aget_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return the current version of an FAQ. Caches on the way must revalidate their responses.

        Raises:
            FAQNotFound: there is no FAQ with this slug; FAQGone, if it was unpublished.
            FAQUnavailable: there was no usable response within `timeout` seconds.
            InvalidFAQ: the response is not an FAQ.
        """
        return (await self.aget_published(slug, lang=lang)).faq

    async def aget_published(self, slug: str, *, lang: str | None = None) -> Fetched:
        """Return the current version of an FAQ with its `revision` and `validators`, as `get_faq` does.

        Pass `validators.etag` as `if_match` of a write.
        """
        if not is_slug(slug):
            raise invalid_slug(slug)
        fresh, lang = {"cache-control": "no-cache"}, self._language(lang)
        request = read_request(self.settings.base_url, slug, lang, headers=fresh)
        outcome = await self._connection.send(
            request, lambda response, now: parse_response(response, request, slug, now), is_public=True
        )
        if isinstance(outcome, Fetched):
            return outcome
        raise getattr(outcome, "error", None) or FAQUnavailable("not modified")

    async def apublish_faq(self, **publication: Unpack[PublishFields]) -> Publication:
        """Publish an FAQ. Each item is an `Item`, a mapping, or a (question, answer) pair.

        `website_url`, `website_name` and `items` are required. With `slug`, this writes a new revision of
        that FAQ, or creates it; without, it creates an FAQ under a slug that the service chooses. `lang` is
        detected by default; `answer_format` is `text` or `markdown`. With `draft`, the revision is not
        published. `if_match` is the `etag` of a publication: this call fails if somebody has written since.
        `if_none_match="*"` only creates an FAQ, and fails if there is one.

        The request is sent once. If it ends without a response, the FAQ may have been published; with an
        `idempotency_key`, 1 to 255 visible ASCII characters, another attempt makes no second FAQ.

        Raises:
            PublishRejected: a field is invalid, or the service refused the FAQ (400, 409, 413, 415, 422);
                `problems` has every reason, with the index of the item.
            RevisionConflict: `if_match` is not the newest revision (412).
            FAQGone: the FAQ is in the bin, or was deleted for ever.
            OutcomeUnknown: there was no usable response within `timeout` seconds.
        """
        request = publish_request(self.settings.base_url, **publication)
        return await self._write(request, publication.get("slug"))

    async def achange_faq(self, slug: str, changes: Changes, **change: Unpack[ChangeFields]) -> Publication:
        """Change some questions of the newest revision; the others stay byte for byte as they are.

        `changes` are mappings, applied in order. Each names a question by its text, in any spelling, or by
        its `"id"`: `{"question", "answer"}` replaces the answer, `{"question", "newQuestion"}` renames it,
        `{"question", "remove": True}` removes it, `{"question", "section"}` moves it to the end of a section,
        `{"question", "after"}` after another question, and `{"question", "id"}` gives it an id.
        `{"question", "answer", "add": True}` adds a question, also with `"section"`, `"after"` and `"id"`.

        `if_match` is required: the `etag` of the revision that was read. `title`, `introduction` and
        `answer_format` are replaced too if they are given, and `changes` may then be empty; an empty
        `introduction` removes it. By default, `lang` is the default language of the FAQ. With `draft`, the
        revision is not published.

        Raises:
            PublishRejected: a change cannot be applied (422); none is, and `problems` has every reason. The
                `code` is `unknown-question` if no question has the name, and the reason has the closest ones.
            RevisionConflict: somebody has changed the FAQ since it was read (412); `current` has the newest
                revision with its items.
            FAQNotFound: the site has no such FAQ, or not in this language.
            OutcomeUnknown: there was no usable response within `timeout` seconds.
        """
        request = change_request(self._url(slug, change.get("lang")), changes, **change)
        return await self._write(request, slug)

    async def apublish_revision(self, slug: str, number: int, *, lang: str | None = None) -> Publication:
        """Publish a draft, or an earlier revision again under a new number, which undoes later ones.

        Raises:
            FAQNotFound: the site has no such revision.
        """
        url = self._url(slug, lang, f"/revisions/{_number(number)}/publish")
        return await self._write(write_request("POST", url), slug)

    async def _write(self, request: Request, slug: object) -> Publication:
        is_new = request.method == "POST" and bool(request.body)
        parse = partial(responses.parse_publication, accepted=(201,) if is_new else (200, 201))
        try:
            written = await self._connection.send(request, parse)
            if slug and not is_same_slug(written.slug, str(slug)):
                # A kept connection may carry a response to an earlier request.
                raise OutcomeUnknown(f"the response for FAQ {slug!r} is about {written.slug!r}")
        except OutcomeUnknown as error:
            raise responses.with_advice(error, request) if request.body else error from None
        forget_written(self.settings.base_url, written.slug)
        return written

    async def arestore_faq(self, slug: str) -> FAQSummary:
        """Bring an FAQ back from the bin, or publish again what was unpublished last, in every language.

        Raises:
            FAQNotFound: there is nothing to bring back.
        """
        request = write_request("POST", self._url(slug, None, "/restore"))
        restored = await self._connection.send(request, partial(responses.parse_struct, struct=FAQSummary))
        forget_written(self.settings.base_url, slug)
        return restored

    async def aunpublish_faq(
        self, slug: str, *, lang: str | None = None, purge: bool | Literal["now"] = False
    ) -> None:
        """Unpublish an FAQ, or its translation into `lang`, and keep the history.

        Readers get 410; those of a translation get another language, if one is still published.
        `purge=True` also moves it to the bin, from which `restore_faq` brings it back for 30 days.
        `purge="now"` is for deletion required by law: it deletes all texts for ever, and reserves the slug.

        Raises:
            FAQNotFound: the site has no such FAQ, or not in this language.
        """
        if purge not in (True, False, "now"):
            raise ConfigurationError(f"purge is {quoted(purge)}; use False, True or 'now'")
        query = {False: None, True: "true", "now": "now"}[purge]
        await self._connection.send(
            write_request("DELETE", self._url(slug, lang, purge=query)), responses.parse_done
        )
        forget_written(self.settings.base_url, slug)

    async def apreview_faq(self, slug: str, *, lang: str | None = None) -> Preview:
        """Return a token that shows the newest revision, which may be a draft, until `expires_at`.

        A page with `?faq_preview=TOKEN` shows it to the visitor who has the token.

        Raises:
            FAQNotFound: the site has no such FAQ, or not in this language.
        """
        request = write_request("POST", self._url(slug, lang, "/preview"))
        return await self._connection.send(request, partial(responses.parse_struct, struct=Preview))

    async def aget_revision(
        self, slug: str, number: int, *, lang: str | None = None
    ) -> responses.StoredRevision:
        """Return one revision with its content: a draft, the published one, or an earlier one.

        Raises:
            FAQNotFound: the site has no such revision.
        """
        url = self._url(slug, lang, f"/revisions/{_number(number)}")
        return await self._connection.send(get_request(url), responses.parse_revision)

    async def anewest_revision(self, slug: str, *, lang: str | None = None) -> responses.StoredRevision:
        """Return the newest revision, which may be a draft, as `get_revision` does."""
        for _ in range(MAX_READS):
            listed = await self._newest_entry(slug, lang)
            found = await self.aget_revision(slug, listed.revision, lang=lang)
            if found.state == listed.state:
                break  # else somebody has written between the two requests
        return found

    async def _newest_entry(self, slug: str, lang: str | None) -> Revision:
        async with aclosing(self._revisions(slug, lang, limit=10)) as entries:
            async for entry in entries:
                if not entry.discarded:
                    return entry
        raise FAQNotFound(f"the FAQ {quoted(slug)} has no revision")

    async def arevisions(self, slug: str, *, lang: str | None = None) -> list[Revision]:
        """Return the history of an FAQ in `lang` or its default language, newest first.

        Raises:
            FAQNotFound: the site has no such FAQ, or not in this language.
        """
        return [entry async for entry in self._revisions(slug, lang, limit=MAX_LIMIT)]

    def _revisions(self, slug: str, lang: str | None, *, limit: int) -> AsyncGenerator[Revision, None]:
        url = self._url(slug, None, "/revisions")
        return self._entries(url, RevisionList, limit=str(limit), lang=_supported(lang))

    async def alist_faqs(
        self, *, text: str | None = None, state: State | None = None, lang: str | None = None
    ) -> list[FAQSummary]:
        """Return the FAQs of the key's site, the last changed first.

        `text`, `state` and `lang` filter them: by a text in them, by their state and by their languages.
        """
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
            request = get_request(with_query(url, after=after, **query))
            page = await self._connection.send(request, partial(responses.parse_struct, struct=struct))
            for entry in page.items:
                yield entry
            if page.next is None or not page.items:
                return
            after = page.next

    async def agenerate_faq(
        self, website_url: str, **options: Unpack[GenerateFields]
    ) -> list[responses.GeneratedItem]:
        """Return questions and answers that the service finds on a website; nothing is stored.

        The options are `lang`, and `count`, the maximum number of items. Each item has a `source`:
        the address it comes from. The call takes at most `generation_timeout` seconds.

        Raises:
            PublishRejected: an option is invalid, or the website cannot be read (`unreadable-website`).
            FAQNotFound: the service does not generate FAQs.
        """
        request = generate_request(self.settings.base_url, website_url, **options)
        return await self._connection.send(
            request, responses.parse_generation, timeout=self._generation_timeout
        )

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
