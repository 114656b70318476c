"""Our own service on a real socket, with a key, for those who write to it."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import open_storage


@dataclass(frozen=True)
class Service:
    """Where it is, and a key that may write."""

    base_url: str
    key: str


@contextmanager
def service(directory: Path) -> Iterator[Service]:
    """Run the service over a database in `directory`."""
    storage = open_storage(f"sqlite:///{directory}/faqsvc.db")
    with running(create_app(storage)) as address:
        yield Service(address, storage.keys.create("tests"))
