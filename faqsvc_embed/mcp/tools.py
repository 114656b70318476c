"""What the four tools do. Arguments are checked before anything is sent; nothing here knows of a protocol."""

import asyncio
import hashlib
import json
import secrets
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, Final, TypeVar

from faqsvc_embed.api import publishing
from faqsvc_embed.api.reading import read_request
from faqsvc_embed.client import FAQClient
from faqsvc_embed.errors import (
    AuthenticationError,
    ConfigurationError,
    FAQError,
    FAQNotFound,
    PublishRejected,
    Unanswered,
    quoted,
)
from faqsvc_embed.mcp.arguments import Arguments, problems_of, strangers_in
from faqsvc_embed.mcp.results import (
    MOST_BYTES,
    MOST_TITLE,
    Answer,
    Refusal,
    answer,
    dumped,
    fitting,
    shortened,
    small,
    weight,
)
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.rendering.json_ld import to_json_ld, to_json_ld_string
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.api_key import APIKey

T = TypeVar("T")
Report = Callable[[float, str], Awaitable[None]]
"""Tells the client how many seconds something has taken, and what is going on."""

PROGRESS_EVERY: Final = 1.0
"""Seconds."""
ROOM: Final = MOST_BYTES - 6_000
"""Bytes for items: what is around them has the rest."""

_NO_KEY: Final = (
    "FAQSVC_API_KEY is not set, and nothing was sent. Ask the user to set it in the environment of this MCP "
    "server and to restart it; keys are made in the service's dashboard under Developer, API Keys & "
    "Integrations, or by `faqsvc keys create`."
)


class Tools:
    """The tools over a client, or over two of the environment's settings, made when a call needs them.

    Reads need no key, so one that cannot be is told to those only who write.
    """

    def __init__(self, client: FAQClient | None = None) -> None:
        self._reads = self._writes = client
        self._attempts = dict[bytes, str]()  # to publish, that did not succeed: a digest, and its retry key

    async def call(self, name: str, arguments: Arguments, report: Report) -> Answer:
        """Return what a tool answers; raises Refusal with what to change, and KeyError if there is none."""
        tool = {
            "get_faq": self._get_faq,
            "get_faq_jsonld": self._get_faq_jsonld,
            "generate_faq": self._generate_faq,
            "publish_faq": self._publish_faq,
        }[name]
        # Models write null for what they leave out.
        given = {name: value for name, value in arguments.items() if value is not None}
        try:
            return await tool(given, report)
        except FAQError as error:
            raise Refusal(_advice(error)) from None

    async def aclose(self) -> None:
        """End the connections."""
        for client in {self._reads, self._writes}:
            if client is not None:
                await client.aclose()

    async def _get_faq(self, arguments: Arguments, _: Report) -> Answer:
        faq, offset = await self._read("get_faq", arguments)
        record = faq.to_dict()
        head = {
            **record,
            "title": shortened(faq.title, MOST_TITLE),
            "websiteName": shortened(faq.website_name, MOST_TITLE),
            "cta": small(faq.cta),
        }
        items = fitting(record["items"][offset:], ROOM)
        end = offset + len(items)
        content = {**head, "items": items, "total": len(faq.items)}
        notes = list[str]()
        if end < len(faq.items):
            content["nextOffset"] = end
            notes.append(f"Items {offset} to {end - 1} of {len(faq.items)}.")
        if items != record["items"][offset:end]:
            notes.append(f"Item {offset} is cut. {self._where_it_is_whole(arguments)}")
        return answer({**content, "note": " ".join(notes)} if notes else content)

    async def _get_faq_jsonld(self, arguments: Arguments, _: Report) -> Answer:
        faq, offset = await self._read("get_faq_jsonld", arguments)
        questions = to_json_ld(faq).get("mainEntity", [])
        if not questions:
            raise Refusal(f"The FAQ {quoted(faq.slug)} has no question with an answer, so it has no FAQPage.")
        # Counted among those that are marked up.
        pairs = [{"question": q["name"], "answer": q["acceptedAnswer"]["text"]} for q in questions]
        shown = fitting(pairs[offset:], ROOM, _weight_marked_up)
        if not shown:
            raise Refusal(f"offset is {offset}, but the FAQPage has {len(pairs)} questions.")
        items = [Item(position, **pair) for position, pair in enumerate(shown)]
        part = FAQ(faq.slug, lang=faq.lang, items=tuple(items))
        end, notes = offset + len(items), list[str]()
        if end < len(pairs):
            notes.append(
                f"Questions {offset} to {end - 1} of {len(pairs)}: this FAQPage is not complete. "
                f"Call again with offset {end} and join the mainEntity arrays."
            )
        if shown != pairs[offset:end]:
            notes.append(
                f"Question {offset} or its answer is cut: put no cut text on a page. "
                f"{self._where_it_is_whole(arguments)}"
            )
        return Answer(to_json_ld(part), to_json_ld_string(part), " ".join(notes))

    async def _generate_faq(self, arguments: Arguments, report: Report) -> Answer:
        problems = strangers_in("generate_faq", arguments)
        given = {name: arguments.get(name) for name in ("lang", "count", "topic")}
        try:
            publishing.generation(arguments.get("websiteUrl"), **given)
        except PublishRejected as error:
            problems += error.problems
        self._refuse(problems)
        client, _ = self._writer()
        url = arguments["websiteUrl"]
        work = client.agenerate_faq(url, **given)
        try:
            found = await _reporting(work, report, f"The service is reading {shortened(url, 200)}")
        except FAQNotFound as error:
            raise Refusal(
                f"{error}. Read the website by other means, write the items yourself, and use publish_faq."
            ) from None
        entries = [
            {"question": item.question, "answer": item.answer, "source": getattr(item, "source", "")}
            for item in found
        ]
        items = fitting(entries, ROOM)
        content: dict[str, Any] = {"items": items, "total": len(entries)}
        if len(items) < len(entries):
            content["note"] = (
                f"The first {len(items)} of {len(entries)}; generate again about a narrower topic for others."
            )
        elif not entries:
            content["note"] = "The service found no questions there; try another page of the website."
        return answer(content)

    async def _publish_faq(self, arguments: Arguments, report: Report) -> Answer:
        problems = strangers_in("publish_faq", arguments)
        preview = arguments.get("preview", False)
        if not isinstance(preview, bool):
            problems.append(f"preview is {quoted(preview)}: true or false is accepted")
        fields: dict[str, Any] = {
            "website_url": arguments.get("websiteUrl"),
            "website_name": arguments.get("websiteName"),
            "items": arguments.get("items"),
            "lang": arguments.get("lang"),
            "title": arguments.get("title"),
        }
        body = dict[str, Any]()
        try:
            body = publishing.publication(**fields)
        except PublishRejected as error:
            problems += error.problems
        self._refuse(problems)
        if preview:
            return _preview(body)
        client, key = self._writer()
        # Models repeat what failed or was cancelled: what may be published must not be published twice.
        attempt = hashlib.sha256(publishing.encoded(body)).digest()
        retry = self._attempts.setdefault(attempt, secrets.token_hex(16))
        work = client.apublish_faq(**fields, idempotency_key=retry)
        try:
            published = await _reporting(work, report, "Publishing")
        except Unanswered as error:
            when = f" in {error.retry_after:g} seconds" if error.retry_after is not None else ""
            raise Refusal(
                f"{error}. To try again with that key, call with exactly these arguments{when}."
            ) from None
        except FAQNotFound as error:
            raise Refusal(
                f"{error}. Ask the user whether FAQSVC_BASE_URL is the address of an FAQ service."
            ) from None
        self._attempts.pop(attempt, None)
        content = {
            "slug": published.slug,
            "faqUrl": shortened(published.faq_url, 2_000),
            "install": small(published.install) or {},
        }
        said = dumped({name: value for name, value in content.items() if value})
        return answer(json.loads(key.mask(said)))

    async def _read(self, name: str, arguments: Arguments) -> tuple[FAQ, int]:
        self._refuse(problems_of(name, arguments))
        faq = await self._reader().aget_faq(arguments["slug"], lang=arguments.get("lang"))
        offset = int(arguments.get("offset", 0))
        if offset and offset >= len(faq.items):
            raise Refusal(f"offset is {offset}, but the FAQ {quoted(faq.slug)} has {len(faq.items)} items.")
        return faq, offset

    def _where_it_is_whole(self, arguments: Arguments) -> str:
        base_url = self._reader().settings.base_url
        address = read_request(base_url, arguments["slug"], arguments.get("lang")).url
        return f"The whole text is public at {address}"

    def _reader(self) -> FAQClient:
        if self._reads is None:
            self._reads = FAQClient(settings=Settings.from_env(api_key=None))
        return self._reads

    def _writer(self) -> tuple[FAQClient, APIKey]:
        settings = self._writes.settings if self._writes is not None else Settings.from_env()
        if settings.api_key is None:
            raise Refusal(_NO_KEY)
        if self._writes is None:
            self._writes = FAQClient(settings=settings)
        return self._writes, settings.api_key

    @staticmethod
    def _refuse(problems: list[str]) -> None:
        if problems:
            more = f"; and {len(problems) - 20} more" if len(problems) > 20 else ""
            raise Refusal(f"Correct these arguments and call again: {'; '.join(problems[:20])}{more}")


