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

from faqsvc_embed.steps import MANY, Steps, finished

LONGEST_WORDS: Final = 60
LONGEST_QUESTION: Final = 1000
"""Characters of a question that are read for its words."""
_PLAIN_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_WORDS = re.compile(r"[a-z0-9]+")


def block_id(slug: str, ordinal: int = 1) -> str:
    """Return the id of the `ordinal`th block of an FAQ on a page, counted from 1."""
    plain = _PLAIN_SLUG.fullmatch(slug) is not None
    base = f"faq-{slug if plain else f'{name_of(slug)}-{_digest(slug)}'}"
    return base if ordinal == 1 else f"{base}--{ordinal}"


def question_ids(slug: str, questions: Sequence[str], ordinal: int = 1) -> list[str]:
    """Return the ids of the questions of one block, in their order.

    An id depends on its own question only, whatever the order; questions that read alike are told apart by
    a digest, and identical ones by counting.
    """
    return finished(id_steps(slug, questions, ordinal))


def id_steps(slug: str, questions: Sequence[str], ordinal: int = 1) -> Steps[list[str]]:
    """Make what `question_ids` returns, a question at a time."""
    names = list[str]()
    for question in questions:
        names.append(name_of(question))
        yield
    count, seen = Counter[str](), Counter[str]()
    for start in range(0, len(names), MANY):
        count.update(names[start : start + MANY])
        yield
    base, ids = block_id(slug, ordinal), list[str]()
    for question, alike in zip(questions, names, strict=True):
        name = alike if count[alike] == 1 else f"{alike}-{_digest(question)}"
        seen[name] += 1
        ids.append(f"{base}--{name}" if seen[name] == 1 else f"{base}--{name}-{seen[name]}")
        yield
    return ids


def name_of(text: str) -> str:
    """Return ASCII words of `text`; with a digest where they do not say all of it."""
    plain = unicodedata.normalize("NFKD", text[:LONGEST_QUESTION]).lower()
    words = "-".join(_WORDS.findall(plain))
    letters_lost = not plain.isascii() and any(c.isalnum() and not c.isascii() for c in plain)
    is_short = len(words) <= LONGEST_WORDS and len(text) <= LONGEST_QUESTION
    if words and not letters_lost and is_short:
        return words
    return "-".join(filter(None, (words[:LONGEST_WORDS].rstrip("-"), _digest(text))))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:8]
