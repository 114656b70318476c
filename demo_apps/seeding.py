"""The service of the demo, with a database that lasts as long as the demo and holds all its FAQs."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from demo_apps import content
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app, serving
from faqsvc_embed.service.storage import Storage, open_storage

ADDRESS: Final = "127.0.0.1"


@contextmanager
def running_service(port: int) -> Iterator[str]:
    """Serve all FAQs of the demo in a thread and lend the address of the service.

    Raises:
        OSError: the port is taken.
    """
    with tempfile.TemporaryDirectory(prefix="faqsvc-demo-") as directory:
        storage = open_storage(f"sqlite:///{Path(directory, 'faqsvc.db').as_posix()}")
        seed(storage)
        app = create_app(storage, base_url=f"http://{ADDRESS}:{port}")
        with serving.running(app, ADDRESS, port) as url:
            yield url


def seed(storage: Storage) -> None:
    """Store every FAQ in every language, under slugs that templates can name.

    Publishing through the API would make up new slugs: only the operator of a service chooses them.
    """
    for body in content.publications():
        storage.put(FAQ.from_dict(body), website_url=body["websiteUrl"])
