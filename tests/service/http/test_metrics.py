"""Prometheus reads the metrics of the service."""

from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.api.requests import API_PATH
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import Storage
from tests.service.storage.writes import put
from tests.support import samples


@pytest.fixture
def client(storage: Storage) -> Iterator[TestClient]:
    put(storage, FAQ.from_dict(samples.pricing()))
    with TestClient(create_app(storage, metrics=True)) as client:
        yield client


def samples_of(client: TestClient, name: str) -> dict[tuple[str, ...], float]:
    """Return the values of a metric by its labels."""
    text = client.get("/metrics").text
    return {
        tuple(value for _, value in sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name
    }


def test_requests_are_counted_by_route_method_and_status(client: TestClient) -> None:
    client.get(f"{API_PATH}/pricing")
    client.get(f"{API_PATH}/pricing")
    client.get(f"{API_PATH}/other")
    client.put(f"{API_PATH}/pricing")
    client.get("/nowhere")
    client.request("BREW", "/faq/pricing")
    counts = samples_of(client, "faqsvc_http_requests_total")
    record = API_PATH + "/{slug}"
    assert counts["GET", record, "200"] == 2
    assert counts["GET", record, "404"] == 1
    assert counts["PUT", record, "401"] == 1
    assert counts["GET", "(none)", "404"] == 1
    assert counts["other", "/faq/{slug:path}", "405"] == 1
    durations = samples_of(client, "faqsvc_http_request_duration_seconds_count")
    assert durations[record,] == 4


def test_metrics_describe_the_process_and_the_database(client: TestClient) -> None:
    client.get("/readyz")
    assert samples_of(client, "faqsvc_database_up") == {(): 1}
    assert samples_of(client, "process_resident_memory_bytes")[()] > 1e6


def test_a_flood_of_addresses_makes_no_new_series(client: TestClient) -> None:
    client.get(f"{API_PATH}/slug-0")
    client.get("/nowhere-0")
    before = len(client.get("/metrics").text)
    for number in range(30):
        client.get(f"{API_PATH}/slug-{number}")
        client.get(f"/nowhere-{number}")
    assert len(client.get("/metrics").text) < before + 2000


def test_metrics_are_not_served_by_default(storage: Storage) -> None:
    with TestClient(create_app(storage)) as client:
        assert client.get("/metrics").status_code == 404
