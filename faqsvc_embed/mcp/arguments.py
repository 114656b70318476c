"""Validation of a call's arguments against the schema of its tool."""

from functools import cache
from typing import Any

from jsonschema import Draft202012Validator, ValidationError

from faqsvc_embed.mcp.definitions import TOOLS
from faqsvc_embed.mcp.results import shorten

Arguments = dict[str, Any]


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(next(tool["inputSchema"] for tool in TOOLS if tool["name"] == name))


def argument_problems(name: str, arguments: Arguments) -> list[str]:
    """Return everything that is wrong with the arguments of a tool."""
    errors = sorted(_validator(name).iter_errors(arguments), key=lambda error: str(error.json_path))
    return [_problem(error) for error in errors]


def _problem(error: ValidationError) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    return f"{where}: {shorten(error.message, 200)}" if where else shorten(error.message, 200)
