"""From a call to its HTML: resolves the options, looks the FAQ up, and prints it or leaves a placeholder.

Synchronous and asynchronous calls differ only in how they wait. Adapters call it through `guarded`.
"""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence, Set
from functools import partial
from itertools import chain, starmap
from typing import Any, Final

from markupsafe import Markup
from msgspec.structs import replace

from faqsvc_embed.api.fields import invalid_slug, is_slug
from faqsvc_embed.cache.entry import Entry, Key
from faqsvc_embed.cache.fetch import Fetch
from faqsvc_embed.cache.reader import Reader, data_or_raise
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQNotFound, FAQUnavailable, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.border import Passing, aguarded, guarded
from faqsvc_embed.page.context import PageSource, here
from faqsvc_embed.page.document import Document
from faqsvc_embed.page.options import USE_NAMES, Call, Caller, OptionResolver, check_schema_argument
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.placeholders import Text
from faqsvc_embed.rendering.elements import ElementOptions, json_ld_element, problem_element
from faqsvc_embed.rendering.fragments import Fragment, Rendered
from faqsvc_embed.rendering.json_ld import page_json
from faqsvc_embed.rendering.renderer import Nodes, Place, Renderer
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.runtime.threads import at_once, call_in_thread, to_thread
from faqsvc_embed.settings import Settings

