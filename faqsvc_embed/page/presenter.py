"""From a call to its HTML: resolves the options, looks the FAQ up, and prints it or leaves a placeholder.

Synchronous and asynchronous calls differ only in how they wait. Adapters call it through `guarded`.
"""

from collections.abc import Awaitable, Callable, Iterable, Sequence, Set
from copy import copy
from functools import partial
from itertools import chain, starmap
from typing import Final

from markupsafe import Markup
from msgspec.structs import replace

from faqsvc_embed.api.fields import invalid_slug, is_slug
from faqsvc_embed.cache.entry import Entry, Key
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.reader import Reader, data_or_raise
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQNotFound, FAQUnavailable, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.border import Passing, aguarded, guarded
from faqsvc_embed.page.document import Document, PageSource, document_with_page
from faqsvc_embed.page.options import USE_NAMES, Call, Caller, OptionResolver, Options, check_schema_argument
from faqsvc_embed.page.page import NO_PAGE, Page
from faqsvc_embed.page.placeholders import Text
from faqsvc_embed.rendering.fragments import (
    ElementOptions,
    Fragment,
    Rendered,
    json_ld_element,
    problem_element,
)
from faqsvc_embed.rendering.json_ld import page_json
from faqsvc_embed.rendering.renderer import Numbers, Place, Renderer
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.runtime.threads import at_once, call_in_thread, to_thread
from faqsvc_embed.settings import Settings

_Numbered = tuple[FAQ, Numbers | None]  # a record, and the numbers in the `@id`s of its questions

CANNOT_WAIT: Final = (
    "FAQ %s is not cached yet, and a synchronous call in an event loop cannot wait for it: "
    "add FAQMiddleware around the application, or `await embed.aprefetch(...)` before"
)


