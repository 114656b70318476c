"""A draft on the host's own page, for the visitor who has its token."""

import asyncio
import json
import logging
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest
from django.core.cache import cache
from django.test import Client as DjangoClient
from flask import Flask, Response, render_template_string, stream_template_string
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, StreamingResponse

from faqsvc_embed import FAQ, FAQEmbed, Item
from faqsvc_embed.cache.entry import Key
from faqsvc_embed.cache.fetcher import MAX_DRAFTS
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.testing import fake_embed
from tests.support import django_project, hosts
from tests.support.asgi import get
from tests.support.cases import sampled
from tests.support.feed_service import FeedService, feed_service
from tests.support.pages import environment
from tests.support.parsed import json_ld, text_of
from tests.support.starlette_host import app_of, templates

TOKEN = "p" * 32
PAGE = "<!doctype html><title>Prices</title>{{ faq('pricing') }}"
OWN_MARKUP = "{{ use_faq('pricing').data.items[0].answer }}"
Keep = Callable[[str], str]


@pytest.fixture
def service() -> Iterator[FeedService]:
    with feed_service() as service:
        service.answers.update(pricing="Published.", legal="Law.")
        service.drafts["pricing", TOKEN] = "Draft."
        yield service


@pytest.fixture
def embed(service: FeedService) -> Iterator[FAQEmbed]:
    with FAQEmbed(service.url, push=False) as embed:
        yield embed


@pytest.fixture(params=hosts.HOSTS)
def host(request: pytest.FixtureRequest) -> Any:
    return request.param


def answers(html: str) -> list[str]:
    return [text.strip() for text in text_of(html, ".faqsvc-answer")]


def test_an_address_with_many_parameters_is_an_address_like_others(host: Any, embed: FAQEmbed) -> None:
    many = "&".join(f"p{number}=%zz" for number in range(200))
    html, _ = host(embed, PAGE)(f"/?{many}&faq_preview={TOKEN}")
    assert answers(html) == ["Draft."]


def test_a_token_shows_the_draft_under_a_banner(host: Any, embed: FAQEmbed) -> None:
    html, headers = host(embed, PAGE)(f"/?faq_preview={TOKEN}")
    assert answers(html) == ["Draft."]
    assert len(text_of(html, "p.faqsvc-preview-draft")) == 1
    assert not json_ld(html)
    assert headers["Cache-Control"] == "no-store"
    assert "CDN-Cache-Control" not in headers
    assert headers["X-Robots-Tag"] == "noindex"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert TOKEN not in html


def test_a_draft_is_shown_however_many_were_shown_before(embed: FAQEmbed) -> None:
    get = hosts.flask_host(embed, PAGE)
    for _ in range(MAX_DRAFTS + 1):
        assert answers(get(f"/?faq_preview={TOKEN}")[0]) == ["Draft."]


def test_a_draft_that_was_prefetched_is_there_for_markup_of_the_host_in_an_event_loop(
    embed: FAQEmbed,
) -> None:
    template = templates(embed, page=OWN_MARKUP).get_template("page")

    async def page(_: Request) -> HTMLResponse:
        await embed.aprefetch("pricing")
        return HTMLResponse(template.render())

    assert get(app_of(embed, page), f"/?faq_preview={TOKEN}").text == "Draft."


def test_markup_of_the_host_in_an_event_loop_shows_what_is_published_until_the_draft_is_there(
    embed: FAQEmbed,
) -> None:
    embed.prefetch("pricing")
    assert get(app_of(embed, OWN_MARKUP), f"/?faq_preview={'x' * 32}").text == "Published."


def test_a_template_that_jinja_renders_once_keeps_no_draft(embed: FAQEmbed) -> None:
    embed.prefetch("pricing")
    part = f"{{{{ faq('pricing') }}}}{OWN_MARKUP}"
    template = templates(embed, page="{% include 'part' without context %}", part=part).get_template("page")

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse(template.render())

    for address in (f"/?faq_preview={TOKEN}", "/"):
        html = get(app_of(embed, page), address).text
        assert answers(html) == ["Published."]
        assert "Draft." not in html


def test_other_visitors_never_see_the_draft(host: Any, embed: FAQEmbed) -> None:
    get = host(embed, PAGE)
    for _ in range(3):
        assert answers(get(f"/?faq_preview={TOKEN}")[0]) == ["Draft."]
        html, headers = get("/")
        assert answers(html) == ["Published."]
        assert headers["Cache-Control"] == "public, max-age=600"
        assert len(json_ld(html)) == 1
    assert embed.get_faq("pricing").items[0].answer == "Published."


