"""The facade: what a host calls. It joins freshness, fetching and rendering, and decides nothing else."""

import os
from collections.abc import Mapping
from functools import cache
from types import TracebackType
from typing import Any, Final, Self

from markupsafe import Markup

from faqsvc_embed.cache.entries import Cache, Key
from faqsvc_embed.cache.reader import Fetches, Health, Reader, data_or_raise, in_event_loop
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.events import Listener, Listeners
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page import context as pages
from faqsvc_embed.page.context import Page
from faqsvc_embed.page.options import Wishes
from faqsvc_embed.page.presenter import Showing
from faqsvc_embed.rendering.renderer import script_element
from faqsvc_embed.settings import UNSET, Settings
from faqsvc_embed.settings.api_key import PREFIX, sealed
from faqsvc_embed.settings.validators import Variant
from faqsvc_embed.theme import Theme

GRACE: Final = 0.5
"""Seconds beyond `timeout` that `get_faq` waits for the answer to be handed over."""


class FAQEmbed:
    """FAQs of one service, for the pages of one host.

    Settings come as keywords, from the environment, or whole as `settings`; a keyword wins. Making one
    opens no socket and starts no thread. Use it as a context manager, or call `close()`, to end its
    background thread at once; without, the thread ends when nobody holds the embed, or with the process.

    Raises:
        ConfigurationError: a setting has a value that it cannot have, or `base_url` is not set.
    """

    def __init__(
        self, base_url: str | None = None, *, settings: Settings | None = None, **overrides: Any
    ) -> None:
        overrides = sealed(overrides)
        if base_url is not None:
            overrides["base_url"] = base_url
        if settings is None:
            settings = Settings.from_env(**overrides)
        elif overrides:
            settings = settings.with_(**overrides)
        if not settings.base_url:
            raise ConfigurationError(
                "base_url is not set: pass base_url=…, or set FAQSVC_BASE_URL, in the environment or in "
                "Flask's config, to the address of the FAQ service, such as https://faq.example.com"
            )
        self.settings = settings
        self.cache = _cache(settings)
        self._wishes = Wishes(settings)
        self._listeners = Listeners()
        self._reader = Reader(settings, self.cache, self._listeners)
        self.showing = Showing(settings, self._reader, self._wishes)
        self.is_ready = False

    def serve_from(self, fetcher: Fetches) -> None:
        """Fetch by other means than the network, as `faqsvc_embed.testing` does; nothing is held any more."""
        self._reader.fetch_by(fetcher)

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
        """End the background thread and its connections within a second; a later fetch starts anew."""
        self._reader.close()

    async def aclose(self) -> None:
        """End as `close` does, without holding the event loop up."""
        import asyncio

        await asyncio.get_running_loop().run_in_executor(None, self.close)

    def get_ready(self) -> None:
        """Do once, before the first page, what takes long and would hold an event loop up; for leaves."""
        self.showing.get_ready()
        self._reader.get_ready()
        self.is_ready = True

    # Reading: the hook, and the plain function on top of it

    def use_faq(self, slug: str, *, lang: str | None = None, wait: float | None = None) -> FAQState:
        """Return what is known of an FAQ; if nothing is held, wait for it, at most `wait` seconds.

        Never raises for what the service does: see `error`. Within a page, the same FAQ gives the same
        snapshot, and all waits together stay within `wait`.
        """
        page = pages.current()
        return self.use_faq_on(page, slug, lang, wait)

    async def ause_faq(self, slug: str, *, lang: str | None = None, wait: float | None = None) -> FAQState:
        """Return what `use_faq` does, waiting without holding the event loop up."""
        page = pages.current()
        return await self.ause_faq_on(page, slug, lang, wait)

    def use_faq_on(
        self, page: Page | None, slug: str, lang: str | None = None, wait: float | None = None
    ) -> FAQState:
        """Return what `use_faq` does, on a page at hand; for leaves."""
        key = Key(slug, self._wishes.language(lang, page))
        wait = self.settings.wait if wait is None else wait
        return self._reader.read(key, 0 if in_event_loop() else wait, page)

    async def ause_faq_on(
        self, page: Page | None, slug: str, lang: str | None = None, wait: float | None = None
    ) -> FAQState:
        """Return what `ause_faq` does, on a page at hand; for leaves."""
        key = Key(slug, self._wishes.language(lang, page))
        return await self._reader.aread(key, self.settings.wait if wait is None else wait, page)

    def get_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return an FAQ, held or fetched; if nothing is held, wait for it as long as one request may take.

        Raises:
            FAQNotFound: there is none of this slug.
            FAQUnavailable: nothing is held, and the service could not be asked or gave no answer.
            InvalidFAQ: nothing is held, and what the service sent is no FAQ.
        """
        if in_event_loop():
            self._wishes.warn("get_faq() holds the event loop up while it waits: await aget_faq() instead")
        key = Key(slug, self._wishes.language(lang, pages.current()))
        return data_or_raise(self._reader.read(key, self.settings.timeout + GRACE))

    async def aget_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return or raise what `get_faq` does, waiting without holding the event loop up."""
        key = Key(slug, self._wishes.language(lang, pages.current()))
        return data_or_raise(await self._reader.aread(key, self.settings.timeout + GRACE))

    # Showing

    def render(
        self,
        slug_or_faq: str | FAQ,
        *,
        lang: str | None = None,
        theme: Theme | Mapping[str, Any] | None = None,
        show_title: bool | None = None,
        heading_level: int | None = UNSET,
        schema: bool = True,
        nonce: str | None = None,
        variant: Variant | None = None,
        exclusive: bool | None = None,
    ) -> Markup:
        """Return an FAQ as HTML with its JSON-LD, waiting as `use_faq` does; empty if there is none to show.

        What is not given is as in the settings. Within a request, what stands on its page already is not
        printed again, and `schema=False` leaves the JSON-LD to a `faq_schema()` in the template. Outside of
        one, each call is a page of its own: for several FAQs with one FAQPage, render them with
        `schema=False` and print `schema(*faqs)`. Whatever goes wrong is logged, and raised only if `strict`
        is set.
        """
        page = pages.current() or Page()
        return self.showing.render(
            page,
            slug_or_faq,
            lang=lang,
            theme=theme,
            show_title=show_title,
            heading_level=heading_level,
            schema=schema,
            nonce=nonce,
            variant=variant,
            exclusive=exclusive,
        )

    async def arender(
        self,
        slug_or_faq: str | FAQ,
        *,
        lang: str | None = None,
        theme: Theme | Mapping[str, Any] | None = None,
        show_title: bool | None = None,
        heading_level: int | None = UNSET,
        schema: bool = True,
        nonce: str | None = None,
        variant: Variant | None = None,
        exclusive: bool | None = None,
    ) -> Markup:
        """Return what `render` does, waiting without holding the event loop up."""
        page = pages.current() or Page()
        return await self.showing.arender(
            page,
            slug_or_faq,
            lang=lang,
            theme=theme,
            show_title=show_title,
            heading_level=heading_level,
            schema=schema,
            nonce=nonce,
            variant=variant,
            exclusive=exclusive,
        )

    def schema(self, *faqs: FAQ, nonce: str | None = None) -> Markup:
        """Return one script element with the FAQPage of all `faqs`; empty if they have no question."""
        shown = [self.showing.answers.marked_up(faq) for faq in faqs]
        nonce = self._wishes.nonce(nonce)
        return Markup(script_element(shown, nonce).lstrip())  # noqa: S704  # the serialiser made it safe

    def csp_sources(self, html: str | None = None) -> dict[str, list[str]]:
        """Return what a Content-Security-Policy without nonces has to allow, by directive.

        These are the hashes of our inline styles, and of our script if there is one: in `html`, which may
        be a whole page, or without it on the page that is being made, as far as it is.
        """
        from faqsvc_embed.rendering.csp import ours_in, sources_of  # for the few hosts with such a policy

        if html is not None:
            return sources_of(ours_in(html))
        page = pages.current()
        return sources_of(page.inline_elements() if page is not None else ())

    # Looking ahead, and looking after

    def prefetch(self, *slugs: str, lang: str | None = None) -> None:
        """Fetch what is not held, all at once, waiting at most one `wait` for all; what fails is logged.

        In an event loop it begins and does not wait: there, await `aprefetch()`.
        """
        together = pages.current() or Page()
        keys = [Key(slug, self._wishes.language(lang, together)) for slug in slugs]
        for key in keys:
            self._reader.look_up(key)
        if in_event_loop():
            self._wishes.warn("prefetch() does not wait in an event loop: await aprefetch() instead")
            return
        for key in keys:
            self._reader.read(key, together.left(self.settings.wait), together)

    async def aprefetch(self, *slugs: str, lang: str | None = None) -> None:
        """Do what `prefetch` does, waiting without holding the event loop up."""
        together = pages.current() or Page()
        keys = [Key(slug, self._wishes.language(lang, together)) for slug in slugs]
        for key in keys:
            self._reader.look_up(key)
        for key in keys:
            await self._reader.aread(key, together.left(self.settings.wait), together)

    def forget(self, slug: str | None = None) -> None:
        """Drop what is held of `slug` in every language, or of all FAQs: the next call asks the service."""
        self._reader.forget(slug)

    def listen(self, listener: Listener) -> None:
        """Call `listener` with an `FAQEvent` at the end of each fetch from here on, for metrics.

        It is called in our background thread, and fetching waits for it: it should return at once. What it
        raises is logged once, and otherwise ignored. A fetch that closing ends, or whose FAQ was forgotten
        meanwhile, tells nothing.
        """
        self._listeners.add(listener)

    @property
    def is_fetching(self) -> bool:
        """Some FAQ is being fetched now."""
        return self._reader.is_fetching

    def health(self) -> list[Health]:
        """Return what is known of each FAQ that was asked for, by slug and language; asks nobody."""
        return self._reader.health()


def _cache(settings: Settings) -> Cache:
    return Cache(
        fresh_for=settings.fresh_for,
        keep_for=None if settings.offline else settings.keep_for,  # nothing newer can come
        not_found_for=settings.not_found_for,
        max_entries=settings.max_entries,
    )


def get_faq(slug: str, lang: str | None = None, *, base_url: str | None = None) -> FAQ:
    """Return the FAQ of a slug from the service at `base_url`, or at FAQSVC_BASE_URL: `getFAQ`.

    Copies are held for the process, as an embed of these settings would.

    Raises:
        FAQNotFound, FAQUnavailable, InvalidFAQ: as `FAQEmbed.get_faq()`.
        ConfigurationError: there is no base address.
    """
    return _shared(base_url or os.environ.get(f"{PREFIX}BASE_URL")).get_faq(slug, lang=lang)


async def aget_faq(slug: str, lang: str | None = None, *, base_url: str | None = None) -> FAQ:
    """Return or raise what `get_faq` does, without holding the event loop up."""
    return await _shared(base_url or os.environ.get(f"{PREFIX}BASE_URL")).aget_faq(slug, lang=lang)


@cache
def _shared(base_url: str | None) -> FAQEmbed:
    return FAQEmbed(base_url)
