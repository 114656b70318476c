"""A FAQ service of a few lines with a change feed, on a real socket, whose every response a test decides."""

import json
import threading
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from queue import Queue
from typing import Any
from urllib.parse import unquote, urlsplit

END = b""


class FeedService:
    """Serves `answers` for an hour, and streams what `send` is given to every subscriber."""

    def __init__(self) -> None:
        self.answers: dict[str, str | None] = {}
        """The answer of each FAQ; None for one that was unpublished."""
        self.drafts: dict[tuple[str, str], str] = {}
        """The draft that a preview token reads, by slug and token."""
        self.draft_question = "What?"
        self.lang = "en"
        """The language of current records; the previous one, served while `lag` lasts, is in English."""
        self.revisions = defaultdict[str, int](lambda: 1)
        self.reads = list[str]()
        self.uncached_reads = list[str]()
        """The reads that no cache in front of the service may respond to."""
        self.connections = list[dict[str, Any]]()
        """The slugs and the `Last-Event-ID` of each connection to the feed."""
        self.feed_status = 200
        self.feed_type = "text/event-stream"
        self.is_down = False
        self.is_cached = False
        """Whether a cache in front, which ignores Vary, responds to every read."""
        self.may_read = threading.Event()
        """Reads wait for it."""
        self.may_read.set()
        self.lag = 0
        """How many reads still get the previous record, as from a cache in front."""
        self.fails_after = 1_000_000
        """How many reads get a response until the service is down."""
        self._last = dict[str, tuple[int, str | None]]()
        self._subscribers = list[Queue[bytes]]()
        self._log = list[bytes]()
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def do_GET(self) -> None:
                service.read(self, unquote(urlsplit(self.path).path.rpartition("/")[2]))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                service.stream(self, json.loads(body)["slugs"])

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def publish(self, slug: str, answer: str | None, **event: Any) -> None:
        """Change an FAQ, and send the event of it."""
        if slug in self.answers:
            self._last[slug] = self.revisions[slug], self.answers[slug]
            self.revisions[slug] += 1
        self.answers[slug] = answer
        state = "published" if answer is not None else "unpublished"
        data = {"slug": slug, "lang": "en", "revision": self.revisions[slug], "state": state}
        self.send(json.dumps(data | event, ensure_ascii=False))

    def send(self, data: str, name: str = "faq") -> None:
        event = f"id: {len(self._log) + 1}\nevent: {name}\ndata: {data}\n\n".encode()
        self._log.append(event)
        self.send_bytes(event)

    def send_bytes(self, data: bytes) -> None:
        for queue in self._subscribers:
            queue.put(data)

    def read(self, handler: BaseHTTPRequestHandler, slug: str) -> None:
        self.reads.append(slug)
        if handler.headers.get("Cache-Control") == "no-cache":
            self.uncached_reads.append(slug)
        self.may_read.wait(60)
        answer, revision = self.answers.get(slug), self.revisions[slug]
        token = None if self.is_cached else handler.headers.get("X-FAQ-Preview")
        draft = self.drafts.get((slug, token)) if token else None
        lang = self.lang
        if self.lag and slug in self._last:
            self.lag -= 1
            lang = "en"
            revision, answer = self._last[slug]
        question = self.draft_question if draft else "What?"
        items = [{"position": 0, "question": question, "answer": draft or answer}]
        record = {"slug": slug, "title": "", "websiteName": "", "lang": lang, "items": items, "cta": None}
        status = 200 if answer is not None else 410 if slug in self.answers else 404
        if token:
            status = 200 if draft else 403
        self.fails_after -= 1
        if self.is_down or self.fails_after < 0:
            status = 503
        body = json.dumps(record if status == 200 else {"code": "gone"}).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header(
            "Cache-Control", "public, max-age=3600" if status == 200 and not draft else "no-store"
        )
        handler.send_header("FAQ-Revision", str(revision))
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    def stream(self, handler: BaseHTTPRequestHandler, slugs: list[str]) -> None:
        handler.close_connection = True
        handler.send_response(self.feed_status)
        last_id = handler.headers.get("Last-Event-ID")
        queue = Queue[bytes]()
        queue.put(b": welcome\n\n")
        if last_id:
            for event in self._log[int(last_id) :]:
                queue.put(event)
        is_feed = self.feed_status == 200 and self.feed_type.startswith("text/event-stream")
        if is_feed:
            self._subscribers.append(queue)  # first, because a test may publish once the client is connected
        self.connections.append({"slugs": slugs, "last_id": last_id})
        handler.send_header("Content-Type", self.feed_type)
        handler.send_header("Connection", "close")
        handler.end_headers()
        if not is_feed:
            return
        try:
            while (data := queue.get()) != END:
                handler.wfile.write(data)
        except OSError:
            pass
        self._subscribers.remove(queue)

    def cut(self) -> None:
        """End all connections to the feed."""
        self.send_bytes(END)


@contextmanager
def feed_service() -> Iterator[FeedService]:
    """Run the service until the end of the block."""
    service = FeedService()
    thread = threading.Thread(target=service.server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield service
    finally:
        service.cut()
        service.server.shutdown()
        thread.join()
        service.server.server_close()
