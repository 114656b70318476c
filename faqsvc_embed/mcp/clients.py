"""The FAQ clients that the tools use, and one call of a tool."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from faqsvc_embed.api.requests import KEY_HEADER
from faqsvc_embed.client import FAQClient
from faqsvc_embed.mcp.results import ToolError
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import APIKey

NO_KEY: Final = (
    "FAQSVC_API_KEY is not set, and nothing was sent. Ask the user to set it in the environment of this MCP "
    "server and to restart it; `faqsvc keys create` makes keys, and so does the desk of the service under "
    "Site, Keys."
)
NO_KEY_SENT: Final = (
    "The request has no API key, and nothing was sent. Ask the user to let the MCP client send one in the "
    "header X-Plugin-Key, or as a bearer token in Authorization; `faqsvc keys create` makes keys."
)

Arguments = dict[str, Any]


class Clients:
    """The FAQ clients of a server: a given one, or those that the environment configures.

    Reads use no key, so that an invalid key stops only writes. With `is_remote`, a request may send
    its own key.
    """

    def __init__(self, client: FAQClient | None, *, is_remote: bool) -> None:
        self._given = self._reader = client
        self._is_remote = is_remote

    def reading(self) -> FAQClient:
        """Return the client that reads published FAQs."""
        if self._reader is None:
            self._reader = FAQClient(settings=Settings.from_env(api_key=None))
        return self._reader

    def writing(self, headers: Mapping[str, str]) -> FAQClient:
        """Return a client with the API key of the request, or of the given client or the environment.

        Raises:
            ToolError: there is no key.
        """
        scheme, _, token = headers.get("authorization", "").partition(" ")
        sent = headers.get(KEY_HEADER.lower()) or (token.strip() if scheme.lower() == "bearer" else None)
        if self._is_remote and sent:
            key: APIKey | None = APIKey(sent)
        elif self._given is not None:
            key = self._given.settings.api_key
        else:
            key = None if self._is_remote else Settings.from_env().api_key
        if key is None:
            raise ToolError(NO_KEY_SENT if self._is_remote else NO_KEY)
        return self.reading().with_key(key)


@dataclass(frozen=True, slots=True)
class Call:
    """A call of a tool. `reading` returns a client; `writing` returns one with a key, or raises ToolError."""

    name: str
    arguments: Arguments
    reading: Callable[[], FAQClient]
    writing: Callable[[], FAQClient]
