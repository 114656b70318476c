"""Shows FAQs in documents: resolves a call and passes it to a printer. An error never breaks a page."""

from collections.abc import Mapping, Sequence
from typing import Any

from markupsafe import Markup

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.reader import Reader
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.events import FAQEvent
from faqsvc_embed.models import FAQ, FAQState, render_with
from faqsvc_embed.page.context import PageSource, current_document, request_page
from faqsvc_embed.page.document import Document
from faqsvc_embed.page.drafts import DraftPrinter, DraftStates
from faqsvc_embed.page.options import FROM_PYTHON, Caller, OptionResolver
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.printer import Printer
from faqsvc_embed.page.problems import Problems
from faqsvc_embed.page.states import PageStates
from faqsvc_embed.rendering.answers import Answers
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.runtime.threads import call_in_thread, to_thread
from faqsvc_embed.settings import Settings


class Presenter:
    """Shows the FAQs of one embed."""

    def __init__(self, settings: Settings, reader: Reader) -> None:
        self._page_source: PageSource | None = None
        self._cache = reader.cache
        self.options: OptionResolver = OptionResolver(settings)
        self._problems = Problems(settings, self.options.log, reader)
        self.renderer: Renderer = Renderer(
            Answers(settings.answer_format, link_urls=settings.link_urls, nofollow=settings.nofollow),
            cache_overrides=settings.cache_overrides,
        )
        states = PageStates(settings, reader, self.options, self._problems)
        self._published = Printer(settings, states, self.renderer, self._problems)
        drafts = DraftStates(settings, reader, self.options, self._problems)
        self._drafts = DraftPrinter(self._published, drafts)

    def find_pages_with(self, source: PageSource) -> None:
        """Use `source` to find the page of a request, if the context has none."""
        self._page_source = source

    def page(self) -> Page:
        """Return the page of the request, or a new one for this call only."""
        page = request_page()
        if page is None and self._page_source is not None:
            page = self._page_source()
        return page or Page()

    def document(self) -> Document:
        """Return the document that is being rendered, or a new one for this call only."""
        return self.join(current_document() or Document())

    def join(self, document: Document) -> Document:
        """Make a document a part of the current page, unless it is a part of one already."""
        if document.page.is_over:
            document.page = self.page()
        return document

    def _printer(self, page: Page) -> Printer:
        return self._published if page.preview is None else self._drafts

    # Reading

    def use_faq(self, document: Document, slug: str, lang: str | None, wait: float | None = None) -> FAQState:
        """Return the state of an FAQ; if it is not cached, wait for it, but not in an event loop."""
        states = self._printer(document.page).states
        return document.defer_state(self._with_html(states.get(document.page, slug, lang, wait)))

    async def ause_faq(
        self, document: Document, slug: str, lang: str | None, wait: float | None = None
    ) -> FAQState:
        """Return the state of an FAQ; if it is not cached, await it."""
        states = self._printer(document.page).states
        return document.defer_state(self._with_html(await states.aget(document.page, slug, lang, wait)))

    def _with_html(self, state: FAQState) -> FAQState:
        if state.data is not None:
            self.with_html(state.data)
        return state

    def with_html(self, faq: FAQ) -> FAQ:
        """Return a record whose items have the HTML that this embed prints."""
        return render_with(self.renderer.answers, faq)

    def prefetch(self, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together; in an event loop, do not wait for them."""
        page = self.page()
        try:
            self._printer(page).states.prefetch(page, slugs, lang)
        except Exception as error:
            self._problems.handle(page, slugs, error)

    async def aprefetch(self, slugs: Sequence[str], lang: str | None) -> None:
        """Fetch the FAQs that are not cached, together, and render them."""
        page = self.page()
        try:
            for faq in await self._printer(page).states.aprefetch(page, slugs, lang):
                await to_thread(self.prepare, faq)
        except Exception as error:
            self._problems.handle(page, slugs, error)

    def prepare_fetched(self, event: FAQEvent) -> None:
        """Render a fetched record in a thread of its own, if this host renders FAQs."""
        entry = self._cache.get(Key(event.slug, event.lang))
        if event.error is None and self.renderer.is_ready and entry is not None and entry.faq is not None:
            call_in_thread(self.prepare, entry.faq)

    def prepare(self, faq: FAQ) -> None:
        """Render a record in the usual style, so that its first page finds the fragment cached."""
        self.renderer.prepare(faq, self.options.style)

    # Rendering

    def render(
        self,
        document: Document,
        slug_or_faq: object,
        options: Mapping[str, Any],
        caller: Caller = FROM_PYTHON,
    ) -> Markup:
        """Return an FAQ for this place in the document, a placeholder, or empty markup."""
        page = document.page
        try:
            call = self.options.resolve(page, slug_or_faq, options, caller)
            return self._printer(page).show(document, call)
        except Exception as error:
            return self._problems.handle(page, slug_or_faq, error)

    async def arender(
        self,
        document: Document,
        slug_or_faq: object,
        options: Mapping[str, Any],
        caller: Caller = FROM_PYTHON,
    ) -> Markup:
        """Return an FAQ for this place in the document, awaiting it if it is not cached."""
        page = document.page
        try:
            call = self.options.resolve(page, slug_or_faq, options, caller)
            return await self._printer(page).ashow(document, call)
        except Exception as error:
            return self._problems.handle(page, slug_or_faq, error)

    def schema(
        self,
        document: Document,
        faq: FAQ | FAQState | None,
        nonce: object = None,
        caller: Caller = FROM_PYTHON,
    ) -> Markup:
        """Return the FAQPage of a record, or of all earlier FAQs whose JSON-LD was not printed."""
        page = document.page
        try:
            _check_schema_argument("faq_schema()", faq)
            elements = self.options.elements(page, nonce, caller)
            record = faq.data if isinstance(faq, FAQState) else faq
            if faq is not None and record is None:
                return Markup()
            return self._printer(page).schema(document, record, elements)
        except Exception as error:
            return self._problems.handle(page, "faq_schema()", error)

    def script(self, faqs: "Sequence[FAQ | FAQState | None]", nonce: object = None) -> Markup:
        """Return the script element of a FAQPage for several records, without adding it to a page."""
        for faq in faqs:
            _check_schema_argument("schema()", faq)
        records = (faq.data if isinstance(faq, FAQState) else faq for faq in faqs)
        elements = self.options.elements(self.page(), nonce, FROM_PYTHON)
        return self._published.script([(faq, None) for faq in records if faq is not None], elements)


def _check_schema_argument(function: str, faq: object) -> None:
    if faq is not None and not isinstance(faq, FAQ | FAQState):
        raise ConfigurationError(
            f"{function} got {quoted(faq)}: an FAQ, the result of use_faq(), or nothing is accepted"
        )
