"""Somebody's website on a real socket: pages by path, and every fault of a faulty server."""

from collections.abc import Mapping

from faqsvc_embed.generation.guard import Endpoint
from tests.support.faulty import Behaviour, Exchange, FaultyServer, body

Page = str | bytes | Behaviour


def html(content: str, head: str = "", lang: str = "en") -> str:
    """Return a whole page around some content."""
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8">{head}</head>'
        f"<body>{content}</body></html>"
    )


def website(pages: Mapping[str, Page]) -> Behaviour:
    """Answer with the page of a path; text is HTML, unless the path ends in .txt or .xml."""

    def behaviour(exchange: Exchange) -> None:
        path = exchange.request.target.partition("?")[0]
        page = pages.get(path)
        if page is None:
            exchange.reply(404, b"<h1>What is missing?</h1><p>This page.</p>", {"Content-Type": "text/html"})
        elif callable(page):
            page(exchange)
        else:
            kind = {"txt": "text/plain", "xml": "application/xml"}.get(path.rpartition(".")[2], "text/html")
            content = page.encode() if isinstance(page, str) else page
            body(content, {"Content-Type": kind})(exchange)

    return behaviour


def endpoint(server: FaultyServer) -> frozenset[Endpoint]:
    """Return what allows visits to this server."""
    return frozenset({("127.0.0.1", server.port)})


def paths(server: FaultyServer) -> list[str]:
    """Return what was asked for, in the order of the requests."""
    return [received.target for received in server.log]