@pytest.mark.parametrize(
    "token", sampled(["x" * 32, "short", "", "a b%0d%0ac", "<script>", "t" * 9000], ("x" * 32, "a b%0d%0ac"))
)
def test_a_token_without_a_draft_shows_the_published_faq_and_why(
    token: str, host: Any, embed: FAQEmbed
) -> None:
    html, headers = host(embed, PAGE)(f"/?faq_preview={token}")
    assert answers(html) == ["Published."]
    if token:
        assert len(text_of(html, "p.faqsvc-preview-refused")) == 1
        assert headers["Cache-Control"] == "no-store"


RECORD = FAQ("pricing", items=(Item(0, "How?", "Published."),))


class Shop:
    """A source of a host."""

    def get(self, slug: str, lang: str | None) -> FAQ | None:
        return RECORD


def folder(path: Path, **settings: Any) -> FAQEmbed:
    (path / "pricing.md").write_text("# Prices\n\n## How?\n\nPublished.\n", encoding="utf-8")
    return FAQEmbed(directory=path, **settings)


@pytest.mark.parametrize(
    "make",
    [
        folder,
        lambda path: FAQEmbed(source=Shop(), wait=5.0),
        lambda _: fake_embed({"pricing": RECORD}),
        lambda path: folder(path, base_url="https://faq.invalid", offline=True),
    ],
    ids=["folder", "source", "fake", "offline"],
)
def test_where_there_are_no_drafts_the_published_faq_stays_and_one_line_says_why(
    make: Callable[[Path], FAQEmbed], host: Any, tmp_path: Path
) -> None:
    with make(tmp_path) as embed:
        embed.get_faq("pricing")
        html, headers = host(embed, PAGE + "<p>{{ use_faq('pricing').data.slug }}</p>")(
            "/?faq_preview=12345678"
        )
        assert answers(html) == ["Published."]
        assert "<p>pricing</p>" in html
        assert len(text_of(html, "p.faqsvc-preview-refused")) == 1
        assert headers["Cache-Control"] == "no-store"


def test_a_slug_in_decomposed_characters_says_that_the_published_faq_is_shown(
    host: Any, embed: FAQEmbed, service: FeedService
) -> None:
    service.answers["café"] = "Published."
    html, _ = host(embed, f"{{{{ faq('{normalize('NFD', 'café')}') }}}}")(f"/?faq_preview={TOKEN}")
    assert answers(html) == ["Published."]
    assert "This is the published version" in html


def test_the_line_above_an_faq_says_whether_the_link_or_the_service_is_at_fault(
    host: Any, embed: FAQEmbed, service: FeedService
) -> None:
    get = host(embed, PAGE)
    wrong, _ = get(f"/?faq_preview={'x' * 32}")
    service.is_down = True
    failing, _ = get(f"/?faq_preview={TOKEN}")
    (for_wrong,), (for_failing,) = (text_of(html, "p.faqsvc-preview-refused") for html in (wrong, failing))
    assert for_wrong != for_failing
    assert answers(wrong) == answers(failing) == ["Published."]


def test_what_a_cache_before_the_service_has_is_not_taken_for_a_draft(
    host: Any, embed: FAQEmbed, service: FeedService
) -> None:
    service.is_cached = True
    html, _ = host(embed, PAGE)(f"/?faq_preview={TOKEN}")
    assert answers(html) == ["Published."]
    assert text_of(html, "p.faqsvc-preview-refused")


def test_a_second_faq_of_the_page_is_shown_as_published(host: Any, embed: FAQEmbed) -> None:
    html, _ = host(embed, PAGE + "{{ faq('legal') }}")(f"/?faq_preview={TOKEN}")
    assert answers(html) == ["Draft.", "Law."]
    assert len(text_of(html, "p.faqsvc-preview")) == 1  # the link is for one FAQ, and accuses no other
    assert not json_ld(html)


@pytest.mark.parametrize("lang", sampled(LANGUAGES, ("en", "ko")))
def test_the_banner_is_in_the_language_of_the_page(lang: str, host: Any, embed: FAQEmbed) -> None:
    html, _ = host(embed, PAGE)(f"/?faq_preview={TOKEN}", **{"Accept-Language": lang})
    assert f'class="faqsvc-preview faqsvc-preview-draft" role="note" lang="{lang}"' in html


