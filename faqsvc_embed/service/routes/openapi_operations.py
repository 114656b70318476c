"""The operations of the API, for its OpenAPI document."""

from typing import Final, NamedTuple

import msgspec

from faqsvc_embed.api import contract
from faqsvc_embed.api.contract import LIST_PATH, PREVIEW_HEADER, Scope
from faqsvc_embed.api.event_stream import FEED_PATH
from faqsvc_embed.api.requests import API_PATH

_ALWAYS: Final = (405, 429)
_READS: Final = (404, 406, 410, 422, 503, *_ALWAYS)
_KEYED: Final = (401, 403, 404, 410, 422, 503, *_ALWAYS)
_WRITES: Final = (400, 409, 412, *_KEYED)
_BODIES: Final = (406, 408, 413, 415)
_TEXTS: Final = ("text/html", "text/markdown")


class Operation(NamedTuple):
    """An operation: its parameters, its responses and its errors."""

    method: str
    path: str
    name: str
    summary: str
    statuses: tuple[int, ...]
    problems: tuple[int, ...]
    scope: Scope | None = None
    body: type[msgspec.Struct] | None = None
    response: type[msgspec.Struct] | None = None
    query: tuple[str, ...] = ()
    headers: tuple[str, ...] = ()
    media_types: tuple[str, ...] = ()
    note: str = ""

    @property
    def is_link_source(self) -> bool:
        """Whether the response names an FAQ that other operations can use."""
        return self.response is contract.PublishResponse


_IF_MATCH: Final = (
    "With the entity tag of a revision in `If-Match`, the request fails unless the newest revision has the "
    "same content."
)
_FAQ: Final = API_PATH + "/{slug}"

