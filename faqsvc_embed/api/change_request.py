"""The request that changes some questions of an FAQ, and the validation of its changes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from faqsvc_embed.api.publish_request import encode, if_match_problems, rejected
from faqsvc_embed.api.requests import Request, write_request
from faqsvc_embed.api.validation import change_problems

Changes = Iterable[Mapping[str, Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeRequest:
    """The change of an FAQ; `body` validates its fields."""

    changes: object
    if_match: object
    draft: object = False

    def body(self) -> dict[str, Any]:
        """Return the JSON body; changes that are an iterator are consumed.

        Raises:
            PublishRejected: a field is invalid; `problems` has every reason, with the index of the change.
        """
        is_list = isinstance(self.changes, Iterable) and not isinstance(self.changes, str | bytes | Mapping)
        changes = list(self.changes) if is_list else self.changes  # type: ignore[call-overload]
        body = {"changes": changes, **({"draft": self.draft} if self.draft is not False else {})}
        problems = [*change_problems(body), *if_match_problems(self.if_match)]
        if self.if_match is None:
            problems.append("if_match is missing: use the etag of the revision that was read")
        if problems:
            raise rejected(problems)
        return body

    def to_http(self, url: str) -> Request:
        """Return the HTTP request for the FAQ at `url`, without the API key.

        Raises:
            PublishRejected: as `body` does.
        """
        return write_request("PATCH", url, encode(self.body()), {"if-match": str(self.if_match)})
