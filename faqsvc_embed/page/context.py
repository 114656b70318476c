"""What one response has shown: its styles once, its one FAQPage, and what it may still wait.

A page belongs to one request of a host, or to one rendering of a template where there is no request. The
leaves begin and end it; everything that renders finds it in a context variable, whichever embed it is of.
"""

import time
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager
from contextvars import ContextVar, Token
from typing import Any, ClassVar, Final

import msgspec
from markupsafe import Markup
from msgspec.structs import replace

from faqsvc_embed.models import FAQ
from faqsvc_embed.page.headers import encode, exact
from faqsvc_embed.page.placeholders import Filling, Slots, bare, whole
from faqsvc_embed.rendering.assets import enhancer
from faqsvc_embed.rendering.renderer import (
    Block,
    enhancer_element,
    is_long,
    link_element,
    style_element,
    with_nonce,
)
from faqsvc_embed.rendering.scripts import page_script
from faqsvc_embed.runtime.steps import Steps, finished, in_short_steps
from faqsvc_embed.settings.validators import Styles

CURRENT: Final[ContextVar["Page | None"]] = ContextVar("faqsvc_page", default=None)
"""The page that was begun last; it may be over."""


def current() -> "Page | None":
    """Return the page of the request that is being answered, or None."""
    page = CURRENT.get()
    return None if page is None or page.is_over else page


def begin(page: "Page") -> Token["Page | None"]:
    """Make `page` the current one; `end` takes what this returns."""
    return CURRENT.set(page)


def end(token: Token["Page | None"]) -> None:
    """Make the page before the current one again."""
    CURRENT.reset(token)


class Shown(msgspec.Struct, frozen=True, eq=False):
    """What stands on a page so far."""

    blocks: tuple[Block, ...] = ()
    styles: tuple[str, ...] = ()
    sheets: tuple[tuple[str, ...], ...] = ()
    """The style elements that were printed, each as what it holds."""
    is_enhanced: bool = False
    runs_inline: bool = False
    """The enhancer was printed, and not linked."""
    script: str | None = None
    """The script with the FAQPage, as it was printed."""
    nonce: str | None = None
    """Its nonce."""
    marked: tuple[FAQ, ...] = ()
    """What is marked up in it, or should be."""
    deferred: tuple[FAQ, ...] = ()
    """What is left to a `faq_schema()` further down."""

    @property
    def is_nothing(self) -> bool:
        """No FAQ stands there, in whatever form."""
        return not (self.blocks or self.marked or self.deferred)


NOTHING: Final = Shown()


def alone(block: Block, nonce: str | None = None) -> Shown:
    """Return what stands on a page that shows one block, with all that belongs to it."""
    return Shown(
        blocks=(block,),
        styles=block.css,
        sheets=(block.css,),
        script=with_nonce(block.script, nonce),
        nonce=nonce,
        marked=(block.marked_up,),
    )


