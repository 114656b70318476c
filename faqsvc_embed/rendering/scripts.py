"""The FAQPage of a page as a script, made once: page after page shows the same FAQs together."""

from collections.abc import Sequence
from typing import Final

from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering.renderer import script_steps, with_nonce
from faqsvc_embed.runtime.steps import Steps

MOST: Final = 64
"""How many different pages of several FAQs are remembered."""
LONGEST: Final = 250_000
"""Characters of a script that is remembered."""

_made: dict[tuple[int, ...], tuple[tuple[FAQ, ...], str]] = {}
"""Scripts by the identity of the records; the records themselves, so that no other takes their identity."""


def page_script(faqs: Sequence[FAQ], nonce: str | None = None) -> Steps[str]:
    """Make the script element of a page that shows these FAQs; empty if they have no question."""
    key = tuple(map(id, faqs))
    made = _made.get(key)
    if made is not None:
        return with_nonce(made[1], nonce)
    script = yield from script_steps(faqs)
    if len(script) <= LONGEST:
        if len(_made) >= MOST:
            _made.clear()
        _made[key] = tuple(faqs), script
    return with_nonce(script, nonce)
