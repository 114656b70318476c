"""How an FAQ gets onto a page: ready-made, rendered now, left to a slot, or not at all."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from markupsafe import Markup

from faqsvc_embed.api.reading import is_slug
from faqsvc_embed.cache.entries import Entry, Key
from faqsvc_embed.cache.reader import Flies, Reader, data_or_raise, in_event_loop
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQUnavailable, quoted
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page.context import Page, Shown, alone
from faqsvc_embed.page.options import PLAIN, Asked, Wishes, as_asked, numbered
from faqsvc_embed.page.problems import Problems
from faqsvc_embed.rendering.answers import Answers
from faqsvc_embed.rendering.latest import Latest
from faqsvc_embed.rendering.overrides import Overrides
from faqsvc_embed.rendering.renderer import Block, Renderer, problem_element
from faqsvc_embed.runtime.waiting import Turns
from faqsvc_embed.settings import UNSET, Settings
from faqsvc_embed.settings.validators import Variant
from faqsvc_embed.theme import Theme

MOST_LOOKS: Final = 32
"""How many looks of one record are kept rendered; a host with more has themes by visitor."""

FIRST: Final = "first"
"""The key of what stands on a page whose first call asks that, if it can be printed at once."""


class Showing:
    """Shows the FAQs of one embed; whatever goes wrong, the page stays whole."""

    def __init__(self, settings: Settings, reader: Reader, wishes: Wishes) -> None:
        self._settings = settings
        self._reader = reader
        self._wishes = wishes
        self.nonce = wishes.nonce
        self.known = wishes.known
        self.answers = Answers(
            settings.answer_format, link_urls=settings.link_urls, nofollow=settings.nofollow
        )
        self._renderer = Renderer(answers=self.answers, encodes=settings.splice)
        self._lang = settings.lang
        self._styles = settings.styles
        self._prints_styles = settings.styles == "inline"
        self.has_files = settings.styles == "linked" or settings.variant == "disclosure"
        """A host that can serves the stylesheet or the enhancer as files."""
        self._held: Callable[[Any], Entry | None] = reader.cache.get
        self._cache = reader.cache
        self._overrides: Overrides | None = None
        self._watched: Overrides | None = None
        """The templates of the host, if they may be edited while it runs."""
        self._own = Latest()
        """What was rendered of records that the host has itself."""
        self._problems = Problems()
        self._turns = Turns()
        """Else all tasks that come while one renders a record would render it too."""

    def at_hand(self, page: Page, slug: object, names: Mapping[str, Any]) -> Markup | None:
        """Return the first FAQ of a page as it was rendered before: the short way of nearly every page.

        None if anything is unusual. `names` are those of the template, of which one may be a nonce.
        """
        if not page.is_new or not self._prints_styles or self._watched is not None:
            return None
        if type(slug) is not str:  # to hash a record takes as long as to read it
            return None
        try:
            lang = (page.language(self._lang) if page.has_visitor else None) or self._lang
            entry = self._held((slug, lang))
            if entry is None:
                return None
            now = self._cache.clock()
            shown: Shown | None = entry.rendered.get(FIRST) if now < entry.fresh_until else None
            if shown is None:
                return None
            nonce = (page.nonce() if page.has_visitor else None) or names.get("csp_nonce")
            if nonce and type(nonce) is not str:
                return None
        except Exception:  # a slug that cannot be looked up, or a host that cannot tell; the long way says so
            return None
        entry.used_at = now
        return page.begin_with(shown, nonce, self._reader, entry)

    def render_with(self, renderer: Renderer) -> None:
        """Render with the templates of a host from here on."""
        self._renderer = renderer
        self._start_anew()

    def _start_anew(self) -> None:
        """Drop what was rendered by templates that are no longer those."""
        self._overrides = self._watched = None
        self._own = Latest()
        self._problems.forget()
        for entry in self._reader.cache.entries():
            entry.rendered.clear()

    def _has_changed(self) -> bool:
        """Tell whether a template of the host's was edited, which development shows at once."""
        if self._watched is None or not self._watched.have_changed:
            return False
        self._start_anew()
        return True

    def _known_overrides(self) -> Overrides:
        if self._overrides is None:
            self._overrides = overrides = self._renderer.overrides()
            self._watched = overrides if overrides.may_change else None
        return self._overrides

    def get_ready(self) -> None:
        """Make what the first page needs."""
        self._renderer.get_ready()
        self._known_overrides()

    def render(
        self,
        page: Page,
        what: str | FAQ,
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
        """Return an FAQ for this place of `page`, or a slot if it is not held and nobody may wait here."""
        asked = as_asked(theme, show_title, heading_level, variant, exclusive)
        try:
            block = None if page.has_open_slots else self._ready(page, what, lang, asked)
            if block is not None and not (page.fills_slots and block.is_large):
                return self._place(page, block, schema, nonce)
            if self._must_not_wait(page, what, lang):
                return page.leave_slot(lambda: self._arrive(page, what, lang, asked, schema, nonce))
            wait = None if in_event_loop() else self._settings.wait
            state = (
                what
                if isinstance(what, FAQ)
                else self._reader.read(self._key(page, what, lang), wait or 0, page)
            )
            faq = state if isinstance(state, FAQ) else self._data(what, state, wait)
            overrides = self._known_overrides()
            block = self._rendered(page, state, asked) or self._renderer.block(
                faq, self._wishes.look(*asked), page.ordinal(faq.slug)
            )
            return self._finish(page, state, block, overrides, asked, schema, nonce)
        except Exception as error:
            return self._nothing(page, what, error)

    async def arender(
        self,
        page: Page,
        what: str | FAQ,
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
        """Return an FAQ for this place of `page`, waiting for it if need be, and rendering in short steps."""
        asked = as_asked(theme, show_title, heading_level, variant, exclusive)
        if isinstance(what, str):
            with suppress(Exception):  # which is met again, and said, below
                self._reader.look_up(self._key(page, what, lang))  # its fetch begins before its turn
        async with page.turn():
            if page.slots is not None:
                await page.slots.fill()  # those FAQs come first
            return await self._arrive(page, what, lang, asked, schema, nonce)

    async def _arrive(
        self, page: Page, what: str | FAQ, lang: str | None, asked: Asked, schema: bool, nonce: str | None
    ) -> Markup:
        """Return an FAQ for this place of `page`, whose turn it is."""
        try:
            block = self._ready(page, what, lang, asked)
            if block is not None:
                return self._place(page, block, schema, nonce)
            if isinstance(what, FAQ):
                state: FAQ | FAQState = what
            else:
                state = await self._reader.aread(self._key(page, what, lang), self._settings.wait, page)
            faq = state if isinstance(state, FAQ) else self._data(what, state, self._settings.wait)
            overrides = self._known_overrides()
            block = self._rendered(page, state, asked)
            if block is None and await self._another_rendered(page, faq, asked):
                block = self._rendered(page, state, asked)
            if block is None:
                block = await self._render_in_steps(page, faq, asked)
            return self._finish(page, state, block, overrides, asked, schema, nonce)
        except Exception as error:
            return self._nothing(page, what, error)

    async def _another_rendered(self, page: Page, faq: FAQ, asked: Asked) -> bool:
        """Wait for another task that renders the same and will remember it, if there is one."""
        if not self._known_overrides().may_be_held:
            return False
        return await self._turns.another_did(_rendering(page, faq, asked))

    async def _render_in_steps(self, page: Page, faq: FAQ, asked: Asked) -> Block | None:
        rendering = self._renderer.ablock(faq, self._wishes.look(*asked), page.ordinal(faq.slug))
        return await self._turns.do(_rendering(page, faq, asked), rendering)

    def _data(self, slug: object, state: FAQState, wait: float | None) -> FAQ:
        """Return the record of a state, or raise why there is none; `wait` is None where nobody may wait."""
        if not state.is_loading:
            return data_or_raise(state)
        if wait is None:  # `_must_not_wait` has warned
            raise FAQUnavailable(f"{quoted(slug)} is not held yet, and an event loop cannot wait for it here")
        raise self._problems.late(slug, state.lang_requested, wait)

    def settle_language(self, page: Page) -> None:
        """Find out now in which language the page is, for its headers are about to leave."""
        self._wishes.language(None, page)

    def _key(self, page: Page, slug: str, lang: str | None) -> Key:
        return Key(slug, self._wishes.language(lang, page))

    def _ready(self, page: Page, what: object, lang: str | None, asked: Asked) -> Block | None:
        """Return what was rendered before of a record, or of a fresh copy: the way of nearly every page."""
        if self._watched is not None and self._has_changed():
            return None
        if isinstance(what, FAQ):
            return self._own.get(what, numbered(asked, page.ordinal(what.slug)))
        try:
            entry = self._held((what, lang or page.language(self._lang) or self._lang))
            if entry is None:
                return None
            now = self._cache.clock()
            if now >= entry.fresh_until:
                return None
            key = (self._reader, entry.key)
            if page.states.get(key, entry.state) is not entry.state:
                return None  # a refresh has landed since this page began to show it
            entry.used_at = now
            page.keep(self._reader, entry.key, entry.state)
            return entry.rendered.get(numbered(asked, page.ordinal(what)))
        except Exception:  # a slug, a theme or a host as above
            return None

    def _must_not_wait(self, page: Page, what: str | FAQ, lang: str | None) -> bool:
        """Tell whether an FAQ has to come later, into a slot; its fetch is started in any case."""
        answer: FAQState | Flies | None = None
        if isinstance(what, str) and (page.has_open_slots or in_event_loop()):
            answer = self._reader.look_up(self._key(page, what, lang))
        is_coming = answer is not None and not isinstance(answer, FAQState) and not answer.landed.done()
        if not page.fills_slots:
            if is_coming:
                self._wishes.warn(
                    f"{quoted(what)} is not held yet, and a template in an event loop cannot wait for it: "
                    "app.add_middleware(FAQMiddleware, embed=embed) fills it in",
                    about="the middleware",
                )
            return False
        if page.has_open_slots:
            return True  # behind an open slot everything waits its turn: styles and JSON-LD come in order
        faq = answer.data if isinstance(answer, FAQState) else what
        if answer is not None and not isinstance(answer, FAQState) and not is_coming:
            faq = answer.landed.result().faq
        return is_coming or (isinstance(faq, FAQ) and self._renderer.takes_long(faq) and in_event_loop())

    def _finish(
        self,
        page: Page,
        state: FAQ | FAQState,
        block: Block | None,
        overrides: Overrides,
        asked: Asked,
        schema: bool,
        nonce: str | None,
    ) -> Markup:
        if block is None:
            return Markup()
        if isinstance(state, FAQState):
            self._problems.arrived(block.faq.slug, state.lang_requested)
        if overrides is self._overrides:  # else it was rendered by what was edited, or replaced, meanwhile
            self._remember(page, state, block, overrides, asked)
        return self._place(page, block, schema, nonce)

    def _rendered(self, page: Page, state: FAQ | FAQState, asked: Asked) -> Block | None:
        """Return what was rendered of a copy that is no longer fresh."""
        if isinstance(state, FAQ) or state.data is None:
            return None
        entry = self._held((state.data.slug, state.lang_requested))
        if entry is None or entry.faq is not state.data:
            return None
        try:
            block: Block | None = entry.rendered.get(numbered(asked, page.ordinal(state.data.slug)))
        except Exception:  # a theme that cannot be looked up is rendered each time
            return None
        return block

    def _remember(
        self, page: Page, state: FAQ | FAQState, block: Block, overrides: Overrides, asked: Asked
    ) -> None:
        look = numbered(asked, page.ordinal(block.faq.slug))
        if not isinstance(state, FAQState):
            if type(state) is FAQ and overrides.are_none:  # else a `cta`, or more, may be shown
                self._own.put(state, look, block)
            return
        entry = self._held((block.faq.slug, state.lang_requested))
        if entry is None or entry.faq is not block.faq or not overrides.may_be_held:
            return
        if len(entry.rendered) >= MOST_LOOKS:
            entry.rendered.clear()
        with suppress(Exception):  # as above
            entry.rendered[look] = block
            if look == PLAIN and not block.is_large and not block.needs_enhancer:
                entry.rendered[FIRST] = alone(block)

    def _place(self, page: Page, block: Block, schema: bool, nonce: str | None) -> Markup:
        nonce = self._wishes.nonce(nonce, page)
        schema = schema is True or (schema is not None and self._wishes.truth("schema", schema, True))
        return page.place(block, nonce, schema, self._styles, page.assets if self.has_files else None)

    def not_for_schema(self, page: Page, what: object) -> Markup | None:
        """Return what stands where there is nothing to mark up; None if `what` can be marked up."""
        if isinstance(what, FAQState):
            return Markup() if what.data is None else None
        if what is None or isinstance(what, FAQ):
            return None
        problem = f"faq_schema() got {quoted(what)}: an FAQ, what use_faq() returned, or nothing is accepted"
        return self._nothing(page, what, ConfigurationError(problem))

    def _nothing(self, page: Page, what: object, error: Exception) -> Markup:
        """Keep the page whole: raise if strict, show the problem in development, else log."""
        if self._settings.strict:
            raise error
        if not isinstance(error, FAQError):
            self._known_overrides()  # whose next edition may have the same problem, which is said again
            self._problems.tell(what, error)
        elif isinstance(error, ConfigurationError) or self._settings.offline or not is_slug(what):
            self._wishes.warn(str(error))  # no fetch ever tells of it
        if page.shows_problems:
            return Markup(problem_element(str(error) or repr(error)))  # noqa: S704  # escaped there
        return Markup()


def _rendering(page: Page, faq: FAQ, asked: Asked) -> tuple[Any, ...]:
    """Return the key of what a task renders, for as long as it holds the record."""
    return id(faq), page.ordinal(faq.slug), repr(asked)  # a theme may be what cannot be looked up
