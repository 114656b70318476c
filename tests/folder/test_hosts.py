"""FAQs of a folder on the pages of hosts: Flask, Starlette, FastAPI and Jinja, also in debug mode."""

from pathlib import Path
from typing import Any

import jinja2
import pytest
from flask import Flask, render_template_string
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route
from starlette.testclient import TestClient

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.folder.support import PREISE, PRICING, folder
from tests.support.parsed import summary, text_of

SOURCE = '<html lang="en"><body>{{ faq("pricing") }}{{ faq("terms") }}</body></html>'
QUESTIONS = [["What does it cost?", "May I cancel?"], ["Was kostet es?", "Kann ich kündigen?"]]


@pytest.fixture
def faqs(tmp_path: Path) -> Path:
    """A folder with two FAQs."""
    return folder(tmp_path, pricing__md=PRICING, terms__md=PREISE, terms__en__md=PREISE)


def flask_app(faqs: Path, **config: Any) -> Flask:
    app = Flask("host")
    app.config.update(FAQSVC_DIRECTORY=str(faqs), **config)
    FAQExtension(app)
    app.add_url_rule("/", "home", lambda: render_template_string(SOURCE))
    return app


def starlette_app(faqs: Path, **options: Any) -> Starlette:
    embed = FAQEmbed(directory=faqs)
    environment = jinja2.Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(SOURCE)

    async def home(_: Request) -> HTMLResponse:
        return HTMLResponse(template.render())

    app = Starlette(routes=[Route("/", home)], **options)
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def test_flask(faqs: Path) -> None:
    page = summary(flask_app(faqs).test_client().get("/").text)
    assert (page.faqs, page.styles, len(page.faq_pages)) == (QUESTIONS, 1, 1)


def test_the_language_of_the_visitor_chooses_the_file(tmp_path: Path) -> None:
    faqs = folder(tmp_path, pricing__md=PRICING, pricing__de__md=PREISE, terms__md=PRICING)
    client = flask_app(faqs).test_client()
    german = client.get("/", headers={"Accept-Language": "de-CH, en;q=0.5"})
    assert text_of(german.text, "h2") == ["Preise", "Pricing"]
    assert "Accept-Language" in german.headers["Vary"]
    assert text_of(client.get("/").text, "h2") == ["Pricing", "Pricing"]


@pytest.mark.parametrize("make", ["flask", "starlette"])
def test_in_debug_mode_edits_and_mistakes_are_seen_at_the_next_request(faqs: Path, make: str) -> None:
    def get() -> str:
        return str(client.get("/").text)

    client: Any
    if make == "flask":
        app = flask_app(faqs)
        app.debug = True  # as `flask run --debug` and `app.run(debug=True)` do
        client = app.test_client()
    else:
        client = TestClient(starlette_app(faqs, debug=True))
    assert summary(get()).faqs == QUESTIONS
    (faqs / "pricing.md").write_text("## Why not?\n\nWell.\n")
    assert summary(get()).faqs == [["Why not?"], QUESTIONS[1]]
    (faqs / "pricing.md").write_text("## Why not?\n")
    (problem,) = text_of(get(), ".faqsvc-problem")
    assert f"{faqs}/pricing.md:1: " in problem
    assert summary(get()).faqs == QUESTIONS[1:]


def test_in_production_a_page_lacks_what_no_file_has_and_the_log_says_so_once(
    faqs: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (faqs / "terms.md").unlink()
    (faqs / "terms.en.md").unlink()
    client = flask_app(faqs).test_client()
    for _ in range(3):
        assert summary(client.get("/").text).faqs == QUESTIONS[:1]
    assert [record.levelname for record in caplog.records] == ["WARNING"]
    assert str(faqs / "terms.md") in caplog.text
