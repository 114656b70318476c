"""Pages of Flask, Django, WSGI and ASGI applications while the service fails in every way."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import pytest
from django.core.wsgi import get_wsgi_application
from flask import Flask, render_template_string
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed, wsgi
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.support import django_project
from tests.support.chaos import TEMPLATE, check_page, impatient_embed, visitor
from tests.support.clock import Clock
from tests.support.embeds import LONG, use_clock
from tests.support.faults import EVERY_FAULT, ODDITIES
from tests.support.faults.behaviours import hang, healthy, in_turn, reset, status
from tests.support.faulty import FAULTS, Fault, FaultyServer
from tests.support.tls import TLS_FAULTS, SecureServer, trust_authority
from tests.support.waiting import settle, wait_until

MakeApp = Callable[[FAQEmbed], Any]

EVERY_RUN: Final = [f for number, f in enumerate(FAULTS) if number % 4 == 0 or f.means != "failed"]
"""The faults of the default run; the matrix has all."""


def sampled(cases: Iterable[Any], step: int) -> list[Any]:
    """Leave every `step`th case to the default run, and the others to the matrix."""
    return [
        case
        if number % step == 0
        else pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.matrix)
        for number, case in enumerate(cases)
    ]


def flask_app(embed: FAQEmbed) -> Flask:
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "home", lambda: render_template_string(TEMPLATE))
    return app


def asgi_app(embed: FAQEmbed) -> Starlette:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render())

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def wsgi_app(embed: FAQEmbed) -> Any:
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(TEMPLATE)

    def home(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html")])
        return [template.render().encode()]

    return wsgi.FAQMiddleware(home, embed=embed)


def django_app(embed: FAQEmbed) -> Any:
    """Return an application that serves the page of the project."""
    handler = get_wsgi_application()

    def app(environ: Any, start_response: Any) -> Any:
        with django_project.project(django_project.page(TEMPLATE, using="jinja"), embed):
            return handler(environ, start_response)

    return app


@pytest.mark.parametrize("fault", EVERY_RUN, ids=str)
def test_a_page_survives_one_fault_of_each_family(fault: Fault, faq_service: FaultyServer) -> None:
    check_page(fault, faq_service, flask_app)


@pytest.mark.matrix
@pytest.mark.parametrize("fault", EVERY_FAULT, ids=str)
def test_a_page_survives_every_fault(fault: Fault, faq_service: FaultyServer) -> None:
    check_page(fault, faq_service, flask_app)


@pytest.mark.matrix
@pytest.mark.parametrize("make_app", [asgi_app, wsgi_app, django_app])
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_page_of_any_host_survives_one_fault_of_each_kind(
    fault: Fault, make_app: MakeApp, faq_service: FaultyServer
) -> None:
    check_page(fault, faq_service, make_app)


@pytest.mark.matrix
@pytest.mark.parametrize("fault", TLS_FAULTS, ids=str)
def test_a_page_survives_every_fault_of_tls(
    fault: Fault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trust_authority(monkeypatch, tmp_path)
    with SecureServer() as service:
        check_page(fault, service, flask_app)


@pytest.mark.parametrize("oddity", ODDITIES)
def test_a_record_is_shown_that_arrives_in_an_unusual_way(oddity: str, faq_service: FaultyServer) -> None:
    faq_service.behave(ODDITIES[oddity])
    with FAQEmbed(faq_service.base_url) as embed:
        assert "Is this a sample?" in embed.render("pricing")


FLAPPING: Final = [
    Fault("every second request fails", in_turn(status(500), healthy)),
    Fault("every second request hangs", in_turn(hang, healthy)),
    Fault("two of three connections are reset", in_turn(reset, reset, healthy)),
    Fault("errors of three kinds", in_turn(status(429), status(503), reset, healthy)),
]


def is_cached(embed: FAQEmbed, slug: str) -> bool:
    """Return whether an FAQ is cached; if not, a busy machine has spoiled its fetch, which starts again."""
    embed.forget(slug)
    return embed.use_faq(slug, wait=1).data is not None


@pytest.mark.parametrize(
    ("make_app", "fault"),
    sampled([(make_app, fault) for make_app in (flask_app, asgi_app) for fault in FLAPPING], 5),
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_page_keeps_its_faqs_while_the_service_flaps(
    make_app: MakeApp, fault: Fault, faq_service: FaultyServer
) -> None:
    with impatient_embed(faq_service) as embed:
        visit, clock = visitor(make_app(embed)), Clock()
        use_clock(embed, clock)
        for slug in ("pricing", "delivery"):
            wait_until(lambda slug=slug: is_cached(embed, slug))  # type: ignore[misc]
        faq_service.behave(fault.behaviour)
        for _ in range(4 if "hangs" in fault.name else 20):
            clock.advance(LONG)
            page = visit()
            settle(embed)
            assert (page.status, page.text.count("<details")) == (200, 2)
        faq_service.behave(healthy)

        def has_recovered() -> bool:  # not at once, if a busy machine delays a fetch beyond its timeout
            clock.advance(LONG)
            visit()
            settle(embed)
            return {entry["freshness"] for entry in embed.health()} == {"fresh"}

        wait_until(has_recovered)


@pytest.mark.parametrize(
    "fault", [Fault("410 as an error", status(410)), Fault("500 as a 404", status(500), "missing")], ids=str
)
def test_the_check_fails_if_a_page_shows_what_it_should_not(fault: Fault, faq_service: FaultyServer) -> None:
    with pytest.raises(AssertionError, match=fault.name):
        check_page(fault, faq_service, flask_app)
