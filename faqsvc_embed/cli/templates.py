"""The slugs in a host's templates, in Jinja and in Django's template language."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

_COMMENT: Final = re.compile(
    r"\{#(?:(?!\{#).)*?#\}"
    r"|\{%-?\s*comment\b(?:(?!\{%-?\s*comment\b).)*?endcomment\s*-?%\}"
    r"|\{%-?\s*raw\s*-?%\}(?:(?!\{%-?\s*raw\b).)*?endraw\s*-?%\}"
    r"|<!--.*?(?:-->|\Z)",
    re.DOTALL,
)
_TAG: Final = re.compile(r"\{[{%](?:(?!\{[{%]).)*?[}%]\}", re.DOTALL)
_USE: Final = re.compile(r"""\b(?:use_)?faq(?:\s*\(\s*|\s+)(?:slug\s*=\s*)?(["'])([^"']+)\1""")
_VARIABLE: Final = re.compile(
    r"(?:\b(?:use_)?faq\s*\(\s*|\A\{%-?\s*(?:use_)?faq\s+)(?:slug\s*=\s*)?(?![\w.]*\s*=)[A-Za-z_][\w.]*"
)


class Use(NamedTuple):
    """An FAQ in a template."""

    template: str
    line: int
    slug: str | None
    """None if the slug is a variable, such as in a block of a CMS."""

    @property
    def place(self) -> str:
        """The template and the line, as in `home.html:12`."""
        return f"{self.template}:{self.line}"


def uses_in(template: str, source: str) -> Iterator[Use]:
    """Yield the FAQs in a template."""
    source = _COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), source)
    for tag in _TAG.finditer(source):
        if tag[0].lstrip("{%- ").startswith("macro"):
            continue
        for pattern in (_USE, _VARIABLE):
            for found in pattern.finditer(tag[0]):
                line = source.count("\n", 0, tag.start() + found.start()) + 1
                yield Use(template, line, found[2] if pattern is _USE else None)
