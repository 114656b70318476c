"""The promise, held against whole pages of Flask and ASGI hosts by the chaos kit; and the kit itself."""

import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from flask import Flask, render_template_string
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

import faqsvc_embed.testing.chaos
from faqsvc_embed import FAQEmbed, FAQError
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing.behaviours import in_turn, status
from faqsvc_embed.testing.chaos import Chaos
from faqsvc_embed.testing.connections import hang, reset
from faqsvc_embed.testing.fault import Fault
from faqsvc_embed.testing.faults import FAULTS
from faqsvc_embed.testing.hosts import opened
from faqsvc_embed.testing.server import healthy
from tests.support.clock import Clock
from tests.support.tls import TLS_FAULTS, secure_service, trusted

PAGE = "<title>Prices</title>{{ faq('pricing') }}{{ faq('delivery') }}"


def flask_host(**settings: Any) -> Flask:
    app = Flask("host")
    FAQExtension(app, **settings)
    app.add_url_rule("/", "home", lambda: render_template_string(PAGE))
    return app


def asgi_host(**settings: Any) -> Starlette:
    embed = FAQEmbed(**settings)
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(PAGE)

    async def home(request: Request) -> HTMLResponse:
        return HTMLResponse(template.render())

    app = Starlette(routes=[Route("/", home)])
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def test_there_are_faults_enough() -> None:
    names = [fault.name for fault in (*FAULTS, *TLS_FAULTS)]
    assert len(set(names)) == len(names) >= 150


def test_a_flask_page_survives(faq_chaos: Chaos) -> None:  # R1, R2, R4, K4, K6 to K9, D1 to D5, D14
    faq_chaos.check(flask_host(**faq_chaos.settings))


def test_an_asgi_page_survives(faq_chaos: Chaos) -> None:  # R1, R2, R4, K4, K6 to K9, D1 to D5, D14
    faq_chaos.check(asgi_host(**faq_chaos.settings))


@pytest.mark.parametrize("make", [flask_host, asgi_host])
@pytest.mark.parametrize("fault", TLS_FAULTS, ids=str)
def test_a_page_survives_trouble_with_tls(fault: Fault, make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted(monkeypatch)
    with Chaos(fault, secure_service()) as chaos:
        chaos.check(make(**chaos.settings))


FLAPPING = [
    Fault("every second answer is an error", in_turn(status(500), healthy)),
    Fault("every second answer never comes", in_turn(hang, healthy), holds=True),
    Fault("two of three connections are cut", in_turn(reset, reset, healthy)),
    Fault("errors of three kinds", in_turn(status(429), status(503), reset, healthy)),
]


@pytest.mark.parametrize("make", [flask_host, asgi_host])
@pytest.mark.parametrize("fault", FLAPPING, ids=str)
def test_a_page_is_whole_while_the_service_flaps(fault: Fault, make: Any, clock: Clock) -> None:
    with Chaos(fault) as chaos, opened(make(**chaos.settings)) as host:
        host.get("/")
        embed = host.embed
        embed.cache.clock = clock.now
        embed.forget()
        embed.prefetch("pricing", "delivery")
        chaos.service.behave(fault.behaviour)
        for _ in range(4 if fault.holds else 20):
            clock.advance(4000)
            page = host.get("/")
            settled(embed)
            assert (page.status, page.html.count("<details")) == (200, 2)
        chaos.service.behave(healthy)
        clock.advance(4000)
        host.get("/")
        settled(embed)
        assert {known["freshness"] for known in embed.health()} == {"fresh"}
        embed.close()


def settled(embed: FAQEmbed) -> None:
    deadline = time.monotonic() + 5
    while embed.is_fetching:
        assert time.monotonic() < deadline
        time.sleep(0.002)


# The kit


def chaos_of(name: str) -> Chaos:
    return Chaos(next(fault for fault in FAULTS if fault.name == name))


def complaint(make: Any, fault: str = "500", **changes: Any) -> str:
    with chaos_of(fault) as chaos, pytest.raises(AssertionError) as caught:
        chaos.check(make(**{**chaos.settings, **changes}))
    return str(caught.value)


def test_the_kit_finds_a_page_that_answers_an_error() -> None:
    assert complaint(flask_host, strict=True) == (
        "500: / without a copy: the status is 500, and 200 in good times"
    )


def test_the_kit_finds_a_page_that_is_late() -> None:
    def slow(**settings: Any) -> Flask:
        app = flask_host(**settings)
        render, embed = app.view_functions["home"], app.extensions["faqsvc"]

        def home() -> Any:
            with suppress(FAQError):
                embed.get_faq("pricing")
            return render()

        app.view_functions["home"] = home
        return app

    assert "s at best, and may take" in complaint(slow, "hang before the head")


def test_the_kit_finds_a_page_that_loses_its_copy() -> None:
    assert complaint(flask_host, keep_for=0) == (
        "500: / with a copy that is no longer fresh: the page lacks the question 'Made up?'"
    )
    assert complaint(asgi_host, keep_for=0) == complaint(flask_host, keep_for=0)


def test_the_kit_finds_a_page_without_faqs() -> None:
    def none(**settings: Any) -> Flask:
        app = flask_host(**settings)
        app.view_functions["home"] = lambda: "Hello"
        return app

    assert "asked for no FAQ" in complaint(none)
    with chaos_of("500") as chaos, pytest.raises(AssertionError, match="pass check"):
        chaos.check(Starlette(routes=[Route("/", lambda request: HTMLResponse("Hello"))]))


def test_the_kit_finds_what_is_left_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(FAQEmbed, "close", lambda self: None)
    monkeypatch.setattr(faqsvc_embed.testing.chaos, "PATIENCE", 0.2)
    made = list[Flask]()

    def kept(**settings: Any) -> Flask:
        made.append(flask_host(**settings))
        return made[0]

    assert "are left" in complaint(kept)
    monkeypatch.undo()
    made[0].extensions["faqsvc"].close()


def test_the_example_of_the_kit_runs(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    example = faqsvc_embed.testing.chaos.__doc__ or ""
    registers, test = (
        part.strip() for part in example.split("fault.\n\n")[1].split("`app` is")[0].split("\n\n", 1)
    )
    pytester.makeconftest(registers)
    pytester.makepyfile(
        """
from flask import Flask, render_template_string
from faqsvc_embed.flask import FAQExtension

def create_app(**settings):
    app = Flask("shop")
    FAQExtension(app, **settings)
    app.add_url_rule("/prices", "prices", lambda: render_template_string('{{ faq("pricing") }}'))
    return app

"""
        + "\n".join(line.removeprefix("    ") for line in test.splitlines())
    )
    root = str(Path(faqsvc_embed.__file__).parent.parent)
    monkeypatch.setenv("PYTHONPATH", root)
    result = pytester.runpytest_subprocess("-q", "-k", "refuse or UTF or 502", "-p", "no:cacheprovider")
    outcomes = result.parseoutcomes()
    assert outcomes["passed"] >= 5
    assert "failed" not in outcomes
