"""Where in a page a question is: ids that are ASCII, stable under reordering, and unique.

An id is `faq-SLUG--QUESTION`, or `faq-SLUG--N--QUESTION` in the Nth block of the same slug on a page.
Neither part can hold two hyphens in a row, so no two combinations meet.
"""

import hashlib
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

LONGEST_WORDS: Final = 60
_PLAIN_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_WORDS = re.compile(r"[a-z0-9]+")


def block_id(slug: str, ordinal: int = 1) -> str:
    """Return the id of the `ordinal`th block of an FAQ on a page, counted from 1."""
    plain = _PLAIN_SLUG.fullmatch(slug) is not None
    base = f"faq-{slug if plain else f'{_name(slug)}-{_digest(slug)}'}"
    return base if ordinal == 1 else f"{base}--{ordinal}"


def question_ids(slug: str, questions: Sequence[str], ordinal: int = 1) -> list[str]:
    """Return the ids of the questions of one block, in their order.

    An id depends on its own question only, whatever the order; questions that read alike are told apart by
    a digest, and identical ones by counting.
    """
    names = [_name(question) for question in questions]
    alike = {name for name, count in Counter(names).items() if count > 1}
    names = [
        f"{name}-{_digest(question)}" if name in alike else name
        for name, question in zip(names, questions, strict=True)
    ]
    seen = Counter[str]()
    base, ids = block_id(slug, ordinal), list[str]()
    for name in names:
        seen[name] += 1
        ids.append(f"{base}--{name}" if seen[name] == 1 else f"{base}--{name}-{seen[name]}")
    return ids


def _name(text: str) -> str:
    """Return ASCII words of `text`; with a digest where they do not say all of it."""
    plain = unicodedata.normalize("NFKD", text).lower()
    words = "-".join(_WORDS.findall(plain))
    letters_lost = any(c.isalnum() and not c.isascii() for c in plain)
    if words and not letters_lost and len(words) <= LONGEST_WORDS:
        return words
    return "-".join(filter(None, (words[:LONGEST_WORDS].rstrip("-"), _digest(text))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
