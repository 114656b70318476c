"""Publish requests and their responses."""

import json
from typing import Any, Final

import httpx2
from starlette.testclient import TestClient

from faqsvc_embed.api.contract import PublishBody
from faqsvc_embed.api.validation import publication_problems
from faqsvc_embed.service.http.requests import parse_body
from faqsvc_embed.service.storage import Storage

PATH: Final = "/api/v1/faq"


def publication(**changes: Any) -> dict[str, Any]:
    """Return the body of the specification's example, with some fields replaced or added."""
    return {
        "websiteUrl": "https://www.tea.example",
        "websiteName": "Tea & Sons",
        "items": [
            {"question": "What does it cost?", "answer": "Nothing."},
            {"question": "May I cancel?", "answer": "Any time."},
        ],
        **changes,
    }


def encoded(body: object) -> bytes:
    return json.dumps(body).encode()


def parsed(raw: bytes) -> PublishBody:
    """Return a body as the service reads it; raises Problem if it is not valid."""
    return parse_body(raw, PublishBody, publication_problems)[0]


def publish(client: TestClient, key: str, body: object, **headers: str) -> httpx2.Response:
    """Publish a body, as JSON unless it is bytes; `Content_Type` is the header Content-Type."""
    content = body if isinstance(body, bytes) else encoded(body)
    sent = {"X-Plugin-Key": key, "Content-Type": "application/json"}
    sent |= {name.replace("_", "-"): value for name, value in headers.items()}
    return client.post(PATH, content=content, headers=sent)


def key_of_another_site(storage: Storage) -> str:
    """Return an API key of a new site."""
    return storage.keys.create("another", site=storage.sites.create("another"))


def is_problem(response: httpx2.Response, status: int) -> bool:
    """Tell whether a response to a write is a problem document that is neither cached nor cross-origin."""
    return (
        response.status_code == response.json()["status"] == status
        and response.headers["content-type"] == "application/problem+json"
        and response.headers["cache-control"] == "no-store"
        and "access-control-allow-origin" not in response.headers
    )
