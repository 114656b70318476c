"""The demo uses the library as any application would."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import demo_apps

FOLDER = Path(demo_apps.__file__).parent
PUBLIC = {
    "faqsvc_embed",
    *(f"faqsvc_embed.{name}" for name in ("fastapi", "flask", "jinja", "languages", "service", "starlette")),
}
STORAGE = "faqsvc_embed.service.storage"


def imported(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            yield node.module or ""
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.stem)
def test_only_public_modules_of_the_library_are_imported(path: Path) -> None:
    ours = {name for name in imported(path) if name.partition(".")[0] == "faqsvc_embed"}
    allowed = PUBLIC | {STORAGE} if path.stem == "seed" else PUBLIC
    assert ours <= allowed
