"""Lists that generation compares pages with, one TOML file for each."""

from pathlib import Path
from typing import TypeVar

import msgspec

T = TypeVar("T")


def load(name: str, kind: type[T]) -> T:
    """Return the content of a file, checked against a type."""
    return msgspec.toml.decode(Path(__file__).with_name(f"{name}.toml").read_bytes(), type=kind)