@pytest.mark.parametrize("part", ["Which?", "What?"])
def test_a_developer_sees_what_the_draft_lacks_and_not_what_is_published_lacks(
    service: FeedService, embed: FAQEmbed, part: str
) -> None:
    app, service.draft_question = Flask(__name__), "Which?"
    app.debug = True
    FAQExtension(app, embed=embed)
    template = f"{{{{ faq('pricing', questions=['{part}']) }}}}"
    app.add_url_rule("/", view_func=lambda: render_template_string(template))
    text = app.test_client().get(f"/?faq_preview={TOKEN}").text
    assert ("faqsvc-problem" in text) == (part == "What?")


def test_preview_off_ignores_the_token(host: Any, service: FeedService) -> None:
    with FAQEmbed(service.url, push=False, preview=False) as embed:
        html, headers = host(embed, PAGE)(f"/?faq_preview={TOKEN}")
    assert answers(html) == ["Published."]
    assert headers["Cache-Control"] == "public, max-age=600"
    assert not text_of(html, "p.faqsvc-preview")


def test_the_token_is_in_no_log(host: Any, embed: FAQEmbed, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, "faqsvc_embed")
    get = host(embed, PAGE)
    get(f"/?faq_preview={TOKEN}")
    get(f"/?faq_preview={'x' * 32}")
    logged = "\n".join(line.getMessage() for line in caplog.records if line.name.startswith("faqsvc_embed"))
    assert TOKEN not in logged  # the test client has a log of its own
    assert "x" * 32 not in logged
    assert TOKEN not in repr(embed.health())
    assert TOKEN not in repr(Key("pricing", None, TOKEN))  # error reports show local variables


def host_cache() -> Keep:
    """Return a function that keeps what it is given first, as a fragment cache of the host does."""
    kept = dict[str, str]()
    return lambda part: kept.setdefault("part", part)


CACHED_PART = PAGE.replace("faq('pricing')", "keep(faq('pricing'))")


@pytest.mark.parametrize("token", [TOKEN, "x" * 32, "short"])
def test_a_cache_of_the_host_keeps_the_published_faq(token: str, host: Any, embed: FAQEmbed) -> None:
    get = host(embed, CACHED_PART, keep=host_cache())
    asyncio.run(embed.aprefetch("pricing"))  # a template in an event loop waits for no FAQ
    html, _ = get(f"/?faq_preview={token}")
    assert answers(html) == ["Draft." if token == TOKEN else "Published."]
    assert len(text_of(html, "p.faqsvc-preview")) == 1
    assert not json_ld(html)
    html, headers = get("/")
    assert answers(html) == ["Published."]
    assert not text_of(html, "p.faqsvc-preview")
    assert len(json_ld(html)) == 1
    assert headers["Cache-Control"] == "public, max-age=600"


def test_a_cache_of_the_host_keeps_nothing_of_an_unpublished_faq(
    host: Any, embed: FAQEmbed, service: FeedService
) -> None:
    service.answers["pricing"] = None
    get = host(embed, CACHED_PART, keep=host_cache())
    html, _ = get(f"/?faq_preview={TOKEN}")
    assert answers(html) == ["Draft."]
    assert len(text_of(html, "p.faqsvc-preview-draft")) == 1
    assert not answers(get("/")[0])


def test_a_cache_of_the_host_keeps_the_json_ld_that_stands_apart(host: Any, embed: FAQEmbed) -> None:
    source = "<!doctype html>{{ keep(faq('pricing', schema=False) ~ faq_schema()) }}"
    get = host(embed, source, keep=host_cache())
    asyncio.run(embed.aprefetch("pricing"))
    html, _ = get(f"/?faq_preview={TOKEN}")
    assert answers(html) == ["Draft."]
    assert not json_ld(html)
    html, _ = get("/")
    assert answers(html) == ["Published."]
    assert len(json_ld(html)) == 1


def test_an_asynchronous_template_gives_a_cache_the_published_faq(embed: FAQEmbed) -> None:
    template, keep = environment(embed, enable_async=True).from_string(CACHED_PART), host_cache()

    async def page(_: Request) -> HTMLResponse:
        return HTMLResponse(await template.render_async(keep=keep))

    html = get(app_of(embed, page), f"/?faq_preview={TOKEN}").text
    assert answers(html) == ["Draft."]
    assert not json_ld(html)
    assert answers(get(app_of(embed, page)).text) == ["Published."]


