"""The client of an FAQ service: its settings, and the methods of `methods` for callers that wait."""

from collections.abc import Callable, Coroutine
from functools import wraps
from inspect import signature
from typing import Any, Concatenate, ParamSpec, Self, TypeVar, Unpack

from faqsvc_embed.client.connection import Connection
from faqsvc_embed.client.methods import AsyncMethods
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.runtime.threads import at_once, to_thread
from faqsvc_embed.settings import Settings, changed, with_hidden_keys
from faqsvc_embed.settings import validators as accept
from faqsvc_embed.settings.api_key import MALFORMED, NOT_A_KEY, APIKey
from faqsvc_embed.settings.options import ClientOptions

P = ParamSpec("P")
T = TypeVar("T")


def _blocking(
    method: Callable[Concatenate[AsyncMethods, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate["FAQClient", P], T]:
    """Return the twin of an asynchronous method, which waits for its result by blocking the thread."""

    @wraps(method)
    def call(client: "FAQClient", /, *args: P.args, **kwargs: P.kwargs) -> T:
        return at_once(method(client._waiting, *args, **kwargs))

    call.__name__ = method.__name__.removeprefix("a")
    call.__qualname__ = f"FAQClient.{call.__name__}"
    call.__module__ = __name__
    # FastAPI looks through wrappers, and would await the result.
    del call.__wrapped__
    call.__signature__ = signature(method)  # type: ignore[attr-defined]
    return call


class FAQClient(AsyncMethods):
    """The REST interface of one service; every method has an `async` twin that begins with `a`.

    Settings are keywords, `FAQSVC_` environment variables, or one `settings` value; keywords win. With an API
    key, `base_url` must use https, unless its host is this machine or named in `insecure_hosts`.
    `generate_faq` may take `generation_timeout` seconds. Threads and event loops can share a client;
    creating one opens no socket and starts no thread.

    Every request is sent once and nothing is cached, so a read sees every earlier write. Embeds of the same
    service in this process forget an FAQ after a write has changed it.

    Besides the errors that a method lists, methods that need the API key raise `AuthenticationError` (the key
    is missing, not accepted, or lacks the scope), `RateLimited` and `FAQUnavailable`. A write that was sent
    and got no response raises `errors.OutcomeUnknown`. The `code` of an error is the code that the service
    sent, such as `gone`.

    Raises:
        ConfigurationError: a setting is invalid, `base_url` is not set, or the key would be sent in clear.
    """

    def __init__(
        self,
        base_url: str | None = None,
        api_key: str | APIKey | None = None,
        *,
        settings: Settings | None = None,
        generation_timeout: float = 60.0,
        **overrides: Unpack[ClientOptions],
    ) -> None:
        given = with_hidden_keys({"base_url": base_url, "api_key": api_key})
        overrides = with_hidden_keys(overrides)
        del base_url, api_key  # tracebacks show local variables
        given = {name: value for name, value in given.items() if value is not None}
        settings = changed(settings, {**overrides, **given})
        if settings.api_key == MALFORMED:
            raise ConfigurationError(f"api_key: {NOT_A_KEY}")
        if not settings.base_url:
            raise ConfigurationError(
                "base_url is not set: pass FAQClient(base_url=…) or set FAQSVC_BASE_URL "
                "to the address of the FAQ service, such as https://faq.example.com"
            )
        if settings.api_key is not None and accept.sends_in_clear(settings.base_url, settings.insecure_hosts):
            raise ConfigurationError(
                f"base_url is {quoted(settings.base_url)}: an API key is sent over https only; use https, or "
                f"name the host in insecure_hosts if its network is trusted"
            )
        try:
            timeout = accept.timeout(generation_timeout)
        except ValueError as error:
            raise ConfigurationError(f"generation_timeout is {quoted(generation_timeout)}: {error}") from None
        self._use(Connection(settings), timeout)

    def _use(self, connection: Connection, generation_timeout: float) -> None:
        super().__init__(connection, generation_timeout)
        self._waiting = AsyncMethods(connection.with_settings(self.settings, blocks=True), generation_timeout)

    def with_key(self, api_key: str | APIKey) -> Self:
        """Return a client with another API key over the same connections; closing either closes them.

        Raises:
            ConfigurationError: it is not an API key, or would be sent in clear.
        """
        key = accept.api_key(api_key)
        del api_key  # tracebacks show local variables
        client = type(self)(None, key, settings=self.settings, generation_timeout=self._generation_timeout)
        client._use(self._connection.with_settings(client.settings), self._generation_timeout)
        return client

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def close(self) -> None:
        """Close the connections and stop the background thread within a second; later calls restart it."""
        self._connection.close()

    async def aclose(self) -> None:
        """Close the client without blocking the event loop."""
        await to_thread(self.close)

    get_faq = _blocking(AsyncMethods.aget_faq)
    get_published = _blocking(AsyncMethods.aget_published)
    publish_faq = _blocking(AsyncMethods.apublish_faq)
    change_faq = _blocking(AsyncMethods.achange_faq)
    list_faqs = _blocking(AsyncMethods.alist_faqs)
    revisions = _blocking(AsyncMethods.arevisions)
    get_revision = _blocking(AsyncMethods.aget_revision)
    newest_revision = _blocking(AsyncMethods.anewest_revision)
    publish_revision = _blocking(AsyncMethods.apublish_revision)
    unpublish_faq = _blocking(AsyncMethods.aunpublish_faq)
    restore_faq = _blocking(AsyncMethods.arestore_faq)
    preview_faq = _blocking(AsyncMethods.apreview_faq)
    generate_faq = _blocking(AsyncMethods.agenerate_faq)
