"""GET /openapi.json, and the service held to what it says there."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from starlette.routing import Route
from starlette.testclient import TestClient

from faqsvc_embed.api.fields import (
    MAX_ANSWER,
    MAX_BODY,
    MAX_ITEMS,
    MAX_NAME,
    MAX_QUESTION,
    MAX_URL,
    WEB_ADDRESS,
)
from faqsvc_embed.generation.engines import MAX_COUNT
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ
from faqsvc_embed.service import generate as generation
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import Storage
from tests.support import samples

# Whether a website can be reached, and may be visited, no schema can say.
GENERATION = """
[[operations]]
include-path = "/api/v1/faq/generate"
checks.positive_data_acceptance.enabled = false
checks.not_a_server_error.enabled = false
"""
SQLITE = pytest.mark.parametrize("database", ["sqlite"], indirect=True)


@SQLITE
def test_everybody_reads_it_and_may_keep_it(client: TestClient) -> None:
    response = client.get("/openapi.json")
    again = client.get("/openapi.json", headers={"If-None-Match": response.headers["etag"]})

    assert (response.status_code, again.status_code) == (200, 304)
    assert response.json()["openapi"].startswith("3.1.")
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["cache-control"] == "public, max-age=3600"


@SQLITE
def test_it_names_every_address_that_there_is(storage: Storage, client: TestClient) -> None:
    routes = {
        route.path.replace(":path", "") for route in create_app(storage).routes if isinstance(route, Route)
    }

    assert set(client.get("/openapi.json").json()["paths"]) == routes


@SQLITE
def test_its_numbers_are_those_of_the_service(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    schemas = document["components"]["schemas"]
    publication = schemas["Publication"]["properties"]

    assert schemas["Language"]["enum"] == list(LANGUAGES)
    assert schemas["Name"]["maxLength"] == MAX_NAME
    assert publication["websiteUrl"]["maxLength"] == MAX_URL
    assert publication["websiteUrl"]["pattern"] == WEB_ADDRESS
    assert schemas["NewItem"]["properties"]["question"]["maxLength"] == MAX_QUESTION
    assert schemas["NewItem"]["properties"]["answer"]["maxLength"] == MAX_ANSWER
    assert f"{MAX_ITEMS:,}" in publication["items"]["description"]
    assert schemas["Wish"]["properties"]["websiteUrl"]["maxLength"] == generation.MAX_URL
    assert schemas["Wish"]["properties"]["websiteUrl"]["pattern"] == WEB_ADDRESS
    assert schemas["Wish"]["properties"]["topic"]["maxLength"] == generation.MAX_TOPIC
    assert schemas["Wish"]["properties"]["count"]["maximum"] == MAX_COUNT
    assert f"{MAX_BODY:,} bytes" in json.dumps(document)


@SQLITE
def test_the_service_is_what_its_description_says(storage: Storage, key: str, tmp_path: Path) -> None:
    storage.put(FAQ.from_dict(samples.record("tea-sons-k3x9m2")))
    app = create_app(storage, writes_per_minute=None)
    (tmp_path / "schemathesis.toml").write_text(GENERATION)
    command = [sys.executable, "-m", "schemathesis.cli", "run", "--no-color", "--no-shrink"]
    command += ["--generation-deterministic", "--max-examples=5", "--workers=1"]
    with running(app) as address:
        ran = subprocess.run(
            [*command, "-H", f"X-Plugin-Key: {key}", f"{address}/openapi.json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=240,
        )

    assert ran.returncode == 0, "\n".join(line[:400] for line in ran.stdout.splitlines())
    assert "Tested: 6" in ran.stdout  # all but the description itself


@SQLITE
@pytest.mark.parametrize(("sent", "status"), [({}, "401"), ({"X-Plugin-Key": "fs_live_wrong"}, "403")])
def test_who_has_no_key_is_refused_as_it_says(client: TestClient, sent: dict[str, str], status: str) -> None:
    document = client.get("/openapi.json").json()
    keyed = [path for path, methods in document["paths"].items() if methods.get("post", {}).get("security")]
    assert len(keyed) == 2
    for path in keyed:
        response = client.post(path, json={}, headers=sent)
        described = document["paths"][path]["post"]["responses"][status]
        described = resolved(document, described)
        [(media_type, content)] = described["content"].items()
        schema = {**content["schema"], "components": document["components"]}

        assert str(response.status_code) == status
        assert response.headers["content-type"] == media_type
        Draft202012Validator(schema).validate(response.json())


def resolved(document: dict[str, Any], part: dict[str, Any]) -> dict[str, Any]:
    """Follow a reference to a component."""
    if "$ref" not in part:
        return part
    _, _, kind, name = part["$ref"].split("/")
    return document["components"][kind][name]  # type: ignore[no-any-return]
