"""Arguments of a call against the schema of its tool: all that differs, at once."""

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from faqsvc_embed.mcp.definitions import TOOLS
from faqsvc_embed.mcp.results import shortened

Arguments = dict[str, Any]


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(next(tool["inputSchema"] for tool in TOOLS if tool["name"] == name))


def problems_of(name: str, arguments: Arguments) -> list[str]:
    """Return how arguments differ from the schema of a tool."""
    errors = sorted(_validator(name).iter_errors(arguments), key=lambda error: str(error.json_path))
    return [_problem(error) for error in errors]


def strangers_in(name: str, arguments: Arguments) -> list[str]:
    """Return the arguments that a tool does not have; the values of others are checked by who knows them."""
    errors = _validator(name).iter_errors(arguments)
    return [
        _problem(error) for error in errors if error.validator == "additionalProperties" or _is_pair(error)
    ]


def _is_pair(error: ValidationError) -> bool:
    """Tell of an item that is a list: Python's callers may pass pairs, the schema has objects only."""
    return error.validator == "type" and len(error.absolute_path) == 2 and isinstance(error.instance, list)


def _problem(error: ValidationError) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{where}: {shortened(error.message, 200)}" if where else shortened(error.message, 200)