def _weight_marked_up(pair: dict[str, Any]) -> int:
    part = FAQ("", items=(Item(0, **pair),))
    return len(dumped(to_json_ld(part)).encode()) + len(dumped(to_json_ld_string(part)).encode())


def _preview(body: dict[str, Any]) -> Answer:
    items = fitting(body["items"], ROOM - weight({**body, "items": []}))
    note = "Nothing was published. Show this to the user; without preview it will be published."
    if len(items) < len(body["items"]):
        note += f" These are the first {len(items)} of {len(body['items'])} items; all were checked."
    return answer({"preview": {**body, "items": items}, "total": len(body["items"]), "note": note})


def _advice(error: FAQError) -> str:
    """Say what went wrong, and what could be done about it."""
    if isinstance(error, ConfigurationError):
        return f"This MCP server is not set up, {error}. Ask the user to correct its environment."
    if isinstance(error, FAQNotFound):
        return f"{error}. Check the slug, or ask the user for the FAQ's address."
    if isinstance(error, AuthenticationError):
        return f"{error}. Ask the user to set FAQSVC_API_KEY to a valid key, and to restart this MCP server."
    if isinstance(error, PublishRejected):
        return f"Correct this and call again: {error}"
    if error.retry_after is not None:
        return f"{error}. Try again in {error.retry_after:g} seconds."
    return f"{error}. Try again later, or tell the user that the FAQ service does not answer."


async def _reporting(work: Coroutine[Any, Any, T], report: Report, message: str) -> T:
    """Await work and report every second that it still goes on; who gives up waiting ends it."""
    task, seconds = asyncio.ensure_future(work), 0.0
    try:
        await report(seconds, message)
        while not (await asyncio.wait([task], timeout=PROGRESS_EVERY))[0]:
            seconds += PROGRESS_EVERY
            await report(seconds, message)
        return task.result()
    finally:
        task.cancel()
