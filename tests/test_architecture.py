"""The architecture, by package: imports point down, and an optional package is imported in one place only."""

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import faqsvc_embed

PACKAGE: Final = Path(faqsvc_embed.__file__).parent
NAME: Final = "faqsvc_embed"

ORDER: Final = (
    {"errors", "languages", "runtime"},
    {"models", "theme", "events"},
    {"settings"},
    {"api"},
    {"cache"},
    {"rendering"},
    {"files"},
    {"page"},
    {"embed", "client", "generation"},
    {"jinja"},
    {"flask", "starlette"},
    {"fastapi"},
    {"service", "testing", "mcp"},
    {"cli"},
)
"""The parts of the package, lowest first; a part imports only what is below it."""

OPTIONAL: Final = {
    "fastapi": {"fastapi"},
    "flask": {"flask"},
    "flask_babel": {"flask"},
    "markdown_it": {"rendering"},
    "mcp": {"mcp"},
    "nh3": {"rendering"},
    "psycopg": {"service"},
    "redis": {"cache"},
    "starlette": {"fastapi", "generation", "service", "starlette"},
    "uvicorn": {"service", "cli"},
    "yaml": {"files"},
}
"""The parts of the package that may import an optional dependency."""


def part_of(path: Path) -> str:
    """Return the module or package at the top that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


def imports_of(path: Path) -> Iterator[str]:
    """Yield the absolute names that a file imports, in functions and under TYPE_CHECKING, too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


FILES: Final = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE
)


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_point_down(path: Path) -> None:
    here = part_of(path)
    below = set[str]()
    for level in ORDER:
        if here in level:
            break
        below |= level
    else:
        pytest.fail(f"{here} has no place in the order of the architecture")
    for name in imports_of(path):
        if name.startswith(f"{NAME}."):
            part = name.split(".")[1]
            known = path.name == "reader.py" and part == "page"  # until a page's budget has its own place
            assert part == here or part in below or known, f"{path.name} imports {name}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_an_optional_dependency_is_imported_in_its_own_place_only(path: Path) -> None:
    for name in imports_of(path):
        allowed = OPTIONAL.get(name.split(".")[0])
        assert allowed is None or part_of(path) in allowed, f"{path.name} imports {name}"


def test_the_package_brings_no_framework_and_no_http_client() -> None:
    code = f"import sys, {NAME}; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"flask", "starlette", "fastapi", "httpx2", "asyncio", "mcp", "redis"} & set(
        done.stdout.split()
    )
