"""The optional parameters of chat completions, and which of them an endpoint refuses."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

MAX_TOKENS: Final = 8_000
"""The limit on the tokens of a completion, for endpoints that accept one."""

CONTEXT_TOO_LONG = re.compile(
    r"context[ _](?:length|window|size)|too many tokens|prompt is too long|input is too long"
)
_LIMIT = re.compile(rf"max_(?:completion_)?tokens|max_new_tokens|{CONTEXT_TOO_LONG.pattern}")


@dataclass(frozen=True, slots=True)
class Parameters:
    """The optional parameters of a request."""

    temperature: bool = True
    response_format: str | None = "json_schema"
    """`json_schema`, `json_object` or None."""
    limit: str | None = "max_completion_tokens"
    """`max_completion_tokens`, `max_tokens` or None."""

    def body(self, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters as fields of a request; `schema` is that of the response."""
        body: dict[str, Any] = {}
        if self.temperature:
            body["temperature"] = 0
        if self.limit is not None:
            body[self.limit] = MAX_TOKENS
        if self.response_format == "json_schema":
            named = {"name": "faq", "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        elif self.response_format is not None:
            body["response_format"] = {"type": self.response_format}
        return body

    def without(self, refusal: str) -> "Parameters | None":
        """Return these parameters without the one that an error message names, or None if it names none."""
        if self.limit is not None and _LIMIT.search(refusal) is not None:
            is_too_large = re.search(r"too large|at most|maximum|less than|exceed", refusal) is not None
            if CONTEXT_TOO_LONG.search(refusal) is not None:
                return replace(self, limit=None)
            other = "max_tokens" if self.limit == "max_completion_tokens" else "max_completion_tokens"
            is_other_wanted = other in refusal and not is_too_large
            is_unknown = self.limit == "max_completion_tokens" and not is_too_large
            return replace(self, limit=other if is_other_wanted or is_unknown else None)
        if self.response_format is not None and re.search(
            r"response_?format|json_?schema|json_?object|structured|guided|schema", refusal
        ):
            return replace(self, response_format=_SIMPLER[self.response_format])
        if self.temperature and "temperature" in refusal:
            return replace(self, temperature=False)
        return None


_SIMPLER: Final = {"json_schema": "json_object", "json_object": None}
PLAIN: Final = Parameters(temperature=False, response_format=None, limit=None)
