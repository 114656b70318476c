"""The files that Flask and Starlette serve for a page: stylesheet, themes, script."""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from flask import Flask, g, render_template_string, request
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.testclient import TestClient

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.pages import environment
from tests.support.parsed import attributes, summary, text_of

FOREVER = "public, max-age=31536000, immutable"


class Page(NamedTuple):
    status: int
    media_type: str
    cache_control: str
    text: str


Get = Callable[..., Page]
Host = Callable[[FAQEmbed, str], Get]


def flask(embed: FAQEmbed, template: str) -> Get:
    app = Flask("host")
    FAQExtension(app, embed=embed)
    app.add_url_rule("/", "page", lambda: render_template_string(template))

    def get(url: str, method: str = "GET", mount: str = "") -> Page:
        response = app.test_client().open(url, method=method, environ_overrides={"SCRIPT_NAME": mount})
        headers = response.headers
        return Page(
            response.status_code, str(response.mimetype), headers.get("Cache-Control", ""), response.text
        )

    return get


def starlette(embed: FAQEmbed, template: str) -> Get:
    host = environment(embed)

    async def page(request: Request) -> Response:
        return HTMLResponse(host.from_string(template).render())

    inner = FAQMiddleware(Starlette(routes=[Route("/", page)]), embed=embed)

    def get(url: str, method: str = "GET", mount: str = "") -> Page:
        app = Starlette(routes=[Mount(mount, inner)]) if mount else inner
        response = TestClient(app).request(method, f"{mount}{url}")
        media_type = response.headers.get("content-type", "").partition(";")[0]
        return Page(
            response.status_code, media_type, response.headers.get("cache-control", ""), response.text
        )

    return get


hosts = pytest.mark.parametrize("host", [flask, starlette])
ONE = '{% faq "pricing" %}'


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing()}, **settings)


def inline_styles(template: str) -> list[str]:
    """Return the stylesheets that a page has inline, to compare files with."""
    return text_of(environment(embed()).from_string(template).render(), "style")


@hosts
def test_the_stylesheet_with_its_theme_is_a_file_with_its_digest_in_the_name(host: Host) -> None:
    source = '{% faq "pricing", theme={"accentColor": "rgb(0 128 128)", "questionSize": 18} %}'
    get = host(embed(styles="linked"), source * 2)
    page = get("/").text
    (link,) = map(str, attributes(page, 'link[rel="stylesheet"]', "href"))
    assert summary(page).styles == 0
    assert get(link)[:3] == (200, "text/css", FOREVER)
    assert [get(link).text] == inline_styles(source)
    assert get(link, "HEAD") == (200, "text/css", FOREVER, "")


@hosts
@pytest.mark.parametrize(
    "forged",
    [
        lambda link: link.replace("faqsvc.", "faqsvc.0"),
        lambda link: f"/faqsvc/../{link}",
        lambda link: "/faqsvc/faqsvc.css",
        lambda link: "/faqsvc/",
    ],
)
def test_there_is_no_other_file(host: Host, forged: Callable[[str], str]) -> None:
    get = host(embed(styles="linked"), ONE)
    (link,) = attributes(get("/").text, "link", "href")
    assert get(forged(str(link))).status == 404


@hosts
def test_a_forged_theme_is_not_served(host: Host) -> None:
    get = host(embed(styles="linked"), '{% faq "pricing", theme={"accentColor": "#008080"} %}')
    (link,) = map(str, attributes(get("/").text, "link", "href"))
    assert "accentColor=%23008080" in link
    for wrong in (
        link + "9",
        link.replace("%23008080", "red"),
        link.replace("%23008080", "url(x)"),
        link + "&questionSize=1e9",
        link.partition("?")[0],
    ):
        assert get(wrong).status == 404


@hosts
def test_the_script_is_a_file_of_a_host_whose_setting_needs_it(host: Host) -> None:
    get = host(embed(variant="disclosure"), ONE * 2)
    page = get("/").text
    (src,), (integrity,) = (attributes(page, "script[src]", name) for name in ("src", "integrity"))
    assert str(integrity).startswith("sha384-")
    status, media_type, cache_control, text = get(str(src))
    assert (status, media_type, cache_control) == (200, "text/javascript", FOREVER)
    inline = host(embed(), '{% faq "pricing", variant="disclosure" %}')
    assert text_of(inline("/").text, "script:not([type])") == [text]
    assert inline(str(src)).status == 404  # a host that needs no files has none


@hosts
def test_links_follow_the_path_below_which_the_application_is_mounted(host: Host) -> None:
    get = host(embed(styles="linked"), ONE)
    (link,) = attributes(get("/", mount="/shop").text, "link", "href")
    assert str(link).startswith("/shop/faqsvc/")
    assert get(str(link).removeprefix("/shop"), mount="/shop").status == 200


def test_hooks_of_the_host_find_an_endpoint_and_values_at_the_address_of_a_file() -> None:
    app = Flask("host")
    FAQExtension(app, embed=embed(styles="linked"))

    @app.url_value_preprocessor
    def take_language(_: str | None, values: dict[str, Any] | None) -> None:
        assert values is not None  # as in Flask's documentation
        g.lang_code = values.pop("lang_code", None)

    @app.before_request
    def check() -> None:
        assert app.view_functions[str(request.endpoint)]

    @app.get("/<lang_code>/")
    def page() -> str:
        return render_template_string(ONE)

    client = app.test_client()
    (link,) = attributes(client.get("/de/").text, "link", "href")
    assert [client.get(str(link)).text] == inline_styles(ONE)


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
) -> None:
    app = Flask("host", **options)
    app.config["SERVER_NAME"] = "shop.test"
    FAQExtension(app, embed=embed(styles="linked"))

    @app.before_request
    def page() -> str | None:  # whatever the host: an application may route by it in many ways
        return render_template_string(ONE) if request.path == "/" else None

    @app.route("/<path:any_other>", **route)
    def other(**_: str) -> str:
        return "a page of the host"

    client, base = app.test_client(), f"http://{host}"
    (link,) = attributes(client.get("/", base_url=base).text, "link", "href")
    response = client.get(str(link), base_url=base)
    assert (response.status_code, [response.text]) == (200, inline_styles(ONE))
    assert client.get("/faqsvc/other.css", base_url=base).text == "a page of the host"
