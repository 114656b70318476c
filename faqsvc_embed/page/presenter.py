"""Shows FAQs on pages: resolves a call, looks the FAQ up, renders it and prints it.

Synchronous and asynchronous calls differ only in how they wait. An error never breaks the rest of the page.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

import msgspec
from markupsafe import Markup

from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.errors import ConfigurationError, FAQError, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.context import Page, PageSource, joined_page, rendering_page, request_page
from faqsvc_embed.page.elements import Printed, Surroundings, merge_pages
from faqsvc_embed.page.options import FROM_PYTHON, Call, Caller, OptionResolver
from faqsvc_embed.page.placeholders import Filling
from faqsvc_embed.page.problems import Problems
from faqsvc_embed.page.states import PageStates
from faqsvc_embed.rendering.answers import Answers
from faqsvc_embed.rendering.elements import json_ld_element, problem_element
from faqsvc_embed.rendering.fragments import Fragment
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.runtime.threads import in_event_loop, to_thread
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from faqsvc_embed.cache.fetch import Fetch


class Place(msgspec.Struct, frozen=True, gc=False):
    """Where an FAQ is printed: after what was printed so far, or where its place was reserved."""

    reserved: int | None = None
    is_draft: bool = False
    """In a preview, whether it replaces the published version."""


NEXT: Final = Place()


class Presenter:
    """Shows the FAQs of one embed."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._settings = settings
        self._page_source: PageSource | None = None
        self.options = OptionResolver(settings)
        self._problems = Problems(settings, self.options.log)
        self.states = PageStates(settings, reader, self.options, self._problems)
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

    async def aprefetch(self, page: Page, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together, and prepare for rendering them."""
        try:
            await self.states.aprefetch(page, slugs, lang)
            if not self.renderer.is_ready:
                await to_thread(self.renderer.get_ready)
        except Exception as error:
            self._problems.handle(page, slugs, error)

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
            found = _given(call) or self.states.look_up(page, call.key)
            if page.preview is None:
                return self._render(page, call, found)
            draft = _given(call) or self.states.look_up_draft(page, call.key)
            try:
                published = self._render(page, call, found)
            except FAQError:
                published = Markup()  # no record is published; the draft may be of a new FAQ
            return self._render_draft(page, call, draft, published)
        except Exception as error:
            return self._problems.handle(page, slug_or_faq, error)

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
            found = _given(call) or self.states.look_up(page, call.key)
            if page.preview is None:
                return await self._print_when_ready(page, call, found)
            draft = _given(call) or self.states.look_up_draft(page, call.key)
            try:
                published = await self._print_when_ready(page, call, found)
            except FAQError:
                published = Markup()  # no record is published; the draft may be of a new FAQ
            fill = self._filling(page, call, draft, is_draft=True)
            return page.leave_placeholder(await fill(), published)
        except Exception as error:
            return self._problems.handle(page, slug_or_faq, error)

    def _render(
        self,
        page: Page,
        call: Call,
        found: "FAQState | Fetch",
        place: Place = NEXT,
    ) -> Markup:
        """Return an FAQ that was looked up, or a placeholder."""
        if not isinstance(found, FAQState):
            if _can_defer(page):
                return self._defer(page, call, found)
            found = self.states.wait_for(page, found, self._settings.wait)
        faq = found.data
        if faq is None or found.is_degraded:
            faq = self.states.record(page, call.key, found, has_waited=page.may_block or not in_event_loop())
        fragment = self.renderer.cached(faq, call.options.style, call.ordinal)
        if fragment is None:
            if self.renderer.is_slow(faq) and _can_defer(page):
                return self._defer(page, call, found)
            fragment = self.renderer.fragment(faq, call.options.style, call.ordinal)
        return self._print(page, call, faq, fragment, place)

    def _render_draft(self, page: Page, call: Call, draft: "FAQState | Fetch", published: Markup) -> Markup:
        """Return what is published, which a cache of the host may keep; the draft takes its place later."""
        if _can_defer(page):
            return page.leave_placeholder(self._filling(page, call, draft, is_draft=True), published)
        place = Place(page.reserve(), is_draft=True)
        try:
            text = self._render(page, call, draft, place)
        except Exception as error:
            text = self._problems.handle(page, call.key.slug, error)
        return page.leave_placeholder(text, published)

    def _defer(self, page: Page, call: Call, found: "FAQState | Fetch") -> Markup:
        """Return a placeholder for an FAQ that is being fetched, or takes long to render."""
        if not isinstance(found, FAQState) and self._settings.degraded_max_age is not None:
            page.may_degrade = True
        return page.leave_placeholder(self._filling(page, call, found))

    def _filling(
        self, page: Page, call: Call, found: "FAQState | Fetch", *, is_draft: bool = False
    ) -> Filling:
        """Return the function that prints an FAQ in this place of the document when it is ready."""
        place = Place(page.reserve(), is_draft)

        async def fill() -> str:
            try:
                return await self._print_when_ready(page, call, found, place)
            except Exception as error:
                return self._problems.handle(page, call.key.slug, error)

        return fill

    async def _print_when_ready(
        self,
        page: Page,
        call: Call,
        found: "FAQState | Fetch",
        place: Place = NEXT,
    ) -> Markup:
        """Print an FAQ that was looked up, as soon as it has arrived and is rendered."""
        state = await self.states.await_for(page, found, self._settings.wait)
        faq = self.states.record(page, call.key, state, has_waited=True)
        fragment = self.renderer.cached(faq, call.options.style, call.ordinal)
        if fragment is None and self.renderer.is_slow(faq):
            fragment = await to_thread(self.renderer.fragment, faq, call.options.style, call.ordinal)
        elif fragment is None:
            fragment = self.renderer.fragment(faq, call.options.style, call.ordinal)
        return self._print(page, call, faq, fragment, place)

    def _print(self, page: Page, call: Call, faq: FAQ, fragment: Fragment | None, place: Place) -> Markup:
        """Print an FAQ. In a preview, this is called twice: for the published version and for the draft."""
        if fragment is None:  # no question has an answer
            return Markup()
        json_ld = fragment.json_ld if call.options.with_json_ld and not place.is_draft else ""
        printed = Printed(fragment, call.surroundings, json_ld)
        if not call.options.with_json_ld and not place.is_draft:
            page.defer_json_ld(faq)
        is_sent = page.preview is None or place.is_draft
        markup = page.print(printed, place.reserved) if is_sent else printed.markup()
        if page.preview is not None and place.is_draft and call.faq is None:
            markup = page.preview.banner(call.key.slug, call.key.lang or faq.lang, call.surroundings) + markup
        if call.options.problems and page.shows_problems:
            problems = "".join(map(problem_element, call.options.problems))
            markup = Markup(f"{problems}{markup}")  # escaped there
        return markup

    # JSON-LD

    def schema(
        self, page: Page, faq: FAQ | FAQState | None, nonce: object = None, caller: Caller = FROM_PYTHON
    ) -> Markup:
        """Return the FAQPage of a record or, without one, of all earlier FAQs with `schema=False`."""
        try:
            _check_schema_argument("faq_schema()", faq)
            surroundings = self.options.surroundings(page, nonce, caller)
            if page.preview is not None:  # print the published version, which a cache of the host may keep
                published = self._print_schema(page, faq, surroundings)
                return page.leave_placeholder("", published) if published else published
            if page.has_open_placeholders:  # their FAQs may leave JSON-LD to this call

                async def fill() -> str:
                    return self._print_schema(page, faq, surroundings)

                return page.leave_placeholder(fill)
            return self._print_schema(page, faq, surroundings)
        except Exception as error:
            return self._problems.handle(page, "faq_schema()", error)

    def _print_schema(self, page: Page, faq: FAQ | FAQState | None, surroundings: Surroundings) -> Markup:
        faqs = page.take_deferred() if faq is None else _records(faq)
        if page.preview is not None:
            faqs = page.preview.without_drafts(faqs)
        printed = Printed(None, surroundings, self.json_ld(faqs))
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


def _given(call: Call) -> FAQState | None:
    """Return the state of a record that the host has passed instead of a slug."""
    return None if call.faq is None else FAQState(data=call.faq)


def _records(*faqs: FAQ | FAQState | None) -> "list[FAQ]":
    """Return the records, without states that have none."""
    records = (faq.data if isinstance(faq, FAQState) else faq for faq in faqs)
    return [record for record in records if record is not None]


def _check_schema_argument(function: str, faq: object) -> None:
    if faq is not None and not isinstance(faq, FAQ | FAQState):
        raise ConfigurationError(
            f"{function} got {quoted(faq)}: an FAQ, the result of use_faq(), or nothing is accepted"
        )
