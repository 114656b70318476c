"""The house holds: imports only point down, and an optional package is known in its own room only."""

import ast
import json
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

import faqsvc_embed

PACKAGE = Path(faqsvc_embed.__file__).parent
ROOT = "faqsvc_embed"

VALUES = {
    "anchors",
    "apikey",
    "checks",
    "contrast",
    "errors",
    "events",
    "forks",
    "languages",
    "records",
    "steps",
    "theme",
    "settings",
}
CORE = VALUES | {
    "wire",
    "answers",
    "styles",
    "copies",
    "freshness",
    "jsonld",
    "markdown",
    "templating",
    "linking",
    "rendering",
    "latest",
    "overrides",
    "policy",
    "problems",
    "encoded",
    "requestpage",
    "responses",
    "scripts",
    "slots",
    "page",
    "filling",
    "delivery",
    "wishes",
}
WRITING = {"fields", "publishing", "replies"}
FACADE = (
    CORE
    | WRITING
    | {"stores", "loops", "waiting", "transport", "fetching", "reading", "showing", "client", "embed"}
)

BELOW: dict[str, set[str]] = {
    # values
    "errors": set(),
    "steps": set(),
    "forks": set(),
    "events": {"errors"},
    "loops": set(),
    "waiting": set(),
    "anchors": {"steps"},
    "languages": set(),
    "records": {"errors", "languages", "steps"},
    "theme": {"errors"},
    "contrast": {"theme"},
    "apikey": {"errors"},
    "checks": {"apikey", "errors", "languages", "theme"},
    "settings": {"apikey", "checks", "errors", "theme"},
    # pure decisions
    "wire": {"errors", "languages", "records", "steps"},
    "copies": {"errors", "records", "steps", "wire"},
    "freshness": {"copies", "errors", "records", "wire"},
    "jsonld": {"records", "steps"},
    "markdown": {"records"},
    "styles": VALUES,
    "answers": VALUES,
    "templating": set(),
    "linking": set(),
    "overrides": set(),
    "rendering": VALUES | {"answers", "jsonld", "linking", "overrides", "styles", "templating"},
    "latest": {"records", "rendering"},
    "policy": VALUES | {"styles"},
    "problems": {"errors"},
    "responses": set(),
    "scripts": VALUES | {"rendering"},
    "slots": set(),
    "encoded": set(),
    "page": VALUES | {"jsonld", "rendering", "responses", "scripts", "slots", "styles"},
    "requestpage": VALUES | {"page"},
    "filling": VALUES | {"page", "responses", "slots"},
    "delivery": VALUES | {"filling", "page", "responses"},
    "wishes": VALUES | {"page", "rendering"},
    "fields": {"errors", "languages", "wire"},
    "publishing": VALUES | {"fields", "wire"},
    "replies": VALUES | {"publishing", "wire"},
    # the one room with I/O, those who use it, and what outlives it
    "stores": VALUES | {"copies", "freshness"},
    "transport": VALUES | {"loops", "wire"},
    "fetching": VALUES | {"freshness", "stores", "transport", "wire"},
    "client": VALUES | {"publishing", "replies", "transport", "wire"},
    # the facade
    "reading": CORE | {"fetching", "stores", "waiting"},
    "showing": CORE | {"reading", "waiting"},
    "embed": CORE | {"client", "fetching", "reading", "showing", "stores"},
    # leaves, which never import each other
    "jinja": FACADE,
    "flask": FACADE | {"jinja"},
    "starlette": FACADE | {"jinja"},
    "fastapi": FACADE | {"jinja", "starlette"},  # it re-exports Starlette's
    "testing": FACADE,
    "mcp": FACADE,
    "cli": FACADE | {"mcp", "service"},  # which it only starts
    "service": VALUES | {"fields", "jsonld", "markdown", "rendering", "styles", "wire"},
    # the front door opens on the facade and on no leaf
    "__init__": FACADE,
}
"""For each room, the rooms that it may import: those below it in the table of the design."""

