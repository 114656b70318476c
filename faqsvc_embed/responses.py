"""Which responses of a host may be filled in, and what of their head is no longer true afterwards."""

import codecs
import re
from typing import Final

SPOKE_OF_BODY: Final = ("etag", "content-md5", "digest", "content-digest", "repr-digest")
"""Headers that described the body as it was before."""
NEGOTIATED: Final = "Accept-Language"

_CHARSET = re.compile(r"""charset\s*=\s*["']?([^\s"';]{1,40})""", re.IGNORECASE)
_SCRIPT = re.compile(r'(<script type="application/ld\+json"[^>]*>)([^<]*)(</script>)')


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
        return codecs.lookup(named[1] if named else "utf-8").name
    except LookupError:
        return None


def encode(html: str, charset: str) -> bytes:
    """Encode our HTML; what the character set does not have is escaped, in JSON as JSON has it."""
    try:
        return html.encode(charset)
    except UnicodeEncodeError:
        html = _SCRIPT.sub(lambda script: script[1] + _ascii_json(script[2]) + script[3], html)
        return html.encode(charset, "xmlcharrefreplace")


def _ascii_json(text: str) -> str:
    units = text.encode("utf-16-be").hex()
    codes = (units[at : at + 4] for at in range(0, len(units), 4))
    return "".join(chr(int(code, 16)) if int(code, 16) < 128 else f"\\u{code}" for code in codes)
