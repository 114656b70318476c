"""How an FAQ gets onto a page: ready-made, rendered now, left to a slot, or not at all."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any, Final

from markupsafe import Markup

from faqsvc_embed.answers import Answers
from faqsvc_embed.byrecord import ByRecord
from faqsvc_embed.checks import Variant
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQUnavailable, quoted
from faqsvc_embed.freshness import Entry, Key
from faqsvc_embed.overrides import Overrides
from faqsvc_embed.page import Page, alone
from faqsvc_embed.problems import Problems
from faqsvc_embed.reading import Flies, Reader, data_or_raise, in_event_loop
from faqsvc_embed.records import FAQ, FAQState
from faqsvc_embed.rendering import Block, Renderer, problem_element
from faqsvc_embed.settings import UNSET, Settings
from faqsvc_embed.theme import Theme
from faqsvc_embed.waiting import Turns
from faqsvc_embed.wire import is_slug
from faqsvc_embed.wishes import Wishes

MOST_LOOKS: Final = 32
"""How many looks of one record are kept rendered; a host with more has themes by visitor."""

Asked = tuple[Any, bool | None, Any, Any, bool | None]
"""The arguments of `Wishes.look` as they came: a key of what was rendered for them."""
PLAIN: Final[Asked] = (None, None, UNSET, None, None)
"""What a call asks that names nothing but a slug."""


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
        self.has_files = settings.styles == "linked" or settings.variant == "disclosure"
        """A host that can serves the stylesheet or the enhancer as files."""
        self._held: Callable[[Any], Entry | None] = reader.cache.get
        self._cache = reader.cache
        self._blocks = ByRecord[dict[tuple[Any, ...], Block]](dict, 2 * settings.max_entries)
        """What was rendered, by what was asked: of what is held, and of as many records of a host's own."""
        self._overrides: Overrides | None = None
        self._watched: Overrides | None = None
        """The templates of the host, if they may be edited while it runs."""
        self._problems = Problems()
        self._turns = Turns()
        """Else all tasks that come while one renders a record would render it too."""

    def at_hand(self, page: Page, slug: object, names: Mapping[str, Any]) -> Markup | None:
        """Return the first FAQ of a page as it was rendered before: the short way of nearly every page.

        None if anything is unusual. `names` are those of the template, of which one may be a nonce.
        """
        if not page.is_new or type(slug) is not str:  # to hash a record takes as long as to read it
            return None
        lang, nonce = self._lang, None
        try:
            if page.has_visitor:
                lang = page.language(lang) or lang
                nonce = page.nonce()
            entry = self._held((slug, lang))
            if entry is None or entry.ready is None:
                return None
            now = self._cache.clock()
            if now >= entry.fresh_until:
                return None
            nonce = nonce or names.get("csp_nonce")
            if nonce and type(nonce) is not str:
                return None
        except Exception:  # a slug that cannot be looked up, or a host that cannot tell; the long way says so
            return None
        entry.used_at = now
        return page.begin_with(entry.ready, nonce, self._reader, entry)

    def render_with(self, renderer: Renderer) -> None:
        """Render with the templates of a host from here on."""
        self._renderer = renderer
        self._start_anew()

    def _start_anew(self) -> None:
        """Drop what was rendered by templates that are no longer those."""
        self._overrides = self._watched = None
        self._problems.forget()
        self._blocks.clear()
        for entry in self._reader.cache.entries():
            entry.ready = None

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
        asked = _asked(theme, show_title, heading_level, variant, exclusive)
        try:
            known = None if page.has_open_slots else self._at_once(page, what, lang)
            block = None if known is None else self._rendered(page, known, asked)
            if known is not None and block is not None and not (page.fills_slots and block.is_large):
                return self._place(page, block, known, schema, nonce)
            if self._must_not_wait(page, what, lang):
                return page.leave_slot(lambda: self._arrive(page, what, lang, asked, schema, nonce))
            wait = None if in_event_loop() else self._settings.wait
            if isinstance(what, FAQ):
                state: FAQ | FAQState = what
            else:
                state = self._reader.read(self._key(page, what, lang), wait or 0, page)
            faq = state if isinstance(state, FAQ) else self._data(what, state, wait)
            block = self._rendered(page, faq, asked) or self._renderer.block(
                faq, self._wishes.look(*asked), page.ordinal(faq.slug)
            )
            return self._finish(page, state, faq, block, asked, schema, nonce)
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
        asked = _asked(theme, show_title, heading_level, variant, exclusive)
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
            known = self._at_once(page, what, lang)
            block = None if known is None else self._rendered(page, known, asked)
            if known is not None and block is not None:
                return self._place(page, block, known, schema, nonce)
            if isinstance(what, FAQ):
                state: FAQ | FAQState = what
            else:
                state = await self._reader.aread(self._key(page, what, lang), self._settings.wait, page)
            faq = state if isinstance(state, FAQ) else self._data(what, state, self._settings.wait)
            block = self._rendered(page, faq, asked)
            if block is None and await self._another_rendered(page, faq, asked):
                block = self._rendered(page, faq, asked)
            if block is None:
                block = await self._render_in_steps(page, faq, asked)
            return self._finish(page, state, faq, block, asked, schema, nonce)
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

    def _at_once(self, page: Page, what: object, lang: str | None) -> FAQ | None:
        """Return the record to show if there is no need to ask for it: given, or fresh; by one look-up."""
        if self._watched is not None and self._has_changed():
            return None
        if isinstance(what, FAQ):
            return what
        try:
            entry = self._held((what, lang or page.language(self._lang) or self._lang))
            if entry is None or (now := self._cache.clock()) >= entry.fresh_until:
                return None
            key = (self._reader, entry.key)
            if page.states.get(key, entry.state) is not entry.state:
                return None  # a refresh has landed since this page began to show it
            entry.used_at = now
            page.keep(self._reader, entry.key, entry.state)
        except Exception:  # a slug or a host as above
            return None
        return entry.faq

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
        faq: FAQ,
        block: Block | None,
        asked: Asked,
        schema: bool,
        nonce: str | None,
    ) -> Markup:
        if block is None:
            return Markup()
        if isinstance(state, FAQState):
            self._problems.arrived(faq.slug, state.lang_requested)
        if self._known_overrides().may_be_held:
            self._remember(page, state, faq, block, asked)
        return self._place(page, block, faq, schema, nonce)

    def _rendered(self, page: Page, faq: FAQ, asked: Asked) -> Block | None:
        """Return what was rendered of a record before, as this place of the page asks for it."""
        try:
            return self._blocks.of(faq).get(_numbered(asked, page.ordinal(faq.slug)))
        except TypeError:  # a theme that cannot be looked up is rendered each time
            return None

    def _remember(self, page: Page, state: FAQ | FAQState, faq: FAQ, block: Block, asked: Asked) -> None:
        looks, look = self._blocks.of(faq), _numbered(asked, page.ordinal(faq.slug))
        if len(looks) >= MOST_LOOKS:
            looks.clear()
        with suppress(TypeError):
            looks[look] = block
        if look != PLAIN or block.is_large or block.needs_enhancer or isinstance(state, FAQ):
            return
        entry = self._held((faq.slug, state.lang_requested))
        if entry is not None and entry.faq is faq and self._styles == "inline" and self._watched is None:
            entry.ready = alone(block, block.marked_up or faq)

    def _place(self, page: Page, block: Block, faq: FAQ, schema: bool, nonce: str | None) -> Markup:
        nonce = self._wishes.nonce(nonce, page)
        schema = schema is True or (schema is not None and self._wishes.truth("schema", schema, True))
        return page.place(block, faq, nonce, schema, self._styles, page.assets if self.has_files else None)

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


def _numbered(asked: Asked, ordinal: int) -> tuple[Any, ...]:
    """Return the key of the `ordinal`th block of an FAQ on its page, which has ids of its own."""
    return asked if ordinal == 1 else (*asked, ordinal)


def _rendering(page: Page, faq: FAQ, asked: Asked) -> tuple[Any, ...]:
    """Return the key of what a task renders, for as long as it holds the record."""
    return id(faq), page.ordinal(faq.slug), repr(asked)  # a theme may be what cannot be looked up


def _asked(
    theme: Any, show_title: bool | None, heading_level: Any, variant: Any, exclusive: bool | None
) -> Asked:
    # A mapping written into a template is new each time; its items are what can be looked up.
    theme = tuple(theme.items()) if type(theme) is dict else theme
    return (theme, show_title, heading_level, variant, exclusive)
