"""The component's stylesheet, its script and the CSS of themes: as text, as static files and as hashes.

The name of a file contains a digest of its content, so that browsers can cache it without revalidation. The
URL of a stylesheet has its pieces and its theme in the query; that theme is validated like any other.
"""

import hashlib
import re
import string
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache, lru_cache
from pathlib import Path
from typing import Final, NamedTuple
from urllib.parse import parse_qsl, urlencode

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.settings import Settings
from faqsvc_embed.theme import Theme, css_number

STATIC: Final = Path(__file__).parent.parent / "static"

LAYER: Final = "@layer faqsvc{"
FOLDER: Final = "faqsvc"
"""The folder in which a host serves the files, below the path of its application."""
IMMUTABLE: Final = "public, max-age=31536000, immutable"
"""The Cache-Control of a file whose name changes with its content (RFC 8246)."""

ADAPTIVE_SUPPORT: Final = "(color:oklab(from currentColor l a b))"
"""The `@supports` condition of browsers that understand the colours of `contrast.adaptive`."""

_ELEMENT: Final = r"<(style|script)\b([^<>]*)>([^<]*)</\1>"
_RULE: Final = r"\.faqsvc-[0-9a-f]{8}\{[^{}]*\}"
_THEME: Final = rf"@layer faqsvc\{{{_RULE}(?:@supports {re.escape(ADAPTIVE_SUPPORT)}\{{{_RULE}\}})?\}}"
_PIECE: Final = r"/\* == (\w+) == \*/"
_DOLLAR: Final = r"\$[a-zA-Z]+"
_OF_DISCLOSURE: Final = r"(?s)/\* \[disclosure \*/.*?/\* disclosure\] \*/"
_LETTERS: Final = [*string.ascii_letters, *(f"{letter}0" for letter in string.ascii_letters)]
_COMMENT: Final = r"(?s)/\*.*?\*/"


class File(NamedTuple):
    """A static file that a host serves; its content never changes."""

    text: str
    media_type: str

    @property
    def content(self) -> bytes:
        return self.text.encode()

    @property
    def headers(self) -> dict[str, str]:
        return {
            "Content-Type": f"{self.media_type}; charset=utf-8",
            "Content-Length": str(len(self.content)),
            "Cache-Control": IMMUTABLE,
        }


class ThemeCSS(NamedTuple):
    """The class of a theme and its rules; both are empty for a theme that sets nothing."""

    class_name: str
    rules: str


@cache
def pieces() -> dict[str, str]:
    """Return the pieces of the stylesheet by name, in their order, without comments and white space."""
    _, *parts = re.split(_PIECE, (STATIC / "faqsvc.css").read_text(encoding="utf-8"))
    return {name: minified(css) for name, css in zip(parts[::2], parts[1::2], strict=True)}


@cache
def stylesheet(*names: str) -> str:
    """Return these pieces of the stylesheet, or all, in its layer."""
    return layered(css for name, css in pieces().items() if not names or name in names)


def layered(css: Iterable[str]) -> str:
    """Return pieces of the stylesheet in its layer, and then the rules of themes, which have theirs."""
    rules = list(css)
    found = "".join(rule for rule in rules if not rule.startswith(LAYER))
    themes = "".join(rule for rule in rules if rule.startswith(LAYER))
    return f"{LAYER}{found}}}{themes}" if found else themes


def minified(css: str) -> str:
    """Return a stylesheet without comments and white space, with short names for private properties."""
    css = re.sub(r"\s+", " ", re.sub(_COMMENT, "", css))
    css = re.sub(r" ?([{};,>*/]) ?", r"\1", css.replace(": ", ":"))
    css = re.sub(r"(?<=[\s:(,*-])0\.", ".", css.replace(";}", "}").replace(" !", "!"))
    return _with_short_names(css.strip())


def _with_short_names(css: str) -> str:
    names = _by_frequency(r"--_f-[a-z-]+", "faqsvc.css")
    return re.sub(r"--_f-[a-z-]+", lambda found: f"--_f{names.index(found[0])}", css)


@cache
def _by_frequency(pattern: str, file: str) -> list[str]:
    found = re.findall(pattern, (STATIC / file).read_text(encoding="utf-8"))
    return [name for name, _ in Counter(found).most_common()]


@cache
def script(*, is_whole: bool = True) -> str:
    """Return the script without comments and superfluous white space, with short names.

    The variant `disclosure` needs the whole script, the others a part of it.
    """
    text = (STATIC / "faqsvc.js").read_text(encoding="utf-8")
    if not is_whole:
        text = re.sub(_OF_DISCLOSURE, "", text)
    names = _by_frequency(_DOLLAR, "faqsvc.js")
    text = re.sub(_DOLLAR, lambda found: _LETTERS[names.index(found[0])], re.sub(_COMMENT, "", text))
    text = re.sub(r"\s*([{}()=<>+,:;?&|!])\s*", r"\1", text).replace(" [", "[")
    text = re.sub(r"(?<=[:,])true\b", "!0", text)
    text = re.sub(r"\((\w+)\)=>", r"\1=>", text).replace(";}", "}").replace(",)", ")").strip()
    return text.replace("};const ", "},")  # one declaration of all functions


