"""Pages of Flask, Django, WSGI and ASGI applications while the service fails in every way."""

from collections.abc import Callable, Iterable
from typing import Any, Final

import pytest
from django.core.wsgi import get_wsgi_application
from flask import Flask, render_template
from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

from faqsvc_embed import FAQEmbed, wsgi
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from tests.support import django_project
from tests.support.chaos import Chaos, PageCheckFailed
from tests.support.chaos.clients import open_client
from tests.support.chaos.embed_access import PLACEHOLDER_PREFIX, EmbedClock
from tests.support.faults import EVERY_FAULT, ODDITIES
from tests.support.faults.behaviours import hang, healthy, in_turn, reset, status
from tests.support.faulty import FAULTS, Fault, FaultyServer
from tests.support.tls import TLS_FAULTS, SecureServer, trust_authority
from tests.support.waiting import settle, wait_until

MakeApp = Callable[..., Any]

PAGE: Final = "<title>Prices</title>{{ faq('pricing') }}{{ faq('delivery') }}"


def sampled(cases: Iterable[Any], step: int) -> list[Any]:
    """Leave every `step`th case to the default run, and the others to the matrix."""
    return [
        case
        if number % step == 0
        else pytest.param(*(case if isinstance(case, tuple) else [case]), marks=pytest.mark.matrix)
        for number, case in enumerate(cases)
    ]


def flask_app(**settings: Any) -> Flask:
    app = Flask("host")
    app.jinja_loader = DictLoader({"page.html": PAGE})
    FAQExtension(app, **settings)
    app.add_url_rule("/", "home", lambda: render_template("page.html"))
    return app


def asgi_app(**settings: Any) -> Starlette:
    embed = FAQEmbed(**settings)
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(PAGE)

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render())

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def wsgi_app(**settings: Any) -> Any:
    embed = FAQEmbed(**settings)
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(PAGE)

    def home(environ: Any, start_response: Any) -> list[bytes]:
        start_response("200 OK", [("Content-Type", "text/html")])
        return [template.render().encode()]

    return wsgi.FAQMiddleware(home, embed=embed)


class DjangoApp:
    """The project as an application of WSGI or ASGI, while its settings are in force."""

    def __init__(self, embed: FAQEmbed) -> None:
        self.extensions = {"faqsvc": embed}
        self._handler = get_wsgi_application()

    def __call__(self, *args: Any) -> Any:
        return self._handler(*args)


# Pages


@pytest.mark.parametrize("fault", sampled(FAULTS, 4), ids=str)
def test_a_page_survives_one_fault_of_each_family(fault: Fault) -> None:
    with Chaos(fault) as chaos:
        chaos.check(flask_app(**chaos.settings))


@pytest.mark.matrix
@pytest.mark.parametrize("make_app", [flask_app, asgi_app])
@pytest.mark.parametrize("fault", EVERY_FAULT, ids=str)
def test_a_page_survives_every_fault(fault: Fault, make_app: MakeApp) -> None:
    with Chaos(fault) as chaos:
        chaos.check(make_app(**chaos.settings))


@pytest.mark.matrix
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_wsgi_page_survives_one_fault_of_each_kind(fault: Fault) -> None:
    with Chaos(fault) as chaos:
        chaos.check(wsgi_app(**chaos.settings))


@pytest.mark.matrix
@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_django_page_survives_one_fault_of_each_kind(fault: Fault) -> None:
    with Chaos(fault) as chaos:
        embed = FAQEmbed(**chaos.settings)
        with django_project.project(django_project.page(PAGE, using="jinja"), embed):
            chaos.check(DjangoApp(embed))


