"""Plain REST: read an FAQ as it is now, publish one, have one generated. No copies are held here."""

from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import CancelledError, Future, wait
from datetime import UTC, datetime
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from faqsvc_embed.api import publish_response as replies
from faqsvc_embed.api import publishing
from faqsvc_embed.api.publishing import Suggestion
from faqsvc_embed.api.reading import Found, Reply, Request, is_slug, not_a_slug, read_request, understand
from faqsvc_embed.errors import (
    AuthenticationError,
    ConfigurationError,
    FAQError,
    FAQUnavailable,
    Unanswered,
    quoted,
)
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.models import FAQ, Item, Publication
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import APIKey, sealed

T = TypeVar("T")

GENERATION_TIMEOUT: Final = 60.0
"""Seconds that generation may take where `timeout` has its default: it reads a website first."""
LONGEST_WAIT: Final = 0.5
"""Seconds after which a thread that waits for an answer wakes, and waits again."""


class FAQClient:
    """The REST interface of one service, sync and async: every method has a twin that begins with `a`.

    Settings come as keywords, from the environment, or whole as `settings`; a keyword wins. Of them count
    `base_url`, `api_key`, `lang`, `timeout`, `max_bytes`, `offline` and `strict`. One client serves many
    threads and event loops; making one opens no socket and starts no thread.

    Every request is sent once, and nothing is held: a read after a write is never older than the write.
    An embed in the same process holds its copy until `embed.forget(slug)`.

    Raises:
        ConfigurationError: a setting has a value that it cannot have, or `base_url` is not set.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | APIKey | None = None,
        *,
        settings: Settings | None = None,
        **overrides: Any,
    ) -> None:
        overrides = sealed({**overrides, **({} if api_key is None else {"api_key": api_key})})
        del api_key  # tracebacks show local variables
        if base_url is not None:
            overrides["base_url"] = base_url
        if settings is None:
            settings = Settings.from_env(**overrides)
        elif overrides:
            settings = settings.with_(**overrides)
        if not settings.base_url:
            raise ConfigurationError(
                "base_url is not set: pass FAQClient(base_url=…) or set FAQSVC_BASE_URL "
                "to the address of the FAQ service, such as https://faq.example.com"
            )
        self.settings = settings
        # Imported here: who only imports the package needs neither asyncio nor an HTTP client.
        from faqsvc_embed.api.transport import Transport

        self._transport = Transport(settings.max_bytes)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.aclose()

    def close(self) -> None:
        """End the background thread and its connections within a second; a later call starts anew."""
        self._transport.close()

    async def aclose(self) -> None:
        """End as `close` does, without holding the event loop up."""
        import asyncio

        await asyncio.get_running_loop().run_in_executor(None, self.close)

    # Reading

    def get_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return an FAQ as the service has it now; caches on the way are asked to make sure.

        Raises:
            FAQNotFound: there is none of this slug.
            FAQUnavailable: the service could not be asked, or gave no answer within `timeout`.
            InvalidFAQ: what it sent is no FAQ.
        """
        return self._wait(self._read(slug, lang))

    async def aget_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return or raise what `get_faq` does, without holding the event loop up."""
        return await self._await(self._read(slug, lang))

    # Writing

    def publish_faq(
        self,
        *,
        website_url: str,
        website_name: str,
        items: Iterable[Any],
        lang: str | None = None,
        title: str | None = None,
        slug: str | None = None,
        idempotency_key: str | None = None,
    ) -> Publication:
        """Publish questions and answers: `Item`s, mappings with both, or (question, answer) pairs.

        With the `slug` of an FAQ that this key owns, its contents in `lang` are replaced. It is sent once:
        whether an attempt that ended without an answer succeeded is not known, and another with the same
        `idempotency_key`, 1 to 255 visible ASCII characters, publishes nothing twice.

        Raises:
            PublishRejected: it was refused, here before anything was sent or by the service (400, 409, 413,
                415, 422); `problems` has every reason, each with the item's number.
            AuthenticationError: there is no API key, or the service does not accept it (401, 403).
            FAQNotFound: there is no FAQ of this `slug` to replace (404).
            RateLimited: too many writes (429); `retry_after` says when to try again.
            FAQUnavailable: the service could not be asked, or gave no usable answer within `timeout`; as
                `errors.Unanswered`, it may have been published.
        """
        return self._wait(
            self._publish(
                website_url=website_url,
                website_name=website_name,
                items=items,
                lang=lang,
                title=title,
                slug=slug,
                idempotency_key=idempotency_key,
            )
        )

    async def apublish_faq(
        self,
        *,
        website_url: str,
        website_name: str,
        items: Iterable[Any],
        lang: str | None = None,
        title: str | None = None,
        slug: str | None = None,
        idempotency_key: str | None = None,
    ) -> Publication:
        """Return or raise what `publish_faq` does, without holding the event loop up."""
        return await self._await(
            self._publish(
                website_url=website_url,
                website_name=website_name,
                items=items,
                lang=lang,
                title=title,
                slug=slug,
                idempotency_key=idempotency_key,
            )
        )

    def generate_faq(
        self, website_url: str, *, lang: str | None = None, count: int | None = None, topic: str | None = None
    ) -> list[Item]:
        """Return questions and answers that the service finds for a website; nothing is stored.

        At most `count` of them, about `topic`, in `lang`. Each has, beyond an `Item`, a `source`: where on
        the website it comes from. It may take a minute, or `timeout` where that is another than by default.

        Raises:
            PublishRejected, AuthenticationError, FAQNotFound, RateLimited, FAQUnavailable: as `publish_faq`;
                404 if the service generates none.
        """
        return self._wait(self._generate(website_url, lang, count, topic))

    async def agenerate_faq(
        self, website_url: str, *, lang: str | None = None, count: int | None = None, topic: str | None = None
    ) -> list[Item]:
        """Return or raise what `generate_faq` does, without holding the event loop up."""
        return await self._await(self._generate(website_url, lang, count, topic))

    # What each of these sends. Local mistakes are raised here, before anything runs in the background.

    def _read(self, slug: str, lang: str | None) -> Coroutine[Any, Any, FAQ | FAQError]:
        if not is_slug(slug):
            raise not_a_slug(slug)
        request = read_request(self.settings.base_url, slug, self._language(lang))
        request = Request(request.url, {**request.headers, "cache-control": "no-cache"})

        def answer(reply: Reply) -> FAQ | FAQError:
            outcome = understand(reply, slug, now=datetime.now(UTC))
            if isinstance(outcome, Found):
                return outcome.faq
            return getattr(outcome, "error", None) or FAQUnavailable("not modified, but nothing is held")

        return self._exchange(request, answer, f"for {slug!r}")

    def _publish(
        self, *, idempotency_key: str | None, **fields: Any
    ) -> Coroutine[Any, Any, Publication | FAQError]:
        key = self._key()
        body = publishing.publication(**fields, idempotency_key=idempotency_key)
        request = publishing.publish_request(self.settings.base_url, body, idempotency_key)

        def answer(reply: Reply) -> Publication | FAQError:
            return replies.published(reply, key, datetime.now(UTC))

        async def exchange() -> Publication | FAQError:
            outcome = await self._exchange(request, answer, "for the publication", key)
            return replies.unsure(outcome, idempotency_key) if isinstance(outcome, Unanswered) else outcome

        return exchange()

    def _generate(
        self, website_url: str, lang: str | None, count: int | None, topic: str | None
    ) -> Coroutine[Any, Any, list[Item] | FAQError]:
        key = self._key()
        body = publishing.generation(website_url, lang=lang, count=count, topic=topic)
        request = publishing.generate_request(self.settings.base_url, body)

        def answer(reply: Reply) -> list[Item] | FAQError:
            items: list[Suggestion] | FAQError = replies.generated(reply, key, datetime.now(UTC))
            return items if isinstance(items, FAQError) else [*items]

        return self._exchange(request, answer, "for the generation", key, self._generation_timeout())

    def _key(self) -> APIKey:
        if self.settings.api_key is None:
            raise AuthenticationError(
                "there is no API key: set FAQSVC_API_KEY, or pass FAQClient(api_key=…); keys are made in the "
                "service's dashboard under Developer, API Keys & Integrations, or by `faqsvc keys create`"
            )
        return self.settings.api_key

    def _language(self, lang: str | None) -> str | None:
        if lang is None:
            return self.settings.lang
        language = lookup(lang) if isinstance(lang, str) else None
        if language is None and self.settings.strict:
            raise ConfigurationError(f"lang is {quoted(lang)}: one of {', '.join(LANGUAGES)} is accepted")
        return language or self.settings.lang

    def _generation_timeout(self) -> float:
        timeout = self.settings.timeout
        return timeout if timeout != Settings().timeout else GENERATION_TIMEOUT

    # How it is sent. What comes back is a value, an error too, so that no traceback leads to where the
    # answer or the key was.

    async def _exchange(
        self,
        request: Request,
        answer: Callable[[Reply], T | FAQError],
        about: str,
        key: APIKey | None = None,
        timeout: float | None = None,
    ) -> T | FAQError:
        if self.settings.offline:
            return FAQUnavailable(f"offline: no request {about} is made")
        try:
            timeout = self.settings.timeout if timeout is None else timeout
            reply = await self._transport.ask(request, timeout=timeout, about=about, key=key)
            return _masked(reply, key) if isinstance(reply, FAQError) else answer(reply)
        except Exception as error:  # whatever a server can provoke
            kind = FAQUnavailable if key is None else Unanswered
            return kind(f"the exchange failed: {type(error).__name__}")

    def _wait(self, work: Coroutine[Any, Any, T | FAQError]) -> T:
        future = self._start(work)
        try:
            while not future.done():  # a Ctrl-C just before a wait is noticed at its end
                wait([future], timeout=LONGEST_WAIT)
            answer = future.result()
        except CancelledError:
            answer = FAQUnavailable("the client was closed meanwhile")
        except BaseException:  # Ctrl-C ends the request too
            future.cancel()
            raise
        return _or_raise(answer)

    async def _await(self, work: Coroutine[Any, Any, T | FAQError]) -> T:
        import asyncio

        future = self._start(work)
        try:
            answer = await asyncio.wrap_future(future)  # cancelled with the one who waits
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is None or task.cancelling():
                raise
            answer = FAQUnavailable("the client was closed meanwhile")
        return _or_raise(answer)

    def _start(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        try:
            return self._transport.run(work)
        except RuntimeError as error:
            work.close()
            raise FAQUnavailable(f"no thread to send with: {error}") from None


def _masked(error: FAQError, key: APIKey | None) -> FAQError:
    """A client's library quotes what a server sent, which may be the key that it was sent."""
    if key is None:
        return error
    kind = Unanswered if isinstance(error, Unanswered) else FAQUnavailable
    return kind(key.mask(str(error)), status=error.status, retry_after=error.retry_after)


def _or_raise(answer: T | FAQError) -> T:
    if isinstance(answer, FAQError):
        raise answer
    return answer