AT_HOME: dict[str, set[str]] = {
    "click": {"cli", "flask"},
    "fastapi": {"fastapi"},
    "flask": {"flask"},
    "jsonschema": {"mcp"},
    "markdown_it": {"answers"},
    "mcp": {"mcp"},
    "mcp_types": {"mcp"},
    "nh3": {"answers"},
    "pydantic": {"mcp"},
    "psycopg": {"service"},
    "psycopg_pool": {"service"},
    "redis": {"stores"},
    "starlette": {"fastapi", "service", "starlette"},
    "uvicorn": {"cli", "service"},
    "httpcore2": {"service"},
    "protego": {"service"},
    "turbohtml": {"service"},
    "httpx2": {"transport", "service"},
    "tinycss2": {"theme"},
    "yaml": {"cli"},
}
"""For each package that not every host has, or wants at import, the rooms that may know of it."""

LAZY: dict[str, set[str]] = {
    "psycopg": {"service"},
    "psycopg_pool": {"service"},
    "markdown_it": {"answers"},
    "nh3": {"answers"},
    "redis": {"stores"},
    "starlette": {"cli"},
    "tinycss2": {"theme"},
    "uvicorn": {"cli"},
    "yaml": {"cli"},
}
"""For each package that is slow to import, or may be absent, the rooms that import it inside a function."""

NEVER = {"pytest", "unittest", "hypothesis", "tests", "demo_apps", "requests", "httpx"}


@dataclass(frozen=True)
class Import:
    """One name that a module of the package imports."""

    room: str
    file: Path
    line: int
    target: str
    """The full dotted name; of `from a.b import c`, `a.b.c`."""
    lazy: bool
    """Inside a function, or for type checkers only: not run when the module is imported."""

    @property
    def top(self) -> str:
        return self.target.partition(".")[0]

    @property
    def target_room(self) -> str | None:
        if self.top != ROOT:
            return None
        rooms = self.target.split(".")[1:]
        return rooms[0] if rooms and rooms[0] in ROOMS | BELOW.keys() else "__init__"

    def __str__(self) -> str:
        return f"{self.file.relative_to(PACKAGE.parent)}:{self.line} imports {self.target}"


def room_of(file: Path) -> str:
    """`cli.py`, `cli_output.py` and `cli/…` are all the room `cli`."""
    name = file.relative_to(PACKAGE).parts[0].removesuffix(".py")
    return "cli" if name.startswith("cli") else name


FILES = sorted(PACKAGE.rglob("*.py"))
ROOMS = {room_of(file) for file in FILES}


def imports_of(file: Path) -> Iterator[Import]:
    room = room_of(file)

    def found(node: ast.AST, lazy: bool) -> Iterator[Import]:
        for child in ast.iter_child_nodes(node):
            inner = lazy or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                for branch in child.body:
                    yield from found(ast.Module([branch], []), True)
                for branch in child.orelse:
                    yield from found(ast.Module([branch], []), lazy)
            elif isinstance(child, ast.Import):
                for name in child.names:
                    yield Import(room, file, child.lineno, name.name, lazy)
            elif isinstance(child, ast.ImportFrom):
                assert child.level == 0, f"{file}:{child.lineno}: a relative import"
                for name in child.names:
                    yield Import(room, file, child.lineno, f"{child.module}.{name.name}", lazy)
            else:
                yield from found(child, inner)

    yield from found(ast.parse(file.read_text(encoding="utf-8")), False)


ALL = [found for file in FILES for found in imports_of(file)]


def test_the_tools_of_this_test_see_the_house() -> None:
    assert {"errors", "records", "settings", "wire"} <= ROOMS
    assert any(found.room == "wire" and found.target_room == "records" for found in ALL)
    assert any(found.room == "theme" and found.top == "tinycss2" and found.lazy for found in ALL)


def test_every_room_is_in_the_plan() -> None:
    assert BELOW.keys() >= ROOMS, "a new room: give it a place in the design's table and in BELOW"


@pytest.mark.parametrize("room", sorted(BELOW))
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    wrong = [
        str(found)
        for found in ALL
        if found.room == room and found.target_room not in {None, room, *BELOW[room]}
    ]
    assert wrong == []


