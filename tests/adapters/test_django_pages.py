"""One page for each Django request: whichever view, response and server, it leaves complete."""

import asyncio
import io
import threading
import time
from collections.abc import Callable, Iterator
from contextvars import Context as Variables
from contextvars import copy_context
from typing import Any

import django
import pytest
from django.conf import settings
from django.core.cache import cache
from django.http import FileResponse, HttpRequest, HttpResponse, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.template import Context, Template
from django.template.response import SimpleTemplateResponse, TemplateResponse
from django.test import AsyncClient, Client
from django.utils import translation

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.django import faqs_from
from faqsvc_embed.page.page import request_page
from faqsvc_embed.testing import fake_embed
from tests.support import django_project, samples
from tests.support import faulty as behaviours
from tests.support.django_project import MIDDLEWARE, async_page, page, project, render
from tests.support.embeds import SLACK
from tests.support.faulty import FaultyServer
from tests.support.pages import FAQS, A, B, embeds
from tests.support.parsed import attributes, faq_pages, nonces, page_of, summary, text_of
from tests.support.slow import slow_embed

ONE = '<p>{% faq "pricing" %}</p>'
TWO = '{% faq "pricing" %}<hr>{% faq "legal" %}'

Get = Callable[..., Any]


def get_sync(path: str = "/", **options: Any) -> Any:
    return Client().get(path, **options)


def get_async(path: str = "/", **options: Any) -> Any:
    return asyncio.run(AsyncClient().get(path, **options))


servers: pytest.MarkDecorator = pytest.mark.parametrize("get", [get_sync, get_async], ids=["wsgi", "asgi"])
views: pytest.MarkDecorator = pytest.mark.parametrize("view", [page, async_page])
# Views


@servers
@views
@embeds
def test_a_page_is_complete_however_it_is_made(get: Get, view: Any, make: Any) -> None:
    with project(view(TWO), make(FAQS)):
        response = get()
    assert summary(response.content) == page_of(A, B)
    assert b"<!--faqsvc" not in response.content


@servers
def test_nothing_blocks_the_loop_of_an_asynchronous_view(get: Get, faulty: FaultyServer) -> None:
    async def host(request: HttpRequest) -> HttpResponse:
        html = render(TWO)  # its FAQs are not fetched yet
        release.set()
        return HttpResponse(html)

    release = threading.Event()
    for faq in (A, B):
        faulty.serve(faq.to_dict())
    faulty.behave(behaviours.held_until(release))
    with FAQEmbed(faulty.base_url, wait=5) as faqs, project(host, faqs):
        assert summary(get().content) == page_of(A, B)


@servers
@pytest.mark.parametrize("middleware", ["before", "after"])
def test_middleware_that_is_only_synchronous_changes_nothing(get: Get, middleware: str) -> None:
    names = [f"{__name__}.only_synchronous", MIDDLEWARE]
    with project(
        async_page(TWO), slow_embed(FAQS), MIDDLEWARE=names if middleware == "before" else names[::-1]
    ):
        assert summary(get().content) == page_of(A, B)


def only_synchronous(
    get_response: Callable[[HttpRequest], HttpResponse],
) -> Callable[[HttpRequest], HttpResponse]:
    """Make a middleware of Django that cannot run in an event loop."""

    def middleware(request: HttpRequest) -> HttpResponse:
        return get_response(request)

    return middleware


def test_a_template_response_is_rendered_on_the_page() -> None:
    def host(request: HttpRequest) -> HttpResponseBase:
        response = TemplateResponse(request, "page.html")
        assert isinstance(response, SimpleTemplateResponse)
        return response

    engine = {
        **settings.TEMPLATES[0],
        "OPTIONS": {
            "libraries": {"faqsvc": "faqsvc_embed.django.templatetags.faqsvc"},
            "loaders": [("django.template.loaders.locmem.Loader", {"page.html": "{% load faqsvc %}" + TWO})],
        },
    }
    with project(host, fake_embed(FAQS), TEMPLATES=[engine]):
        assert summary(get_sync().content) == page_of(A, B)


# Responses


class Sealed(HttpResponse):
    """A response whose content is neither read nor set after the view has made it."""

    sealed = False

    @property
    def content(self) -> bytes:
        assert not self.sealed
        return super().content

    @content.setter
    def content(self, value: bytes) -> None:
        assert not self.sealed
        HttpResponse.content.fset(self, value)  # type: ignore[attr-defined]


