"""The names on a page: tags, roles, and the words in class names and ids."""

import re
from typing import Final

from faqsvc_embed.generation.data import load

NAMES: Final = {kind: frozenset(names.split()) for kind, names in load("names", dict[str, str]).items()}
"""Sets of names by what they mean; `names.toml` describes them."""

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def words_of(names: str) -> frozenset[str]:
    """Return the words of class names and ids, however they are joined: `faqItem_question--open`."""
    return frozenset(word.lower() for word in _WORD.findall(names[:1000]))
