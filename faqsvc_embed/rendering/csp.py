"""What a Content-Security-Policy has to allow where a host hands out no nonce: hashes of our inline elements.

JSON-LD is not among them: a data block runs nothing, and no policy stops it (HTML, 4.12.1).
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Iterable
from typing import Final

from faqsvc_embed.rendering.assets import enhancer, stylesheet
from faqsvc_embed.rendering.contrast import SUPPORTED

_ELEMENT: Final = r"<(style|script)\b([^<>]*)>([^<]*)</\1>"
_RULE: Final = r"\.faqsvc-[0-9a-f]{8}\{[^{}]*\}"
_THEMES: Final = rf"(?:@layer faqsvc\{{{_RULE}(?:@supports {re.escape(SUPPORTED)}\{{{_RULE}\}})?\}})*"


def sources_of(texts: Iterable[tuple[str, str]]) -> dict[str, list[str]]:
    """Return the source expressions of inline elements, given as name and text, by directive."""
    sources: dict[str, list[str]] = {"style-src": [], "script-src": []}
    for name, text in texts:
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        source = f"'sha256-{digest}'"
        if source not in sources[f"{name}-src"]:
            sources[f"{name}-src"].append(source)
    return sources


def ours_in(html: str) -> list[tuple[str, str]]:
    """Return name and text of the inline elements in a page that are ours to the letter, and of no other."""
    return [
        (name, text)
        for name, attributes, text in re.findall(_ELEMENT, html)
        if (_is_style(text) if name == "style" else text == enhancer() and "src=" not in attributes)
    ]


def _is_style(text: str) -> bool:
    themes = text.removeprefix(stylesheet())
    return bool(text) and re.fullmatch(_THEMES, themes) is not None
