"""Websites on local sockets, and the pages they serve."""

from collections.abc import Mapping

from faqsvc_embed.generation.crawl.ssrf import Endpoint
from tests.support.faulty import Behaviour, Exchange, FaultyServer, body

Content = str | bytes | Behaviour


def html(content: str, head: str = "", lang: str = "en") -> str:
    """Return a whole page around some content."""
    return (
        f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8">{head}</head>'
        f"<body>{content}</body></html>"
    )


def website(pages: Mapping[str, Content]) -> Behaviour:
    """Serve content by path, as HTML unless the path ends in .txt or .xml."""

    def behaviour(exchange: Exchange) -> None:
        path = exchange.request.target.partition("?")[0]
        page = pages.get(path)
        if page is None:
            exchange.respond(
                404, b"<h1>What is missing?</h1><p>This page.</p>", {"Content-Type": "text/html"}
            )
        elif callable(page):
            page(exchange)
        else:
            kind = {"txt": "text/plain", "xml": "application/xml"}.get(path.rpartition(".")[2], "text/html")
            content = page.encode() if isinstance(page, str) else page
            body(content, {"Content-Type": kind})(exchange)

    return behaviour


def endpoint(server: FaultyServer) -> frozenset[Endpoint]:
    """Return the endpoint of a server, to allow requests to it."""
    return frozenset({("127.0.0.1", server.port)})


def paths(server: FaultyServer) -> list[str]:
    """Return the paths that were requested from a server, in order."""
    return [received.target for received in server.log]
