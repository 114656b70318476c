"""One page for each request of Starlette, whatever renders its FAQs and whichever response leaves."""

import asyncio
import json
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import Any

import pytest
from starlette.background import BackgroundTask
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.starlette import faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import Sent, aget, get
from tests.support.pages import FAQS, TWO, A, B, Make, embeds, environment
from tests.support.parsed import page_of, summary
from tests.support.slow import slow_embed
from tests.support.starlette_host import Endpoint, app_of, rendering, templates

# Ways to make a page


def in_an_async_environment(embed: FAQEmbed) -> Endpoint:
    template = environment(embed, enable_async=True).from_string(TWO)

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(await template.render_async())

    return endpoint


def awaited_together(embed: FAQEmbed) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        faqs = faqs_from(request)
        return HTMLResponse("<hr>".join(await asyncio.gather(faqs.arender("pricing"), faqs.arender("legal"))))

    return endpoint


def in_the_thread_pool(embed: FAQEmbed) -> Endpoint:
    made = templates(embed, page=TWO)

    def endpoint(request: Request) -> Response:
        return made.TemplateResponse(request, "page")

    return endpoint


def in_two_threads(embed: FAQEmbed) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        first = await run_in_threadpool(embed.render, "pricing")
        return HTMLResponse(f"{first}<hr>{await asyncio.to_thread(embed.render, 'legal')}")

    return endpoint


def in_tasks(embed: FAQEmbed) -> Endpoint:
    async def part(slug: str) -> str:
        await asyncio.sleep(0)
        return embed.render(slug)

    async def endpoint(request: Request) -> Response:
        tasks = [asyncio.create_task(part(slug)) for slug in FAQS]
        return HTMLResponse("<hr>".join([await task for task in tasks]))

    return endpoint


WAYS = [
    lambda embed: rendering(embed, TWO),
    in_an_async_environment,
    awaited_together,
    in_the_thread_pool,
    in_two_threads,
    in_tasks,
]


@pytest.mark.parametrize("way", WAYS)
@embeds
def test_two_faqs_are_one_faq_page_and_each_document_has_its_stylesheet(
    way: Callable[[FAQEmbed], Endpoint], make: Make
) -> None:
    app = app_of(embed := make(FAQS), way(embed))
    is_one_document = way in WAYS[:2] or way is in_the_thread_pool
    for _ in range(2):
        response = get(app)
        expected = page_of(A, B)._replace(styles=1 if is_one_document else 2)
        assert (response.status, summary(response.body)) == (200, expected)
        assert response.all("content-length") in ([], [str(len(response.body))])


# After the response


def test_a_context_that_outlives_its_response_is_outside_of_its_page() -> None:
    """Tasks, background tasks, and threads with a copy of the context."""
    embed, later = fake_embed(FAQS), dict[str, str]()
    fragment = templates(embed, part='{{ faq("pricing") }}').get_template("part")

    async def main() -> Sent:
        over, tasks = asyncio.Event(), list[asyncio.Task[None]]()

        async def render_later() -> None:
            await over.wait()
            later["task"] = fragment.render()

        async def endpoint(request: Request) -> Response:
            embed.render("pricing")
            tasks.append(asyncio.create_task(render_later()))
            contexts.append(copy_context())
            task = BackgroundTask(lambda: later.__setitem__("background", fragment.render()))
            return HTMLResponse(fragment.render(), background=task)

        response = await aget(app_of(embed, endpoint))
        over.set()
        await tasks[0]
        return response

    contexts = list[Any]()
    embed.render("pricing")
    assert summary(asyncio.run(main()).body) == page_of(A)
    thread = threading.Thread(
        target=contexts[0].run, args=(lambda: later.__setitem__("thread", embed.render("pricing")),)
    )
    thread.start()
    thread.join()
    alone = str(embed.render("pricing"))
    assert later == {"task": alone, "background": alone, "thread": alone}


@embeds
def test_background_tasks_start_after_the_whole_response_was_sent(make: Make) -> None:
    events, embed = list[str](), make(FAQS)

    async def endpoint(request: Request) -> Response:
        html = embed.render("pricing") + embed.render("legal")
        return HTMLResponse(html, background=BackgroundTask(lambda: events.append("task")))

    get(app_of(embed, endpoint), on_send=lambda m: events.append(m["type"]))
    assert events == ["http.response.start", "http.response.body", "task"]


# Several requests


