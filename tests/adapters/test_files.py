"""The files that Flask and Starlette serve for a page: styles, themes, the enhancer."""

import html
import re
from collections.abc import Callable
from typing import Any

import pytest
from flask import Flask, render_template_string, request
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route
from starlette.testclient import TestClient

from faqsvc_embed import FAQEmbed, Theme
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering.assets import enhancer, stylesheet, theme_rule
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples

FOREVER = "public, max-age=31536000, immutable"
Get = Callable[[str], tuple[int, str, str, str]]
"""Returns status, type, caching and text of an address."""


def flask(embed: FAQEmbed, template: str) -> Get:
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "page", lambda: render_template_string(template))

    def get(address: str) -> tuple[int, str, str, str]:
        answer = app.test_client().get(address)
        headers = answer.headers
        return answer.status_code, str(answer.mimetype), headers.get("Cache-Control", ""), answer.text

    return get


def starlette(embed: FAQEmbed, template: str) -> Get:
    environment = Environment(autoescape=True)
    install(environment, embed)

    async def page(request: Request) -> Response:
        return HTMLResponse(environment.from_string(template).render())

    app = Starlette(routes=[Route("/", page)])
    app.add_middleware(FAQMiddleware, embed=embed)

    def get(address: str) -> tuple[int, str, str, str]:
        answer = TestClient(app).get(address)
        kind = answer.headers["content-type"].partition(";")[0]
        return answer.status_code, kind, answer.headers.get("cache-control", ""), answer.text

    return get


hosts = pytest.mark.parametrize("host", [flask, starlette])


def held(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing()}, **settings)


@hosts
def test_a_linked_theme_is_a_file_with_the_theme_in_its_address(host: Any) -> None:  # C3, T2, T6
    theme = {"accentColor": "rgb(0 128 128)", "questionSize": 18}
    tag = f'{{% faq "pricing", theme={theme} %}}'
    get = host(held(styles="linked"), tag * 2)
    status, _, _, page = get("/")
    links = [html.unescape(href) for href in re.findall(r'<link rel="stylesheet" href="([^"]*)">', page)]
    name, rule = theme_rule(Theme("teal", 18))
    assert (status, len(links), "<style" in page) == (200, 2, False)
    assert get(links[0]) == (200, "text/css", FOREVER, stylesheet())
    assert links[1] == f"/faqsvc/{name}.css?accentColor=%23008080&questionSize=18"
    assert get(links[1]) == (200, "text/css", FOREVER, rule)
    for wrong in (links[1] + "9", links[1].replace("%23008080", "red"), links[1].partition("?")[0]):
        assert get(wrong)[0] == 404


@hosts
def test_the_enhancer_is_a_file_of_a_host_whose_setting_needs_it(host: Any) -> None:  # P6
    get = host(held(variant="disclosure"), '{% faq "pricing" %}')
    (address,) = re.findall(r'<script src="([^"]*)" defer integrity="sha384-[^"]{64}"></script>', get("/")[3])
    assert get(address) == (200, "text/javascript", FOREVER, enhancer())
    assert get("/faqsvc/other.js")[0] == 404


@hosts
def test_a_host_without_files_has_no_such_address(host: Any) -> None:
    address = re.findall(r'src="([^"]*)"', host(held(variant="disclosure"), '{% faq "pricing" %}')("/")[3])[0]
    get = host(held(), '{% faq "pricing", variant="disclosure" %}')
    assert f"<script>{enhancer()}</script>" in get("/")[3]
    assert get(address)[0] == 404


@pytest.mark.parametrize(
    ("options", "host", "route"),
    [
        ({"host_matching": True, "static_host": "shop.test"}, "shop.test:8000", {"host": "shop.test:8000"}),
        ({"host_matching": True, "static_host": "shop.test"}, "blog.shop.test", {"host": "<name>.shop.test"}),
        ({"subdomain_matching": True}, "shop.test", {}),
        ({"subdomain_matching": True}, "blog.shop.test", {"subdomain": "blog"}),
        ({"subdomain_matching": True}, "a.blog.shop.test", {"subdomain": "<name>"}),
    ],
)
def test_files_are_on_every_host_of_an_application_that_has_several(
    options: dict[str, Any], host: str, route: dict[str, Any]
) -> None:  # C3
    app = Flask("host", **options)
    app.config["SERVER_NAME"] = "shop.test"
    FAQExtension(app, embed=held(styles="linked"))
    client = app.test_client()

    @app.before_request
    def page() -> str | None:  # whatever the host: an application may route by it in many ways
        return render_template_string('{% faq "pricing" %}') if request.path == "/" else None

    @app.route("/<path:any_other>", **route)
    def other(**_: str) -> str:
        return "a page of the host"

    (address,) = re.findall(
        r'<link rel="stylesheet" href="([^"]*)">', client.get("/", base_url=f"http://{host}").text
    )
    answer = client.get(address, base_url=f"http://{host}")
    assert (answer.status_code, answer.text) == (200, stylesheet())
    assert client.get("/faqsvc/other.css", base_url=f"http://{host}").text == "a page of the host"
