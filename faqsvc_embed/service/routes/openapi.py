"""GET /openapi.json, the description of the API (OpenAPI 3.1), and the probes of the service."""

from inspect import cleandoc
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from starlette.responses import JSONResponse, Response

from faqsvc_embed.api import contract
from faqsvc_embed.api.fields import Lang, Slug
from faqsvc_embed.api.requests import EVENT_STREAM
from faqsvc_embed.service.http.operation import OPERATIONS, Call, Operation
from faqsvc_embed.service.http.responses import HTML, JSON, PROBLEM, Problem, best_media_type, public_response
from faqsvc_embed.service.pages.hosted import PAGE_STATUSES
from faqsvc_embed.service.storage import maintenance

CACHE_CONTROL: Final = "public, max-age=3600"

_REFERENCE: Final = "#/components/schemas/{name}"
_DESCRIPTION: Final = (
    "Reading is public, cacheable and allowed from pages of any origin. Everything else needs an API key."
    " Every error is a problem document (RFC 9457) with a stable `code`; it lists all problems at once."
    " Browsers get a page instead."
)
_LICENSE: Final = {"name": "MIT", "identifier": "MIT"}
_TAGS: Final = {
    "editing": "What needs an API key: writing, history, generation.",
    "pages": "Pages and files for readers, search engines and language models.",
    "probes": "Whether the service is well.",
    "reading": "What websites read: published FAQs, and their changes.",
}
_WITHOUT_BODY: Final = {
    204: "Done.",
    304: "The version in `If-None-Match` is current.",
    308: "The address has a slash at its end; `Location` has none.",
}
_SCOPE: Final = "The API key needs the scope `{}`."
_KEY: Final = {
    "type": "apiKey",
    "in": "header",
    "name": "X-Plugin-Key",
    "description": "An API key. It begins with `fs_live_` and is shown only once, when it is created.",
}


@Operation("get", "/openapi.json", (406,), media_types=(JSON,), is_cached=True)
def describe_api(call: Call) -> Response:
    """Read this document."""
    best_media_type(call.request, JSON)
    base = call.service.base_url or call.request.scope.get("root_path", "")
    content = msgspec.json.encode(document(urlsplit(base).path or "/")).decode()
    return public_response(content, JSON, {"cache-control": CACHE_CONTROL})


def document(root: str = "/") -> dict[str, Any]:
    """Return the document of a service at the path `root`, as a JSON value."""
    named = [struct for one in OPERATIONS for struct in (one.body, one.response) if struct]
    structs = dict.fromkeys([*named, contract.Problem])
    _, schemas = msgspec.json.schema_components(structs, ref_template=_REFERENCE)
    for schema in schemas.values():
        schema["description"] = cleandoc(schema.get("description", ""))
    paths = dict[str, dict[str, Any]]()
    for operation in OPERATIONS:
        path = operation.path.replace(":path", "")
        paths.setdefault(path, {})[operation.method] = _described(operation)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "FAQ service",
            "version": "1",
            "description": _DESCRIPTION,
            "license": _LICENSE,
            "contact": {"name": "The operator"},
        },
        "servers": [{"url": root}],
        "tags": [{"name": name, "description": text} for name, text in _TAGS.items()],
        "paths": paths,
        "components": {"securitySchemes": {"key": _KEY}, "schemas": schemas},
    }


def _described(operation: Operation) -> dict[str, Any]:
    summary = cleandoc(operation.handler.__doc__).partition("\n")[0]
    described: dict[str, Any] = {
        "operationId": operation.handler.__name__,
        "summary": summary.removesuffix("."),
        "description": summary,
        "tags": [_tag(operation)],
    }
    path = [name for name in ("slug", "number") if f"{{{name}" in operation.path]
    required = {*path, "slug:list", *(["If-Match"] if 428 in operation.problems else [])}
    places = {"path": path, "query": operation.query, "header": operation.headers}
    parameters = [
        {"name": name.partition(":")[0], "in": place, "required": name in required}
        | {"schema": _PARAMETERS[name]}
        for place, names in places.items()
        for name in names
    ]
    if parameters:
        described["parameters"] = parameters
    if operation.body is not None:
        content = {JSON: {"schema": _reference(operation.body)}}
        limit = f"At most {operation.max_body:,} bytes. Unknown fields are ignored."
        described["requestBody"] = {"required": True, "description": limit, "content": content}
    if operation.scope is not None:
        described["description"] = " ".join(filter(None, (_SCOPE.format(operation.scope), operation.note)))
    described["security"] = [] if operation.scope is None else [{"key": []}]
    described["responses"] = {
        **{str(status): _response(operation, status) for status in operation.statuses},
        **{str(status): _problem(operation, status) for status in operation.problems},
    }
    return described


