"""What a page costs, counted: calls, copies, requests and bytes, which are the same on any machine.

A change that exceeds a bound either takes the cost back, or raises the bound here with the reason.
"""

import gc
import gzip
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Final

import pytest
from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.template import engines
from flask import Flask, render_template_string
from jinja2 import DictLoader, Environment
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering.assets import stylesheet
from faqsvc_embed.settings.validators import Styles
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware
from tests.benchmarks.hosts import django_request
from tests.support import django_project, samples
from tests.support.faulty import FaultyServer

ROOT: Final = Path(__file__).parents[1]
HTML: Final = [(b"content-type", b"text/html; charset=utf-8")]
DJANGO_PAGE: Final = 28
"""Calls behind the middleware for a page without an FAQ."""
DJANGO_FAQ: Final = 100
"""The same with an FAQ."""


def calls(work: Callable[[], object]) -> int:
    """Count the calls of Python functions, and resumptions of generators."""
    count = 0

    def counting(frame: FrameType, event: str, argument: object) -> None:
        nonlocal count
        count += event == "call"

    work()
    before = sys.getprofile()
    gc.collect()
    gc.disable()  # it calls what waits for the end of an object
    sys.setprofile(counting)
    try:
        work()
    finally:
        sys.setprofile(before)
        gc.enable()
    return count


def peak(work: Callable[[], object]) -> int:
    """Return how many bytes `work` allocates at most, beyond what there was."""
    gc.collect()
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def page(embed: FAQEmbed, source: str) -> Callable[[], str]:
    """Return the rendering of a template, warm."""
    environment = Environment(autoescape=True, loader=DictLoader({"page": source}))
    install(environment, embed)
    rendering = environment.get_template("page").render
    rendering()
    return rendering


@pytest.fixture
def embed() -> FAQEmbed:
    return fake_embed({"pricing": samples.pricing()})


@pytest.mark.parametrize(("call", "bound"), [('{% faq "pricing" %}', 17), ('{{ faq("pricing") }}', 24)])
def test_a_cached_faq_costs_few_calls(embed: FAQEmbed, call: str, bound: int) -> None:
    """Some are of the guard, while other calls fail."""
    without = calls(page(embed, "<h1>Prices</h1><p>…</p>"))
    assert calls(page(embed, f"<h1>Prices</h1>{call}<p>…</p>")) - without <= bound


@pytest.mark.parametrize("count", [5, 200])
def test_the_calls_of_a_cached_faq_do_not_grow_with_its_length(count: int) -> None:
    one = calls(page(fake_embed({"large": samples.large(1)}), '{% faq "large" %}'))
    assert calls(page(fake_embed({"large": samples.large(count)}), '{% faq "large" %}')) == one


def test_a_warm_page_copies_its_faq_few_times() -> None:
    """The page itself is a copy, and the tag makes no other."""
    large = fake_embed({"large": samples.large(1_000)})
    length = len(large.render("large"))
    assert peak(page(large, '{% faq "large" %}')) < 1.1 * length
    assert peak(page(large, '{{ faq("large") }}')) < 3.1 * length


def test_a_rendered_faq_is_in_memory_twice() -> None:
    """In parts, and as it was printed."""
    record = FAQ.from_dict(samples.large(1_000))
    embed, work = fake_embed({}), Environment(autoescape=True)
    install(work, embed)
    template = work.from_string("{{ faq(record) }}")
    length = len(template.render(record=FAQ.from_dict(samples.large(1_000))))
    gc.collect()
    tracemalloc.start()
    try:
        template.render(record=record)
        gc.collect()
        assert tracemalloc.get_traced_memory()[0] < 2.2 * length
    finally:
        tracemalloc.stop()


def test_a_page_with_cached_faqs_keeps_no_objects_alive(embed: FAQEmbed) -> None:
    """A host renders for weeks: what grows with each page is a leak."""
    work = page(embed, '{% faq "pricing" %}{{ faq("pricing") }}{{ faq_schema() }}')
    for _ in range(10):
        work()
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(100):
        work()
    gc.collect()
    assert sys.getallocatedblocks() - before < 20


def test_the_second_faq_of_a_page_costs_no_more_calls_than_the_first() -> None:
    embed = fake_embed({slug: samples.pricing() for slug in ("one", "two")})
    none, one, two = (
        calls(page(embed, f"<h1>Prices</h1>{tags}"))
        for tags in ("", '{% faq "one" %}', '{% faq "one" %}{% faq "two" %}')
    )
    assert two - one <= one - none


@pytest.mark.parametrize("copies", [33, 100, 300])
def test_a_copy_of_an_faq_costs_no_more_however_many_are_above_it(embed: FAQEmbed, copies: int) -> None:
    def cost(count: int) -> int:
        return calls(page(embed, f"{{% for _ in range({count}) %}}{{{{ faq('pricing') }}}}{{% endfor %}}"))

    assert cost(copies) - cost(copies - 1) <= cost(3) - cost(2)


def test_an_faq_in_many_themes_costs_no_more_than_in_one(embed: FAQEmbed) -> None:
    source = (
        "{% for size in range(8, 8 + themes) %}{{ faq('pricing', theme={'questionSize': size}) }}{% endfor %}"
    )

    def cost(themes: int) -> int:
        return calls(page(embed, source.replace("themes", str(themes))))

    assert cost(41) - cost(40) <= 1.1 * (cost(3) - cost(2))


def visit(app: ASGIApp) -> None:
    """Call an ASGI application that never waits, without an event loop."""

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        pass

    scope = {"type": "http", "method": "GET", "path": "/", "headers": [(b"accept", b"*/*")]}
    with suppress(StopIteration):
        app(scope, receive, send).send(None)  # type: ignore[attr-defined]


