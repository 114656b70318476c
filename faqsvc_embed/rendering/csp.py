"""The hashes of the inline elements, for a Content-Security-Policy without nonces.

JSON-LD needs no hash, because a policy does not apply to data blocks (HTML standard, 4.12.1).
"""

import hashlib
import re
from base64 import b64encode
from functools import lru_cache
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
    found: dict[str, dict[str, None]] = {"style": {}, "script": {}}
    scripts = (assets.script(), assets.script(is_whole=False))
    for name, attributes, text in re.findall(_ELEMENT, html):
        if _is_stylesheet(text) if name == "style" else text in scripts and "src=" not in attributes:
            found[name][hash_source(text)] = None
    return {f"{name}-src": list(sources) for name, sources in found.items()}


def _is_stylesheet(text: str) -> bool:
    pieces = assets.layered(css for css in assets.pieces().values() if css in text)
    theme = text.removeprefix(pieces)
    return (theme != text and not theme) or re.fullmatch(_THEME, theme) is not None