@pytest.mark.parametrize("count", [1, 10])
def test_the_body_and_its_headers_stay_as_the_view_made_them(count: int) -> None:
    headers = {"ETag": '"host"', "Content-Length": "5", "Content-Digest": "x", "X-Own": "kept"}
    source = "".join(f'{{% faq "faq{n}" %}}' for n in range(count))
    responses = list[Sealed]()

    def view(request: HttpRequest) -> HttpResponse:
        responses.append(Sealed(render(source), headers=headers))
        responses[0].sealed = True
        return responses[0]

    def unsealing(get_response: Any) -> Any:
        def respond(request: HttpRequest) -> Any:
            response = get_response(request)
            response.sealed = False
            return response

        return respond

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(django_project, "unsealing", unsealing, raising=False)
        names = ["tests.support.django_project.unsealing", MIDDLEWARE]
        with project(view, fake_embed({f"faq{n}": A for n in range(count)}), MIDDLEWARE=names):
            response = get_sync()
    assert {name: response.headers[name] for name in headers} == headers


def test_files_are_served_below_the_path_of_the_project() -> None:
    with project(page(ONE), fake_embed(FAQS, styles="linked", variant="disclosure")):
        html = get_sync(SCRIPT_NAME="/shop").content
        links = [*attributes(html, "link", "href"), *attributes(html, "script[src]", "src")]
        assert len(links) == 2
        for link in links:
            assert str(link).startswith("/shop/faqsvc/")
            response = get_sync(str(link).removeprefix("/shop"))
            assert "immutable" in response.headers["Cache-Control"]
        assert get_sync("/faqsvc/other.css").status_code == 404
        assert Client().post(str(links[0]).removeprefix("/shop")).status_code == 404


def test_a_context_that_was_copied_in_a_request_is_outside_of_its_page_afterwards() -> None:
    contexts, faqs = list[Variables](), fake_embed(FAQS)

    def host(request: HttpRequest) -> HttpResponse:
        contexts.append(copy_context())
        return HttpResponse(render(TWO))

    with project(host, faqs):
        get_sync()
        assert summary(contexts[0].run(render, ONE)) == page_of(A)
        assert contexts[0].run(request_page) is None


# Streams


def test_a_streamed_page_is_sent_part_by_part() -> None:
    def parts() -> Iterator[str]:
        yield "first"
        assert seen == [b"first"]
        yield render(ONE)

    seen = list[bytes]()
    with project(lambda request: StreamingHttpResponse(parts()), fake_embed(FAQS)):
        for part in get_sync():
            seen.append(part)
    assert summary(b"".join(seen)) == page_of(A)


def test_a_file_passes_as_it_is() -> None:
    with project(
        lambda request: FileResponse(io.BytesIO(b"<p>faqsvc</p>"), filename="a.html"), fake_embed(FAQS)
    ):
        response = get_sync()
        assert (b"".join(response), response.headers["Content-Length"]) == (b"<p>faqsvc</p>", "13")


# Fragments that Django caches


@servers
@pytest.mark.parametrize(
    ("source", "faqs"),
    [
        ("CACHED-PRICING{% faq 'legal' %}{% faq 'legal' %}", (A, B, B)),
        ("CACHED-PRICINGCACHED-LEGAL", (A, B)),
        ("CACHED-PRICING{% use_faq 'legal' as legal %}{% faq_schema %}", (A, B)),
        ("{% faq 'pricing' as one %}{{ one }}{{ one }}", (A, A)),
    ],
)
def test_a_page_is_one_faq_page_whatever_is_cached(get: Get, source: str, faqs: tuple[FAQ, ...]) -> None:
    for slug in FAQS:
        part = f"{{% cache 60 {slug} %}}{{% faq '{slug}' %}}{{% endcache %}}"
        source = source.replace(f"CACHED-{slug.upper()}", part)
    cache.clear()
    with project(page("{% load cache %}" + source), fake_embed(FAQS)):
        for _ in range(3):
            html = get().content.decode()
            assert html.index("<style") < html.index("faqsvc-question")
            assert [[q["name"] for q in page["mainEntity"]] for page in faq_pages(html)] == page_of(
                *faqs
            ).faq_pages
    cache.clear()


def test_a_cached_fragment_of_an_asynchronous_view_needs_a_prefetch() -> None:
    source = '{% load cache %}{% cache 60 part %}{% faq "pricing" %}{% endcache %}'
    cache.clear()

    async def prefetching(request: HttpRequest) -> HttpResponse:
        await faqs_from(request).aprefetch("pricing")
        return HttpResponse(render(source))

    with project(prefetching, slow_embed(FAQS)):
        assert [summary(get_async().content) for _ in range(2)] == [page_of(A)] * 2
    cache.clear()


def test_a_component_that_is_rendered_twice_has_its_styles() -> None:
    """django-components renders the body of a component once to find its fills, and drops the result."""

    def view(request: HttpRequest) -> HttpResponse:
        template, context = Template("{% load faqsvc %}" + TWO), Context()
        with context.render_context.push_state(template):
            with context.update({"_DJANGO_COMPONENTS_GEN_FILL": []}):
                template.nodelist.render(context)
            return HttpResponse(template.nodelist.render(context))

    with project(view, fake_embed(FAQS)):
        assert summary(get_sync().content) == page_of(A, B)


