"""The arguments of a call: clients' encodings undone, and validated against the schema of the tool."""

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from typing import Any, Final

from jsonschema import Draft202012Validator, ValidationError

from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.mcp.clients import Arguments
from faqsvc_embed.mcp.definitions import TOOLS
from faqsvc_embed.mcp.results import shorten

MAX_VALUE: Final = 100
"""Characters of a value that a message quotes."""
MAX_UNKNOWN: Final = 5

_SCHEMAS = {tool["name"]: tool["inputSchema"] for tool in TOOLS}


def decoded(name: str, arguments: Arguments) -> Arguments:
    """Return the arguments of a tool without what clients and models make of them.

    Some clients send arrays, numbers and booleans as strings, out of the model's reach. Models write null for
    what they leave out, and a language with its region.
    """
    return {name: value for name, value in _decoded(arguments, _SCHEMAS[name]).items() if value is not None}


def _decoded(value: Any, schema: Mapping[str, Any]) -> Any:
    kind = schema.get("type")
    if isinstance(value, str) and schema.get("enum") == list(LANGUAGES):
        return lookup(value) or value
    if isinstance(value, str) and kind != "string":
        with suppress(ValueError, RecursionError):
            value = json.loads(value.lower() if kind == "boolean" else value)
    if kind == "array" and isinstance(value, list):
        return [_decoded(element, schema.get("items", {})) for element in value]
    if kind == "object" and isinstance(value, dict):
        inner = schema.get("properties", {})
        pairs = (
            (name, _decoded(field, inner.get(name, {"type": "string"}))) for name, field in value.items()
        )
        return {name: field for name, field in pairs if field is not None}
    return value


@cache
def _validator(name: str) -> Draft202012Validator:
    return Draft202012Validator(_SCHEMAS[name])


def argument_problems(name: str, arguments: Arguments) -> list[str]:
    """Return everything that is wrong with the arguments of a tool."""
    errors = sorted(_validator(name).iter_errors(arguments), key=lambda error: str(error.json_path))
    return [_problem(error) for error in errors]


def _problem(error: ValidationError) -> str:
    where = error.json_path.removeprefix("$").removeprefix(".")
    value = repr(error.instance)
    message = error.message.replace(value, shorten(value, MAX_VALUE), 1)
    if error.validator == "additionalProperties":
        known = error.schema["properties"]
        unknown = [repr(shorten(name, MAX_VALUE)) for name in error.instance if name not in known]
        message = f"not accepted: {', '.join(unknown[:MAX_UNKNOWN])}; accepted are {', '.join(known)}"
    return f"{where}: {message}" if where else message
