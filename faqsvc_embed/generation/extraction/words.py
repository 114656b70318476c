"""The words in class names and ids."""

import re

_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text as a set."""
    return frozenset(words.split())


def words_of(names: str) -> frozenset[str]:
    """Return the words of class names and ids, however they are joined: `faqItem_question--open`."""
    return frozenset(word.lower() for word in _WORD.findall(names[:1000]))
