"""The FAQ clients that the tools use."""

from typing import Final

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


class Clients:
    """One given client, or two that are created from environment variables when a call needs them.

    Reads use a client without a key, so that an invalid key stops only writes.
    """

    def __init__(self, client: FAQClient | None = None) -> None:
        self._reader = self._writer = client

    def reading(self) -> FAQClient:
        """Return the client that reads published FAQs."""
        if self._reader is None:
            self._reader = FAQClient(settings=Settings.from_env(api_key=None))
        return self._reader

    def writing(self) -> tuple[FAQClient, APIKey]:
        """Return the client with an API key, and the key; raises ToolError if there is none."""
        settings = self._writer.settings if self._writer is not None else Settings.from_env()
        if settings.api_key is None:
            raise ToolError(NO_KEY)
        if self._writer is None:
            self._writer = FAQClient(settings=settings)
        return self._writer, settings.api_key

    async def aclose(self) -> None:
        """Close the clients."""
        for client in {self._reader, self._writer}:
            if client is not None:
                await client.aclose()


class RequestClients(Clients):
    """The clients of one HTTP request, whose headers carry the API key, if there is one."""

    def __init__(self, shared: Clients, api_key: str | None) -> None:
        super().__init__(shared.reading())
        self._key = api_key

    def writing(self) -> tuple[FAQClient, APIKey]:
        """Return a client with the key of the request; raises ToolError if it has none."""
        if not self._key:
            raise ToolError(NO_KEY_SENT)
        key = APIKey(self._key)
        return self.reading().with_key(key), key
