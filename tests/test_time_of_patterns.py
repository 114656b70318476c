"""Every regular expression takes a time that grows with the text, not with its square.

`re` holds the interpreter's lock until it is done, so one long line would stop every request of a process.
"""

import importlib
import pkgutil
import re
import time
from collections.abc import Callable, Iterator
from itertools import product
from pathlib import Path
from typing import Any, Final

import pytest

import faqsvc_embed
from tests.support import django_project as django_project  # the modules for Django need settings

PACKAGE: Final = Path(faqsvc_embed.__file__).parent
BOUNDED: Final = ("faqsvc_embed.generation.extraction", "faqsvc_embed.testing")
"""Extraction runs in a process with a limit of its time; the rest is for tests of hosts."""
SEEDS: Final = (
    *" \t\na-*_`<&('\"0?:@/|\\=;,{}#~.\r\u3000\u00a0\u0301",
    *("- ", "a ", "a.", "[", "](", "[a", "<a ", "<!--", "</", "&#", "((", "1. ", "? ", "://", "a@", "a="),
    *("[^", "Q: ", "**a", "**", "__", "~~~", "```\n", "{{", "{%", "# ", " \n", "日", "é "),
)
USES: Final = ("match", "fullmatch", "search", "finditer", "findall", "sub", "split")
SHORT: Final = 1_000
SLOW: Final = 0.002
"""Seconds; a linear pattern hardly ever takes longer for a text of twice the length `SHORT`."""


def patterns() -> Iterator[tuple[str, re.Pattern[Any], list[str]]]:
    """Yield each pattern of the package with the methods by which it is used."""
    source = "\n".join(path.read_text() for path in PACKAGE.rglob("*.py"))
    uses = set(re.findall(rf"\b(\w+)\.({'|'.join(USES)})\b", source))
    seen = set[int]()
    for module in pkgutil.walk_packages(faqsvc_embed.__path__, "faqsvc_embed."):
        if module.name.startswith(BOUNDED) or "__main__" in module.name or ".migrations." in module.name:
            continue
        for name, value in vars(importlib.import_module(module.name)).items():
            if isinstance(value, re.Pattern) and id(value) not in seen:
                seen.add(id(value))
                yield f"{module.name}.{name}", value, [use for use in USES if (name, use) in uses]


def seconds(pattern: re.Pattern[Any], use: str, text: str | bytes) -> float:
    """Return the shortest of three runs, in seconds of this thread, so that other tests do not count."""
    call: Callable[[], object]
    match use:
        case "sub":
            call = lambda: pattern.sub(text[:0], text)  # noqa: E731
        case "finditer":
            call = lambda: list(pattern.finditer(text))  # noqa: E731
        case _:
            call = lambda: getattr(pattern, use)(text)  # noqa: E731
    found = list[float]()
    for _ in range(3):
        start = time.thread_time()
        call()
        found.append(time.thread_time() - start)
        if found[-1] < SLOW:
            break
    return min(found)


def grows_too_fast(pattern: re.Pattern[Any], use: str, seed: str) -> bool:
    """Return whether a text of four times the length takes more than eight times as long."""
    for before, after in (("", "\x01"), ("a", "\x01"), ("<a ", "\x01"), ("- ", "a")):

        def took(times: int, before: str = before, after: str = after) -> float:
            text = f"{before}{seed * (times * SHORT // len(seed))}{after}"
            return seconds(pattern, use, text.encode() if isinstance(pattern.pattern, bytes) else text)

        if took(2) > SLOW and took(4) > 8 * took(1):
            return True
    return False


@pytest.mark.matrix
def test_each_pattern_takes_a_time_that_grows_with_the_text() -> None:
    found = list(patterns())
    assert len(found) > 60
    assert [
        (name, use, seed)
        for name, pattern, used in found
        for use, seed in product(used, SEEDS)
        if grows_too_fast(pattern, use, seed)
    ] == []


def test_a_pattern_that_tries_every_division_of_blanks_is_recognised() -> None:
    assert grows_too_fast(re.compile(r"[ \t]*(?:x)?[ \t]*"), "fullmatch", " ")


def test_only_one_module_normalizes_text_with_unicodes_algorithm() -> None:
    """It takes a time that is quadratic in a run of combining marks."""
    users = [path.name for path in PACKAGE.rglob("*.py") if "unicodedata.normalize" in path.read_text()]
    assert users == ["text.py"]
