"""Which cases of a parameter every run tests, and which only the matrix."""

from collections.abc import Collection, Iterable
from typing import Any

import pytest


def sampled(cases: Iterable[Any], sample: Collection[Any]) -> list[Any]:
    """Leave the cases that are not in the sample to the matrix."""
    return [
        case if case in sample else pytest.param(*_values(case), marks=pytest.mark.matrix) for case in cases
    ]


def _values(case: Any) -> tuple[Any, ...]:
    return case if isinstance(case, tuple) else (case,)