def test_the_cache_middleware_of_django_keeps_complete_pages() -> None:
    names = [
        "django.middleware.cache.UpdateCacheMiddleware",
        MIDDLEWARE,
        "django.middleware.cache.FetchFromCacheMiddleware",
    ]
    cache.clear()
    with project(page(TWO), fake_embed(FAQS), MIDDLEWARE=names):
        first = get_sync().content
    with project(page("changed"), fake_embed(FAQS), MIDDLEWARE=names):
        assert get_sync().content == first
    cache.clear()
    assert summary(first) == page_of(A, B)


# Language


def languages(faulty: FaultyServer) -> list[str | None]:
    """Return the languages that were requested since the last call."""
    found = [request.lang for request in faulty.log]
    faulty.forget_log()
    return found


@servers
@pytest.mark.parametrize(
    ("accepted", "expected"), [("ko", "ko"), ("de-CH,de;q=0.9", "de"), ("it", "fr"), ("en", "en")]
)
def test_the_language_of_a_page_is_the_active_one(
    get: Get, accepted: str, expected: str, faulty: FaultyServer
) -> None:
    for lang, record in samples.multilingual().items():
        faulty.serve(record, lang=lang)
    names = ["django.middleware.locale.LocaleMiddleware", MIDDLEWARE]
    for middleware in (names, names[::-1]):
        with FAQEmbed(faulty.base_url, lang="fr") as faqs, project(page(ONE), faqs, MIDDLEWARE=middleware):
            response = get(headers={"Accept-Language": accepted})
            assert languages(faulty) == [expected]
            assert response.headers["Vary"] == "Accept-Language"


@pytest.mark.parametrize(
    ("code", "setting", "expected"),
    [("ko", None, "ko"), ("en-us", "de", "de"), ("it", None, None), ("it", "de", "de")],
)
def test_the_language_of_the_site_counts_less_than_our_setting(
    code: str, setting: str | None, expected: str | None, faulty: FaultyServer
) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, lang=setting) as faqs, project(page(ONE), faqs, LANGUAGE_CODE=code):
        translation.deactivate()
        response = get_sync(headers={"Accept-Language": "fr"})
    assert languages(faulty) == [expected]
    assert "Vary" not in response.headers


def test_a_part_of_a_template_may_be_in_another_language(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    source = (
        '{% load i18n %}{% language "ko" %}{% faq "pricing" %}{% endlanguage %}{% faq "pricing" lang="de" %}'
    )
    with FAQEmbed(faulty.base_url, lang="fr") as faqs, project(page(source), faqs):
        get_sync()
    assert languages(faulty) == ["ko", "de"]


# Content-Security-Policy


CSP_MIDDLEWARE = {
    "django": "django.middleware.csp.ContentSecurityPolicyMiddleware",
    "django-csp": "csp.middleware.CSPMiddleware",
}


@servers
@pytest.mark.parametrize("source", ["django", "django-csp"])
def test_the_nonce_of_the_policy_is_on_every_element(get: Get, source: str) -> None:
    sources: list[Any] = ["<CSP_NONCE_SENTINEL>"]
    if source == "django-csp":
        pytest.importorskip("csp")
        from csp.constants import NONCE

        sources = [NONCE]
    elif django.VERSION < (6,):
        pytest.skip("Django has a nonce since 6.0")
    policy = {"style-src": sources, "script-src": sources}
    settings: dict[str, Any] = {"SECURE_CSP": policy, "CONTENT_SECURITY_POLICY": {"DIRECTIVES": policy}}
    names = [CSP_MIDDLEWARE[source], MIDDLEWARE]
    for middleware in (names, names[::-1]):
        with project(page(TWO), fake_embed(FAQS), MIDDLEWARE=middleware, **settings):
            response = get()
        (nonce,) = set(nonces(response.content))
        assert f"'nonce-{nonce}'" in response.headers["Content-Security-Policy"]


@pytest.mark.parametrize("nonce", ["n", lambda: "n"], ids=["text", "function"])
def test_a_middleware_of_the_project_may_set_a_nonce(nonce: object) -> None:
    def host(request: HttpRequest) -> HttpResponse:
        request.csp_nonce = nonce  # type: ignore[attr-defined]
        return HttpResponse(render(ONE, request))

    with project(host, fake_embed(FAQS)):
        assert set(nonces(get_sync().content)) == {"n"}


def test_a_nonce_may_be_a_variable_of_the_template() -> None:
    with project(page(ONE, csp_nonce="n"), fake_embed(FAQS)):
        assert set(nonces(get_sync().content)) == {"n"}


# Budget


@servers
def test_all_faqs_of_a_page_share_one_budget(get: Get, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.hang)
    source = "".join(f'{{% faq "faq-{number}" %}}' for number in range(200))
    with FAQEmbed(faulty.base_url, wait=0.1, timeout=60) as faqs:
        for view in (page, async_page):
            with project(view(source), faqs):
                start = time.monotonic()
                assert text_of(get().content, "section") == []
                assert time.monotonic() - start < 0.1 + SLACK
