"""Prints FAQs in documents: looks one up, renders it, or leaves a placeholder for it.

Synchronous and asynchronous calls differ only in how they wait.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from markupsafe import Markup

from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.document import Document
from faqsvc_embed.page.options import Call
from faqsvc_embed.page.problems import Problems
from faqsvc_embed.page.states import PageStates
from faqsvc_embed.rendering.elements import ElementOptions, json_ld_element, problem_element
from faqsvc_embed.rendering.fragments import Fragment
from faqsvc_embed.rendering.json_ld import page_json
from faqsvc_embed.rendering.renderer import Place, Renderer
from faqsvc_embed.runtime.threads import to_thread
from faqsvc_embed.settings import Settings

if TYPE_CHECKING:
    from faqsvc_embed.cache.fetch import Fetch


class Printer:
    """Prints published FAQs."""

    def __init__(
        self, settings: Settings, states: PageStates, renderer: Renderer, problems: Problems
    ) -> None:
        self.settings = settings
        self.states = states
        self.renderer = renderer
        self.problems = problems

    def show(self, document: Document, call: Call) -> Markup:
        """Return an FAQ, or a placeholder; raise FAQError if there is nothing to show."""
        page = document.page
        found = call.given or self.states.look_up(page, call.key)
        if not isinstance(found, FAQState):
            if page.can_defer(call.key):
                return self._defer(document, call, found)
            found = self.states.wait_for(page, found, self.settings.wait)
        faq = found.data
        if faq is None or found.is_degraded:
            faq = self.states.record(page, call.key, found)
        place = document.place(faq, schema=call.schema)
        fragment = self.renderer.cached(faq, call.style, place)
        if fragment is None:
            if self.renderer.is_long(faq) and page.can_defer(call.key):
                return self._defer(document, call, found, place.ordinal)
            fragment = self.renderer.fragment(faq, call.style, place)
        return self._print(document, call, fragment)

    async def ashow(self, document: Document, call: Call) -> Markup:
        """Return an FAQ, awaiting it if it is not cached."""
        return self._print(document, call, await self._arrived(document, call, None))

    def _defer(
        self, document: Document, call: Call, found: "FAQState | Fetch", ordinal: int | None = None
    ) -> Markup:
        """Return a placeholder for an FAQ that is being fetched, or takes long to render.

        A later FAQ may be printed before this one is filled in. So this one has its own
        stylesheet, unless an earlier FAQ has printed it.
        """
        page = document.page
        if not isinstance(found, FAQState) and self.settings.degraded_max_age is not None:
            page.may_degrade = True
        ordinal = ordinal or document.reserve(call.key.slug)
        before = frozenset(document.printed)

        async def fill() -> str:
            try:
                fragment = await self._arrived(document, call, found, ordinal)
                document.filled |= before
                return self._print(document, call, fragment, is_filled=True)
            except Exception as error:
                return self.problems.handle(page, call.key.slug, error)

        return page.leave_placeholder(fill)

    async def _arrived(
        self, document: Document, call: Call, found: "FAQState | Fetch | None", ordinal: int | None = None
    ) -> Fragment | None:
        """Return an FAQ as soon as it has arrived and is rendered; a long one is rendered in a thread."""
        page = document.page
        found = found or call.given or self.states.look_up(page, call.key)
        state = await self.states.await_for(page, found, self.settings.wait)
        faq = self.states.record(page, call.key, state)
        place = document.place(faq, schema=call.schema, ordinal=ordinal)
        fragment = self.renderer.cached(faq, call.style, place)
        if fragment is None and self.renderer.is_long(faq):
            return await to_thread(self.renderer.fragment, faq, call.style, place)
        return fragment or self.renderer.fragment(faq, call.style, place)

    @staticmethod
    def _print(
        document: Document, call: Call, fragment: Fragment | None, *, is_filled: bool = False
    ) -> Markup:
        if fragment is None:  # no question has an answer
            return Markup()
        printed = document.filled if is_filled else document.printed
        markup = document.print(fragment, call.elements, printed, schema=call.schema)
        problems = (*call.problems, *fragment.problems)
        if problems and document.page.shows_problems:
            return Markup("".join(map(problem_element, problems))) + markup  # escaped there
        return markup

    # JSON-LD

    def schema(self, document: Document, faq: FAQ | None, elements: ElementOptions) -> Markup:
        """Return the FAQPage of a record, or of all earlier ones whose JSON-LD was not printed."""
        if faq is None and document.page.has_open_placeholders:  # their FAQs may leave JSON-LD to this call

            async def fill() -> str:
                return self._deferred(document, elements)

            return document.page.leave_placeholder(fill)
        if faq is None:
            return self._deferred(document, elements)
        return self.script([(one, document.schema_place(one)) for one in document.take(faq)], elements)

    def _deferred(self, document: Document, elements: ElementOptions) -> Markup:
        return self.script([(faq, document.schema_place(faq)) for faq in document.take_deferred()], elements)

    def script(self, faqs: Iterable[tuple[FAQ, Place | None]], elements: ElementOptions) -> Markup:
        """Return one FAQPage with the questions of several records, each once."""
        questions = dict.fromkeys(self.renderer.questions_json(faq, place) for faq, place in faqs)
        return Markup(json_ld_element(page_json(questions), elements.nonce))  # serialized for it