class Page(msgspec.Struct, eq=False):
    """The FAQs of one response, in document order."""

    # A struct, for every page of a host has one: it is made in C, with all its defaults.

    fills_slots: ClassVar[bool] = False
    """FAQs can be filled in after the template is rendered."""
    has_visitor: ClassVar[bool] = False
    """Somebody may prefer a language, or have a nonce."""

    is_over: bool = False
    """The response has left: what a task of the host renders later is no part of it."""
    negotiated: bool = False
    """The visitor's languages were asked for."""
    may_negotiate: bool = True
    shows_problems: bool = False
    """What went wrong is visible in the place of an FAQ, for development."""
    limits_caching: bool = False
    """`max_age` is to be honoured."""
    assets: str | None = None
    """The path below which the host serves our files, if it does."""
    waited: float = 0.0
    _waiting: tuple[int, float] = (0, 0.0)
    _turns: tuple[object, AbstractAsyncContextManager[None]] | None = None

    is_new: bool = True
    """No FAQ was read for this page, and none was printed."""
    _first: tuple[Any, Any] | None = None
    """Who read the FAQ that came first, and what was held then: most pages have no other."""
    _states: Mapping[Any, Any] | None = None
    shown: Shown = NOTHING
    slots: Slots | None = None
    _merged: tuple[int, str] = (0, "")

    __repr__ = object.__repr__  # a page may hold the headers of its request

    @property
    def states(self) -> Mapping[Any, Any]:
        """The snapshots that this page works with, by reader and key: within it, an FAQ does not change."""
        if self._first is not None:
            (reader, entry), self._first = self._first, None
            self._states = {(reader, entry.key): entry.state}
        return self._states or {}

    def keep(self, reader: Any, key: Any, state: Any) -> None:
        """Work with this snapshot from here on."""
        self.is_new = False
        self._states = {**self.states, (reader, key): state}

    @property
    def is_blank(self) -> bool:
        """Nothing of ours has been printed yet."""
        return self.shown.is_nothing and self.slots is None

    def begin_again(self) -> None:
        """Forget what was printed, for its body never leaves; what was read, and how long waited, stays."""
        self.shown, self.slots, self._merged = NOTHING, None, (0, "")

    def _add(self, **changes: Any) -> None:
        self.is_new = False
        self.shown = replace(self.shown, **changes)

    def ordinal(self, slug: object) -> int:
        """Return which block of this slug the next one is, counted from 1."""
        blocks = self.shown.blocks
        return 1 + sum(block.faq.slug == slug for block in blocks) if blocks else 1

    def begin_with(self, shown: Shown, nonce: str | None, reader: Any, entry: Any) -> Markup:
        """Show one block on a new page, of what a reader holds, and return it: ready-made but for a nonce."""
        self._first = reader, entry
        if nonce:
            return self._place_alone(shown.blocks[0], nonce)
        self.is_new, self.shown = False, shown
        return shown.blocks[0].alone

    def _place_alone(self, block: Block, nonce: str | None) -> Markup:
        self.is_new, self.shown = False, alone(block, nonce)
        if not nonce:
            return block.alone
        return Markup(f"{style_element(block.css, nonce)}{block.html}{self.shown.script}")

    def place(
        self, block: Block, nonce: str | None, schema: bool, styles: Styles, files: str | None = None
    ) -> Markup:
        """Return a block with what this page has not printed yet: styles before it, scripts behind it.

        `files` is the address below which the host serves our files, None if it does not: then what
        would be linked is printed.
        """
        if self.shown.is_nothing and schema and styles == "inline" and not block.needs_enhancer:
            return self._place_alone(block, nonce)
        self._add(blocks=(*self.shown.blocks, block))
        before = "" if styles == "none" else self._new_styles(block, nonce, styles, files)
        behind = self._new_enhancer(nonce, files) if block.needs_enhancer else ""
        if not schema:
            self.defer(block.marked_up)
        elif not self.shown.marked and self.shown.script is None:
            script = with_nonce(block.script, nonce)
            self._add(marked=(block.marked_up,), script=script, nonce=nonce)
            behind += script
        else:
            behind += finished(self._mark_up((block.marked_up,), nonce))
        return Markup(f"{before}{block.html}{behind}")  # rendering escaped them

    def _new_styles(self, block: Block, nonce: str | None, styles: Styles, files: str | None) -> str:
        shown = self.shown
        wanted = [at for at, rule in enumerate(block.css) if rule not in shown.styles]
        css = tuple(block.css[at] for at in wanted)
        if styles == "linked" and files is not None:
            self._add(styles=shown.styles + css)
            return "".join(link_element(f"{files}/{block.files[at]}", nonce) for at in wanted)
        if css:
            self._add(styles=shown.styles + css, sheets=(*shown.sheets, css))
        return style_element(css, nonce)

    def _new_enhancer(self, nonce: str | None, files: str | None) -> str:
        if self.shown.is_enhanced:
            return ""
        self._add(is_enhanced=True, runs_inline=files is None)
        return enhancer_element(files, nonce)

    def inline_elements(self) -> list[tuple[str, str]]:
        """Return name and text of the style and script elements that were printed, data apart."""
        printed = [("style", "".join(css)) for css in self.shown.sheets]
        return [*printed, ("script", enhancer())] if self.shown.runs_inline else printed

    def _mark_up(self, faqs: tuple[FAQ, ...], nonce: str | None) -> Steps[str]:
        """Count `faqs` into the page's FAQPage, and print it if this page has none yet."""
        self._add(marked=self.shown.marked + faqs)
        if self.shown.script is not None:
            return ""
        script = yield from page_script(self.shown.marked, nonce)
        if script:
            self._add(script=script, nonce=nonce)
        return script

    def defer(self, faq: FAQ) -> None:
        """Remember an FAQ that the host shows with its own markup, for a `faq_schema()` further down."""
        self._add(deferred=(*self.shown.deferred, faq))

    def schema(self, faq: FAQ | None = None, nonce: str | None = None) -> Markup:
        """Return the FAQPage of `faq`, or of all that was left to this call, unless the page has one.

        A page that has one gets these questions into it, by `merge`.
        """
        return Markup(finished(self._mark_up(self._left_to_schema(faq), nonce)))

    async def aschema(self, faq: FAQ | None = None, nonce: str | None = None) -> Markup:
        """Return what `schema` does, as the filling of a slot."""
        return Markup(await in_short_steps(self._mark_up(self._left_to_schema(faq), nonce)))

    async def aschema_in_turn(self, faq: FAQ | None = None, nonce: str | None = None) -> Markup:
        """Return what `schema` does, behind the FAQs that were asked for before."""
        async with self.turn():
            if self.slots is not None:
                await self.slots.fill()
            return await self.aschema(faq, nonce)

    def takes_long(self, faq: FAQ | None = None) -> bool:
        """Tell whether `schema` would hold an event loop up."""
        return self.shown.script is None and is_long(*([faq] if faq is not None else self.shown.deferred))

    def _left_to_schema(self, faq: FAQ | None) -> tuple[FAQ, ...]:
        if faq is not None:
            return (faq,)
        faqs = self.shown.deferred
        self._add(deferred=())
        return faqs

    @property
    def is_settled(self) -> bool:
        """Everything marked up stands in the script that was printed: the response is right as it is."""
        shown = self.shown
        return len(shown.marked) < 2 or shown.script is None or shown.script == finished(self.merging())

    def merging(self) -> Steps[str]:
        """Make the script of all FAQs that are marked up; once, as long as none is added."""
        faqs, script = self.shown.marked, self.shown.script
        if len(faqs) < 2 or script is None:
            return script or ""
        if self._merged[0] != len(faqs):
            self._merged = len(faqs), (yield from page_script(faqs, self.shown.nonce))
        return self._merged[1]

    def merge(self, body: bytes, charset: str = "utf-8") -> bytes:
        """Return the body of a response with the FAQPage of all FAQs in the place of the first one's."""
        if self.shown.script is None or self.is_settled:
            return body
        charset = exact(charset, body)
        try:
            printed = bare(self.shown.script).encode(charset)
        except UnicodeEncodeError:  # so it cannot be in there
            return body
        start = whole(printed, body)
        if start < 0:
            return body
        return body[:start] + encode(bare(finished(self.merging())), charset) + body[start + len(printed) :]

    @property
    def may_change(self) -> bool:
        """The body may have to change as it leaves: it has slots, or more is marked up than was printed."""
        return self.slots is not None or (len(self.shown.marked) > 1 and self.shown.script is not None)

    def open_slots(self) -> Slots:
        """Return the slots of this page."""
        if self.slots is None:
            self.is_new = False
            self.slots = Slots()
        return self.slots

    @property
    def has_open_slots(self) -> bool:
        """A template left slots, and they are not filled yet."""
        return self.slots is not None and self.slots.are_open

    def leave_slot(self, filling: Filling) -> Markup:
        """Leave a slot where this stands."""
        return self.open_slots().leave(filling)

    def turn(self) -> AbstractAsyncContextManager[None]:
        """Return what lets FAQs that are awaited onto the page one by one, in the order of their calls."""
        import asyncio  # whoever awaits this has it already

        loop = asyncio.get_running_loop()
        if self._turns is None or self._turns[0] is not loop:
            self._turns = loop, asyncio.Lock()
        return self._turns[1]

    def language(self, default: str | None = None) -> str | None:
        """Return which of the seven is preferred on this page; None if nobody says."""
        return None

    def nonce(self) -> str | None:
        """Return the nonce of the Content-Security-Policy of this page, if it has one."""
        return None

    def max_age(self) -> int | None:
        """Return for how many seconds this page may be kept; None if its FAQs are as they should be."""
        if self.has_open_slots:
            return 0
        ages = (reader.max_age(key, state) for (reader, key), state in self.states.items())
        return min((age for age in ages if age is not None), default=None)

    def left(self, wait: float) -> float:
        """Return what remains of a budget of `wait` seconds, all waits of this page counted."""
        return max(0.0, wait - self.waited)

    def start_waiting(self) -> None:
        """Begin to count time; waits at the same time count once."""
        waiting, since = self._waiting
        self._waiting = (waiting + 1, since if waiting else time.monotonic())

    def stop_waiting(self) -> None:
        """End what `start_waiting` began."""
        waiting, since = self._waiting
        if waiting == 1:
            self.waited += time.monotonic() - since
        self._waiting = (waiting - 1, since)