Given = Mapping[str, Any]  # the options of a call
_Rendering = tuple[Call, Fragment | None]
_Numbered = tuple[FAQ, Nodes | None]  # a record, and the numbers in the `@id`s of its questions

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
        self.options: OptionResolver = OptionResolver(settings)
        self.renderer: Renderer = Renderer(cache_overrides=settings.cache_overrides)
        self._missing = LogOnce()  # a log of its own: visitors who invent slugs use up its limit
        passes: Passing = Exception if settings.strict else ()
        self.guarded: Final = partial(guarded, passes=passes) if passes else guarded
        self.aguarded: Final = partial(aguarded, passes=passes) if passes else aguarded

    def page(self) -> Page:
        """Return the page of the request, or a new one for this call only."""
        return here(Document(), self.page_source)[1]

    # Reading. A document that is None, here and below, is the one that is being rendered, if any.

    def use_faq(self, document: Document | None, slug: str, given: Given, caller: Caller) -> FAQState:
        """Return the state of an FAQ; if it is not cached, wait for it, but not in an event loop."""
        return at_once(self.ause_faq(document, slug, given, caller, blocks=True))

    async def ause_faq(
        self, document: Document | None, slug: str, given: Given, caller: Caller, *, blocks: bool = False
    ) -> FAQState:
        """Return a state for the host's own markup, and leave its JSON-LD to a later `faq_schema()`."""
        document, page = here(document, self.page_source)
        try:
            call = self.options.resolve(page, slug, given, caller, USE_NAMES)
            found = page.look_up_newest(self._reader, call.key, awaits=not blocks)
            state = await page.result(self._reader, found, call.wait, blocks=blocks)
        except FAQNotFound as error:  # `slug` cannot be a slug
            return FAQState(error=error)
        except FAQError as error:
            self._report(slug, error)
            return FAQState(error=error)
        page.limit_by(self._reader, call.key, state)
        if state.data is None:
            return state
        faq, _ = self.options.part_for(state.data, call)
        if page.preview is not None and page.preview.is_draft(state.data):
            page.preview.accept(faq)
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
                await to_thread(self.renderer.prepare, state.data, self.options.style)

    async def _prefetch(
        self, page: Page, slugs: Sequence[str], lang: str | None, *, blocks: bool
    ) -> dict[Key, FAQState]:
        for slug in slugs:
            if not is_slug(slug):
                self._report(slug, invalid_slug(slug))
        keys = [self.options.key(page, slug, lang) for slug in slugs if is_slug(slug)]
        return await page.results(self._reader, keys, self._settings.wait, blocks=blocks)

    def _prepare_fetched(self, entry: Entry) -> None:
        """Render a fetched record in the usual style, in a thread, if this host renders FAQs."""
        if entry.error is None and self.renderer.is_ready and entry.faq is not None:
            call_in_thread(self.renderer.prepare, entry.faq, self.options.style)

    # Showing

    def render(self, document: Document | None, slug: object, given: Given, caller: Caller) -> Markup:
        """Return an FAQ for this place in the document, a placeholder, or empty markup."""
        return Rendered(self.text(document, slug, given, caller))

    async def arender(self, document: Document | None, slug: object, given: Given, caller: Caller) -> Markup:
        """Return an FAQ, as `render` does, awaiting it if it is not cached."""
        return Rendered(await self.atext(document, slug, given, caller))

    def text(self, document: Document | None, slug: object, given: Given, caller: Caller) -> str:
        """Return the text of what `render` returns. `slug` may be a record; `given` are the options."""
        document, page = here(document, self.page_source)
        try:
            call = self.options.resolve(page, slug, given, caller)
            if page.preview is not None:
                return at_once(self._show_draft(document, page, call, blocks=True))
            found = call.given or page.look_up(self._reader, call.key)
            if not isinstance(found, FAQState):
                if page.can_defer(call.key):
                    page.may_degrade |= self._settings.degraded_max_age is not None
                    ordinal = document.reserve(call.key.slug)
                    rendering = partial(self._fetched, document, page, call, found, ordinal)
                    return self._defer(document, page, call, rendering)
                found = at_once(page.result(self._reader, found, call.wait, blocks=True))
            faq = found.data
            if faq is None or found.is_degraded:
                faq = self._record(page, call.key, found)
            if call.part is not None:
                faq, call = self.options.part_for(faq, call)
            place = document.place(faq, schema=call.schema)
            fragment = self.renderer.cached(faq, (call.style, place))
            if fragment is None:
                if self.renderer.is_long(faq) and page.can_defer(call.key):
                    return self._defer(document, page, call, partial(self._rendered, call, faq, place))
                fragment = self.renderer.fragment(faq, call.style, place)
            if fragment is None or call.problems or fragment.problems:
                return self._print(document, page, call, fragment)
            return document.print(fragment, call.elements, schema=call.schema)
        except FAQError as error:
            return self._handle(page, slug, error)

    async def atext(self, document: Document | None, slug: object, given: Given, caller: Caller) -> str:
        """Return the text of what `arender` returns."""
        document, page = here(document, self.page_source)
        try:
            call = self.options.resolve(page, slug, given, caller)
            if page.preview is not None:
                return await self._show_draft(document, page, call, blocks=False)
            found = call.given or page.look_up(self._reader, call.key, awaits=True)
            return self._print(document, page, *await self._fetched(document, page, call, found))
        except FAQError as error:
            return self._handle(page, slug, error)

    def _defer(
        self, document: Document, page: Page, call: Call, rendering: Callable[[], Awaitable[_Rendering]]
    ) -> Markup:
        """Return a placeholder for an FAQ that is being fetched, or takes long to render.

        A later FAQ may be printed before this one is filled in. So this one has its own stylesheet, unless an
        earlier FAQ has printed it.
        """
        before = frozenset(document.printed)

        async def fill() -> str:
            try:
                return self._print(document, page, *await rendering(), before)
            except FAQError as error:
                return self._handle(page, call.key.slug, error)

        return page.placeholders.leave(fill)

    async def _fetched(
        self, document: Document, page: Page, call: Call, found: FAQState | Fetch, ordinal: int | None = None
    ) -> _Rendering:
        """Return an FAQ as soon as it is fetched and rendered."""
        state = await page.result(self._reader, found, call.wait, blocks=False)
        faq, call = self.options.part_for(self._record(page, call.key, state), call)
        return await self._rendered(call, faq, document.place(faq, schema=call.schema, ordinal=ordinal))

    async def _rendered(self, call: Call, faq: FAQ, place: Place) -> _Rendering:
        """Return an FAQ as soon as it is rendered; a long one is rendered in a thread."""
        fragment = self.renderer.cached(faq, (call.style, place))
        if fragment is None and self.renderer.is_long(faq):
            return call, await to_thread(self.renderer.fragment, faq, call.style, place)
        return call, fragment or self.renderer.fragment(faq, call.style, place)

    @staticmethod
    def _print(
        document: Document, page: Page, call: Call, fragment: Fragment | None, before: Set[str] | None = None
    ) -> str:
        html, problems = "", call.problems
        if fragment is not None:  # some question has an answer
            html = document.print(fragment, call.elements, schema=call.schema, before=before)
            problems = (*problems, *fragment.problems)
        return "".join([*map(problem_element, problems), html]) if problems and page.shows_problems else html

    # Drafts. The page prints what is published, and the draft replaces it before the body is sent: no cache
    # inside the host stores a draft. The page that is sent has no JSON-LD of the FAQ.

    async def _show_draft(self, document: Document, page: Page, call: Call, *, blocks: bool) -> Markup:
        found = call.given or page.look_up(self._reader, call.key)
        draft = call.given or page.look_up_newest(self._reader, call.key)
        state = await page.result(self._reader, found, call.wait, blocks=blocks)
        published = self._alone(document, page, call, state)

        async def fill(blocks: bool = False) -> Text:
            state = await page.result(self._reader, draft, call.wait, blocks=blocks)
            return self._draft(document, page, call, state)

        if blocks and page.can_defer(call.key):
            return page.placeholders.leave(fill, published)
        return page.placeholders.leave(None, published, await fill(blocks))

    def _alone(self, document: Document, page: Page, call: Call, state: FAQState) -> str:
        """Return the published FAQ as a document of its own; empty if there is only a draft."""
        if state.data is None:
            return ""
        (faq, call), alone = self.options.part_for(state.data, call), Document(page)
        if not call.schema:
            document.defer_schema(faq)
        place = alone.place(faq, schema=call.schema)
        return self._print(alone, page, call, self.renderer.fragment(faq, call.style, place))

    def _draft(self, document: Document, page: Page, call: Call, state: FAQState) -> Text:
        """Return the draft without JSON-LD, below a line that calls it a preview."""
        preview = page.preview
        try:
            faq, call = self.options.part_for(self._record(page, call.key, state), call)
        except FAQError as error:
            return self._handle(page, call.key.slug, error)
        fragment = self.renderer.fragment(faq, call.style, document.place(faq, schema=True))
        shown = self._print(document, page, replace(call, schema=False), fragment)
        if preview is None or call.given is not None or not shown:
            return shown
        # Whether the token reads a draft of another FAQ is known only when the page is sent.
        return lambda: f"{preview.banner(call.key.slug, call.key.lang or faq.lang, call.elements)}{shown}"

    # JSON-LD

    def schema(
        self, document: Document | None, faq: FAQ | FAQState | None, given: Given, caller: Caller
    ) -> Markup:
        """Return the FAQPage of a record, or of all earlier FAQs whose JSON-LD was not printed."""
        document, page = here(document, self.page_source)
        try:
            given = self.options.problems("", caller).known(given, ("nonce",))
            check_schema_argument("faq_schema()", faq)
            elements = self.options.elements(page, given.get("nonce"), caller)
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

        return page.placeholders.leave(fill)

    def _schema(self, page: Page, faqs: Sequence[_Numbered], elements: ElementOptions) -> Markup:
        if page.preview is not None:
            faqs = [one for one in faqs if not page.preview.is_draft(one[0])]
        script = self._script(faqs, elements)
        # In a preview, a placeholder removes the script before the page is sent.
        return page.placeholders.leave(None, script) if script and page.preview is not None else script

    def schema_of(self, faqs: Iterable[FAQ | FAQState | None], nonce: str | None) -> Markup:
        """Return the FAQPage of records and states, without a document: its questions have no `@id`s."""
        records = (faq.data if isinstance(faq, FAQState) else faq for faq in faqs)
        elements = self.options.elements(self.page(), nonce)
        return self._script([(faq, None) for faq in records if faq is not None], elements)

    def _script(self, faqs: Iterable[_Numbered], elements: ElementOptions) -> Markup:
        """Return one FAQPage with the questions of several records, each once."""
        questions = dict.fromkeys(chain.from_iterable(starmap(self.renderer.questions_json, faqs)))
        return Rendered(json_ld_element(page_json(questions), elements.nonce))

    # Errors

    def _record(self, page: Page, key: Key, state: FAQState) -> FAQ:
        """Return the record of a state, or raise why there is none."""
        page.limit_by(self._reader, key, state)
        if not state.is_loading:
            return data_or_raise(state)
        if (self._reader, key) not in page.states:  # this page has not waited for it
            self.options.log.warning("middleware", CANNOT_WAIT, quoted(key.slug))
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
