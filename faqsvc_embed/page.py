"""What one response has shown: its styles once, its one FAQPage, and what it may still wait.

A page belongs to one request of a host, or to one rendering of a template where there is no request. The
leaves begin and end it; everything that renders finds it in a context variable, whichever embed it is of.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from markupsafe import Markup

from faqsvc_embed.languages import lookup, negotiate
from faqsvc_embed.records import FAQ
from faqsvc_embed.rendering import Block, link_element, script_element, style_element
from faqsvc_embed.responses import encode
from faqsvc_embed.slots import Filling, SlotFinder, Slots

_current: ContextVar["Page | None"] = ContextVar("faqsvc_page", default=None)

current = _current.get
"""Return the page of the request that is being answered, or None."""


def begin(page: "Page") -> Token["Page | None"]:
    """Make `page` the current one; `end` takes what this returns."""
    return _current.set(page)


def end(token: Token["Page | None"]) -> None:
    """Make the page before the current one again."""
    _current.reset(token)


class Page:
    """The FAQs of one response, in document order.

    `nonce` is asked for the Content-Security-Policy nonce when one is needed, `locale` for the host's own
    choice of language, and `accept_language` for the header; `negotiated` tells that the header was asked.
    `slots` are there where FAQs can be filled in after the template is rendered. `shows_problems` makes what
    went wrong visible in the place of an FAQ, for development; `assets` is the path below which the host
    serves our stylesheet, if it does.
    """

    # Defaults on the class: most pages are made, show one FAQ, and are gone.
    nonce: Callable[[], str | None] | None = None
    locale: Callable[[], object] | None = None
    accept_language: Callable[[], str] | None = None
    negotiated = False
    slots: Slots | None = None
    shows_problems = False
    assets: str | None = None
    waited = 0.0
    _waiting: tuple[int, float] = (0, 0.0)
    _styles: tuple[str, ...] = ()
    _printed: str | None = None
    _printed_nonce: str | None = None
    _language: tuple[str | None] | None = None

    def __init__(self) -> None:
        self.states: dict[Any, Any] = {}
        """The snapshots that this page works with: within it, an FAQ does not change."""
        self.blocks: list[Block] = []
        self._marked: list[FAQ] = []
        self._deferred: list[FAQ] = []

    def ordinal(self, slug: object) -> int:
        """Return which block of this slug the next one is, counted from 1."""
        return 1 + sum(block.faq.slug == slug for block in self.blocks) if self.blocks else 1

    def place(self, block: Block, nonce: str | None, schema: bool, stylesheet_link: str | None) -> Markup:
        """Return a block with what this page has not printed yet: styles before it, JSON-LD behind it.

        `stylesheet_link` is the address of the linked stylesheet, None to print it inline, and empty to
        print no styles at all.
        """
        is_first = not self.blocks and self._printed is None
        self.blocks.append(block)
        if is_first and schema and nonce is None and stylesheet_link is None:
            self._styles, self._printed = block.css, block.script
            self._marked.append(block.faq)
            return block.alone  # ready-made: nothing has to be put together
        styles = self._new_styles(block, nonce, stylesheet_link)
        if not schema:
            self._deferred.append(block.faq)
            return Markup(styles + block.html)  # rendering escaped them
        return Markup(styles + block.html + self._mark_up([block.faq], nonce))

    def _new_styles(self, block: Block, nonce: str | None, link: str | None) -> str:
        if link == "":
            return ""
        wanted = [rule for rule in block.css if rule not in self._styles]
        self._styles += tuple(wanted)
        if link is None:
            return style_element(wanted, nonce)
        base, *rules = block.css
        linked = link_element(link) if base in wanted else ""
        return linked + style_element([rule for rule in rules if rule in wanted], nonce)

    def _mark_up(self, faqs: list[FAQ], nonce: str | None) -> str:
        """Count `faqs` into the page's FAQPage, and print it if this page has none yet."""
        self._marked += faqs
        if self._printed is not None:
            return ""
        script = script_element(self._marked, nonce)
        if script:
            self._printed, self._printed_nonce = script, nonce
        return script

    def defer(self, faq: FAQ) -> None:
        """Remember an FAQ that the host shows with its own markup, for a `faq_schema()` further down."""
        self._deferred.append(faq)

    def schema(self, faq: FAQ | None = None, nonce: str | None = None) -> Markup:
        """Return the FAQPage of `faq`, or of all that was left to this call, unless the page has one.

        A page that has one gets these questions into it, by `merge`.
        """
        faqs, self._deferred = ([faq], self._deferred) if faq is not None else (self._deferred, [])
        return Markup(self._mark_up(faqs, nonce))

    async def aschema(self, faq: FAQ | None = None, nonce: str | None = None) -> Markup:
        """Return what `schema` does, as the filling of a slot."""
        return self.schema(faq, nonce)

    @property
    def is_settled(self) -> bool:
        """Everything marked up stands in the script that was printed: the response is right as it is."""
        return len(self._marked) < 2 or self._printed is None or self._printed == self._merged()

    def _merged(self) -> str:
        return script_element(self._marked, self._printed_nonce)

    def merge(self, body: bytes, charset: str = "utf-8") -> bytes:
        """Return the body of a response with the FAQPage of all FAQs in the place of the first one's."""
        if self._printed is None or self.is_settled:
            return body
        printed = encode(self._printed, charset)
        start = body.find(printed)
        if start < 0:
            return body
        return body[:start] + encode(self._merged(), charset) + body[start + len(printed) :]

    @property
    def has_open_slots(self) -> bool:
        """A template left slots, and somebody has to fill them."""
        return self.slots is not None and bool(self.slots.fillings)

    def leave_slot(self, filling: Filling) -> Markup:
        """Leave a slot where this stands; nothing on a page that has none."""
        return self.slots.leave(filling) if self.slots is not None else Markup()

    def finder(self, charset: str) -> SlotFinder | None:
        """Return what finds this page's slots in a body, if it can have any."""
        return self.slots.finder(charset) if self.slots is not None else None

    async def fill(self, slot: int, charset: str) -> bytes:
        """Return what belongs into a slot, once it is there or the page may wait no longer."""
        fillings = self.slots.fillings if self.slots is not None else []
        return encode(await fillings[slot](), charset) if slot < len(fillings) else b""

    async def filled(self, body: bytes, charset: str) -> bytes:
        """Return a whole body with its slots filled and the FAQPage of all its FAQs."""
        finder = self.finder(charset)
        pieces = list(finder.feed(body, last=True)) if finder is not None and self.has_open_slots else [body]
        texts = {
            slot: await self.fill(slot, charset) for slot in sorted(p for p in pieces if isinstance(p, int))
        }
        whole = b"".join(texts[piece] if isinstance(piece, int) else piece for piece in pieces)
        return self.merge(whole, charset)

    def language(self) -> str | None:
        """Return which of the seven the host, or else the visitor, prefers; None if neither does."""
        if self._language is None:
            self._language = (self._preferred(),)
        return self._language[0]

    def _preferred(self) -> str | None:
        locale = self.locale() if self.locale is not None else None
        if locale is not None and (language := lookup(str(locale))) is not None:
            return language
        if self.accept_language is None:
            return None
        self.negotiated = True
        return negotiate(self.accept_language())

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
