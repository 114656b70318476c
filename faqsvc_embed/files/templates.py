"""The slugs in a host's templates, in Jinja and in Django's template language."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

ENDINGS: Final = (".html", ".htm", ".jinja", ".jinja2", ".j2", ".xhtml", ".xml", ".md", ".txt")

_COMMENT: Final = re.compile(
    r"\{#(?:(?!\{#).)*?#\}"
    r"|\{%-?\s*comment\b(?:(?!\{%-?\s*comment\b).)*?endcomment\s*-?%\}"
    r"|<!--.*?(?:-->|\Z)",
    re.DOTALL,
)
_CALL: Final = re.compile(
    r"\b(?:use_)?faq\s*\(\s*(?:slug\s*=\s*)?(?P<quote>['\"])(?P<called>[^'\"\n]*)(?P=quote)"
    r"|\{%[-+]?\s*(?:use_)?faq\s+(?P<mark>['\"])(?P<tag>[^'\"\n]*)(?P=mark)"
)


class Use(NamedTuple):
    """A slug in a template, with its place."""

    path: Path
    line: int
    slug: str


def find_uses(directory: Path) -> Iterator[Use]:
    """Yield the slugs in the templates in and below a directory; slugs in variables are not found.

    Raises:
        OSError: a template cannot be read.
    """
    for path in sorted(directory.rglob("*")):
        if path.suffix.lower() in ENDINGS and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            text = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
            for found in _CALL.finditer(text):
                slug = found["called"] if found["called"] is not None else found["tag"]
                yield Use(path, text.count("\n", 0, found.start()) + 1, slug)