@lru_cache(maxsize=256)
def theme_css(theme: Theme) -> ThemeCSS:
    """Return the class and the rules of a theme.

    The accent is for the marker and lines, the link colour for text: the theme's colour with the contrast
    that each needs, on light and on dark pages (WCAG 2.2, 1.4.3 and 1.4.11).
    """
    if theme.accent_color is None and theme.question_size is None:
        return ThemeCSS("", "")
    plain, adapting = list[str](), list[str]()
    if theme.accent_color is not None:
        from faqsvc_embed.rendering.contrast import GRAPHICS, TEXT, accents, adaptive

        on_light, on_dark = accents(theme.accent_color, TEXT)
        # Thin lines look faint on a dark background: there they get the contrast of text.
        for name, light in (("accent", accents(theme.accent_color, GRAPHICS)[0]), ("link", on_light)):
            if light == on_dark:
                plain.append(f"--_f-theme-{name}:{light}")
            else:
                # Other browsers show the accent for light pages, and the page's own link colour.
                plain += [f"--_f-theme-{name}:{light}"] if name == "accent" else []
                adapting.append(f"--_f-theme-{name}:{adaptive(light, on_dark)}")
    if theme.question_size is not None:
        plain.append(f"--_f-theme-size:{css_number(theme.question_size)}px")
    body, adapted = ";".join(plain), ";".join(adapting)
    class_name = f"faqsvc-{_digest(f'{body}{{{adapted}')[:8]}"
    rules = f".{class_name}{{{body}}}"
    if adapting:
        rules += f"@supports {ADAPTIVE_SUPPORT}{{.{class_name}{{{adapted}}}}}"
    return ThemeCSS(class_name, f"{LAYER}{_with_short_names(rules)}}}")


@lru_cache(maxsize=256)
def stylesheet_url(*names: str) -> str:
    """Return the file name and the query of a stylesheet; a name is that of a piece, or a `theme_query`."""
    own = ".".join(name for name in names if name in pieces())
    parts = [f"p={own}"] if own else []
    query = "&".join([*parts, *(name for name in names if name not in pieces())])
    return f"{_stylesheet_name(_rules(dict(parse_qsl(query))))}?{query}"


def theme_query(theme: Theme) -> str:
    """Return a theme as a query; empty if it sets nothing."""
    size = None if theme.question_size is None else css_number(theme.question_size)
    values = {"accentColor": theme.accent_color, "questionSize": size}
    return urlencode({key: value for key, value in values.items() if value is not None})


@cache
def script_name() -> str:
    return f"faqsvc.{_digest(script())[:12]}.js"


@cache
def script_integrity() -> str:
    """Return the digest that browsers compare the script with (W3C Subresource Integrity)."""
    return f"sha384-{b64encode(hashlib.sha384(script().encode()).digest()).decode()}"


def requested_file(method: str, path: str, query_string: str) -> File | None:
    """Return the file that a request is for, or None; `path` is within the application."""
    folder, _, name = path.rpartition("/")
    if folder != f"/{FOLDER}" or method not in ("GET", "HEAD"):
        return None
    if name == script_name():
        return File(script(), "text/javascript")
    rules = _rules(dict(parse_qsl(query_string)))
    return File(rules, "text/css") if rules and name == _stylesheet_name(rules) else None


def are_served(settings: Settings) -> bool:
    """Return whether the host serves the stylesheet or the script as files."""
    return settings.styles == "linked" or settings.variant == "disclosure"


def _rules(query: Mapping[str, str]) -> str:
    """Return the stylesheet that a query describes; empty if there is none."""
    names, size = query.get("p", "").split("."), query.get("questionSize")
    try:
        theme = Theme(query.get("accentColor"), None if size is None else float(size))
    except (ConfigurationError, ValueError):
        return ""
    return layered([*(css for name, css in pieces().items() if name in names), theme_css(theme).rules])


def _stylesheet_name(rules: str) -> str:
    return f"faqsvc.{_digest(rules)[:12]}.css"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


# Hashes for a Content-Security-Policy without nonces. JSON-LD needs none, because a policy does not apply to
# data blocks (HTML standard, 4.12.1).


def hash_source(text: str) -> str:
    """Return the source expression that allows an inline element with this text."""
    return f"'sha256-{b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def csp_sources(html: str) -> dict[str, list[str]]:
    """Return the source expressions for this package's inline elements in a page, by directive."""
    found: dict[str, dict[str, None]] = {"style": {}, "script": {}}
    scripts = (script(), script(is_whole=False))
    for name, attributes, text in re.findall(_ELEMENT, html):
        if _is_stylesheet(text) if name == "style" else text in scripts and "src=" not in attributes:
            found[name][hash_source(text)] = None
    return {f"{name}-src": list(sources) for name, sources in found.items()}


def _is_stylesheet(text: str) -> bool:
    own = layered(css for css in pieces().values() if css in text)
    theme = text.removeprefix(own)
    return (theme != text and not theme) or re.fullmatch(_THEME, theme) is not None
