"""The facade: what a host calls. It joins freshness, fetching and rendering, and decides nothing else."""

import logging
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import cache
from types import TracebackType
from typing import Any, Final, Self

from markupsafe import Markup

from faqsvc_embed import page as pages
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQUnavailable, quoted
from faqsvc_embed.freshness import Cache, Entry, Key
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.page import Page
from faqsvc_embed.reading import Fetches, Health, Reader, data_or_raise
from faqsvc_embed.records import FAQ, FAQState
from faqsvc_embed.rendering import Block, Look, Renderer, problem_element, script_element, stylesheet_name
from faqsvc_embed.settings import PREFIX, UNSET, Settings, sealed
from faqsvc_embed.settings import heading_level as checked_level
from faqsvc_embed.theme import Theme

logger = logging.getLogger("faqsvc_embed")

GRACE: Final = 0.5
"""Seconds beyond `timeout` that `get_faq` waits for the answer to be handed over."""
MOST_LOOKS: Final = 32
"""How many looks of one record are kept rendered; a host with more has themes by visitor."""


class FAQEmbed:
    """FAQs of one service, for the pages of one host.

    Settings come as keywords, from the environment, or whole as `settings`; a keyword wins. Making one
    opens no socket and starts no thread. Use it as a context manager, or call `close()`, to end its
    background thread in order; without, the thread ends with the process.

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
                "base_url is not set: pass FAQEmbed(base_url=…) or set FAQSVC_BASE_URL "
                "to the address of the FAQ service, such as https://faq.example.com"
            )
        self.settings = settings
        self._renderer = Renderer()
        self.cache = _cache(settings)
        self._reader = Reader(settings, self.cache)
        self._held: Callable[[Any], Entry | None] = self.cache.get
        self._lang = settings.lang
        self._inline = settings.styles == "inline"
        self._warned: set[str] = set()

    def serve_from(self, fetcher: Fetches) -> None:
        """Fetch by other means than the network, as `faqsvc_embed.testing` does."""
        self._reader = Reader(self.settings, self.cache, fetcher)

    def render_with(self, renderer: Renderer) -> None:
        """Render with the templates of a host from here on."""
        self._renderer = renderer
        for entry in self.cache.entries():
            entry.rendered.clear()

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

    # Reading: the hook, and the plain function on top of it

    def use_faq(self, slug: str, *, lang: str | None = None, wait: float | None = None) -> FAQState:
        """Return what is known of an FAQ; if nothing is held, wait for it, at most `wait` seconds.

        Never raises for what the service does: see `error`. Within a page, the same FAQ gives the same
        snapshot, and all waits together stay within `wait`.
        """
        return self.use_faq_on(pages.current(), slug, lang, wait)

    async def ause_faq(self, slug: str, *, lang: str | None = None, wait: float | None = None) -> FAQState:
        """Return what `use_faq` does, waiting without holding the event loop up."""
        return await self.ause_faq_on(pages.current(), slug, lang, wait)

    def use_faq_on(
        self, page: Page | None, slug: str, lang: str | None = None, wait: float | None = None
    ) -> FAQState:
        """Return what `use_faq` does, on a page at hand; for leaves."""
        wait = self.settings.wait if wait is None else wait
        key = Key(slug, self._language(lang))
        if page is None:
            return self._reader.read(key, wait)
        state = page.states.get((self, key))
        if state is None:
            state = page.states[self, key] = self._reader.read(key, page.left(wait), page)
        return state

    async def ause_faq_on(
        self, page: Page | None, slug: str, lang: str | None = None, wait: float | None = None
    ) -> FAQState:
        """Return what `ause_faq` does, on a page at hand; for leaves."""
        wait = self.settings.wait if wait is None else wait
        key = Key(slug, self._language(lang))
        if page is None:
            return await self._reader.aread(key, wait)
        state = page.states.get((self, key))
        if state is None:
            state = page.states[self, key] = await self._reader.aread(key, page.left(wait), page)
        return state

    def get_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return an FAQ, held or fetched; if nothing is held, wait for it as long as one request may take.

        Raises:
            FAQNotFound: there is none of this slug.
            FAQUnavailable: nothing is held, and the service could not be asked or gave no answer.
            InvalidFAQ: nothing is held, and what the service sent is no FAQ.
        """
        key = Key(slug, self._language(lang))
        return data_or_raise(self._reader.read(key, self.settings.timeout + GRACE))

    async def aget_faq(self, slug: str, *, lang: str | None = None) -> FAQ:
        """Return or raise what `get_faq` does, waiting without holding the event loop up."""
        key = Key(slug, self._language(lang))
        return data_or_raise(await self._reader.aread(key, self.settings.timeout + GRACE))

    def _language(self, lang: str | None) -> str | None:
        if lang is None:
            return self.settings.lang
        language = lookup(lang) if isinstance(lang, str) else None
        if language is None:
            problem = f"lang is {quoted(lang)}: one of {', '.join(LANGUAGES)} is accepted"
            if self.settings.strict:
                raise ConfigurationError(problem)
            self._warn(f"{problem}; {self.settings.lang or 'the language of the FAQ'} is taken instead")
            return self.settings.lang
        return language

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
    ) -> Markup:
        """Return an FAQ as HTML with its JSON-LD, waiting as `use_faq` does; empty if there is none to show.

        What is not given is as in the settings. `schema=False` leaves the JSON-LD to a later
        `faq_schema()`. Whatever goes wrong is logged, and raised only if `strict` is set.
        """
        page = pages.current() or Page()
        return self.render_on(
            page, slug_or_faq, lang, theme, show_title, heading_level, schema=schema, nonce=nonce
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
    ) -> Markup:
        """Return what `render` does, waiting without holding the event loop up."""
        page = pages.current() or Page()
        return await self.arender_on(
            page, slug_or_faq, lang, theme, show_title, heading_level, schema=schema, nonce=nonce
        )

    def render_on(
        self,
        page: Page,
        what: str | FAQ,
        lang: str | None = None,
        theme: Any = None,
        show_title: bool | None = None,
        heading_level: int | None = UNSET,
        *,
        schema: bool = True,
        nonce: str | None = None,
    ) -> Markup:
        """Render as `render` does, on a page at hand; for leaves."""
        look = (tuple(theme.items()) if type(theme) is dict else theme, show_title, heading_level)
        try:
            block = None if page.blocks else self._ready(page, what, lang, look)
            if block is not None:
                return self._place(page, block, schema, nonce)
            state = what if isinstance(what, FAQ) else self.use_faq_on(page, what, lang)
            return self._show(page, what, state, theme, look, schema, nonce)
        except Exception as error:
            return self._nothing(page, what, error)

    async def arender_on(
        self,
        page: Page,
        what: str | FAQ,
        lang: str | None = None,
        theme: Any = None,
        show_title: bool | None = None,
        heading_level: int | None = UNSET,
        *,
        schema: bool = True,
        nonce: str | None = None,
    ) -> Markup:
        """Render as `arender` does, on a page at hand; for leaves."""
        look = (tuple(theme.items()) if type(theme) is dict else theme, show_title, heading_level)
        try:
            block = None if page.blocks else self._ready(page, what, lang, look)
            if block is not None:
                return self._place(page, block, schema, nonce)
            state = what if isinstance(what, FAQ) else await self.ause_faq_on(page, what, lang)
            return self._show(page, what, state, theme, look, schema, nonce)
        except Exception as error:
            return self._nothing(page, what, error)

    def schema(self, *faqs: FAQ, nonce: str | None = None) -> Markup:
        """Return one script element with the FAQPage of all `faqs`; empty if they have no question."""
        return Markup(script_element(faqs, nonce).lstrip())  # noqa: S704  # the serialiser made it safe

    def _ready(self, page: Page, slug: object, lang: str | None, look: Any) -> Block | None:
        """Return what was rendered of a fresh copy before: one look-up, the way of nearly every page."""
        try:
            entry = self._held((slug, lang or self._lang))
            if entry is None:
                return None
            now = self.cache.clock()
            if now >= entry.fresh_until:
                return None
            entry.used_at = now
            page.states[self, entry.key] = entry.state
            return entry.rendered.get(look)
        except TypeError:  # a slug or a theme that cannot be looked up; the long way says so
            return None

    def _show(
        self, page: Page, what: object, state: FAQState | FAQ, theme: Any, look: Any, schema: bool, nonce: Any
    ) -> Markup:
        faq = state if isinstance(state, FAQ) else state.data
        if faq is None:
            error = state.error if isinstance(state, FAQState) else None
            late = f"{quoted(what)} did not arrive within what the page may wait"
            return self._nothing(page, what, error.fresh() if error else FAQUnavailable(late))
        ordinal = page.ordinal(faq.slug)
        block = self._renderer.block(faq, self._look(theme, *look[1:]), ordinal)
        if block is None:
            return Markup()
        if ordinal == 1 and isinstance(state, FAQState):
            self._remember(faq, state.lang_requested, look, block)
        return self._place(page, block, schema, nonce)

    def _place(self, page: Page, block: Block, schema: bool, nonce: str | None) -> Markup:
        if nonce is None and page.nonce is not None:
            nonce = page.nonce()
        return page.place(block, nonce, schema, None if self._inline else self._stylesheet_link(page))

    def _remember(self, faq: FAQ, lang: str | None, look: Any, block: Block) -> None:
        entry = self.cache.get(Key(faq.slug, lang))
        if entry is None or entry.faq is not faq:
            return
        if len(entry.rendered) >= MOST_LOOKS:
            entry.rendered.clear()
        with suppress(TypeError):  # a theme that cannot be looked up is rendered each time
            entry.rendered[look] = block

    def _look(self, theme: object, show_title: bool | None, heading_level: int | None) -> Look:
        settings = self.settings
        return Look(
            settings.theme if theme is None else self._theme(theme),
            settings.show_title if show_title is None else bool(show_title),
            settings.heading_level if heading_level is UNSET else self._level(heading_level),
        )

    def _theme(self, wish: object) -> Theme:
        theme, problems = self.settings.theme.merged(wish)
        for problem in problems:
            if self.settings.strict:
                raise ConfigurationError(problem)
            self._warn(problem)
        return theme

    def _level(self, level: object) -> int | None:
        try:
            return checked_level(level)  # type: ignore[no-any-return]
        except ValueError as error:
            problem = f"heading_level is {quoted(level)}: {error}"
            if self.settings.strict:
                raise ConfigurationError(problem) from None
            self._warn(problem)
            return self.settings.heading_level

    def _stylesheet_link(self, page: Page) -> str | None:
        styles = self.settings.styles
        if styles == "inline" or (styles == "linked" and page.assets is None):
            return None
        return f"{page.assets}/{stylesheet_name()}" if styles == "linked" else ""

    def _nothing(self, page: Page, what: object, error: Exception) -> Markup:
        """Keep the page whole: raise if strict, show the problem in development, else log."""
        if self.settings.strict:
            raise error
        if not isinstance(error, FAQError):
            logger.error("FAQ %s is not shown: %r", quoted(what), error, exc_info=error)
        if page.shows_problems:
            return Markup(problem_element(str(error) or repr(error)))  # noqa: S704  # escaped there
        return Markup()

    # Looking ahead, and looking after

    def prefetch(self, *slugs: str, lang: str | None = None) -> None:
        """Fetch what is not held, all at once, waiting at most one `wait` for all; what fails is logged."""
        keys, together = [Key(slug, self._language(lang)) for slug in slugs], Page()
        for key in keys:
            self._reader.look_up(key)
        for key in keys:
            self._reader.read(key, together.left(self.settings.wait), together)

    async def aprefetch(self, *slugs: str, lang: str | None = None) -> None:
        """Do what `prefetch` does, waiting without holding the event loop up."""
        keys, together = [Key(slug, self._language(lang)) for slug in slugs], Page()
        for key in keys:
            self._reader.look_up(key)
        for key in keys:
            await self._reader.aread(key, together.left(self.settings.wait), together)

    def forget(self, slug: str | None = None) -> None:
        """Drop what is held of `slug` in every language, or of all FAQs: the next call asks the service."""
        self._reader.forget(slug)

    def health(self) -> list[Health]:
        """Return what is known of each FAQ that was asked for, by slug and language; asks nobody."""
        return self._reader.health()

    def _warn(self, problem: str) -> None:
        """Say a mistake in a template once, not once a page."""
        if problem not in self._warned and len(self._warned) < 1000:
            self._warned.add(problem)
            logger.warning("%s", problem)


def _cache(settings: Settings) -> Cache:
    return Cache(
        fresh_for=settings.fresh_for,
        keep_for=settings.keep_for,
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
