"""The architecture by package: imports point down, dependencies have their places, and public names stay."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import demo_apps
import faqsvc_embed
from tests.public_names import FILE, public_names

PACKAGE: Final = Path(faqsvc_embed.__file__).parent
NAME: Final = "faqsvc_embed"

ORDER: Final = (
    {"errors", "languages", "text", "runtime"},
    {"models", "theme"},
    {"settings"},
    {"api"},
    {"files"},
    {"cache"},
    {"sources"},
    {"rendering"},
    {"page"},
    {"embed", "client", "generation"},
    {"jinja"},
    {"starlette", "wsgi"},
    {"fastapi"},
    {"service", "testing", "mcp"},
    {"cli"},
    {"django", "flask"},
    {"__main__"},
)
"""The parts of the package, lowest first; a part imports only what is below it."""

OPTIONAL: Final = {
    "alembic": {"service"},
    "anyio": {"generation", "mcp", "service"},
    "asgiref": {"django"},
    "django": {"django"},
    "fastapi": {"fastapi"},
    "flask": {"flask"},
    "flask_babel": {"flask"},
    "granian": {"runtime"},
    "mcp": {"mcp"},
    "opentelemetry": {"cache", "embed"},
    "prometheus_client": {"service"},
    "protego": {"generation"},
    "psycopg": {"service"},
    "python_multipart": {"service"},
    "redis": {"cache"},
    "sqlalchemy": {"service"},
    "starlette": {"fastapi", "mcp", "service"},
    "turbohtml": {"files", "generation", "testing"},
}
"""The parts of the package that may import an optional dependency."""

OWN: Final = {
    "click": {"cli", "django", "flask"},
    "coloraide": {"rendering", "theme"},
    "markdown_it": {"files", "rendering"},
    "nh3": {"files", "rendering"},
    "yaml": {"files"},
}
"""The same for dependencies that everybody has, but few need."""


def part_of(path: Path) -> str:
    """Return the module or package at the top that a file belongs to."""
    return path.relative_to(PACKAGE).with_suffix("").parts[0]


@cache
def imports_of(path: Path) -> tuple[str, ...]:
    """Return the absolute names that a file imports, in functions and under TYPE_CHECKING, too."""
    return tuple(_imports(path))


def _imports(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


FILES: Final = sorted(
    path for path in PACKAGE.rglob("*.py") if path.name != "__init__.py" or path.parent != PACKAGE
)


def test_imports_point_down() -> None:
    for path in FILES:
        part = part_of(path)
        level = next((index for index, parts in enumerate(ORDER) if part in parts), None)
        assert level is not None, f"{part} has no place in the order of the architecture"
        parts = {name.split(".")[1] for name in imports_of(path) if name.startswith(f"{NAME}.")}
        above = parts - {part}.union(*ORDER[:level])
        assert not above, f"{path} imports from above: {above}"


def test_a_dependency_is_imported_in_its_own_place_only() -> None:
    for path in FILES:
        for dependency in {name.partition(".")[0] for name in imports_of(path)} & (OPTIONAL | OWN).keys():
            assert part_of(path) in (OPTIONAL | OWN)[dependency], f"{path} imports {dependency}"


CONTRACT: Final = {"create_app"}
"""Functions of the public contract, which takes keywords."""


def test_files_and_signatures_are_short() -> None:
    for path in FILES:
        text = path.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 350, path
        if part_of(path) == "cli":  # the parameters of a command are its options
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name not in CONTRACT:
                found = node.args
                names = {one.arg for one in [*found.posonlyargs, *found.args, *found.kwonlyargs]}
                assert len(names - {"self", "cls"}) <= 5, f"{path}:{node.lineno}"


def test_the_package_imports_no_framework_and_no_http_client() -> None:
    code = f"import sys, {NAME}; print(*sorted(name.partition('.')[0] for name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {*OPTIONAL, *OWN, "httpx2"}
    assert not heavy & set(done.stdout.split())


def test_the_adapter_of_django_uses_only_names_without_an_underscore() -> None:
    for path in (PACKAGE / "django").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and re.match("_[^_]", node.attr):
                owner = node.value.id if isinstance(node.value, ast.Name) else ""
                assert owner in ("self", "cls"), f"{path}:{node.lineno}: {node.attr}"


DEMO: Final = Path(demo_apps.__file__).parent
PUBLIC: Final = {
    NAME,
    *(f"{NAME}.{name}" for name in ("fastapi", "flask", "jinja", "languages", "service", "starlette")),
}


def test_the_demo_uses_the_public_modules_as_any_application_would() -> None:
    for path in DEMO.glob("*.py"):
        allowed = PUBLIC | {f"{NAME}.service.storage"} if path.stem == "demo" else PUBLIC
        ours = {name for name in imports_of(path) if name.partition(".")[0] == NAME}
        assert {name for name in ours - allowed if name.rpartition(".")[0] not in allowed} == set(), path


def test_the_public_names_are_those_of_the_list() -> None:
    listed, found = set(FILE.read_text(encoding="utf-8").splitlines()), set(public_names())
    assert (sorted(listed - found), sorted(found - listed)) == ([], []), (
        "run `python -m tests.public_names`; a name that is gone or takes other arguments needs a line in "
        "CHANGELOG.md"
    )