def _tag(operation: Operation) -> str:
    if operation.is_probe:
        return "probes"
    if not operation.path.startswith("/api/"):
        return "pages"
    return "reading" if operation.scope is None else "editing"


def _response(operation: Operation, status: int) -> dict[str, Any]:
    if status in _WITHOUT_BODY:
        return {"description": _WITHOUT_BODY[status]}
    described: dict[str, Any] = {"description": "Success."}
    if operation.response is not None:
        described["content"] = {JSON: {"schema": _reference(operation.response)}}
    elif operation.media_types:
        schema = {"schema": {"type": "object" if operation.media_types == (JSON,) else "string"}}
        # Tools apply the schema of a stream to each of its events.
        described["content"] = {
            media_type: {} if media_type == EVENT_STREAM else schema for media_type in operation.media_types
        }
    return described


def _problem(operation: Operation, status: int) -> dict[str, Any]:
    content: dict[str, Any] = {PROBLEM: {"schema": _reference(contract.Problem)}}
    if status in PAGE_STATUSES and HTML in operation.media_types:
        content[HTML] = {"schema": {"type": "string"}}
    described: dict[str, Any] = {"description": f"The request failed ({status}); `code` says why."}
    if header := {405: "Allow", 429: "Retry-After"}.get(status):
        described["headers"] = {header: {"required": True, "schema": {"type": "string"}}}
    return {**described, "content": content}


def _reference(struct: type[msgspec.Struct]) -> dict[str, str]:
    return {"$ref": _REFERENCE.format(name=struct.__name__)}


_PARAMETERS: Final[dict[str, dict[str, Any]]] = {
    "slug": msgspec.json.schema(Slug),
    "number": {"type": "integer", "minimum": 1, "maximum": 999_999_999},
    "lang": msgspec.json.schema(Lang),
    "lang:page": {"type": "string"},
    "purge": {"type": "string", "enum": ["false", "true", "now"]},
    "q": {
        "type": "string",
        "description": "All of these words must be in the newest revision of one translation.",
    },
    "state": msgspec.json.schema(contract.State),
    "limit": {"type": "integer", "minimum": 1, "maximum": contract.MAX_LIMIT},
    contract.PREVIEW_PARAMETER: {"type": "string", "description": "A preview token."},
    "after": {"type": "string", "description": "`next` of the previous page."},
    "from": {**msgspec.json.schema(Slug), "description": "The slug that the sitemap starts with."},
    "slug:list": {
        "type": "array",
        "items": msgspec.json.schema(Slug),
        "minItems": 1,
        "maxItems": contract.MAX_SLUGS,
    },
    "Last-Event-ID": {"type": "string", "description": "The `id` of the last event that arrived."},
    contract.PREVIEW_HEADER: {"type": "string", "description": "A preview token."},
    "If-Match": {
        "type": "string",
        "pattern": r'^(\*|"[!#-~]*")$',
        "description": "The entity tag of the revision that was read, or `*`. The request fails unless the "
        "newest revision has the same content.",
    },
    "If-None-Match": {"type": "string", "pattern": r"^\*$", "description": "`*`: only create."},
    "Idempotency-Key": {
        "type": "string",
        "pattern": r"^[!-~]{1,255}$",
        "description": "The same key publishes only once in 24 hours.",
    },
}


@Operation("get", "/livez", media_types=(JSON,), is_probe=True)
async def check_liveness(_: Call) -> Response:
    """Check that the process responds."""
    return JSONResponse({"status": "ok"}, headers={"cache-control": "no-store"})


@Operation("get", "/readyz", (503,), media_types=(JSON,), is_probe=True)
def check_readiness(call: Call) -> Response:
    """Check that this process is ready: the database responds and needs no upgrade."""
    call.storage.ping()
    if maintenance.needs_upgrade(call.storage.database):
        raise Problem(503, "unavailable", "The database needs an upgrade", headers={"retry-after": "5"})
    return JSONResponse({"status": "ready"}, headers={"cache-control": "no-store"})
