"""Shows drafts on a page with a preview token, each in place of its published FAQ."""

from typing import TYPE_CHECKING

from markupsafe import Markup
from msgspec.structs import replace

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.document import Document
from faqsvc_embed.page.options import Call
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.placeholders import Text
from faqsvc_embed.page.printer import Printer
from faqsvc_embed.page.states import PageStates, cannot_wait
from faqsvc_embed.rendering.elements import ElementOptions

if TYPE_CHECKING:
    from faqsvc_embed.cache.fetch import Fetch


class DraftStates(PageStates):
    """Reads drafts, and the published FAQ if the token of the page reads no draft of it."""

    def look_up(self, page: Page, key: Key) -> "FAQState | Fetch":
        preview = page.preview
        if preview is None or (token := preview.token_for(key.slug)) is None:
            return super().look_up(page, key)
        return preview.drafts.get((self._reader, key)) or self._reader.read_draft(key, token)

    def wait_for(self, page: Page, found: "FAQState | Fetch", wait: float) -> FAQState:
        if not isinstance(found, FAQState) and found.is_draft:
            if cannot_wait(page):
                found = super().look_up(page, found.key)
            else:
                found = self._draft_or_published(page, found.key, self._wait(page, found, wait))
        return super().wait_for(page, found, wait)

    async def await_for(self, page: Page, found: "FAQState | Fetch", wait: float) -> FAQState:
        if not isinstance(found, FAQState) and found.is_draft:
            found = self._draft_or_published(page, found.key, await self._await(page, found, wait))
        return await super().await_for(page, found, wait)

    def _draft_or_published(self, page: Page, key: Key, draft: FAQState) -> "FAQState | Fetch":
        preview = page.preview
        if preview is not None and draft.data is None:
            preview.refuse(key.slug, draft.error)
            return super().look_up(page, key)
        if preview is not None:
            preview.drafts[self._reader, key] = draft
        return draft


class DraftPrinter(Printer):
    """Prints the published FAQ, and replaces it by the draft before the body is sent.

    So no cache inside the host stores a draft. The page that is sent has no JSON-LD of the FAQ.
    """

    def __init__(self, published: Printer, states: DraftStates) -> None:
        super().__init__(published.settings, states, published.renderer, published.problems)
        self._published = published.states

    def show(self, document: Document, call: Call) -> Markup:
        page = document.page
        found = call.given or self._published.look_up(page, call.key)
        published = self._alone(document, call, self._published.wait_for(page, found, self.settings.wait))
        draft = call.given or self.states.look_up(page, call.key)
        if page.can_defer(call.key):

            async def fill() -> Text:
                return await self._draft(document, call, draft)

            return page.leave_placeholder(fill, published)
        state = self.states.wait_for(page, draft, self.settings.wait)
        return page.leave_placeholder(None, published, self._draft_of(document, call, state))

    async def ashow(self, document: Document, call: Call) -> Markup:
        page = document.page
        found = call.given or self._published.look_up(page, call.key)
        draft = call.given or self.states.look_up(page, call.key)
        state = await self._published.await_for(page, found, self.settings.wait)
        published = self._alone(document, call, state)
        return page.leave_placeholder(None, published, await self._draft(document, call, draft))

    def _alone(self, document: Document, call: Call, state: FAQState) -> Markup:
        """Return the published FAQ as a document of its own; empty if there is only a draft."""
        faq, alone = state.data, Document(page=document.page)
        if faq is None:
            return Markup()
        if not call.schema:
            document.defer_state(state)
        fragment = self.renderer.fragment(faq, call.style, alone.place(faq, schema=call.schema))
        return self._print(alone, call, fragment)

    async def _draft(self, document: Document, call: Call, draft: "FAQState | Fetch") -> Text:
        state = await self.states.await_for(document.page, draft, self.settings.wait)
        return self._draft_of(document, call, state)

    def _draft_of(self, document: Document, call: Call, state: FAQState) -> Text:
        """Return the draft without JSON-LD, below a line that calls it a preview."""
        page = document.page
        try:
            faq = self.states.record(page, call.key, state)
            place = document.place(faq, schema=True)
            shown = self._print(
                document, replace(call, schema=False), self.renderer.fragment(faq, call.style, place)
            )
        except Exception as error:
            return self.problems.handle(page, call.key.slug, error)
        preview = page.preview
        if preview is None or call.given is not None or not shown:
            return shown
        # Whether the token reads a draft of another FAQ is known only when the page is sent.
        return lambda: preview.banner(call.key.slug, call.key.lang or faq.lang, call.elements) + shown

    def schema(self, document: Document, faq: FAQ | None, elements: ElementOptions) -> Markup:
        """Return the FAQPage of the published FAQs; it is removed before the page is sent."""
        faqs = document.take_deferred() if faq is None else document.take(faq)
        if document.page.preview is not None:
            faqs = document.page.preview.without_drafts(faqs)
        published = self.script([(one, document.schema_place(one)) for one in faqs], elements)
        return document.page.leave_placeholder(None, published) if published else published
