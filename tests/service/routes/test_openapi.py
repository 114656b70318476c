"""GET /openapi.json: the document is complete and describes what the service does."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from faqsvc_embed.models import FAQ
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.storage.writes import put
from tests.support import samples
from tests.support.running import running

# No schema can tell whether a website can be reached.
CONFIGURATION = """
[checks]
positive_data_acceptance.expected-statuses = ["2xx", "3xx", "401", "403", "404", "409", "410", "412", "429"]
negative_data_rejection.expected-statuses = ["4xx"]
missing_required_header.expected-statuses = ["400", "401", "403", "406", "415", "422", "428"]
[[operations]]
include-operation-id = "change_faq"  # whether a change can be made depends on the FAQ
checks.positive_data_acceptance.enabled = false
[[operations]]
# Whether a file may lack the website, too; and Schemathesis sends entity tags that do not match the pattern.
include-operation-id-regex = "publish_.*|put_faq|restore_faq"
checks.positive_data_acceptance.expected-statuses = ["2xx", "403", "404", "409", "410", "412", "422", "429"]
[[operations]]
include-operation-id = "put_faq"  # its body is that of POST, which is tried with what is refused, too
generation.mode = "positive"
[[operations]]
include-operation-id-regex = "list.*"  # a text that is no cursor is refused
checks.positive_data_acceptance.expected-statuses = ["2xx", "401", "403", "404", "410", "422", "429"]
[[operations]]
include-path = "/api/v1/faq/generate"
checks.positive_data_acceptance.enabled = false
checks.not_a_server_error.enabled = false
[[operations]]
include-path = "/api/v1/events"  # a stream without an end
enabled = false
"""


def test_the_document_is_public_and_cacheable(client: TestClient) -> None:
    response = client.get("/openapi.json")
    again = client.get("/openapi.json", headers={"If-None-Match": response.headers["etag"]})

    assert (response.status_code, again.status_code) == (200, 304)
    assert response.json()["openapi"].startswith("3.1.")
    assert response.headers["access-control-allow-origin"] == "*"
    assert response.headers["cache-control"] == "public, max-age=3600"


def test_the_server_is_the_path_below_which_the_routes_are(storage: Storage) -> None:
    def root(app: Starlette, path: str = "/openapi.json") -> str:
        with TestClient(app) as client:
            return str(client.get(path).json()["servers"][0]["url"])

    assert root(create_app(storage)) == "/"
    assert root(create_app(storage, base_url="https://heron.example/help")) == "/help"
    app = create_app(storage)
    mounted = Starlette(routes=[Mount("/faqs", app), Mount("/help", app)])
    assert [root(mounted, f"{path}/openapi.json") for path in ("/faqs", "/help")] == ["/faqs", "/help"]


def test_the_document_has_every_route_but_the_desk(storage: Storage, client: TestClient) -> None:
    routes = {
        route.path.replace(":path", "")
        for route in create_app(storage).routes
        if isinstance(route, Route) and not route.path.startswith("/desk")
    }

    assert set(client.get("/openapi.json").json()["paths"]) == routes


def test_every_schema_is_one_object_of_which_generators_make_a_type(client: TestClient) -> None:
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    for name, schema in schemas.items():
        assert (schema["type"], schema.keys() & {"anyOf", "oneOf", "allOf"}) == ("object", set()), name
        for field in schema.get("properties", {}).values():  # JavaScript splits what is above U+FFFF
            kinds = field.get("anyOf", [field])
            assert not re.search("[^\0-\x7f]|\\\\ud[89a-f]", "".join(one.get("pattern", "") for one in kinds))
    assert "Required" in schemas["PublishBody"]["properties"]["websiteUrl"]["description"]


def test_the_headers_that_protect_from_conflicts_are_parameters(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    faq, found = "/api/v1/faq/{slug}", dict[str, bool]()
    for method, path in (("post", "/api/v1/faq"), ("put", faq), ("patch", faq), ("delete", faq)):
        for parameter in paths[path][method]["parameters"]:
            if parameter["in"] == "header":
                assert parameter["schema"]["type"] == "string"  # a generator drops operations without it
                found[f"{method} {parameter['name']}"] = parameter["required"]
    assert found == {
        "post Idempotency-Key": False,
        "put If-Match": False,
        "put If-None-Match": False,
        "patch If-Match": True,
        "delete If-Match": False,
    }


def test_every_operation_says_whether_it_needs_a_key(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            assert operation["security"] in ([], [{"key": []}]), (method, path)
            assert set(operation["tags"]) <= {tag["name"] for tag in document["tags"]}
            assert operation["description"]


@pytest.mark.system
def test_the_service_conforms_to_the_document(storage: Storage, key: str, tmp_path: Path) -> None:
    put(storage, FAQ.from_dict(samples.record("tea-sons-k3x9m2")))
    app = create_app(storage, writes_per_minute=None)
    (tmp_path / "schemathesis.toml").write_text(CONFIGURATION)
    command = [sys.executable, "-m", "schemathesis.cli", "run", "--no-color", "--no-shrink"]
    command += ["--generation-deterministic", "--phases=coverage", "--workers=1"]
    command += ["--suppress-health-check=too_slow"]  # on a busy machine
    with running(app) as address:
        ran = subprocess.run(
            [*command, "-H", f"X-Plugin-Key: {key}", f"{address}/openapi.json"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=540,
        )

    assert ran.returncode == 0, "\n".join(line[:400] for line in ran.stdout.splitlines())
    assert ran.stdout.count("Tested: ") == 1


@pytest.mark.parametrize(("sent", "status"), [({}, "401"), ({"X-Plugin-Key": "fs_live_wrong"}, "403")])
def test_missing_and_wrong_keys_are_refused_as_described(
    client: TestClient, sent: dict[str, str], status: str
) -> None:
    document = client.get("/openapi.json").json()
    keyed = [
        (method, path, operation)
        for path, operations in document["paths"].items()
        for method, operation in operations.items()
        if operation.get("security")
    ]
    assert len(keyed) == 11
    for method, path, operation in keyed:
        response = client.request(method, path.format(slug="a", number=1), json={}, headers=sent)
        [(media_type, content)] = operation["responses"][status]["content"].items()
        schema = {**content["schema"], "components": document["components"]}

        assert str(response.status_code) == status
        assert response.headers["content-type"] == media_type
        Draft202012Validator(schema).validate(response.json())
