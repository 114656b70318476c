"""The public names of the package and their parameters: `python -m tests.public_names` writes the list.

Public are the names in `__all__` of `MODULES`, and their attributes without an underscore. All other modules
are internal: they may change in any release.
"""

import inspect
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any, Final

FILE: Final = Path(__file__).with_suffix(".txt")
PACKAGE: Final = "faqsvc_embed"
MODULES: Final = (
    PACKAGE,
    *(f"{PACKAGE}.{name}" for name in ("flask", "django", "starlette", "fastapi", "wsgi", "jinja")),
    *(f"{PACKAGE}.{name}" for name in ("service", "mcp", "testing")),
)


def public_names() -> list[str]:
    """Return a line for each public name, with its parameters and their defaults."""
    lines = set[str]()
    for name in MODULES:
        module = import_module(name)
        for key in module.__all__:
            lines.update(_described(f"{name}.{key}", getattr(module, key)))
    return sorted(lines)


def _described(name: str, value: Any) -> Iterator[str]:
    if inspect.isclass(value):
        yield f"class {name}{_parameters(value)}"
        for owner in value.__mro__:
            if owner.__module__.startswith(PACKAGE):
                fields = [*vars(owner), *inspect.get_annotations(owner)]
                for key in (key for key in fields if not key.startswith("_")):
                    yield f"{name}.{key}{_parameters(vars(owner).get(key))}"
    else:
        yield f"{name}{_parameters(value)}"


def _parameters(value: object) -> str:
    """Return the parameters of what can be called; types are checked by tests/typing."""
    if isinstance(value, classmethod | staticmethod):
        value = value.__func__
    if not (inspect.isclass(value) or inspect.isroutine(value)):
        return ""
    try:
        signature = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parameters = [
        one
        for name, one in signature.parameters.items()
        if name not in ("self", "cls") and not name.startswith("_")
    ]
    shown = [one.replace(annotation=one.empty, default=_shown(one)) for one in parameters]
    return str(signature.replace(parameters=shown, return_annotation=signature.empty))


def _shown(parameter: inspect.Parameter) -> object:
    """Return the default of a parameter, if it reads the same in every process."""
    is_plain = isinstance(parameter.default, bool | int | float | str | tuple | None)
    return parameter.default if is_plain or parameter.default is parameter.empty else ...


if __name__ == "__main__":
    FILE.write_text("\n".join(public_names()) + "\n", encoding="utf-8")
