"""Shows FAQs on pages: resolves a call, looks the FAQ up, renders it and prints it.

Synchronous and asynchronous calls differ only in how they wait. An error never breaks the rest of the page.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from markupsafe import Markup

from faqsvc_embed.api.slugs import is_slug
from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.reader import Reader, data_or_raise, in_event_loop
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQUnavailable, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.context import Page, PageSource, joined_page, rendering_page, request_page
from faqsvc_embed.page.elements import Printed, merge_pages
from faqsvc_embed.page.options import FROM_PYTHON, Call, Caller, OptionResolver
from faqsvc_embed.page.placeholders import Filling
from faqsvc_embed.rendering.answers import Answers
from faqsvc_embed.rendering.elements import json_ld_element, problem_element
from faqsvc_embed.rendering.fragments import Fragment
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.bounded_log import LogOnce, LogThrottle, origin_of
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from faqsvc_embed.cache.fetch import Fetch

CANNOT_WAIT: Final = (
    "FAQ %s is not cached yet, and a synchronous call in an event loop cannot wait for it: "
    "add FAQMiddleware to the application, or `await embed.aprefetch(...)` before"
)
MAX_NAMED: Final = 20
"""Missing FAQs that are logged at once; after these it is one a minute, because slugs may be invented."""


class Presenter:
    """Shows the FAQs of one embed."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._settings = settings
        self._reader = reader
        self._page_source: PageSource | None = None
        self._reported = LogOnce()
        self._missing = LogThrottle(burst=MAX_NAMED)
        fork.register(self._missing)
        self.options = OptionResolver(settings)
        self.renderer = Renderer(
            Answers(settings.answer_format, link_urls=settings.link_urls, nofollow=settings.nofollow),
            cache_overrides=settings.cache_overrides,
        )

    def find_pages_with(self, source: PageSource) -> None:
        """Use `source` to find the page of a request, if the context has none."""
        self._page_source = source

    def page(self) -> Page:
        """Return the current page, or a new one for this call only."""
        page = request_page()
        if page is None and self._page_source is not None:
            page = self._page_source()
        return page or rendering_page() or joined_page() or Page()

    # Reading

    def state(self, page: Page, slug: str, lang: str | None, wait: float | None) -> FAQState:
        """Return the state of an FAQ; if it is not cached, wait for it, but not in an event loop."""
        key = self.options.key(page, slug, lang)
        found = self._look_up_draft(page, key)
        if not isinstance(found, FAQState):
            found = self._wait(page, found, self._settings.wait if wait is None else wait)
        return self._note_max_age(page, key, found)

    async def astate(self, page: Page, slug: str, lang: str | None, wait: float | None) -> FAQState:
        """Return the state of an FAQ; if it is not cached, await it."""
        key = self.options.key(page, slug, lang)
        found = self._look_up_draft(page, key)
        if not isinstance(found, FAQState):
            found = await self._await(page, found, self._settings.wait if wait is None else wait)
        return self._note_max_age(page, key, found)

    async def aprefetch(self, page: Page, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together, and prepare for rendering them."""
        for fetch in self._start(page, slugs, lang):
            await self._await(page, fetch, self._settings.wait)
        if not self.renderer.is_ready:
            import asyncio

            await asyncio.to_thread(self.renderer.get_ready)

    def prefetch(self, page: Page, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together; in an event loop, do not wait for them."""
        for fetch in self._start(page, slugs, lang):
            self._wait(page, fetch, self._settings.wait)

    def _start(self, page: Page, slugs: Sequence[str], lang: str | None) -> "list[Fetch]":
        keys = [self.options.key(page, slug, lang) for slug in slugs]
        found = [self._look_up(page, key) for key in keys]
        if page.preview is not None:
            found += [self._look_up_draft(page, key) for key in keys]
        return [fetch for fetch in found if not isinstance(fetch, FAQState)]

    def _look_up(self, page: Page, key: Key) -> "FAQState | Fetch":
        """Return the state on this page, or the result of a look-up."""
        if page.slugs is not None and isinstance(key.slug, str):
            page.slugs[key.slug] = None
        if page.states and isinstance(key.slug, str):
            state = page.states.get((self._reader, key))
            if state is not None:
                return state
        has_folder = self._settings.directory is not None
        found = self._reader.look_up(key, reload=has_folder and page.shows_problems)
        return self._remember(page, key, found) if isinstance(found, FAQState) else found

    def _look_up_draft(self, page: Page, key: Key) -> "FAQState | Fetch":
        """Look up the draft, if the visitor may see it, else what is published."""
        preview = page.preview
        token = preview.token_for(key.slug) if preview is not None else None
        if preview is None or token is None:
            return self._look_up(page, key)
        return preview.drafts.get((self._reader, key)) or self._reader.read_draft(key, token)

    def _wait(self, page: Page, fetch: "Fetch", wait: float) -> FAQState:
        """Wait for a fetch, for the rest of this page's time budget."""
        if in_event_loop() and not page.may_block:
            return FAQState(is_fetching=True) if fetch.is_draft else self._reader.state(fetch.key)
        with page.budget.waiting():
            state = self._reader.wait_for(fetch, page.budget.left(wait))
        if _refuse_draft(page, fetch, state):
            found = self._look_up(page, fetch.key)
            return found if isinstance(found, FAQState) else self._wait(page, found, wait)
        return self._remember(page, fetch.key, state, is_draft=fetch.is_draft)

    async def _await(self, page: Page, fetch: "Fetch", wait: float) -> FAQState:
        """Wait for a fetch, as `_wait` does, without blocking the event loop."""
        with page.budget.waiting():
            state = await self._reader.await_for(fetch, page.budget.left(wait))
        if _refuse_draft(page, fetch, state):
            found = self._look_up(page, fetch.key)
            return found if isinstance(found, FAQState) else await self._await(page, found, wait)
        return self._remember(page, fetch.key, state, is_draft=fetch.is_draft)

    def _remember(self, page: Page, key: Key, state: FAQState, *, is_draft: bool = False) -> FAQState:
        """Keep a state for the rest of the page, unless it is loading: the next call may find the record."""
        if (state.data is not None or state.error is not None) and isinstance(key.slug, str):
            states = page.preview.drafts if is_draft and page.preview is not None else page.states
            states[self._reader, key] = state
        elif page.is_diagnosed:
            page.late[self._reader, key] = state
        return state

    def _note_max_age(self, page: Page, key: Key, state: FAQState) -> FAQState:
        """Limit for how long caches may store a page with this state."""
        if (state.data is None or state.is_degraded) and self._settings.degraded_max_age is not None:
            seconds = self._reader.max_age(key, state)
            if seconds is not None:
                page.limit_max_age(seconds)
        return state

    # Rendering

    def render(
        self,
        page: Page,
        slug_or_faq: object,
        options: Mapping[str, Any],
        caller: Caller = FROM_PYTHON,
    ) -> Markup:
        """Return an FAQ for this place of the page, or a placeholder, or nothing."""
        try:
            call = self.options.resolve(page, slug_or_faq, options, caller)
            found = None if call.faq is not None else self._look_up(page, call.key)
            if page.preview is None:
                return self._render(page, call, found)
            draft = None if call.faq is not None else self._look_up_draft(page, call.key)
            try:
                published = self._render(page, call, found)
            except FAQError:
                published = Markup()  # no record is published; the draft may be of a new FAQ
            return self._render_draft(page, call, draft, published)
        except Exception as error:
            return self._problem(page, slug_or_faq, error)

    async def arender(
        self,
        page: Page,
        slug_or_faq: object,
        options: Mapping[str, Any],
        caller: Caller = FROM_PYTHON,
    ) -> Markup:
        """Return an FAQ for this place of the page, awaiting it if it is not cached."""
        try:
            call = self.options.resolve(page, slug_or_faq, options, caller)
            found = None if call.faq is not None else self._look_up(page, call.key)
            if page.preview is None:
                return await self._print_when_ready(page, call, found)
            draft = None if call.faq is not None else self._look_up_draft(page, call.key)
            try:
                published = await self._print_when_ready(page, call, found)
            except FAQError:
                published = Markup()  # no record is published; the draft may be of a new FAQ
            fill = self._filling(page, call, draft, is_final=True)
            return page.leave_placeholder(await fill(), published)
        except Exception as error:
            return self._problem(page, slug_or_faq, error)

    def _render(
        self,
        page: Page,
        call: Call,
        found: "FAQState | Fetch | None",
        reserved: int | None = None,
        *,
        is_final: bool = False,
    ) -> Markup:
        """Return an FAQ that was looked up, or a placeholder."""
        faq = call.faq
        if faq is None and found is not None:
            if not isinstance(found, FAQState):
                if _can_defer(page):
                    return self._defer(page, call, found)
                found = self._wait(page, found, self._settings.wait)
            faq = found.data
            if faq is None or found.is_degraded:
                faq = self._record(page, call, found, has_waited=page.may_block or not in_event_loop())
        if faq is None:
            raise TypeError("a call is for a slug or for a record")
        fragment = self.renderer.cached(faq, call.options.style, call.ordinal)
        if fragment is None:
            if self.renderer.is_slow(faq) and _can_defer(page):
                return self._defer(page, call, found)
            fragment = self.renderer.fragment(faq, call.options.style, call.ordinal)
        return self._print(page, call, faq, fragment, reserved, is_final=is_final)

    def _render_draft(
        self, page: Page, call: Call, draft: "FAQState | Fetch | None", published: Markup
    ) -> Markup:
        """Return what is published, which a cache of the host may keep; the draft takes its place later."""
        if _can_defer(page):
            return page.leave_placeholder(self._filling(page, call, draft, is_final=True), published)
        reserved = page.reserve()
        try:
            text = self._render(page, call, draft, reserved, is_final=True)
        except Exception as error:
            text = self._problem(page, call.key.slug, error)
        return page.leave_placeholder(text, published)

    def _defer(self, page: Page, call: Call, found: "FAQState | Fetch | None") -> Markup:
        """Return a placeholder for an FAQ that is being fetched, or takes long to render."""
        if not isinstance(found, FAQState) and self._settings.degraded_max_age is not None:
            page.may_degrade = True
        return page.leave_placeholder(self._filling(page, call, found))

    def _filling(
        self, page: Page, call: Call, found: "FAQState | Fetch | None", *, is_final: bool = False
    ) -> Filling:
        """Return the function that prints an FAQ in this place of the document when it is ready."""
        reserved = page.reserve()

        async def fill() -> str:
            try:
                return await self._print_when_ready(page, call, found, reserved, is_final=is_final)
            except Exception as error:
                return self._problem(page, call.key.slug, error)

        return fill

    async def _print_when_ready(
        self,
        page: Page,
        call: Call,
        found: "FAQState | Fetch | None",
        reserved: int | None = None,
        *,
        is_final: bool = False,
    ) -> Markup:
        """Print an FAQ that was looked up, as soon as it has arrived and is rendered."""
        faq = call.faq
        if faq is None and found is not None:
            if not isinstance(found, FAQState):
                found = await self._await(page, found, self._settings.wait)
            faq = self._record(page, call, found, has_waited=True)
        if faq is None:
            raise TypeError("a call is for a slug or for a record")
        fragment = self.renderer.cached(faq, call.options.style, call.ordinal)
        if fragment is None and self.renderer.is_slow(faq):
            import asyncio  # a coroutine cannot run without it

            fragment = await asyncio.to_thread(self.renderer.fragment, faq, call.options.style, call.ordinal)
        elif fragment is None:
            fragment = self.renderer.fragment(faq, call.options.style, call.ordinal)
        return self._print(page, call, faq, fragment, reserved, is_final=is_final)

    def _record(self, page: Page, call: Call, state: FAQState, *, has_waited: bool) -> FAQ:
        """Return the record of a state, or raise why there is none."""
        self._note_max_age(page, call.key, state)
        if not state.is_loading:
            return data_or_raise(state)
        if not has_waited:
            self.options.log.warning("middleware", CANNOT_WAIT, quoted(call.key.slug))
            raise FAQUnavailable(CANNOT_WAIT % quoted(call.key.slug))
        raise self._reader.late(call.key.slug, self._settings.wait)

    def _print(
        self,
        page: Page,
        call: Call,
        faq: FAQ,
        fragment: Fragment | None,
        reserved: int | None = None,
        *,
        is_final: bool = False,
    ) -> Markup:
        """Print an FAQ.

        In a preview this is called twice: for the published version, then with `is_final` for the draft.
        """
        if fragment is None:  # no question has an answer
            return Markup()
        json_ld = fragment.json_ld if call.options.with_json_ld and not is_final else ""
        printed = Printed(fragment, call.surroundings, json_ld)
        if not call.options.with_json_ld and not is_final:
            page.defer_json_ld(faq)
        is_sent = page.preview is None or is_final
        markup = page.print(printed, reserved) if is_sent else printed.markup()
        if page.preview is not None and is_final and call.faq is None:
            markup = page.preview.banner(call.key.slug, call.key.lang or faq.lang, call.surroundings) + markup
        if call.options.problems and page.shows_problems:
            problems = "".join(map(problem_element, call.options.problems))
            markup = Markup(f"{problems}{markup}")  # escaped there
        return markup

    def _problem(self, page: Page, slug_or_faq: object, error: Exception) -> Markup:
        """Handle an error: raise it if strict, show it in development, else log it once."""
        if self._settings.strict:
            raise error
        if not isinstance(error, FAQError):
            self.options.log.error(
                origin_of(error), "FAQ %s is not shown: %r", quoted(slug_or_faq), error, error=error
            )
        elif self._is_unreported(error, slug_or_faq):
            self._report(slug_or_faq, error)
        if page.shows_problems or self._settings.reload:
            return Markup(problem_element(str(error) or repr(error)))  # escaped there
        return Markup()

    def _report(self, slug_or_faq: object, error: FAQError) -> None:
        """Log once for each FAQ and kind of error why it is not shown."""
        if self._reported.is_first(f"{type(error).__name__} of {quoted(slug_or_faq)}"):
            self._missing.warning("%s", error)

    def _is_unreported(self, error: FAQError, slug_or_faq: object) -> bool:
        """Return whether an error did not come from a fetch, which would have reported it."""
        is_local = self._settings.offline or not self._settings.base_url
        return isinstance(error, ConfigurationError) or is_local or not is_slug(slug_or_faq)

    # JSON-LD

    def schema(
        self, page: Page, faq: FAQ | FAQState | None, nonce: object = None, caller: Caller = FROM_PYTHON
    ) -> Markup:
        """Return the FAQPage of a record or, without one, of all earlier FAQs with `schema=False`."""
        try:
            _check_schema_argument("faq_schema()", faq)
            surroundings = self.options.surroundings(page, nonce, caller)
            if page.preview is not None:  # print the published version, which a cache of the host may keep
                published = self._print_schema(page, faq, Printed(None, surroundings, ""))
                return page.leave_placeholder("", published) if published else published
            if page.has_open_placeholders:  # their FAQs may leave JSON-LD to this call

                async def fill() -> str:
                    return self._print_schema(page, faq, Printed(None, surroundings, ""))

                return page.leave_placeholder(fill)
            return self._print_schema(page, faq, Printed(None, surroundings, ""))
        except Exception as error:
            return self._problem(page, "faq_schema()", error)

    def _print_schema(self, page: Page, faq: FAQ | FAQState | None, printed: Printed) -> Markup:
        faqs = page.take_deferred() if faq is None else _records(faq)
        if page.preview is not None:
            faqs = page.preview.without_drafts(faqs)
        printed = msgspec.structs.replace(printed, json_ld=self.json_ld(faqs))
        if not printed.json_ld:
            return Markup()
        return printed.markup() if page.preview is not None else page.print(printed)

    def json_ld(self, faqs: "list[FAQ]") -> str:
        """Return one FAQPage for several records, with their answers as they are shown."""
        texts = tuple(text for faq in faqs if (text := self.renderer.json_ld(faq)))
        return merge_pages(texts) if len(texts) > 1 else "".join(texts)

    def script(self, page: Page, faqs: "Sequence[FAQ | FAQState | None]", nonce: object = None) -> Markup:
        """Return the script element of a FAQPage for several records. This does not add it to a page."""
        for faq in faqs:
            _check_schema_argument("schema()", faq)
        surroundings = self.options.surroundings(page, nonce, FROM_PYTHON)
        text = self.json_ld(_records(*faqs))
        return Markup(json_ld_element(text, surroundings.nonce))  # serialized for it


def _can_defer(page: Page) -> bool:
    """Return whether an FAQ is filled in later: the page can do so, and an event loop must not be blocked."""
    return page.defers and in_event_loop()


def _refuse_draft(page: Page, fetch: "Fetch", state: FAQState) -> bool:
    """If a draft cannot be shown, record why and return True; the caller then shows the published record."""
    if page.preview is None or not fetch.is_draft or state.data is not None:
        return False
    page.preview.refuse(fetch.key.slug, state.error)
    return True


def _records(*faqs: FAQ | FAQState | None) -> "list[FAQ]":
    """Return the records, without states that have none."""
    records = (faq.data if isinstance(faq, FAQState) else faq for faq in faqs)
    return [record for record in records if record is not None]


def _check_schema_argument(function: str, faq: object) -> None:
    if faq is not None and not isinstance(faq, FAQ | FAQState):
        raise ConfigurationError(
            f"{function} got {quoted(faq)}: an FAQ, the result of use_faq(), or nothing is accepted"
        )
