"""Where in a page a question is: ids that are ASCII, stable under reordering, and unique.

An id is `faq-SLUG--QUESTION`, or `faq-SLUG__N--QUESTION` in the Nth block of the same slug on a page. The
words of neither part hold an underscore or two hyphens in a row, and whatever is added to words begins with
an underscore: so no two combinations meet, whatever is asked.
"""

import hashlib
import re
import string
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Final

from faqsvc_embed.runtime.steps import Steps, finished, portions

LONGEST_WORDS: Final = 60
SLUG_DIGEST: Final = 16
"""Digits of a digest that no two slugs on a page share, even if somebody looks for such."""
LONGEST_QUESTION: Final = 1000
"""Characters of a question that are read for its words."""
_PLAIN_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_APART: Final = "\0"
"""Between questions that are read as one text; it stays between their words."""
_NO_WORDS: Final = bytes({*range(256)} - {*(string.ascii_lowercase + string.digits + _APART).encode()})
_TO_WORDS: Final = bytes.maketrans(_NO_WORDS, b" " * len(_NO_WORDS))


def block_id(slug: str, ordinal: int = 1) -> str:
    """Return the id of the `ordinal`th block of an FAQ on a page, counted from 1."""
    is_plain = _PLAIN_SLUG.fullmatch(slug) is not None
    base = f"faq-{slug}" if is_plain else f"faq-{_cut(_words(_plain(slug)))}_{_digest(slug, SLUG_DIGEST)}"
    return base if ordinal == 1 else f"{base}__{ordinal}"


def question_ids(slug: str, questions: Sequence[str], ordinal: int = 1) -> list[str]:
    """Return the ids of the questions of one block, in their order.

    An id depends on its own question only, whatever the order; questions that read alike are told apart by
    a digest, and identical ones by counting.
    """
    return finished(id_steps(slug, questions, ordinal))


def id_steps(slug: str, questions: Sequence[str], ordinal: int = 1) -> Steps[list[str]]:
    """Make what `question_ids` returns, some questions at a time."""
    names: list[str] = []
    for some in portions(questions, len):
        names += _names_of(some)
        yield
    if len(set(names)) < len(names):
        names = yield from _told_apart(questions, names)
    ids: list[str] = []
    base = block_id(slug, ordinal) + "--"
    for some in portions(names, len):
        ids += [base + name for name in some]
        yield
    return ids


def _told_apart(questions: Sequence[str], names: Sequence[str]) -> Steps[list[str]]:
    """Return names of which each is there once."""
    count, seen = Counter(names), Counter[str]()
    apart: list[str] = []
    following = iter(names)
    for some in portions(questions, len):
        for question, alike in zip(some, following, strict=False):
            name = alike if count[alike] == 1 else f"{alike}_{_digest(question)}"
            seen[name] += 1
            apart.append(name if seen[name] == 1 else f"{name}__{seen[name]}")
        yield
    return apart


def _names_of(questions: Sequence[str]) -> list[str]:
    """Return the name of each; those in ASCII, as nearly all are in English, are read as one text."""
    text = _APART.join([question[:LONGEST_QUESTION] for question in questions])
    if not text.isascii() or text.count(_APART) >= len(questions):
        return [_name_of(question) for question in questions]
    names = [words.strip("-") for words in _words(text.lower()).split(_APART)]
    return [
        name if 0 < len(name) <= LONGEST_WORDS and len(question) <= LONGEST_QUESTION else _name_of(question)
        for name, question in zip(names, questions, strict=True)
    ]


def _name_of(text: str) -> str:
    """Return ASCII words of `text`; with a digest where they do not say all of it."""
    plain = _plain(text)
    words = _words(plain)
    if 0 < len(words) <= LONGEST_WORDS and len(text) <= LONGEST_QUESTION and not _loses_letters(plain):
        return words
    return "_".join(filter(None, (_cut(words), _digest(text))))


def _plain(text: str) -> str:
    return unicodedata.normalize("NFKD", text[:LONGEST_QUESTION]).lower().replace(_APART, " ")


def _words(plain: str) -> str:
    """Return the words of one text, or of many with U+0000 between them."""
    return b"-".join(plain.encode("ascii", "replace").translate(_TO_WORDS).split()).decode()


def _loses_letters(plain: str) -> bool:
    return not plain.isascii() and any(c.isalnum() and not c.isascii() for c in plain)


def _cut(words: str) -> str:
    return words[:LONGEST_WORDS].rstrip("-")


def _digest(text: str, length: int = 8) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:length]
