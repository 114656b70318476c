"""The whole public API, with the types that the type checker of a host finds; mypy reads this file."""

from collections.abc import Mapping
from typing import Any, Literal, assert_type
from wsgiref.types import WSGIApplication

from django.http import HttpRequest
from fastapi import FastAPI, Request
from flask import Flask
from jinja2 import Environment
from markupsafe import Markup
from starlette.applications import Starlette
from starlette.middleware import Middleware

from faqsvc_embed import (
    FAQ,
    FAQClient,
    FAQEmbed,
    FAQError,
    FAQState,
    Item,
    Publication,
    Settings,
    Theme,
    aget_faq,
    get_faq,
    to_json_ld,
    to_json_ld_string,
)
from faqsvc_embed import django as faq_django
from faqsvc_embed import fastapi as faq_fastapi
from faqsvc_embed import flask as faq_flask
from faqsvc_embed import starlette as faq_starlette
from faqsvc_embed import wsgi as faq_wsgi
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed


def records() -> FAQ:
    faq = assert_type(FAQ.from_dict({"slug": "pricing", "items": []}), FAQ)
    assert_type(faq.items, tuple[Item, ...])
    assert_type(faq.title, str)
    assert_type(faq.to_dict(), dict[str, Any])
    assert_type(faq.to_json(), str)
    assert_type(to_json_ld(faq), dict[str, Any])
    assert_type(to_json_ld_string(faq), str)
    return faq


def embed() -> FAQEmbed:
    theme = Theme(accent_color="teal", question_size=18)
    with FAQEmbed("https://faq.example.com", lang="ko", theme=theme, wait=0.5, keep_for=None) as faqs:
        state = assert_type(faqs.use_faq("pricing", wait=0), FAQState)
        assert_type(state.data, FAQ | None)
        assert_type(state.error, FAQError | None)
        assert_type(state.is_loading, bool)
        assert_type(faqs.get_faq("pricing", lang="de"), FAQ)
        assert_type(faqs.render("pricing", theme={"accentColor": "teal"}, heading_level=None), Markup)
        assert_type(faqs.schema(records(), nonce="n"), Markup)
        faqs.prefetch("pricing", "legal", lang="ko")
        faqs.forget("pricing")
    return fake_embed({"pricing": records(), "legal": {"items": []}}, lang="ko")


def settings() -> Settings:
    given = Settings(base_url="https://faq.example.com", theme={"accentColor": "teal"}, store=None)
    assert_type(given.keep_for, float | None)
    assert_type(given.theme, Theme)
    assert_type(given.heading_level, int | None)
    assert_type(given.variant, Literal["details", "disclosure", "open"])
    assert_type(given.insecure_hosts, tuple[str, ...])
    FAQEmbed(base_url=None, settings=given, variant="open", heading_level=None, max_entries=5)
    FAQClient("https://faq.example.com", api_key="fs_live_x", insecure_hosts="faqs", timeout=1)
    from_config = Settings.from_mapping({"FAQSVC_LANG": "ko"}, theme=Theme(question_size=20))
    return assert_type(from_config.replace(keep_for=None, styles="linked"), Settings)


async def asynchronous(faqs: FAQEmbed) -> None:
    async with faqs:
        assert_type(await faqs.aget_faq("pricing"), FAQ)
        assert_type(await faqs.ause_faq("pricing"), FAQState)
        assert_type(await faqs.arender("pricing", schema=False), Markup)
        await faqs.aprefetch("pricing")
    assert_type(FAQEmbed(settings=Settings(base_url="https://faq.example.com")).settings, Settings)
    assert_type(await aget_faq("pricing", "ko", base_url="https://faq.example.com"), FAQ)
    assert_type(get_faq("pricing"), FAQ)


def client(items: list[tuple[str, str]], more: list[Mapping[str, str]]) -> None:
    with FAQClient("https://faq.example.com", api_key="fs_live_x") as writer:
        publication = writer.publish_faq(
            website_url="https://example.com",
            website_name="Example",
            items=[*items, *more, Item(0, "q", "a")],
        )
        assert_type(publication, Publication)
        assert_type(publication.slug, str)


def hosts(environment: Environment, faqs: FAQEmbed) -> None:
    install(environment, faqs)
    app = Flask("host")
    extension = faq_flask.FAQExtension(base_url="https://faq.example.com", styles="linked")
    extension.init_app(app)
    assert_type(faq_flask.faqs_from(app), FAQEmbed)
    Starlette(middleware=[Middleware(faq_starlette.FAQMiddleware, embed=faqs)])
    api = FastAPI()
    api.add_middleware(faq_fastapi.FAQMiddleware, embed=faqs)
    api.add_middleware(faq_fastapi.FAQMiddleware, base_url="https://faq.example.com", variant="disclosure")

    @api.get("/")
    async def page(request: Request, found: faq_fastapi.FAQs) -> str:
        assert_type(faq_fastapi.faqs_from(request), FAQEmbed)
        return await assert_type(found, FAQEmbed).arender("pricing")

    @api.get("/faq")
    async def record(found: faq_fastapi.FAQs) -> dict[str, Any]:
        return (await found.aget_faq("pricing")).to_dict()


def more_hosts(app: WSGIApplication, faqs: FAQEmbed, request: HttpRequest) -> WSGIApplication:
    assert_type(faq_django.faqs_from(), FAQEmbed)
    assert_type(faq_django.faqs_from(request), FAQEmbed)
    wrapped = faq_wsgi.FAQMiddleware(app, embed=faqs)
    assert_type(wrapped.embed, FAQEmbed)
    return faq_wsgi.FAQMiddleware(app, base_url="https://faq.example.com", lang="ko")
