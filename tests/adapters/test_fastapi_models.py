"""Records as response models and bodies of FastAPI."""

from typing import Annotated

import pytest
from fastapi import Body, FastAPI
from fastapi.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.fastapi import FAQMiddleware, FAQs
from faqsvc_embed.testing import fake_embed
from tests.support import samples

A = FAQ.from_dict(samples.pricing())


@pytest.fixture
def client() -> TestClient:
    app = FastAPI()
    app.add_middleware(FAQMiddleware, embed=fake_embed({"pricing": A}))

    @app.get("/faq")
    async def read(faqs: FAQs) -> FAQ:
        return await faqs.aget_faq("pricing")

    @app.get("/faqs")
    async def read_all(faqs: FAQs) -> list[FAQ]:
        return [await faqs.aget_faq("pricing")]

    @app.post("/faq")
    async def write(faq: Annotated[FAQ, Body()]) -> str:
        return faq.items[0].question

    return TestClient(app)


def test_a_route_returns_a_record_in_the_form_of_the_wire(client: TestClient) -> None:
    assert client.get("/faq").json() == A.to_dict()
    assert client.get("/faqs").json() == [A.to_dict()]


def test_a_record_without_more_has_exactly_the_fields_of_the_specification(client: TestClient) -> None:
    fields = {"slug", "title", "websiteName", "lang", "items", "cta"}
    assert (set(A.to_dict()), set(client.get("/faq").json())) == (fields, fields)
    assert set(A.to_dict()["items"][0]) == {"position", "question", "answer"}


def test_a_route_takes_a_record_and_refuses_an_invalid_one(client: TestClient) -> None:
    assert client.post("/faq", json=A.to_dict()).json() == A.items[0].question
    response = client.post("/faq", json={"slug": "pricing", "items": [{"question": 5}]})
    assert response.status_code == 422
    assert "items[0]" in response.text


def test_the_schema_of_a_record_is_in_the_documentation_of_the_host(client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    schema = document["paths"]["/faq"]["get"]["responses"]["200"]["content"]["application/json"]["schema"]
    if "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rpartition("/")[2]]
    url = "https://tea.example"
    whole = {**A.to_dict(), "answerFormat": "markdown", "websiteUrl": url, "pageUrl": url}
    assert set(FAQ.from_dict(whole).to_dict()) == set(schema["properties"])
    assert schema["properties"]["answerFormat"]["enum"] == ["text", "markdown"]