class Presenter:
    """Shows the FAQs of one embed."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._settings = settings
        self._reader = reader
        reader.reporter.listen(self._prepare_fetched)
        self.page_source: PageSource | None = None
        """Finds the page of a request that has none in its context."""
        self.resolver: OptionResolver = OptionResolver(settings)
        self.renderer: Renderer = Renderer(cache_overrides=settings.cache_overrides)
        self._missing = LogOnce()  # a log of its own: visitors who invent slugs use up its limit
        passes: Passing = Exception if settings.strict else ()
        self.guarded: Final = partial(guarded, passes=passes) if passes else guarded
        self.aguarded: Final = partial(aguarded, passes=passes) if passes else aguarded

    def page(self) -> Page:
        """Return the page of the request, or a new one for this call only."""
        return document_with_page(Document(NO_PAGE), self.page_source).page

    # Reading

    def use_faq(self, slug: str, options: Options, caller: Caller) -> FAQState:
        """Return the state of an FAQ; if it is not cached, wait for it, but not in an event loop."""
        return at_once(self.ause_faq(slug, options, caller, blocks=True))

    async def ause_faq(
        self, slug: str, options: Options, caller: Caller, *, blocks: bool = False
    ) -> FAQState:
        """Return a state for the host's own markup, and leave its JSON-LD to a later `faq_schema()`."""
        document = document_with_page(caller.document, self.page_source)
        try:
            call = self.resolver.resolve(document, slug, options, caller, USE_NAMES)
            found = call.page.look_up_newest(self._reader, call.key, blocks=blocks)
            state = await call.page.result(self._reader, found, call.wait, blocks=blocks)
        except FAQError as error:
            if not isinstance(error, FAQNotFound):  # an invalid slug is not logged: a visitor may choose it
                self._report(slug, error)
            return FAQState(error=error)
        call.page.limit_by(self._reader, call.key, state)
        if state.data is None:
            return state
        faq, preview = self.resolver.part(state.data, call), call.page.preview
        if preview is not None and preview.is_draft(state.data):
            preview.accept(faq)
        document.defer_schema(faq)
        return state if faq is state.data else replace(state, data=faq)

    def prefetch(self, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together; in an event loop, do not wait for them."""
        at_once(self._prefetch(self.page(), slugs, lang, blocks=True))

    async def aprefetch(self, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together, and render them."""
        page = self.page()
        states = await self._prefetch(page, slugs, lang, blocks=False)
        page.prefetched.update(states)
        for state in states.values():
            if state.data is not None:
                await to_thread(self.renderer.prepare, state.data, self.resolver.style)

    async def _prefetch(
        self, page: Page, slugs: Sequence[str], lang: str | None, *, blocks: bool
    ) -> dict[Key, FAQState]:
        for slug in slugs:
            if not is_slug(slug):
                self._report(slug, invalid_slug(slug))
        keys = [self.resolver.key(page, slug, lang) for slug in slugs if is_slug(slug)]
        found = {key: page.look_up_newest(self._reader, key, blocks=blocks) for key in keys}
        wait = self._settings.wait
        return {key: await page.result(self._reader, one, wait, blocks=blocks) for key, one in found.items()}

    def _prepare_fetched(self, entry: Entry) -> None:
        """Render a fetched record in the usual style, in a thread, if this host renders FAQs."""
        if entry.error is None and self.renderer.is_ready and entry.faq is not None:
            call_in_thread(self.renderer.prepare, entry.faq, self.resolver.style)

    # Showing

    def render(self, slug: object, options: Options, caller: Caller) -> Markup:
        """Return what `text` returns, as markup."""
        return Rendered(self.text(slug, options, caller))

    async def arender(self, slug: object, options: Options, caller: Caller) -> Markup:
        """Return what `atext` returns, as markup."""
        return Rendered(await self.atext(slug, options, caller))

    def text(self, slug: object, options: Options, caller: Caller) -> str:
        """Return an FAQ, a placeholder for it, or an empty text. `slug` may be a record."""
        document = document_with_page(caller.document, self.page_source)
        page = document.page
        try:
            call = self.resolver.resolve(document, slug, options, caller)
            if page.preview is not None:
                return at_once(self._show_draft(call, blocks=True))
            found = call.known or page.look_up(self._reader, call.key)
            if not isinstance(found, FAQState):
                if page.can_defer(call.key):
                    page.may_degrade |= self._settings.degraded_max_age is not None
                    ordinal = document.reserve(call.key.slug)
                    return self._defer(call, partial(self._fetched, call, found, ordinal))
                found = at_once(page.result(self._reader, found, call.wait, blocks=True))
            faq = found.data  # most calls show all of an FAQ that is well
            if faq is None or found.is_degraded or call.part is not None:
                faq = self._faq_of(call, found)
            place = document.place(faq, schema=call.schema)
            fragment = self.renderer.cached(faq, (call.style, place))
            if fragment is None:
                if self.renderer.is_long(faq) and page.can_defer(call.key):
                    return self._defer(call, partial(self._rendered, call, faq, place))
                fragment = self.renderer.fragment(faq, call.style, place)
            if fragment is None or call.problems or fragment.problems:
                return self._print(call, fragment)
            return document.print(fragment, call.elements, schema=call.schema)
        except FAQError as error:
            return self._handle(page, slug, error)

    async def atext(self, slug: object, options: Options, caller: Caller) -> str:
        """Return an FAQ, as `text` does, awaiting it if it is not cached."""
        document = document_with_page(caller.document, self.page_source)
        page = document.page
        try:
            call = self.resolver.resolve(document, slug, options, caller)
            if page.preview is not None:
                return await self._show_draft(call, blocks=False)
            found = call.known or page.look_up(self._reader, call.key, blocks=False)
            return self._print(call, await self._fetched(call, found))
        except FAQError as error:
            return self._handle(page, slug, error)

    def _defer(self, call: Call, rendering: Callable[[], Awaitable[Fragment | None]]) -> Markup:
        """Return a placeholder for an FAQ that is being fetched, or takes long to render.

        A later FAQ may be printed before this one is filled in. So this one has its own stylesheet, unless an
        earlier FAQ has printed it.
        """
        before = frozenset(call.document.printed)

        async def fill() -> str:
            try:
                return self._print(call, await rendering(), before)
            except FAQError as error:
                return self._handle(call.page, call.key.slug, error)

        return call.page.placeholders.leave(filling=fill)

    async def _fetched(
        self, call: Call, found: FAQState | Fetch, ordinal: int | None = None
    ) -> Fragment | None:
        """Return an FAQ as soon as it is fetched and rendered."""
        state = await call.page.result(self._reader, found, call.wait, blocks=False)
        faq = self._faq_of(call, state)
        place = call.document.place(faq, schema=call.schema, ordinal=ordinal)
        return await self._rendered(call, faq, place)

    async def _rendered(self, call: Call, faq: FAQ, place: Place) -> Fragment | None:
        """Return an FAQ as soon as it is rendered; a long one is rendered in a thread."""
        fragment = self.renderer.cached(faq, (call.style, place))
        if fragment is None and self.renderer.is_long(faq):
            return await to_thread(self.renderer.fragment, faq, call.style, place)
        return fragment or self.renderer.fragment(faq, call.style, place)

    @staticmethod
    def _print(call: Call, fragment: Fragment | None, before: Set[str] | None = None) -> str:
        parts, problems = list[str](), call.problems or ()
        if fragment is not None:  # some question has an answer
            parts = [call.document.print(fragment, call.elements, schema=call.schema, before=before)]
            problems = (*problems, *fragment.problems)
        if call.page.shows_problems:
            parts[:0] = map(problem_element, problems)
        return "".join(parts)

    # Drafts. The page prints what is published, and the draft replaces it before the body is sent: no cache
    # inside the host stores a draft. The page that is sent has no JSON-LD of the FAQ.

    async def _show_draft(self, call: Call, *, blocks: bool) -> Markup:
        page = call.page
        found = call.known or page.look_up(self._reader, call.key)
        draft = call.known or page.look_up_newest(self._reader, call.key)
        state = await page.result(self._reader, found, call.wait, blocks=blocks)
        published = self._published(call, state)

        async def fill(blocks: bool = False) -> Text:
            return self._draft(call, await page.result(self._reader, draft, call.wait, blocks=blocks))

        if blocks and page.can_defer(call.key):
            return page.placeholders.leave(published, filling=fill)
        return page.placeholders.leave(published, text=await fill(blocks))

    def _published(self, call: Call, state: FAQState) -> str:
        """Return the published FAQ as a document of its own; empty if there is only a draft."""
        if state.data is None:
            return ""
        alone = replace(call, document=Document(call.page), problems=copy(call.problems))
        faq = self._faq_of(alone, state)
        if not call.schema:
            call.document.defer_schema(faq)
        place = alone.document.place(faq, schema=call.schema)
        return self._print(alone, self.renderer.fragment(faq, call.style, place))

    def _draft(self, call: Call, state: FAQState) -> Text:
        """Return the draft without JSON-LD, below a line that calls it a preview."""
        preview = call.page.preview
        try:
            faq = self._faq_of(call, state)
        except FAQError as error:
            return self._handle(call.page, call.key.slug, error)
        place = call.document.place(faq, schema=True)
        shown = self._print(replace(call, schema=False), self.renderer.fragment(faq, call.style, place))
        if preview is None or call.known is not None or not shown:
            return shown
        banner = partial(preview.banner, call.key.slug, call.key.lang or faq.lang, call.elements)
        # Whether the token reads a draft of another FAQ is known only when the page is sent.
        return lambda: f"{banner()}{shown}"

    # JSON-LD

    def schema(self, faq: FAQ | FAQState | None, options: Options, caller: Caller) -> Markup:
        """Return the FAQPage of a record, or of all earlier FAQs whose JSON-LD was not printed."""
        document = document_with_page(caller.document, self.page_source)
        page = document.page
        try:
            elements = self.resolver.schema_elements(page, options, caller)
            check_schema_argument("faq_schema()", faq)
        except FAQError as error:
            return Rendered(self._handle(page, "faq_schema()", error))
        record = faq.data if isinstance(faq, FAQState) else faq
        if record is not None:
            return self._schema(page, [(record, document.take(record))], elements)
        if faq is not None:  # a state without data
            return Markup()
        if not page.placeholders.are_open or page.preview is not None:
            return self._schema(page, document.take_deferred(), elements)

        async def fill() -> str:  # the FAQs of the placeholders may leave JSON-LD to this call
            return self._schema(page, document.take_deferred(), elements)

        return page.placeholders.leave(filling=fill)

    def _schema(self, page: Page, faqs: Sequence[_Numbered], elements: ElementOptions) -> Markup:
        if page.preview is None:
            return self._script(faqs, elements)
        script = self._script([one for one in faqs if not page.preview.is_draft(one[0])], elements)
        # A placeholder removes the script before the page is sent: a preview has no JSON-LD.
        return page.placeholders.leave(script) if script else script

    def schema_of(self, faqs: Iterable[FAQ | FAQState | None], nonce: str | None) -> Markup:
        """Return the FAQPage of records and states, without a document: its questions have no `@id`s."""
        records = (faq.data if isinstance(faq, FAQState) else faq for faq in faqs)
        elements = self.resolver.elements(self.page(), nonce)
        return self._script([(faq, None) for faq in records if faq is not None], elements)

    def _script(self, faqs: Iterable[_Numbered], elements: ElementOptions) -> Markup:
        """Return one FAQPage with the questions of several records, each once."""
        questions = dict.fromkeys(chain.from_iterable(starmap(self.renderer.questions_json, faqs)))
        return Rendered(json_ld_element(page_json(questions), elements.nonce))

    # Errors

    def _faq_of(self, call: Call, state: FAQState) -> FAQ:
        """Return the FAQ, or the part of it, that a call shows; raise why there is none."""
        page, key = call.page, call.key
        page.limit_by(self._reader, key, state)
        if not state.is_loading:
            return self.resolver.part(data_or_raise(state), call)
        if (self._reader, key) not in page.states:  # this page has not waited for it
            self.resolver.log.warning("middleware", CANNOT_WAIT, quoted(key.slug))
            raise FAQUnavailable(CANNOT_WAIT % quoted(key.slug))
        raise self._reader.reporter.late(key.slug, self._settings.wait)

    def _report(self, subject: object, error: FAQError) -> None:
        """Report why an FAQ is not shown: raise it if strict, else log it once."""
        if self._settings.strict:
            raise error
        # A fetch reports its error itself; a local source needs no fetch.
        is_local = self._reader.source.is_local
        if is_local or isinstance(error, ConfigurationError) or not is_slug(subject):
            self._missing.warning(str(error), "%s", error)

    def _handle(self, page: Page, subject: object, error: FAQError) -> str:
        """Report why an FAQ is not shown, and return what a developer sees instead of it."""
        self._report(subject, error)
        return self._problem(page, error)

    def _problem(self, page: Page, error: Exception) -> str:
        """Return what a developer sees instead of an FAQ; nothing in production."""
        is_shown = page.shows_problems or self._settings.reload
        return problem_element(str(error) or repr(error)) if is_shown else ""

    def failed(self, error: Exception) -> Markup:
        """Return what a page shows instead of an FAQ after an unexpected exception."""
        return Rendered(self._problem(self.page(), error))
