"""The component's stylesheet, its enhancer, the rule of a theme, and how a host serves them as files.

The name of a file holds a digest of its contents, so that it may be cached for ever. The address of a
theme's file holds the theme itself, which is parsed as strictly as anywhere: whoever makes up an address
gets a rule made of a colour and a number, or nothing.
"""

import hashlib
import re
from base64 import b64encode
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import urlencode

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.theme import Theme, css_number

STATIC: Final = Path(__file__).parent.parent / "static"

_COMMENT: Final = r"(?s)/\*.*?\*/"
_THEME_FILE: Final = r"faqsvc-[0-9a-f]{8}\.css"
_SIZE: Final = r"[0-9]{1,3}(?:\.[0-9]{1,5})?"


class File(NamedTuple):
    """What a host serves under one of our names, for ever."""

    text: str
    media_type: str


def theme_rule(theme: Theme) -> tuple[str, str]:
    """Return the class and the CSS rules of a theme; both empty if it sets nothing.

    `--faqsvc-accent` is for the marker and lines, `--faqsvc-link` for the text of links: the accent with
    the contrast that each needs, on light and on dark pages (WCAG 2.2, 1.4.3 and 1.4.11).
    """
    if theme.accent_color is None and theme.question_size is None:
        return "", ""
    # Lazily: a page without a theme needs no arithmetic of colours.
    from faqsvc_embed.rendering.contrast import GRAPHICS, SUPPORTED, TEXT, accents, adaptive

    plain, adapting = list[str](), list[str]()
    if theme.accent_color is not None:
        # Thin lines look faint on a dark ground: there they get the contrast of text.
        on_light, on_dark = accents(theme.accent_color, GRAPHICS)[0], accents(theme.accent_color, TEXT)[1]
        plain.append(f"--faqsvc-accent:{on_light}")
        if on_light != on_dark:
            adapting.append(f"--faqsvc-accent:{adaptive(on_light, on_dark)}")
        on_light, on_dark = accents(theme.accent_color, TEXT)
        if on_light == on_dark:
            plain.append(f"--faqsvc-link:{on_light}")
        else:
            adapting.append(f"--faqsvc-link:{adaptive(on_light, on_dark)}")
    if theme.question_size is not None:
        plain.append(f"--faqsvc-question-size:{css_number(theme.question_size)}px")
    body, adapted = ";".join(plain), ";".join(adapting)
    name = f"faqsvc-{_digest(f'{body}{{{adapted}')[:8]}"
    rules = f".{name}{{{body}}}"
    if adapting:
        rules += f"@supports {SUPPORTED}{{.{name}{{{adapted}}}}}"
    return name, f"@layer faqsvc{{{rules}}}"


@cache
def stylesheet() -> str:
    """Return the component's stylesheet, without comments and spare white space."""
    css = re.sub(_COMMENT, "", (STATIC / "faqsvc.css").read_text(encoding="utf-8"))
    css = re.sub(r"\s+", " ", css)
    return re.sub(r" ?([{};,>]) ?", r"\1", css.replace(": ", ":")).strip()


@cache
def enhancer() -> str:
    """Return the script of the disclosure variant, without comments."""
    return re.sub(_COMMENT, "", (STATIC / "faqsvc.js").read_text(encoding="utf-8")).strip()


@cache
def stylesheet_name() -> str:
    """Return the file name under which a host serves the stylesheet: it changes when the contents do."""
    return f"faqsvc.{_digest(stylesheet())[:12]}.css"


@cache
def enhancer_name() -> str:
    """Return the file name under which a host serves the enhancer."""
    return f"faqsvc.{_digest(enhancer())[:12]}.js"


@cache
def enhancer_integrity() -> str:
    """Return what a browser compares the enhancer with (W3C Subresource Integrity)."""
    return f"sha384-{b64encode(hashlib.sha384(enhancer().encode()).digest()).decode()}"


def theme_address(theme: Theme) -> str:
    """Return the file name of a theme's rules, with the theme in its query; empty if it sets nothing."""
    name, _ = theme_rule(theme)
    size = None if theme.question_size is None else css_number(theme.question_size)
    wanted = {"accentColor": theme.accent_color, "questionSize": size}
    query = {key: value for key, value in wanted.items() if value is not None}
    return f"{name}.css?{urlencode(query)}" if name else ""


def file_named(name: str, query: Mapping[str, str]) -> File | None:
    """Return what there is under a file name, and the query behind it; None if that is nothing of ours."""
    if name == stylesheet_name():
        return File(stylesheet(), "text/css")
    if name == enhancer_name():
        return File(enhancer(), "text/javascript")
    if re.fullmatch(_THEME_FILE, name) is None:
        return None
    size = query.get("questionSize")
    if size is not None and re.fullmatch(_SIZE, size) is None:
        return None
    try:
        theme = Theme(query.get("accentColor"), None if size is None else float(size))
    except ConfigurationError:
        return None
    theme_name, rule = theme_rule(theme)
    return File(rule, "text/css") if name == f"{theme_name}.css" else None


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