@pytest.mark.matrix
@pytest.mark.parametrize("make_app", [flask_app, asgi_app])
@pytest.mark.parametrize("fault", TLS_FAULTS, ids=str)
def test_a_page_survives_every_fault_of_tls(
    fault: Fault, make_app: MakeApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    trust_authority(monkeypatch)
    with Chaos(fault, SecureServer()) as chaos:
        chaos.check(make_app(**chaos.settings))


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
def test_a_page_keeps_its_faqs_while_the_service_flaps(make_app: MakeApp, fault: Fault) -> None:
    with Chaos(fault) as chaos, open_client(make_app(**chaos.settings)) as client:
        client.get("/")
        embed = client.embed
        assert embed is not None
        with embed, EmbedClock(embed) as clock:
            for slug in ("pricing", "delivery"):
                wait_until(lambda slug=slug: is_cached(embed, slug))  # type: ignore[misc]
            chaos.service.behave(fault.behaviour)
            for _ in range(4 if "hangs" in fault.name else 20):
                clock.advance(4000)
                page = client.get("/")
                settle(embed)
                assert (page.status_code, page.text.count("<details")) == (200, 2)
            chaos.service.behave(healthy)

            def has_recovered() -> bool:  # not at once, if a busy machine delays a fetch beyond its timeout
                clock.advance(4000)
                client.get("/")
                settle(embed)
                return {entry["freshness"] for entry in embed.health()} == {"fresh"}

            wait_until(has_recovered)


# The check itself


ERROR: Final = Fault("error", status(500))


def failure(make_app: MakeApp, fault: Fault = ERROR, **changes: Any) -> tuple[str, str]:
    """Return the phase and the problem that a check finds."""
    with Chaos(fault) as chaos:
        chaos.cleanup_timeout = 0.2
        with pytest.raises(PageCheckFailed) as caught:
            chaos.check(make_app(**{**chaos.settings, **changes}))
    assert caught.value.fault is fault
    return caught.value.phase, caught.value.problem


def changed_app(change: Callable[[FAQEmbed, str], str]) -> MakeApp:
    """Return a maker of Flask applications whose page `change` has changed."""

    def make_app(**settings: Any) -> Flask:
        app = flask_app(**settings)
        home = app.view_functions["home"]
        app.view_functions["home"] = lambda: change(faqs_from(app), str(home()))
        return app

    return make_app


def test_every_fault_has_a_name_of_its_own() -> None:
    names = [fault.name for fault in (*EVERY_FAULT, *TLS_FAULTS)]
    assert len(set(names)) == len(names) > 250


def test_only_a_410_and_a_404_in_json_say_that_an_faq_does_not_exist() -> None:
    assert {fault.name for fault in EVERY_FAULT if fault.means == "gone"} == {"410", "410 in HTML"}
    assert {fault.name for fault in EVERY_FAULT if fault.means == "missing"} == {
        "404 in JSON",
        "404 as a problem document",
        "404 with the record",
    }


def test_the_check_finds_a_page_with_an_error_status() -> None:
    assert failure(flask_app, strict=True) == ("uncached", "wrong status")


@pytest.mark.parametrize("make_app", [flask_app, asgi_app])
def test_the_check_finds_a_page_that_loses_its_cached_faq(make_app: MakeApp) -> None:
    assert failure(make_app, keep_for=0) == ("stale", "FAQ missing")


def test_the_check_finds_a_page_that_shows_an_old_faq() -> None:
    cached = list[str]()

    def cache_page(embed: FAQEmbed, page: str) -> str:
        if "<details" in page:
            cached.append(page)
        return cached[0] if cached else page

    assert failure(changed_app(cache_page)) == ("uncached", "FAQ unexpected")


def test_the_check_finds_a_placeholder_that_is_left() -> None:
    def leave_placeholder(embed: FAQEmbed, page: str) -> str:
        return page if "<details" in page else f"{page}{PLACEHOLDER_PREFIX}1-->"

    assert failure(changed_app(leave_placeholder)) == ("uncached", "placeholder left")


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        (Fault("failed", status(410), "failed"), ("refresh failed", "FAQ missing")),
        (Fault("missing", status(500), "missing"), ("missing", "FAQ unexpected")),
        (Fault("gone", status(500), "gone"), ("missing", "FAQ unexpected")),
    ],
    ids=str,
)
def test_the_check_finds_a_response_that_is_taken_for_another(
    fault: Fault, expected: tuple[str, str]
) -> None:
    assert failure(flask_app, fault) == expected


def test_the_check_finds_remaining_threads(faq_service: FaultyServer) -> None:
    leaked = FAQEmbed(faq_service.base_url)

    def leak(embed: FAQEmbed, page: str) -> str:
        leaked.use_faq("pricing", wait=0)
        return page

    assert failure(changed_app(leak)) == ("closed", "threads left")
    leaked.close()