def test_a_request_without_an_faq_costs_few_calls_behind_the_middleware(embed: FAQEmbed) -> None:
    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    behind = FAQMiddleware(app, embed=embed)
    assert calls(lambda: visit(behind)) - calls(lambda: visit(app)) <= 18


def test_a_part_of_an_asgi_stream_costs_one_call_behind_the_middleware(embed: FAQEmbed) -> None:
    def streaming(parts: int) -> ASGIApp:
        async def app(scope: Scope, receive: Receive, send: Send) -> None:
            await send({"type": "http.response.start", "status": 200, "headers": HTML})
            for part in [str(embed.render("pricing")).encode()] + [b"<p>"] * parts:
                await send({"type": "http.response.body", "body": part, "more_body": True})
            await send({"type": "http.response.body", "body": b""})

        return app

    def cost(parts: int) -> int:
        app = streaming(parts)
        behind = FAQMiddleware(app, embed=embed)
        return calls(lambda: visit(behind)) - calls(lambda: visit(app))

    assert cost(1_100) - cost(100) == 1_000


def test_a_part_of_a_wsgi_stream_costs_nothing_behind_the_middleware(embed: FAQEmbed) -> None:
    def cost(parts: int) -> int:
        def app(environ: dict[str, object], start_response: Callable[..., object]) -> Iterator[bytes]:
            start_response("200 OK", [("Content-Type", "text/html; charset=utf-8")])
            yield str(embed.render("pricing")).encode()
            yield from [b"<p>"] * parts

        def respond(app: Callable[..., Iterable[bytes]]) -> None:
            body = app({"REQUEST_METHOD": "GET", "PATH_INFO": "/"}, lambda *start: bytes)
            b"".join(body)
            body.close()  # type: ignore[attr-defined]

        behind = WSGIMiddleware(app, embed=embed)
        return calls(lambda: respond(behind)) - calls(lambda: respond(app))

    assert cost(1_100) == cost(100)


def test_a_part_of_a_streamed_template_costs_nothing_after_its_faq(embed: FAQEmbed) -> None:
    environment = Environment(autoescape=True)
    install(environment, embed)

    def cost(rows: int) -> int:
        with_faq, without = (
            environment.from_string(f"{tag}{{% for row in range({rows}) %}}<td>{{{{ row }}}}{{% endfor %}}")
            for tag in ('{% faq "pricing" %}', "")
        )
        return calls(lambda: list(with_faq.generate())) - calls(lambda: list(without.generate()))

    assert cost(1_000) == cost(10)


def test_a_request_of_django_costs_few_calls_behind_the_middleware(embed: FAQEmbed) -> None:
    def cost(middleware: list[str], source: str) -> int:
        template = engines["django"].from_string(source)

        def view(request: HttpRequest) -> HttpResponse:
            return HttpResponse(template.render({}, request))

        with django_project.project(view, embed, MIDDLEWARE=middleware):
            handler = WSGIHandler()
            return calls(lambda: django_request(handler, ""))

    without = cost([], "<h1>Prices</h1>")
    assert cost([django_project.MIDDLEWARE], "<h1>Prices</h1>") - without <= DJANGO_PAGE
    with_faq = cost([django_project.MIDDLEWARE], '{% load faqsvc %}<h1>Prices</h1>{% faq "pricing" %}')
    assert with_faq - without <= DJANGO_FAQ


def test_a_cached_faq_requests_nothing(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    with FAQEmbed(faulty.base_url, wait=5.0) as embed:
        assert all(embed.render("pricing") for _ in range(100))
    assert len(faulty.log) == 1


def test_a_question_costs_its_texts_twice_and_half_a_kilobyte() -> None:
    """Visible and in JSON-LD; around them are the elements that screen readers and machines need.

    The id of a question is in the page three times, because JSON-LD needs it for question and answer.
    """
    pairs = [(f"{'q' * 40} {n:03}", "a" * 200) for n in range(200)]
    few, many = (
        len(fake_embed({}).render(FAQ.from_dict(samples.record("x", *pairs[:n])))) for n in (100, 200)
    )
    assert (many - few) / 100 - 2 * (44 + 200) < 490


def test_the_stylesheet_is_small() -> None:
    """It is on every page with an FAQ, inline by default, before what people came to read."""
    assert len(stylesheet().encode()) < 12_000
    assert len(stylesheet("base", "toggle", "details").encode()) < 4_300


@pytest.mark.parametrize(
    ("styles", "length", "compressed"), [("inline", 22_528, 4_240), ("linked", 15_000, 1_300)]
)
def test_a_page_of_twenty_questions_is_small(styles: Styles, length: int, compressed: int) -> None:
    """With the stylesheet, the script and the JSON-LD; linked, this is the cost of each further page."""
    pairs = [
        (
            f"How does part {n} work?",
            f"It works like **this** number {n}.\n\nSecond paragraph with a [link](https://h.example/{n}).",
        )
        for n in range(20)
    ]
    record = FAQ.from_dict(
        {**samples.record("x", *pairs, lang="en", title="FAQ"), "answerFormat": "markdown"}
    )
    app = Flask("host")
    FAQExtension(app, embed=fake_embed({"x": record}, styles=styles))
    app.add_url_rule("/", "page", lambda: render_template_string("<h1>x</h1>{{ faq('x') }}"))
    body = app.test_client().get("/").data
    assert len(body) <= length
    assert len(gzip.compress(body, 6)) <= compressed


@pytest.mark.system
def test_a_flask_host_imports_no_http_client_at_its_start() -> None:
    """A host starts once in each worker, and in each run of its tests."""
    program = "import sys, flask, faqsvc_embed.flask; print(*sys.modules)"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert {"httpx2", "httpcore2"}.isdisjoint(ran.stdout.split())