def test_a_draft_in_markup_of_the_host_is_in_no_json_ld_that_a_cache_keeps(embed: FAQEmbed) -> None:
    template = "{{ use_faq('pricing').data.items[0].answer }}{{ keep(faq_schema()) }}"
    get = hosts.flask_host(embed, template, keep=host_cache())
    html, _ = get(f"/?faq_preview={TOKEN}")
    assert html.startswith("Draft.")
    assert not json_ld(html)
    assert "Draft." not in get("/")[0]


def test_the_same_draft_twice_on_a_page_has_ids_of_its_own(host: Any, embed: FAQEmbed) -> None:
    html, _ = host(embed, PAGE + "{{ faq('pricing') }}")(f"/?faq_preview={TOKEN}")
    ids = re.findall(r' id="([^"]+)"', html)
    assert answers(html) == ["Draft.", "Draft."]
    assert len(text_of(html, "p.faqsvc-preview-draft")) == 2
    assert len(ids) == len(set(ids))


def test_a_streamed_page_shows_the_draft(embed: FAQEmbed) -> None:
    app = Flask(__name__)
    FAQExtension(app, embed=embed)

    @app.get("/")
    def page() -> Response:
        return Response(stream_template_string(PAGE + "<p>The end.</p>"))

    html = app.test_client().get(f"/?faq_preview={TOKEN}").text
    assert answers(html) == ["Draft."]
    assert html.endswith("<p>The end.</p>")
    assert not json_ld(html)


def test_a_draft_replaces_an_faq_that_a_stream_sends_in_parts(embed: FAQEmbed) -> None:
    template = templates(embed, page=PAGE + "<p>The end.</p>").get_template("page")

    async def page(_: Request) -> StreamingResponse:
        html = template.render()
        return StreamingResponse(
            (html[at : at + 50] for at in range(0, len(html), 50)), media_type="text/html"
        )

    embed.prefetch("pricing")
    html = get(app_of(embed, page), f"/?faq_preview={TOKEN}").text
    assert answers(html) == ["Draft."]
    assert html.endswith("<p>The end.</p>")


def test_a_streamed_body_that_shows_a_draft_is_closed(embed: FAQEmbed) -> None:
    app, closed = Flask(__name__), list[str]()
    FAQExtension(app, embed=embed)

    class Body:
        def __iter__(self) -> Iterator[str]:
            yield "<p>The end.</p>"

        def close(self) -> None:
            closed.append("body")

    @app.get("/")
    def page() -> Response:
        render_template_string(PAGE)
        return Response(Body())

    app.test_client().get(f"/?faq_preview={TOKEN}").close()
    assert closed == ["body"]


def test_a_preview_in_a_response_that_is_no_page_is_no_problem_of_the_host(
    embed: FAQEmbed, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faqsvc_embed.page.page._log", LogOnce())  # logs again what it has logged

    async def data(_: Request) -> JSONResponse:
        await embed.aprefetch("pricing")
        return JSONResponse({"html": embed.render("pricing")})

    app = app_of(embed, data)
    get(app)
    response = get(app, f"/?faq_preview={TOKEN}")
    assert answers(json.loads(response.text)["html"]) == ["Published."]
    assert response.all("cache-control") == ["no-store"]
    assert not caplog.records


@pytest.mark.parametrize("make_page", [django_project.page, django_project.async_page])
@pytest.mark.parametrize("token", [TOKEN, "x" * 32])
def test_a_fragment_that_django_caches_is_the_published_faq(
    token: str, make_page: Callable[[str], Any], embed: FAQEmbed
) -> None:
    cache.clear()
    source = "{% load cache %}{% cache 60 part %}{% faq 'pricing' %}{% endcache %}"
    with django_project.project(make_page(source), embed):
        asyncio.run(embed.aprefetch("pricing", lang="en"))
        html = DjangoClient().get(f"/?faq_preview={token}").content.decode()
        assert answers(html) == ["Draft." if token == TOKEN else "Published."]
        assert len(text_of(html, "p.faqsvc-preview")) == 1
        html = DjangoClient().get("/").content.decode()
        assert answers(html) == ["Published."]
        assert not text_of(html, "p.faqsvc-preview")
    cache.clear()