def test_requests_at_the_same_time_do_not_mix_their_pages() -> None:
    embed = slow_embed(FAQS)
    made = templates(embed, page='{{ faq(slug) }}{{ faq("pricing") }}{{ faq(slug) }}')

    async def endpoint(request: Request) -> Response:
        await asyncio.sleep(0)
        return made.TemplateResponse(request, "page", {"slug": request.query_params["slug"]})

    async def all_at_once() -> list[Sent]:
        app = app_of(embed, endpoint)
        return await asyncio.gather(*(aget(app, f"/?slug={slug}") for slug in list(FAQS) * 20))

    expected = [page_of(A, A, A), page_of(B, A, B)] * 20
    assert [summary(sent.body) for sent in asyncio.run(all_at_once())] == expected


def test_a_request_within_a_request_has_a_page_of_its_own() -> None:
    app = app_of(embed := slow_embed(FAQS), TWO)

    async def outer(request: Request) -> Response:
        first = embed.render("pricing")
        assert summary((await aget(app)).body) == page_of(A, B)
        return HTMLResponse(f"{first}<hr>{await embed.arender('legal')}")

    assert summary(get(app_of(embed, outer)).body) == page_of(A, B)._replace(styles=2)


# One FAQ several times, or its parts


def test_the_hook_does_not_wait_in_the_loop_and_an_faq_after_it_is_shown_all_the_same() -> None:
    response = get(app_of(slow_embed(FAQS), '{{ use_faq("pricing").is_loading }} {{ faq("pricing") }}'))
    assert response.text.startswith("True ")
    assert summary(response.body) == page_of(A)


@embeds
def test_prefetched_faqs_are_in_the_template_at_once_whatever_the_response(make: Make) -> None:
    embed = make(FAQS)
    made = templates(embed, part='{{ faq("pricing") }}{{ use_faq("legal").data.title }}')

    async def endpoint(request: Request) -> Response:
        await faqs_from(request).aprefetch(*FAQS)
        return JSONResponse({"html": made.get_template("part").render()})

    html = json.loads(get(app_of(embed, endpoint)).body)["html"]
    assert html.endswith("Legal")
    assert summary(html) == page_of(A)


LARGE = FAQ.from_dict(samples.record("large", *((f"What about {n}?", "It is so. " * 80) for n in range(100))))
OVERRIDE = "{{ title }}{% for item in items %}<p>{{ item.answer }}</p>{% endfor %}"


@pytest.mark.parametrize("override", [None, OVERRIDE])
@pytest.mark.parametrize("heading_level", [2, 4])
def test_a_prefetched_faq_leaves_no_placeholder_however_long_it_is(
    heading_level: int, override: str | None
) -> None:  # I12
    embed = slow_embed({"large": LARGE})
    environment(embed, {} if override is None else {"faqsvc/faq.html": override})

    async def endpoint(request: Request) -> Response:
        await embed.aprefetch("large")
        with embed.page():
            copies = [embed.render("large", heading_level=heading_level) for _ in range(2)]
        return JSONResponse(copies)

    app = app_of(embed, endpoint)
    for _ in range(2):
        copies = json.loads(get(app).body)
        assert all(copy.count("It is so.") >= 8_000 for copy in copies)
        assert not any("<!--faqsvc" in copy for copy in copies)


def test_a_language_that_was_not_prefetched_is_filled_in() -> None:
    embed = slow_embed(FAQS)
    made = templates(embed, page='{{ faq("pricing", lang="ko") }}<hr>{{ faq("pricing") }}')

    async def endpoint(request: Request) -> Response:
        await embed.aprefetch("pricing")
        return made.TemplateResponse(request, "page")

    # Each has a stylesheet, because the second is printed first.
    assert summary(get(app_of(embed, endpoint)).body) == page_of(A, A)._replace(styles=2)


def test_an_faq_that_did_not_arrive_by_prefetching_leaves_nothing(caplog: pytest.LogCaptureFixture) -> None:
    embed = slow_embed(FAQS, hanging={"pricing"}, wait=0.01)

    async def endpoint(request: Request) -> Response:
        await embed.aprefetch("pricing")
        return JSONResponse(embed.render("pricing"))

    assert get(app_of(embed, endpoint)).body == b'""'
    assert not [record for record in caplog.records if "aprefetch" in record.getMessage()]


def test_the_length_of_a_page_with_an_uncached_faq_is_that_of_get_for_head() -> None:  # I15
    def headers(method: str) -> list[tuple[str, str]]:
        async def endpoint(request: Request) -> Response:
            return HTMLResponse(embed.render("pricing"))

        embed = slow_embed(FAQS)
        return get(app_of(embed, endpoint), method=method).headers

    assert headers("HEAD") == headers("GET")
