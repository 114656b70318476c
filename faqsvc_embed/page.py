"""What one response has shown: its styles once, its one FAQPage, and what it may still wait.

A page belongs to one request of a host, or to one rendering of a template where there is no request. The
leaves begin and end it; everything that renders finds it in a context variable, whichever embed it is of.
"""

import time
from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import Any

from markupsafe import Markup

from faqsvc_embed.records import FAQ
from faqsvc_embed.rendering import Block, link_element, script_element, style_element

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

    `nonce` is asked for the Content-Security-Policy nonce when one is needed; `shows_problems` makes what
    went wrong visible in the place of an FAQ, for development; `assets` is the path below which the host
    serves our stylesheet, if it does.
    """

    # Defaults on the class: most pages are made, show one FAQ, and are gone.
    nonce: Callable[[], str | None] | None = None
    shows_problems = False
    assets: str | None = None
    waited = 0.0
    _waiting: tuple[int, float] = (0, 0.0)
    _styles: tuple[str, ...] = ()
    _printed: str | None = None
    _printed_nonce: str | None = None

    def __init__(self) -> None:
        self.states: dict[Any, Any] = {}
        """The snapshots that this page works with: within it, an FAQ does not change."""
        self.blocks: list[Block] = []
        self._marked: list[FAQ] = []
        self._deferred: list[FAQ] = []

    def ordinal(self, slug: str) -> int:
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

    @property
    def is_settled(self) -> bool:
        """Everything marked up stands in the script that was printed: the response is right as it is."""
        return len(self._marked) < 2 or self._printed is None or self._printed == self._merged()

    def _merged(self) -> str:
        return script_element(self._marked, self._printed_nonce)

    def merge(self, body: bytes) -> bytes:
        """Return the body of a response with the FAQPage of all FAQs in the place of the first one's."""
        if self._printed is None:
            return body
        printed = self._printed.encode()
        start = body.find(printed)
        if start < 0:
            return body
        return body[:start] + self._merged().encode() + body[start + len(printed) :]

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
