"""`FAQEmbed`, the main class: it reads, caches and renders the FAQs of one source for one host."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, NoReturn, Self, Unpack

from markupsafe import Markup

from faqsvc_embed.cache.reader import Reader, data_or_raise
from faqsvc_embed.cache.report import Health
from faqsvc_embed.errors import ConfigurationError, FAQUnavailable
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.document import DOCUMENT, Document
from faqsvc_embed.page.options import FROM_PYTHON, RenderOptions, UseOptions, check_schema_argument
from faqsvc_embed.page.page import NO_PAGE
from faqsvc_embed.page.presenter import Presenter
from faqsvc_embed.rendering import assets
from faqsvc_embed.runtime.threads import at_once, in_event_loop, to_thread
from faqsvc_embed.settings import PREFIX, EmbedOptions, Settings, changed, with_hidden_keys
from faqsvc_embed.sources import open_source

if TYPE_CHECKING:
    from opentelemetry.metrics import MeterProvider

HANDOVER: Final = 0.5
"""Seconds that `get_faq` waits beyond `timeout`, because the result comes from another thread."""
MAX_SHARED_EMBEDS: Final = 8
FAILED: Final = FAQState(error=FAQUnavailable("the FAQ cannot be read: the log has the traceback"))
"""What `use_faq()` returns instead of raising an exception that nobody expects."""


class FAQEmbed:
    """FAQs of a service, a folder or the host itself, cached and rendered for the pages of the host.

    Pass settings as keywords or as a `settings` object, or set them in the environment; keywords take
    precedence. An API key is ignored, because only `FAQClient` writes. Creating an embed opens no socket and
    starts no thread. To stop its background thread at once, use the embed as a context manager or call
    `close()`; otherwise the thread stops with the embed or with the process.

    Raises:
        ConfigurationError: a setting is invalid, none of `base_url`, `directory` and `source` is set, there
            is a `source` beside another, or a file of the folder is invalid.
    """

    def __init__(
        self,
        base_url: str | None = None,
        *,
        settings: Settings | None = None,
        **overrides: Unpack[EmbedOptions],
    ) -> None:
        given = with_hidden_keys({} if base_url is None else {"base_url": base_url})
        overrides = with_hidden_keys(overrides)
        del base_url  # tracebacks show local variables
        settings = changed(settings, {**overrides, **given}).replace(api_key=None)
        self.settings = settings
        self.reader: Final = Reader(settings, open_source(settings))
        """Reads FAQs through the cache. It is not part of the public API."""
        if not self.reader.source.is_local:
            # Pages import nothing: a child that is forked meanwhile would wait for ever for the module.
            from faqsvc_embed.rendering import markdown, templates

            markdown.load()
            templates.load()
        self.presenter: Final = Presenter(settings, self.reader)
        """Shows FAQs on pages; for adapters."""

    def __reduce__(self) -> NoReturn:
        raise TypeError("a FAQEmbed has threads and locks: create one in each process, and do not copy it")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def close(self) -> None:
        """Stop the background thread and close its connections, within a second; a later fetch starts one."""
        self.reader.fetcher.close()

    async def aclose(self) -> None:
        """Stop the background thread, as `close` does, without blocking the event loop."""
        if self.reader.fetcher.has_started:
            await to_thread(self.close)

    # Reading

    def use_faq(self, slug: str, **options: Unpack[UseOptions]) -> FAQState:
        """Return the state of an FAQ; if it is not cached, wait for it, at most `wait` seconds.

        The options are `lang`, `wait`, `section` and `questions`. A failure raises nothing: it is the `error`
        of the state. Within a page, the same FAQ has the same state, and all waits together take at most the
        setting `wait`. In an event loop, this does not wait.
        """
        presenter, call = self.presenter, (slug, options, FROM_PYTHON)
        return presenter.guarded(presenter.use_faq, *call, otherwise=FAILED, about=slug)

    async def ause_faq(self, slug: str, **options: Unpack[UseOptions]) -> FAQState:
        """Return the state of an FAQ, as `use_faq` does, without blocking the event loop."""
        presenter, call = self.presenter, (slug, options, FROM_PYTHON)
        return await presenter.aguarded(presenter.ause_faq, *call, otherwise=FAILED, about=slug)

    def get_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return an FAQ from the cache or from its source, waiting for as long as one request may take.

        Raises:
            FAQNotFound: there is none with this slug.
            FAQUnavailable: it is not cached, and the source does not respond, or did not respond a short
                time ago (backoff).
            InvalidFAQ: it is not cached, and the response is not an FAQ record.
        """
        if in_event_loop():
            self.presenter.resolver.log.warning(
                "get_faq", "get_faq() blocks the event loop while it waits: await aget_faq() instead"
            )
        return at_once(self._get_faq(slug, lang, blocks=True))

    async def aget_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return an FAQ, as `get_faq` does, without blocking the event loop."""
        return await self._get_faq(slug, lang, blocks=False)

    async def _get_faq(self, slug: str, lang: str | None, *, blocks: bool) -> FAQ:
        key = self.presenter.resolver.key(self.presenter.page(), slug, lang)
        found = self.reader.look_up(key, blocks=blocks)
        if not isinstance(found, FAQState):
            found = await self.reader.arrived(found, self.settings.timeout + HANDOVER, blocks=blocks)
        return data_or_raise(found)

    # Rendering

    def render(self, slug_or_faq: str | FAQ, **options: Unpack[RenderOptions]) -> Markup:
        """Return an FAQ as HTML with its JSON-LD, waiting as `use_faq` does; empty if there is none to show.

        The defaults of `lang`, `theme`, `show_title`, `heading_level`, `variant`, `look` and `exclusive` are
        the settings. `section` and `questions` (ids or texts) show a part. `schema=False` leaves out the
        JSON-LD, so that `schema()` can print it later. `nonce` is the nonce of the page's
        Content-Security-Policy. Problems are logged; they raise only if the setting `strict` is on.
        """
        presenter, call = self.presenter, (slug_or_faq, options, FROM_PYTHON)
        return presenter.guarded(
            presenter.render, *call, otherwise=Markup(), about=slug_or_faq, on_error=presenter.failed
        )

    async def arender(self, slug_or_faq: str | FAQ, **options: Unpack[RenderOptions]) -> Markup:
        """Return an FAQ as HTML, as `render` does, without blocking the event loop."""
        presenter, call = self.presenter, (slug_or_faq, options, FROM_PYTHON)
        return await presenter.aguarded(
            presenter.arender, *call, otherwise=Markup(), about=slug_or_faq, on_error=presenter.failed
        )

    def schema(self, *faqs: FAQ | FAQState | None, nonce: str | None = None) -> Markup:
        """Return one script element with the FAQPage of all `faqs`; empty if they have no questions.

        A state without data, and None in place of a record, are left out.

        Raises:
            ConfigurationError: an argument is neither an FAQ nor the result of `use_faq()`.
        """
        for faq in faqs:
            check_schema_argument("schema()", faq)
        return self.presenter.guarded(self.presenter.schema_of, faqs, nonce, otherwise=Markup())

    @contextmanager
    def page(self) -> Iterator[None]:
        """Make one document of all that is rendered in a `with` block: its styles are printed once."""
        outer, document = DOCUMENT.get(), Document(NO_PAGE, is_joined=True)
        DOCUMENT.set(document)
        try:
            yield
        finally:
            DOCUMENT.set(outer)
            document.is_over = True

    @staticmethod
    def csp_sources(html: str) -> dict[str, list[str]]:
        """Return the hashes of the package's inline styles and script in `html`, by directive.

        Use them in a Content-Security-Policy without nonces. `html` may be a whole page.
        """
        return assets.csp_sources(html)

    # Prefetching, forgetting and monitoring

    def prefetch(self, *slugs: str, lang: str | None = None) -> None:
        """Fetch all FAQs that are not cached at the same time; wait at most `wait` for all of them.

        Failures are logged. A value that cannot be a slug raises if the setting `strict` is on. In an event
        loop, this starts the fetches and does not wait: await `aprefetch()` there.
        """
        if in_event_loop():
            self.presenter.resolver.log.warning(
                "prefetch", "prefetch() does not wait in an event loop: await aprefetch() instead"
            )
        self.presenter.guarded(self.presenter.prefetch, slugs, lang, otherwise=None)

    async def aprefetch(self, *slugs: str, lang: str | None = None) -> None:
        """Fetch the FAQs that are not cached, as `prefetch` does, without blocking the event loop."""
        await self.presenter.aguarded(self.presenter.aprefetch, slugs, lang, otherwise=None)

    def forget(self, slug: str | None = None) -> None:
        """Remove `slug` in every language, or all FAQs, from memory and store: the next call fetches it.

        If there is a store, this call waits up to half a second for it. Redis tells the other processes.

        Raises:
            ConfigurationError: `slug` is not text.
        """
        if not isinstance(slug, str | None):
            raise ConfigurationError(f"forget() takes a slug, not {type(slug).__name__}")
        self.reader.forget(slug)

    def instrument(self, meter_provider: "MeterProvider | None" = None) -> None:
        """Report metrics through OpenTelemetry; by default to the meter provider of the process.

        Raises:
            ModuleNotFoundError: `opentelemetry-api` is not installed; the extra `telemetry` installs it.
        """
        from faqsvc_embed.cache.metrics import instruments_of

        instruments_of(meter_provider).observe(self.reader)

    def health(self) -> list[Health]:
        """Return the state of each cached FAQ, sorted by slug and language, without any request."""
        return self.reader.health()


def embed_of(owner: str, embed: object, options: Mapping[str, Any]) -> FAQEmbed:
    """Return the embed that an adapter got, or create one from its settings and the environment.

    Raises:
        ConfigurationError: a setting is invalid, there are settings beside an `embed`, or `embed` is not one.
    """
    if embed is None:
        return FAQEmbed(settings=Settings.from_env(**options))
    if options:
        names = ", ".join(options)
        raise ConfigurationError(f"{owner} got an embed and {names}: pass these to FAQEmbed")
    if not isinstance(embed, FAQEmbed):
        hint = ": pass it as base_url=…" if isinstance(embed, str) else ""
        raise ConfigurationError(f"{owner} takes a FAQEmbed, not {type(embed).__name__}{hint}")
    return embed


def get_faq(slug: str, lang: str | None = None, *, base_url: str | None = None) -> FAQ:
    """Return the FAQ with a slug from the service at `base_url`, by default FAQSVC_BASE_URL.

    It works like `getFAQ` in JavaScript, and caches records as an embed does.

    Raises:
        FAQNotFound, FAQUnavailable, InvalidFAQ: as `FAQEmbed.get_faq()`.
        ConfigurationError: there is no base URL.
    """
    return _shared_embed(base_url).get_faq(slug, lang=lang)


async def aget_faq(slug: str, lang: str | None = None, *, base_url: str | None = None) -> FAQ:
    """Return the FAQ with a slug, as `get_faq` does, without blocking the event loop."""
    return await _shared_embed(base_url).aget_faq(slug, lang=lang)


def _shared_embed(base_url: str | None) -> FAQEmbed:
    """Return the embed that the functions share for a service, or for the source in the environment."""
    names = ("BASE_URL", "DIRECTORY", "SOURCE")
    return _make_shared_embed(base_url, tuple(os.environ.get(PREFIX + name) for name in names))


@lru_cache(maxsize=MAX_SHARED_EMBEDS)
def _make_shared_embed(base_url: str | None, _: tuple[str | None, ...]) -> FAQEmbed:
    return FAQEmbed(base_url)
