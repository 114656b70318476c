"""The FAQ service of this package on a real socket, with an API key."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.server import running
from faqsvc_embed.service.storage import open_storage


@dataclass(frozen=True)
class Service:
    """The address of a running service, and a key that may write."""

    base_url: str
    key: str


@contextmanager
def service(directory: Path) -> Iterator[Service]:
    """Run the service with an SQLite database in `directory`."""
    storage = open_storage(f"sqlite:///{directory}/faqsvc.db")
    with running(create_app(storage)) as address:
        yield Service(address, storage.keys.create("tests"))