OPERATIONS: Final = (
    Operation(
        "get",
        _FAQ,
        "readFAQ",
        "Read an FAQ, in its default language unless `lang` is available",
        (200, 304),
        (403, *_READS),
        response=contract.Record,
        query=("lang",),
        headers=(PREVIEW_HEADER,),
    ),
    Operation(
        "post",
        API_PATH,
        "publishFAQ",
        "Publish a new FAQ under a new slug",
        (201,),
        (*_WRITES, *_BODIES),
        "draft",
        contract.PublishBody,
        contract.PublishResponse,
        note="The same `Idempotency-Key`, up to 255 visible ASCII characters, publishes once in 24 hours."
        f" With a `slug`, it writes a revision of that FAQ. {_IF_MATCH}",
    ),
    Operation(
        "put",
        _FAQ,
        "putFAQ",
        "Create an FAQ under a chosen slug, or write a new revision of it",
        (200, 201),
        (*_WRITES, *_BODIES),
        "draft",
        contract.PublishBody,
        contract.PublishResponse,
        ("lang",),
        note=f"{_IF_MATCH} With `If-None-Match: *`, it only creates.",
    ),
    Operation(
        "patch",
        _FAQ,
        "changeFAQ",
        "Change some questions of the newest revision; the others stay unchanged",
        (200,),
        (428, *_WRITES, *_BODIES),
        "draft",
        contract.ChangeBody,
        contract.PublishResponse,
        ("lang",),
        ("If-Match",),
        note="All changes are made, or none. `index` is the number of the first one that cannot be made. "
        "`If-Match` is required; after a conflict, `current` is the newest revision.",
    ),
    Operation(
        "delete",
        _FAQ,
        "unpublishFAQ",
        "Unpublish an FAQ or one translation; with `purge`, delete it",
        (204,),
        _WRITES,
        "publish",
        query=("lang", "purge"),
        note=f"`purge=true` moves it to the bin for 30 days; `purge=now` deletes every text. {_IF_MATCH}",
    ),
    Operation(
        "post",
        f"{_FAQ}/restore",
        "restoreFAQ",
        "Restore an FAQ from the bin, or publish the translations that were unpublished last",
        (200,),
        _WRITES,
        "publish",
        response=contract.FAQSummary,
        note=_IF_MATCH,
    ),
    Operation(
        "get",
        LIST_PATH,
        "listFAQs",
        "List the FAQs of the site, the last changed first",
        (200,),
        _KEYED,
        "read",
        response=contract.FAQList,
        query=("q", "state", "lang", "limit", "after:faq"),
        note="`state=draft` lists every FAQ that has a draft; `state=binned` lists the bin.",
    ),
    Operation(
        "get",
        FEED_PATH,
        "followChanges",
        "Follow the changes of FAQs as server-sent events",
        (200,),
        (422, 503, *_ALWAYS),
        query=("slug:list",),
        headers=("Last-Event-ID",),
        media_types=("text/event-stream",),
    ),
    Operation(
        "post",
        FEED_PATH,
        "followManyChanges",
        "Follow the changes of up to 1,000 FAQs, whose slugs need not fit into an address",
        (200,),
        (400, 408, 413, 422, 503, *_ALWAYS),
        body=contract.FollowBody,
        headers=("Last-Event-ID",),
        media_types=("text/event-stream",),
    ),
    Operation(
        "get",
        f"{_FAQ}/revisions",
        "listRevisions",
        "List the revisions of a translation, newest first",
        (200,),
        _KEYED,
        "read",
        response=contract.RevisionList,
        query=("lang", "limit", "after:revision"),
    ),
    Operation(
        "get",
        f"{_FAQ}/revisions/{{number}}",
        "readRevision",
        "Read one revision",
        (200,),
        _KEYED,
        "read",
        response=contract.RevisionContent,
        query=("lang",),
    ),
    Operation(
        "post",
        f"{_FAQ}/revisions/{{number}}/publish",
        "publishRevision",
        "Publish a draft, or an earlier revision again",
        (200,),
        _WRITES,
        "publish",
        response=contract.PublishResponse,
        query=("lang",),
        note=_IF_MATCH,
    ),
    Operation(
        "post",
        f"{_FAQ}/preview",
        "createPreview",
        "Create a token that reads the newest revision for an hour",
        (201,),
        _KEYED,
        "read",
        response=contract.Preview,
        query=("lang",),
    ),
    Operation(
        "post",
        f"{API_PATH}/generate",
        "generateFAQ",
        "Extract questions and answers from a website; nothing is stored",
        (200,),
        (400, 502, 504, *_KEYED, *_BODIES),
        "draft",
        contract.GenerateBody,
        contract.GenerateResponse,
    ),
    Operation(
        "get",
        "/faq/{slug}",
        "showFAQ",
        "Show an FAQ as a page, or as Markdown where `Accept` prefers it or `.md` is appended",
        (200, 304),
        (400, *_READS),
        query=("lang:page",),
        media_types=_TEXTS,
    ),
    Operation(
        "get", "/", "showStart", "Show the start page", (200, 304), (400, *_READS), media_types=_TEXTS[:1]
    ),
    Operation(
        "get",
        "/llms.txt",
        "listForModels",
        "List the FAQs of listed sites as Markdown",
        (200, 304),
        (400, *_READS),
        media_types=("text/plain", "text/markdown"),
    ),
    Operation(
        "get",
        "/sitemap.xml",
        "mapSite",
        "List the pages of listed sites; beyond 2,000 FAQs, list the sitemaps with the pages",
        (200, 304),
        (400, *_READS),
        query=("from",),
        media_types=("application/xml",),
    ),
    Operation(
        "get",
        "/robots.txt",
        "adviseRobots",
        "Name the sitemap",
        (200, 304),
        (400, *_READS),
        media_types=("text/plain",),
    ),
    Operation(
        "get",
        "/favicon.ico",
        "showIcon",
        "The icon of the pages",
        (200, 304),
        _READS,
        media_types=("image/svg+xml",),
    ),
    Operation(
        "get",
        "/livez",
        "checkLiveness",
        "Check that the process responds",
        (200,),
        _ALWAYS,
        media_types=("application/json",),
    ),
    Operation(
        "get",
        "/readyz",
        "checkReadiness",
        "Check that this process is ready: the database responds and needs no upgrade",
        (200,),
        (503, *_ALWAYS),
        media_types=("application/json",),
    ),
    Operation(
        "get",
        "/healthz",
        "checkHealth",
        "Check that the service and its database respond",
        (200,),
        (503, *_ALWAYS),
        media_types=("application/json",),
    ),
    Operation(
        "get",
        "/openapi.json",
        "describeAPI",
        "Read this document",
        (200, 304),
        (406, *_ALWAYS),
        media_types=("application/json",),
    ),
)
