"""The hashes of the inline elements, for a Content-Security-Policy without nonces.

JSON-LD needs no hash, because a policy does not apply to data blocks (HTML standard, 4.12.1).
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from functools import lru_cache, reduce
from typing import Final

from faqsvc_embed.rendering import assets

_ELEMENT: Final = r"<(style|script)\b([^<>]*)>([^<]*)</\1>"
_RULE: Final = r"\.faqsvc-[0-9a-f]{8}\{[^{}]*\}"
_THEME: Final = rf"@layer faqsvc\{{{_RULE}(?:@supports {re.escape(assets.ADAPTIVE_SUPPORT)}\{{{_RULE}\}})?\}}"


@lru_cache(maxsize=256)
def hash_source(text: str) -> str:
    """Return the source expression that allows an inline element with this text."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def csp_sources(html: str) -> dict[str, list[str]]:
    """Return the source expressions for this package's inline elements in a page, by directive."""
    sources: dict[str, list[str]] = {"style-src": [], "script-src": []}
    for name, text in _own_elements(html):
        source = hash_source(text)
        if source not in sources[f"{name}-src"]:
            sources[f"{name}-src"].append(source)
    return sources


def _own_elements(html: str) -> Iterable[tuple[str, str]]:
    for name, attributes, text in re.findall(_ELEMENT, html):
        if name == "style":
            rest = reduce(str.removeprefix, assets.pieces().values(), text.removeprefix(assets.LAYER))
            theme = rest[1:] if rest.startswith("}") and rest != text else text
            is_ours = (not theme and len(text) > len(assets.LAYER) + 1) or bool(re.fullmatch(_THEME, theme))
        else:
            ours = assets.script(), assets.script(is_whole=False)
            is_ours = text in ours and "src=" not in attributes
        if is_ours:
            yield name, text
