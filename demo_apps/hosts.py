"""The hosts of the demo, one an adapter: to add one is to add a line to `HOSTS`."""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Final

from flask import Flask
from starlette.applications import Starlette
from werkzeug.serving import make_server

from demo_apps import fastapi_app, flask_app, gallery, site, starlette_app
from faqsvc_embed.service import serving

ADDRESS: Final = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class Host:
    """A site that shows FAQs; `factory` builds it for the address of a service.

    Beside the pages of every host it may have pages of its own, and addresses of FAQs as JSON.
    """

    name: str
    port: int
    factory: Callable[[str], Flask | Starlette]
    pages: tuple[site.Page, ...] = ()
    data: tuple[str, ...] = ()

    def running(self, service: str) -> AbstractContextManager[str]:
        """Serve the site in a thread and lend its address.

        Raises:
            OSError: the port is taken.
        """
        app = self.factory(service)
        if isinstance(app, Starlette):
            return serving.running(app, ADDRESS, self.port)
        return _running_wsgi(app, self.port)


HOSTS: Final = (
    Host("Flask", 8701, flask_app.create_app, (gallery.PAGE,)),
    Host("Starlette", 8702, starlette_app.create_app),
    Host("FastAPI", 8703, fastapi_app.create_app, (fastapi_app.PLAIN,), (fastapi_app.DATA,)),
)


@contextmanager
def _running_wsgi(app: Flask, port: int) -> Iterator[str]:
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # no line a request
    # werkzeug ends the process if it finds the port taken; who binds it first can say so himself.
    with serving.listen(ADDRESS, port) as listening:
        server = make_server(ADDRESS, port, app, threaded=True, fd=listening.fileno())
        thread = threading.Thread(target=server.serve_forever, name="flask-host")
        thread.start()
        try:
            yield serving.address(listening)
        finally:
            server.shutdown()
            thread.join()
            server.server_close()
