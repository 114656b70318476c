"""Which responses of a host may be filled in, how, and what of their head is no longer true then."""

import codecs
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Final

SPOKE_OF_BODY: Final = ("etag", "content-md5", "digest", "content-digest", "repr-digest")
"""Headers that described the body as it was before."""
NEGOTIATED: Final = "Accept-Language"

_LIFETIMES: Final = ("max-age", "s-maxage", "stale-while-revalidate", "stale-if-error")
_DIGITS: Final = "[0-9]{1,18}"
_CHARSET: Final = r"""(?i)charset\s*=\s*["']?([^\s"';]{1,40})"""
_SCRIPT: Final = r'(<script type="application/ld\+json"[^>]*>)([^<]*)(</script>)'
_NOT_ASCII: Final = r"[^\x00-\x7f]"
_PROBE: Final = "<!--faqsvc 0-->"


def fillable(
    *, method: str, status: int, content_type: str, content_encoding: str = "", content_range: str = ""
) -> str | None:
    """Return the character set of a response that is a whole HTML page, as text; None for any other."""
    if method == "HEAD" or status < 200 or status in (204, 205, 206, 304) or content_range:
        return None
    if content_encoding and content_encoding.strip().lower() not in ("", "identity"):
        return None
    return _html_charset(content_type)


@lru_cache
def _html_charset(content_type: str) -> str | None:
    if content_type.partition(";")[0].strip().lower() != "text/html":
        return None
    named = re.search(_CHARSET, content_type)
    try:
        charset = codecs.lookup(named[1] if named else "utf-8").name
        # Python also knows "character sets" that are none, such as base64.
        return charset if _PROBE.encode(charset).decode(charset) == _PROBE else None
    except (LookupError, ValueError):
        return None


def exact(charset: str, body: bytes) -> str:
    """Return the character set for text in the middle of a body, which has no byte order mark of its own."""
    if charset == "utf-16":
        return "utf-16-be" if body.startswith(codecs.BOM_UTF16_BE) else "utf-16-le"
    if charset == "utf-32":
        return "utf-32-be" if body.startswith(codecs.BOM_UTF32_BE) else "utf-32-le"
    return "utf-8" if charset == "utf-8-sig" else charset


def writable(html: str, charset: str) -> str:
    """Return our HTML for a character set: outside of Unicode's own, what is not ASCII is escaped.

    Even what a legacy set has: browsers read several of them unlike Python, Shift_JIS for one.
    """
    if charset.startswith("utf-") or html.isascii():
        return html
    html = re.sub(
        _SCRIPT, lambda script: script[1] + re.sub(_NOT_ASCII, _json_escape, script[2]) + script[3], html
    )
    return html.encode("ascii", "xmlcharrefreplace").decode()


def encode(html: str, charset: str) -> bytes:
    """Encode our HTML for a body of this character set."""
    return writable(html, charset).encode(charset)


def varied(present: Iterable[str]) -> str | None:
    """Return a Vary that names the language, too, merged with what was there; None if it names it already."""
    names = [name for value in present for part in value.split(",") if (name := part.strip())]
    if "*" in names or NEGOTIATED.lower() in (name.lower() for name in names):
        return None
    return ", ".join([*names, NEGOTIATED])


def may_be_shared(headers: Iterable[tuple[str, str]]) -> bool:
    """Tell whether a cache may give a response to other visitors, whatever language they prefer."""
    fields = [(name.lower(), value) for name, value in headers]
    rules = ",".join(value.lower() for name, value in fields if is_about_caching(name))
    if "no-store" in rules or "private" in rules or varied(v for name, v in fields if name == "vary") is None:
        return False
    return bool(rules) or any(name in ("etag", "expires", "last-modified") for name, _ in fields)


def is_about_caching(name: str) -> bool:
    """Tell whether a header says how long a response may be kept: by browsers, or by a CDN (RFC 9213)."""
    name = name.lower()
    return name in ("cache-control", "surrogate-control") or name.endswith("cdn-cache-control")


def shortened(headers: Iterable[tuple[str, str]], most: int) -> list[tuple[str, str]]:
    """Return headers by which nobody keeps a response for longer than `most` seconds; nothing is lengthened.

    Where no Cache-Control was set, caches are told to ask again: to name a time could let one keep what it
    would not have kept.
    """
    kept, about = list[tuple[str, str]](), dict[str, str]()
    for name, value in headers:
        if is_about_caching(name):
            known = next((other for other in about if other.lower() == name.lower()), name)
            about[known] = f"{about[known]}, {value}" if known in about else value
        elif name.lower() != "expires":
            kept.append((name, value))
    if not any(name.lower() == "cache-control" for name in about):
        about["Cache-Control"] = ""
    return kept + [(name, _shorter(value, most)) for name, value in about.items()]


def _shorter(value: str, most: int) -> str:
    """Return the directives of a Cache-Control (RFC 9111, 5.2) with none above `most`."""
    directives, names = list[str](), set[str]()
    for directive in filter(None, map(str.strip, value.split(","))):
        name, _, argument = directive.partition("=")
        name = name.strip().lower()
        names.add(name)
        if name in _LIFETIMES:
            seconds = argument.strip().strip('"')
            directives.append(f"{name}={min(int(seconds), most) if re.fullmatch(_DIGITS, seconds) else 0}")
        elif name != "immutable":  # it says that nobody needs to ask again
            directives.append(directive)
    if not names & {"max-age", "no-store", "no-cache"}:
        directives.append("max-age=0")
    return ", ".join(directives)


def _json_escape(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
