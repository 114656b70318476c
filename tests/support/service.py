"""The FAQ service of this package on a real socket, with an API key."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.storage import open_storage
from tests.support.running import running

ROOT: Final = Path(__file__).parents[2]
SERVE: Final = """
import json, sys
from functools import partial
from faqsvc_embed.service import create_app
from faqsvc_embed.service.server import Address, serve

if __name__ == "__main__":
    address = Address().checked()
    app = partial(create_app, sys.argv[1], **json.loads(sys.argv[2]))
    serve(app, address, workers=1, announce=lambda: print(address, flush=True))
"""


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


@contextmanager
def service_process(
    database: str, *, site: str | None = None, **options: Any
) -> Iterator[tuple[str, str, int]]:
    """Run the service in a process of its own; lend its URL, a key of a site, and the id of the process."""
    storage = open_storage(database)
    key = storage.keys.create("tests", site=site)
    storage.close()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", SERVE, database, json.dumps(options)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            yield process.stdout.readline().strip(), key, process.pid
        finally:
            process.terminate()
            process.wait(60)
