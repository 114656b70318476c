"""The data that React server components push to the browser, as Next.js writes them: `__next_f.push(…)`."""

import json
import re
from collections.abc import Iterable, Iterator
from typing import Final

from faqsvc_embed.api.fields import MAX_ANSWER

MAX_ROWS: Final = 10_000
MAX_REFERENCES: Final = 50
"""References to texts that are replaced in one row."""

_PUSH = re.compile(r"\s*self\.__next_f\.push\((?=\[)")
_REFERENCE = re.compile(r'"\$([0-9a-f]{1,6})"')
_ROW = re.compile(rb"([0-9a-f]{1,6}):(?:T([0-9a-f]{1,6}),)?")


def flight_rows(scripts: Iterable[str]) -> Iterator[str]:
    """Yield the rows of JSON that scripts push, with long texts in place of the references to them."""
    payload = "".join(map(_pushed, scripts)).encode("utf-8", "replace")
    rows: list[str] = []
    texts: dict[str, str] = {}
    position = 0
    while len(rows) + len(texts) < MAX_ROWS and (match := _ROW.match(payload, position)):
        start = match.end()
        if match[2] is not None:
            position = start + int(match[2], 16)
            text = payload[start:position].decode("utf-8", "replace")[:MAX_ANSWER]
            texts[match[1].decode()] = json.dumps(text)
        else:
            line_end = payload.find(b"\n", start)
            position = len(payload) if line_end < 0 else line_end + 1
            rows.append(payload[start:position].decode("utf-8", "replace"))
    for row in rows:
        if row.startswith(("[", "{")):
            yield _REFERENCE.sub(lambda found: texts.get(found[1], found[0]), row, MAX_REFERENCES)


def _pushed(script: str) -> str:
    """Return the text that a script pushes, or an empty one."""
    match = _PUSH.match(script)
    try:
        pushed = json.JSONDecoder().raw_decode(script, match.end())[0] if match is not None else []
    except (ValueError, RecursionError):
        return ""
    return pushed[1] if len(pushed) == 2 and isinstance(pushed[1], str) else ""
