"""The package declares what it imports, and names the extra that installs what is missing."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from importlib.metadata import packages_distributions
from pathlib import Path
from typing import Final

import pytest

import faqsvc_embed
from faqsvc_embed.runtime.extras import needs_extra

PACKAGE: Final = Path(faqsvc_embed.__file__).parent
PROJECT: Final = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS: Final = {
    "cache": ["redis", "telemetry"],
    "django": ["django"],
    "embed.py": ["telemetry"],
    "fastapi.py": ["fastapi", "starlette"],
    "flask.py": ["flask"],
    "generation": ["generation"],
    "mcp": ["mcp"],
    "runtime": ["service"],
    "service": ["service", "generation", "postgresql", "redis"],
    "testing": ["generation"],
}
"""The extras that install what a part of the package needs beyond the dependencies of all parts."""
NAMESPACES: Final = {"opentelemetry": "opentelemetry-api"}
"""Packages that several distributions share, and the one that is imported here."""
HOSTS: Final = {"flask_babel", "gevent", "pytest", "werkzeug"}
"""Packages that come with the host, or are used only if it has them."""


@pytest.mark.parametrize(
    "part", sorted(path.name for path in PACKAGE.iterdir() if path.name != "__pycache__")
)
def test_a_part_imports_what_its_extra_declares(part: str) -> None:
    declared = [*PROJECT["dependencies"]]
    for extra in EXTRAS.get(part, []):
        declared += PROJECT["optional-dependencies"][extra]
    missing = third_party_imports(PACKAGE / part) - set(map(distribution, declared))
    assert missing == set()


def third_party_imports(part: Path) -> set[str]:
    """Return the distributions of the packages that a module or package imports from elsewhere."""
    names = set[str]()
    for path in [part] if part.suffix == ".py" else part.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names.update(alias.name for alias in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                names.add(node.module)
    packages = {name.partition(".")[0] for name in names} - {"faqsvc_embed", *sys.stdlib_module_names, *HOSTS}
    shared = {
        package: NAMESPACES.get(package, distributions().get(package, [package])[0]) for package in packages
    }
    return {distribution(name) for name in shared.values()}


distributions = cache(packages_distributions)


def distribution(requirement: str) -> str:
    """Return the name in a requirement such as `psycopg[binary,pool]>=3.2`."""
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


def test_a_missing_package_is_named_with_the_extra_that_installs_it() -> None:
    with pytest.raises(ModuleNotFoundError, match=r"faqsvc-embed\[redis\]") as caught, needs_extra("redis"):
        import_module("no_such_package.with_a_module")
    assert caught.value.name == "no_such_package"


def test_a_missing_module_of_this_package_is_a_bug() -> None:
    with pytest.raises(ModuleNotFoundError) as caught, needs_extra("redis"):
        import_module("faqsvc_embed.no_such_module")
    assert caught.value.name == "faqsvc_embed.no_such_module"


@pytest.mark.system
@pytest.mark.parametrize(
    ("statement", "missing", "extra"),
    [
        ("import faqsvc_embed.flask", "flask", "flask"),
        ("import faqsvc_embed.fastapi", "fastapi", "fastapi"),
        ("import faqsvc_embed.django.apps", "django", "django"),
        ("import faqsvc_embed.generation", "turbohtml", "generation"),
        ("import faqsvc_embed.mcp", "jsonschema", "mcp"),
        ("from faqsvc_embed.service import create_app", "starlette", "service"),
        ("import faqsvc_embed.service.server", "granian", "service"),
        ("import faqsvc_embed.service.storage", "sqlalchemy", "service"),
    ],
)
def test_each_part_names_its_extra(statement: str, missing: str, extra: str) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; {statement}"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert f"{missing} is not installed: pip install 'faqsvc-embed[{extra}]'" in ran.stderr.splitlines()[-1]
