"""Which responses of a host may be filled in, how, and what of their head is no longer true then."""

import codecs
import re
from collections.abc import Iterable
from typing import Final

SPOKE_OF_BODY: Final = ("etag", "content-md5", "digest", "content-digest", "repr-digest")
"""Headers that described the body as it was before."""
NEGOTIATED: Final = "Accept-Language"

_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';]{1,40})""", re.IGNORECASE)
_SCRIPT = re.compile(r'(<script type="application/ld\+json"[^>]*>)([^<]*)(</script>)')
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_PROBE: Final = "<!--faqsvc 0-->"


def fillable(
    *, method: str, status: int, content_type: str, content_encoding: str = "", content_range: str = ""
) -> str | None:
    """Return the character set of a response that is a whole HTML page, as text; None for any other."""
    if method == "HEAD" or status < 200 or status in (204, 205, 206, 304) or content_range:
        return None
    if content_encoding.strip().lower() not in ("", "identity"):
        return None
    if content_type.partition(";")[0].strip().lower() != "text/html":
        return None
    named = _CHARSET.search(content_type)
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
    html = _SCRIPT.sub(lambda script: script[1] + _NOT_ASCII.sub(_json_escape, script[2]) + script[3], html)
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


def _json_escape(character: re.Match[str]) -> str:
    units = character[0].encode("utf-16-be").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