def test_the_plan_itself_has_no_cycles() -> None:
    done: list[str] = []
    waiting = dict(BELOW)
    while waiting:
        ready = [room for room, below in waiting.items() if below <= set(done)]
        assert ready, f"a cycle among {sorted(waiting)}"
        done += ready
        for room in ready:
            del waiting[room]


def test_no_module_imports_from_the_front_door() -> None:
    wrong = [str(found) for found in ALL if found.target_room == "__init__" and found.room != "__init__"]
    assert wrong == []


def test_an_optional_package_is_imported_only_where_it_is_at_home() -> None:
    wrong = [str(found) for found in ALL if found.top in AT_HOME and found.room not in AT_HOME[found.top]]
    assert wrong == []


def test_what_is_slow_or_an_extra_is_imported_only_when_it_is_used() -> None:
    wrong = [
        str(found)
        for found in ALL
        if not found.lazy
        and (found.room in LAZY.get(found.top, ()) or found.target_room in ("mcp", "service"))
    ]
    assert [line for line in wrong if not line.startswith((f"{ROOT}/mcp", f"{ROOT}/service"))] == []


def test_nothing_made_for_tests_is_imported() -> None:
    plugin = PACKAGE / "testing" / "plugin.py"  # which pytest alone imports
    wrong = [
        str(found) for found in ALL if found.top in NEVER and (found.top, found.file) != ("pytest", plugin)
    ]
    assert wrong == []


def test_nothing_is_imported_by_star() -> None:
    assert [str(found) for found in ALL if found.target.endswith(".*")] == []


def fresh(code: str) -> object:
    """Run code in a new interpreter and return what it prints as JSON."""
    ran = subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        check=False,
        capture_output=True,
        text=True,
        cwd=PACKAGE.parent,
    )
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def test_importing_the_package_brings_no_framework_no_client_and_no_loop() -> None:  # R3
    unwanted = ["asyncio", "click", "fastapi", "flask", "httpx2", "mcp", "psycopg", "redis", "sqlite3"]
    unwanted += ["ssl", "starlette", "tinycss2", "uvicorn", "werkzeug"]
    assert (
        fresh(f"import sys, json, {ROOT}; print(json.dumps(sorted(set({unwanted}) & set(sys.modules))))")
        == []
    )


def test_importing_the_package_starts_no_thread_and_opens_no_socket() -> None:  # R3
    code = f"""
import sys, json
events = []
watched = ("socket.", "_thread.start", "subprocess.", "os.fork", "os.exec", "os.posix_spawn", "open")
def hook(event, arguments):
    if event.startswith(watched):
        if event != "open" or (len(arguments) > 1 and set(str(arguments[1])) & set("wax+")):
            events.append(event + repr(arguments)[:100])
sys.dont_write_bytecode = True
sys.addaudithook(hook)
import {ROOT}
import threading
print(json.dumps([events, threading.active_count()]))
"""
    assert fresh(code) == [[], 1]


@pytest.mark.parametrize("leaf", ["flask", "starlette", "fastapi", "jinja", "testing", "mcp", "cli"])
def test_a_leaf_brings_no_other_framework(leaf: str) -> None:
    if leaf not in ROOMS:
        return
    own = {"flask": {"flask", "click"}, "starlette": {"starlette"}, "fastapi": {"fastapi", "starlette"}}
    own |= {"mcp": {"mcp", "starlette", "uvicorn", "click", "httpx2"}, "cli": {"click"}}
    unwanted = sorted(
        {"click", "fastapi", "flask", "httpx2", "mcp", "redis", "starlette", "uvicorn"} - own.get(leaf, set())
    )
    code = f"import sys, json, {ROOT}.{leaf}; print(json.dumps(sorted(set({unwanted}) & set(sys.modules))))"
    assert fresh(code) == []


def test_every_public_name_is_there_and_documented() -> None:
    for name in faqsvc_embed.__all__:
        assert getattr(faqsvc_embed, name).__doc__, name
    assert sorted(faqsvc_embed.__all__, key=str.lower) == sorted(set(faqsvc_embed.__all__), key=str.lower)
