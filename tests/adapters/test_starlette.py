"""FAQs in Starlette: whatever way a page is made, its FAQs are on it when it leaves."""

import asyncio
import logging
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from jinja2 import DictLoader, Environment
from starlette.applications import Starlette
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Mount, Route, Router, WebSocketRoute
from starlette.templating import Jinja2Templates
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from starlette.websockets import WebSocket

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, FAQUnavailable, Settings
from faqsvc_embed.jinja import install
from faqsvc_embed.page import context as pages
from faqsvc_embed.rendering.assets import stylesheet, stylesheet_name
from faqsvc_embed.rendering.renderer import problem_element
from faqsvc_embed.starlette import FAQMiddleware, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.asgi import Answer, ask, get
from tests.support.blocks import STYLE, alone, block, script
from tests.support.slow import slow_embed

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“ & <du>."), title="Legal"))
FAQS = {"pricing": A, "legal": B}
TWO = '{{ faq("pricing") }}<hr>{% faq "legal" %}'
MERGED = f"{STYLE}{block(A)}{script(A, B)}<hr>{block(B)}"

Endpoint = Callable[[Request], Any]
Make = Callable[..., FAQEmbed]


def templates(embed: FAQEmbed, **sources: str) -> Jinja2Templates:
    made = Jinja2Templates(env=Environment(autoescape=True, loader=DictLoader(sources)))
    install(made.env, embed)
    return made


def rendering(embed: FAQEmbed, source: str, **options: Any) -> Endpoint:
    """Return an endpoint that renders a template synchronously, within the event loop."""
    pages = templates(embed, page=source)

    async def endpoint(request: Request) -> Response:
        return pages.TemplateResponse(request, "page", **options)

    return endpoint


def app_of(embed: FAQEmbed, endpoint: Endpoint | str, **options: Any) -> Starlette:
    """Return an application whose page at / comes from an endpoint, or from the source of a template."""
    if isinstance(endpoint, str):
        endpoint = rendering(embed, endpoint)
    app = Starlette(routes=[Route("/", endpoint)], **options)
    app.add_middleware(FAQMiddleware, embed=embed)
    return app


def held(**settings: Any) -> FAQEmbed:
    return fake_embed(FAQS, **settings)


def cold(**settings: Any) -> FAQEmbed:
    return slow_embed(FAQS, **settings)


embeds = pytest.mark.parametrize("make", [held, cold])


# Attaching


def test_settings_of_the_middleware_make_its_embed() -> None:
    middleware = FAQMiddleware(Starlette(), base_url="https://faq.example.com/", lang="de", wait=0.5)
    assert middleware.embed.settings == Settings(base_url="https://faq.example.com", lang="de", wait=0.5)


def test_settings_come_from_the_environment_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", "https://environment.example.com")
    middleware = FAQMiddleware(Starlette(), wait=0.5)
    assert middleware.embed.settings == Settings(base_url="https://environment.example.com", wait=0.5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "FAQSVC_BASE_URL"),
        ({"base_url": "faq.example.com"}, r"base_url is 'faq\.example\.com'"),
        ({"base_ulr": "https://faq.example.com"}, "did you mean 'base_url'"),
        ({"embed": held(), "wait": 2, "lang": "de"}, "an embed and also lang, wait"),
    ],
)
def test_a_mistake_in_the_settings_is_one_clear_error(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigurationError, match=message):
        FAQMiddleware(Starlette(), **options)


def test_the_embed_is_found_again_in_a_request() -> None:
    embed = held()

    async def endpoint(request: Request) -> Response:
        return JSONResponse(faqs_from(request) is embed)

    assert get(app_of(embed, endpoint)).body == b"true"


def test_the_embed_is_found_in_a_websocket_and_no_page_is() -> None:
    embed, seen = held(), list[Any]()

    async def endpoint(websocket: WebSocket) -> None:
        await websocket.accept()
        seen.extend((faqs_from(websocket), pages.current()))
        await websocket.close()

    app = Starlette(routes=[WebSocketRoute("/", endpoint)])
    app.add_middleware(FAQMiddleware, embed=embed)
    with TestClient(app).websocket_connect("/"):
        pass
    assert seen == [embed, None]


def test_without_the_middleware_the_embed_is_a_clear_error() -> None:
    async def endpoint(request: Request) -> Response:
        faqs_from(request)
        raise AssertionError

    app = Starlette(routes=[Route("/", endpoint)])
    with pytest.raises(ConfigurationError, match=r"app\.add_middleware\(FAQMiddleware, embed=embed\)"):
        get(app)


@pytest.mark.parametrize("fails", [False, True])
def test_without_a_lifespan_the_first_request_prepares_the_embed_outside_of_the_loop(  # F5
    fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads = list[bool]()

    def get_ready() -> None:
        threads.append(threading.current_thread() is threading.main_thread())
        if fails:
            raise OSError

    app = app_of(embed := held(), TWO)
    monkeypatch.setattr(embed, "get_ready", get_ready)
    assert [get(app).text for _ in range(2)] == [MERGED] * 2
    assert threads == [False]


def test_what_preparing_takes_counts_as_waiting(monkeypatch: pytest.MonkeyPatch) -> None:  # R2
    embed, waited = held(), list[float]()

    async def endpoint(request: Request) -> Response:
        page = pages.current()
        assert page is not None
        waited.append(page.waited)
        return HTMLResponse("")

    monkeypatch.setattr(embed, "get_ready", lambda: time.sleep(0.02))
    get(app_of(embed, endpoint))
    assert waited[0] >= 0.02


# Ways to make a page


def in_a_template(embed: FAQEmbed) -> Endpoint:
    return rendering(embed, TWO)


def in_an_async_environment(embed: FAQEmbed) -> Endpoint:
    environment = Environment(autoescape=True, enable_async=True)
    install(environment, embed)
    template = environment.from_string(TWO)

    async def endpoint(request: Request) -> Response:
        return HTMLResponse(await template.render_async())

    return endpoint


def by_hand(embed: FAQEmbed) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        faqs = faqs_from(request)
        return HTMLResponse(f"{await faqs.arender('pricing')}<hr>{await faqs.arender('legal')}")

    return endpoint


def by_hand_at_once(embed: FAQEmbed) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        faqs = faqs_from(request)
        return HTMLResponse("<hr>".join(await asyncio.gather(faqs.arender("pricing"), faqs.arender("legal"))))

    return endpoint


def by_hand_without_waiting(embed: FAQEmbed) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        faqs = faqs_from(request)
        return HTMLResponse(f"{faqs.render('pricing')}<hr>{faqs.render('legal')}")

    return endpoint


def on_the_thread_pool(embed: FAQEmbed) -> Endpoint:
    pages = templates(embed, page=TWO)

    def endpoint(request: Request) -> Response:
        return pages.TemplateResponse(request, "page")

    return endpoint


def half_and_half_the_other_way(embed: FAQEmbed) -> Endpoint:
    pages = templates(embed, page='{{ faq("pricing") }}')

    async def endpoint(request: Request) -> Response:
        first = pages.get_template("page").render()
        return HTMLResponse(f"{first}<hr>{await embed.arender('legal')}")

    return endpoint


def half_and_half(embed: FAQEmbed) -> Endpoint:
    pages = templates(embed, page='{{ first }}<hr>{% faq "legal" %}')

    async def endpoint(request: Request) -> Response:
        return pages.TemplateResponse(request, "page", {"first": await embed.arender("pricing")})

    return endpoint


def in_several_templates(embed: FAQEmbed) -> Endpoint:
    pages = templates(embed, a='{{ faq("pricing") }}', b='{{ faq("legal") }}')

    async def endpoint(request: Request) -> Response:
        return HTMLResponse("<hr>".join(pages.get_template(name).render() for name in "ab"))

    return endpoint


WAYS = [
    in_a_template,
    in_an_async_environment,
    by_hand,
    by_hand_at_once,
    by_hand_without_waiting,
    on_the_thread_pool,
    half_and_half,
    half_and_half_the_other_way,
    in_several_templates,
]
ways = pytest.mark.parametrize("way", WAYS)


@ways
@embeds
def test_two_faqs_are_on_the_page_with_one_stylesheet_and_one_faq_page(
    way: Callable[[FAQEmbed], Endpoint], make: Make
) -> None:  # J1, J12, T6
    embed = make()
    app = app_of(embed, way(embed))
    for _ in range(2):
        answer = get(app)
        assert (answer.status, answer.text) == (200, MERGED)
        assert answer.all("content-length") == [str(len(answer.body))]  # S3
    assert pages.current() is None


@embeds
@pytest.mark.parametrize("handled", [404, ZeroDivisionError])
def test_error_pages_show_their_faqs(make: Make, handled: Any) -> None:
    embed = make()
    env = templates(embed, page=TWO)

    async def endpoint(request: Request) -> Response:
        raise handled if handled is ZeroDivisionError else HTTPException(handled)

    async def handler(request: Request, error: Exception) -> Response:
        return env.TemplateResponse(request, "page", status_code=418)

    answer = get(app_of(embed, endpoint, exception_handlers={handled: handler}))
    assert (answer.status, answer.text) == (418, MERGED)


@embeds
def test_the_page_of_an_error_is_whole_whatever_its_template_printed_before_it(make: Make) -> None:  # J1
    embed = make()
    env = templates(embed, page=TWO, broken=f"{TWO}{{{{ 1 // 0 }}}}")

    async def endpoint(request: Request) -> Response:
        return env.TemplateResponse(request, "broken")

    async def handler(request: Request, error: Exception) -> Response:
        return env.TemplateResponse(request, "page")

    for _ in range(2):
        answer = get(app_of(embed, endpoint, exception_handlers={ZeroDivisionError: handler}))
        assert answer.text == MERGED


def test_one_faq_twice_in_a_cold_template_has_ids_of_its_own_each() -> None:  # A14, J12
    answer = get(app_of(cold(), '{{ faq("pricing") }}<hr>{{ faq("pricing") }}'))
    assert answer.text == f"{alone(A)}<hr>{block(A, 2)}"


def test_one_faq_awaited_twice_at_once_has_ids_of_its_own_each() -> None:  # A14
    async def endpoint(request: Request) -> Response:
        faqs = faqs_from(request)
        return HTMLResponse("".join(await asyncio.gather(*(faqs.arender("pricing") for _ in range(3)))))

    assert get(app_of(cold(), endpoint)).text == f"{alone(A)}{block(A, 2)}{block(A, 3)}"


@embeds
def test_faq_schema_marks_up_what_was_left_to_it(make: Make) -> None:
    source = '{{ faq("pricing", schema=false) }}{% faq "legal", schema=false %}{{ faq_schema() }}'
    assert get(app_of(make(), source)).text == f"{STYLE}{block(A)}{block(B)}{script(A, B)}"


def test_faq_schema_behind_a_slot_adds_nothing_that_was_printed() -> None:  # J1
    source = '{{ faq("pricing") }}{% faq "legal", schema=false %}{{ faq_schema() }}'
    assert get(app_of(cold(), source)).text == f"{STYLE}{block(A)}{script(A, B)}{block(B)}"


def test_the_hook_does_not_wait_in_the_loop_and_an_faq_behind_it_comes_all_the_same() -> None:
    source = '{{ use_faq("pricing").is_loading }} {{ faq("pricing") }}'
    assert get(app_of(cold(), source)).text == f"True {alone(A)}"


def test_what_a_handler_awaited_first_is_there_for_the_hook() -> None:
    pages = templates(embed := cold(), page='{{ use_faq("pricing").data.title }}{{ faq_schema() }}')

    async def endpoint(request: Request) -> Response:
        await faqs_from(request).aprefetch("pricing")
        return pages.TemplateResponse(request, "page")

    assert get(app_of(embed, endpoint)).text == f"Pricing{script(A)}"


# Slots


def test_a_cold_faq_leaves_a_slot_that_is_new_in_every_response() -> None:
    seen = list[str]()
    embed = slow_embed(FAQS, hanging=FAQS, wait=0.01)
    env = templates(embed, page='<p>{{ faq("pricing") }}</p>')

    async def endpoint(request: Request) -> Response:
        response = env.TemplateResponse(request, "page")
        seen.append(bytes(response.body).decode())
        return response

    app = app_of(embed, endpoint)
    assert [get(app).text for _ in range(3)] == ["<p></p>"] * 3
    assert len(set(seen)) == 3
    assert all(s.startswith("<p><!--faqsvc ") and s.endswith(" 0000--></p>") for s in seen)


def test_a_held_faq_is_in_place_at_once_and_nothing_is_touched() -> None:
    embed = held()
    sent = list[Any]()

    async def endpoint(request: Request) -> Response:
        response = HTMLResponse(f"<p>{embed.render('pricing')}</p>", headers={"ETag": '"mine"'})
        sent.append(response.body)
        return response

    answer = get(app_of(embed, endpoint))
    assert answer.text == f"<p>{alone(A)}</p>"
    assert answer.messages[1]["body"] is sent[0]
    assert answer.all("etag") == ['"mine"']


IMPOSTORS = [
    "<!--faqsvc 000000000000000000000000 0000-->",
    "<!--faqsvc 0000-->",
    "<!--faqsvc ",
    "<!--",
    "<!--faqsvc-->",
]


@pytest.mark.parametrize("text", IMPOSTORS)
def test_text_that_looks_like_a_slot_is_left_alone(text: str) -> None:
    env = templates(embed := cold(), page='{{ text|safe }}{{ faq("pricing") }}{{ text|safe }}')

    async def endpoint(request: Request) -> Response:
        return env.TemplateResponse(request, "page", {"text": text})

    app = app_of(embed, endpoint)
    assert [get(app).text for _ in range(2)] == [f"{text}{alone(A)}{text}"] * 2


def test_an_faq_whose_text_looks_like_a_slot_is_shown_as_it_is() -> None:
    trap = FAQ.from_dict(samples.record("pricing", ("<!--faqsvc 0000-->", "<!--faqsvc 0001-->")))
    embed = slow_embed({"pricing": trap, "legal": B})
    expected = f"{STYLE}{block(trap)}{script(trap, B)}<hr>{block(B)}"
    assert get(app_of(embed, TWO)).text == expected


def test_a_slot_that_the_host_prints_twice_is_filled_twice() -> None:
    source = '{% set x = faq("pricing") %}{{ x }}<hr>{{ x }}'
    app = app_of(cold(), source)
    assert get(app).text == get(app).text == f"{alone(A)}<hr>{alone(A)}"


def test_a_slot_that_the_host_drops_leaves_its_styles_to_nobody() -> None:
    answer = get(app_of(cold(), '{% set x = faq("legal") %}<p>no</p>'))
    assert answer.text == "<p>no</p>"
    assert answer.all("content-length") == ["9"]


@pytest.mark.parametrize("count", [1, 5])
def test_a_hanging_service_holds_a_page_for_one_wait_in_all(count: int) -> None:  # R1, R2
    slugs = [f"faq-{n}" for n in range(count)]
    embed = slow_embed({}, hanging=slugs, wait=0.3)

    async def endpoint(request: Request) -> Response:
        page = templates(embed, page="<p>{% for slug in slugs %}{{ faq(slug) }}{% endfor %}</p>")
        return page.TemplateResponse(request, "page", {"slugs": slugs})

    app = app_of(embed, endpoint)

    async def timed() -> tuple[str, float]:
        began = time.perf_counter()
        answer = await ask(app)
        return answer.text, time.perf_counter() - began

    text, seconds = asyncio.run(timed())
    assert text == "<p></p>"
    assert 0.29 <= seconds < 0.6


def test_what_was_shown_once_is_shown_again_while_the_service_hangs() -> None:  # R1
    hanging = set[str]()
    embed = slow_embed(FAQS, hanging=hanging, fresh_for=0, wait=5)
    app = app_of(embed, TWO)
    assert get(app).text == MERGED
    hanging.update(FAQS)
    began = time.perf_counter()
    assert get(app).text == MERGED
    assert time.perf_counter() - began < 1


def test_slots_of_an_faq_there_is_not_are_empty() -> None:  # R4
    answer = get(app_of(cold(), '<p>{{ faq("unknown") }}{{ faq("a/b") }}{{ faq("") }}</p>'))
    assert (answer.status, answer.text) == (200, "<p></p>")


def test_many_requests_at_once_do_not_mix_their_pages() -> None:
    embed = cold()
    env = templates(embed, page='{{ faq(slug) }}{{ faq("pricing") }}{{ faq(slug) }}')

    async def endpoint(request: Request) -> Response:
        await asyncio.sleep(0)
        return env.TemplateResponse(request, "page", {"slug": request.query_params["slug"]})

    app = app_of(embed, endpoint)
    expected = {
        "pricing": f"{alone(A)}{block(A, 2)}{block(A, 3)}",
        "legal": f"{STYLE}{block(B)}{script(B, A)}{block(A)}{block(B, 2)}",
    }

    async def all_at_once() -> list[bool]:
        slugs = ["pricing", "legal"] * 25
        answers = await asyncio.gather(*(ask(app, f"/?slug={slug}") for slug in slugs))
        return [answer.text == expected[slug] for answer, slug in zip(answers, slugs, strict=True)]

    assert all(asyncio.run(all_at_once()))


def test_parts_that_tasks_of_a_handler_render_are_of_its_page() -> None:  # J1
    embed = cold()

    async def part(slug: str) -> str:
        await asyncio.sleep(0)
        return embed.render(slug)

    async def endpoint(request: Request) -> Response:
        tasks = [asyncio.create_task(part(slug)) for slug in FAQS]
        return HTMLResponse("<hr>".join([await task for task in tasks]))

    assert get(app_of(embed, endpoint)).text == MERGED


def test_a_task_that_outlives_its_response_has_a_page_of_its_own() -> None:
    embed, later = held(), list[str]()
    environment = Environment(autoescape=True)
    install(environment, embed)
    fragment = environment.from_string('{{ faq("pricing") }}')

    async def mail(over: asyncio.Event) -> None:
        await over.wait()
        later.append(fragment.render())

    async def main() -> None:
        over, tasks = asyncio.Event(), list[asyncio.Task[None]]()

        async def endpoint(request: Request) -> Response:
            tasks.append(asyncio.create_task(mail(over)))
            task = BackgroundTask(lambda: later.append(fragment.render()))
            return HTMLResponse(fragment.render(), background=task)

        assert (await ask(app_of(embed, endpoint))).text == alone(A)
        over.set()
        await asyncio.gather(*tasks)

    asyncio.run(main())
    assert later == [alone(A), alone(A)]


def test_a_request_within_a_request_has_a_page_of_its_own() -> None:
    embed = cold()
    app = app_of(embed, TWO)

    async def outer(request: Request) -> Response:
        first = embed.render("pricing")
        inner = await ask(app)
        assert inner.text == MERGED
        return HTMLResponse(f"{first}<hr>{await embed.arender('legal')}")

    assert get(app_of(embed, outer)).text == MERGED


# Without the middleware


def test_without_the_middleware_a_cold_faq_is_empty_and_the_log_says_once_which_line_to_add(
    caplog: pytest.LogCaptureFixture,
) -> None:
    embed = cold()
    app = Starlette(routes=[Route("/", rendering(embed, "<p>" + TWO + "</p>"))])

    async def three() -> list[str]:
        texts = list[str]()
        for _ in range(3):
            texts.append((await ask(app)).text)
            await asyncio.sleep(0)
        return texts

    whole = f"<p>{alone(A)}<hr>{block(B)}</p>"
    assert asyncio.run(three()) == ["<p><hr></p>", whole, whole]
    assert [(r.name, r.levelno) for r in caplog.records] == [("faqsvc_embed", logging.WARNING)]
    assert "app.add_middleware(FAQMiddleware, embed=embed)" in caplog.text


def test_without_the_middleware_a_held_faq_is_there_and_nothing_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    app = Starlette(routes=[Route("/", rendering(held(), '{{ faq("pricing") }}'))])
    assert get(app).text == alone(A)
    assert caplog.records == []


# The nonce


def with_state(app: ASGIApp, **state: Any) -> ASGIApp:
    """Set `request.state` as an outer middleware does."""

    async def outer(scope: Any, receive: Any, send: Any) -> None:
        Request(scope).state._state.update(state)
        await app(scope, receive, send)

    return outer


@embeds
@pytest.mark.parametrize("nonce", ['a"b', lambda: 'a"b'], ids=["text", "callable"])
def test_the_nonce_of_the_request_is_on_everything_of_ours(make: Make, nonce: Any) -> None:  # C4, C6, E7
    attribute = ' nonce="a&#34;b"'
    expected = MERGED.replace("<style>", f"<style{attribute}>")
    expected = expected.replace(script(A, B), script(A, B, nonce=attribute))
    app = with_state(app_of(make(), TWO), csp_nonce=nonce)
    assert [get(app).text for _ in range(2)] == [expected] * 2


def test_the_nonce_is_found_if_an_inner_middleware_or_the_handler_sets_it() -> None:  # C6
    env = templates(embed := cold(), page='{{ faq("pricing", schema=false) }}')

    async def endpoint(request: Request) -> Response:
        request.state.csp_nonce = "x"
        return env.TemplateResponse(request, "page")

    assert get(app_of(embed, endpoint)).text == f'<style nonce="x">{stylesheet()}</style>\n{block(A)}'


@embeds
@pytest.mark.parametrize("nonce", [None, "", lambda: None])
def test_a_missing_nonce_is_no_error(make: Make, nonce: Any) -> None:  # C4, C6
    assert get(with_state(app_of(make(), TWO), csp_nonce=nonce)).text == MERGED


# The language


def spoken(slug_source: str = 'faq("pricing")', **settings: Any) -> tuple[FAQEmbed, str]:
    """Return an embed that says which language it was asked for, and a template that prints it."""
    embed = fake_embed(FAQS, **settings)
    return embed, f'{{{{ use_faq("pricing"{slug_source}).lang_requested }}}}'


@pytest.mark.parametrize("name", ["lang", "language", "locale"])
@pytest.mark.parametrize(
    "value", ["ko", "ko-KR", "ko_KR", lambda: "ko"], ids=["ko", "ko-KR", "ko_KR", "function"]
)
def test_the_language_of_the_request_beats_the_header_and_the_settings(name: str, value: Any) -> None:  # L4
    embed, source = spoken("", lang="fr")
    answer = get(with_state(app_of(embed, source), **{name: value}), headers=[("Accept-Language", "de")])
    assert (answer.text, answer.all("vary")) == ("ko", [])  # L7


def test_a_server_may_have_headers_as_bytearrays() -> None:  # L2
    embed, source = spoken("")
    inside = app_of(embed, source)

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(name, bytearray(value)) for name, value in scope["headers"]]
        await inside({**scope, "headers": headers}, receive, send)

    assert get(app, headers=[("Accept-Language", "nl"), ("Accept-Language", "de")]).text == "de"


def test_an_argument_beats_all_others() -> None:  # L4
    embed, source = spoken(', lang="ja"', lang="fr")
    app = with_state(app_of(embed, source), lang="ko")
    answer = get(app, headers=[("Accept-Language", "de")])
    assert (answer.text, answer.all("vary")) == ("ja", [])


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ([("Accept-Language", "de-CH,fr;q=0.5")], "de"),
        ([("Accept-Language", "nl;q=1, fr;q=0.5")], "fr"),
        ([("Accept-Language", "nl"), ("Accept-Language", "es;q=0.3")], "es"),
        ([("Accept-Language", "nl")], "zh"),
        ([("Accept-Language", "\xff;;;q=,")], "zh"),
        ([], "zh"),
    ],
)
def test_the_header_beats_the_settings_and_the_response_varies(
    headers: list[tuple[str, str]], expected: str
) -> None:  # L2, L3, L4, L7
    embed, source = spoken("", lang="zh")
    answer = get(app_of(embed, source), headers=headers)
    assert (answer.text, answer.all("vary")) == (expected, ["Accept-Language"])


@pytest.mark.parametrize("state", ["nl", "", None, "nonsense!", 7])
def test_a_language_that_the_service_has_not_leaves_the_choice_to_the_header(state: Any) -> None:  # L4
    embed, source = spoken("")
    app = with_state(app_of(embed, source), lang=state)
    answer = get(app, headers=[("Accept-Language", "de")])
    assert (answer.text, answer.all("vary")) == ("de", ["Accept-Language"])


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        (["Cookie"], ["Cookie, Accept-Language"]),
        (["Cookie", "Accept-Encoding, Origin"], ["Cookie, Accept-Encoding, Origin, Accept-Language"]),
        (["accept-language"], ["accept-language"]),
        (["Cookie, ACCEPT-LANGUAGE"], ["Cookie, ACCEPT-LANGUAGE"]),
        (["*"], ["*"]),
        (["Accept-Language-Extra"], ["Accept-Language-Extra, Accept-Language"]),
    ],
)
@embeds
def test_vary_is_merged_and_never_doubled(make: Make, present: list[str], expected: list[str]) -> None:  # L7
    env = templates(embed := make(), page='{{ faq("pricing") }}')

    async def endpoint(request: Request) -> Response:
        response = env.TemplateResponse(request, "page")
        for value in present:
            response.headers.append("Vary", value)
        return response

    assert get(app_of(embed, endpoint)).all("vary") == expected


def test_a_page_without_an_faq_and_data_in_a_given_language_do_not_vary() -> None:  # L7
    async def data(request: Request) -> Response:
        return JSONResponse((await faqs_from(request).aget_faq("pricing", lang="de")).title)

    assert get(app_of(cold(), data)).all("vary") == []
    assert get(app_of(cold(), "<p>nothing</p>")).all("vary") == []


def test_data_in_the_language_of_the_visitor_varies_too() -> None:  # L7
    async def data(request: Request) -> Response:
        return JSONResponse((await faqs_from(request).aget_faq("pricing")).title)

    answer = get(app_of(cold(), data))
    assert (answer.body, answer.all("vary")) == (b'"Pricing"', ["Accept-Language"])


# Problems


@embeds
def test_in_development_the_page_says_what_went_wrong(make: Make) -> None:  # R4
    embed = make()
    answer = get(app_of(embed, '<p>{{ faq("unknown") }}</p>', debug=True))
    assert answer.text == f"<p>{problem_element(str(embed.use_faq('unknown').error))}</p>"


@embeds
def test_strict_raises_before_anything_was_sent(make: Make) -> None:  # R4
    app = app_of(make(strict=True), '<p>{{ faq("unknown") }}</p>', debug=True)
    answers = list[Any]()
    with pytest.raises(Exception, match="unknown"):
        get(app, on_send=answers.append)
    assert [m["type"] for m in answers] == ["http.response.start", "http.response.body"]
    assert answers[0]["status"] == 500  # Starlette's own page for developers


def test_strict_raises_what_did_not_come_in_time() -> None:
    app = app_of(slow_embed({}, hanging=["pricing"], strict=True, wait=0.01), '{{ faq("pricing") }}')
    with pytest.raises(FAQUnavailable, match=r"within 0\.01 s, all that a page waits for"):
        get(app)


# The linked stylesheet


LINK = f'<link rel="stylesheet" href="/faqsvc/{stylesheet_name()}">\n'


def served(app: ASGIApp, path: str, **options: Any) -> tuple[int, str, list[tuple[str, str]]]:
    answer: Answer = get(app, path, **options)
    return answer.status, answer.text, sorted(answer.headers)


STYLESHEET = (
    200,
    stylesheet(),
    [
        ("cache-control", "public, max-age=31536000, immutable"),
        ("content-length", str(len(stylesheet()))),
        ("content-type", "text/css; charset=utf-8"),
    ],
)


@embeds
def test_a_linked_stylesheet_is_served_for_ever_by_its_digest(make: Make) -> None:  # C3
    app = app_of(make(styles="linked"), TWO)
    assert get(app).text == MERGED.replace(STYLE, LINK)
    assert served(app, f"/faqsvc/{stylesheet_name()}") == STYLESHEET
    assert get(app, f"/faqsvc/{stylesheet_name()}", method="POST").status == 404
    assert get(app, "/faqsvc/faqsvc.000000000000.css").status == 404


@pytest.mark.parametrize("prefix", ["", "/shop"])
def test_the_stylesheet_is_found_behind_a_proxy_whether_or_not_it_strips_the_path(prefix: str) -> None:
    app = app_of(held(styles="linked"), '{{ faq("pricing") }}')
    assert LINK.replace("/faqsvc/", "/shop/faqsvc/") in get(app, f"{prefix}/", root_path="/shop").text
    assert served(app, f"{prefix}/faqsvc/{stylesheet_name()}", root_path="/shop") == STYLESHEET


def test_a_page_of_a_mounted_application_links_what_the_outer_one_serves() -> None:
    embed = held(styles="linked")
    app = Starlette(routes=[Mount("/in", app=Router([Route("/", rendering(embed, '{{ faq("pricing") }}'))]))])
    app.add_middleware(FAQMiddleware, embed=embed)
    assert LINK in get(app, "/in/").text


def test_a_mounted_application_with_a_middleware_of_its_own_serves_its_own() -> None:
    inner = app_of(held(styles="linked"), '{{ faq("pricing") }}')
    app = Starlette(routes=[Mount("/in", app=inner)])
    assert LINK.replace("/faqsvc/", "/in/faqsvc/") in get(app, "/in/").text
    assert served(app, f"/in/faqsvc/{stylesheet_name()}") == STYLESHEET


@pytest.mark.parametrize("styles", ["inline", "none"])
def test_only_linked_styles_are_served(styles: str) -> None:  # T8
    app = app_of(held(styles=styles), TWO)
    assert get(app, f"/faqsvc/{stylesheet_name()}").status == 404
    assert get(app).text == (MERGED if styles == "inline" else MERGED.replace(STYLE, ""))


# Several middlewares


@embeds
def test_a_middleware_added_twice_does_its_work_once(make: Make) -> None:
    app = app_of(embed := make(), TWO)
    app.add_middleware(FAQMiddleware, embed=embed)
    answer = get(app)
    assert (answer.text, answer.all("vary")) == (MERGED, ["Accept-Language"])


@embeds
def test_a_request_that_goes_through_it_again_gets_a_page_again(make: Make) -> None:
    embed = make()
    first, then = app_of(embed, TWO), FAQMiddleware(app_of(embed, TWO), embed=embed)

    async def retrying(scope: Any, receive: Any, send: Any) -> None:
        async def drop(message: Any) -> None:
            pass

        await first(scope, receive, drop)
        await then(scope, receive, send)

    assert get(retrying).text == MERGED


def test_a_state_that_is_set_on_a_copy_of_the_scope_is_seen() -> None:  # C6
    app = app_of(embed := held(), rendering(embed, '{{ faq("pricing", schema=false) }}'))
    inner = with_state(app.router, csp_nonce="x")

    async def copying(scope: Any, receive: Any, send: Any) -> None:
        del scope["state"]
        await FAQMiddleware(copied, embed=embed)(scope, receive, send)

    async def copied(scope: Any, receive: Any, send: Any) -> None:
        await inner(dict(scope), receive, send)

    assert '<style nonce="x">' in get(copying).text


def test_linked_styles_come_from_the_middleware_that_serves_them() -> None:  # C3
    inner = app_of(held(styles="linked"), '{{ faq("pricing") }}')
    app = FAQMiddleware(Starlette(routes=[Mount("/in", app=inner)]), embed=held())
    assert LINK.replace("/faqsvc/", "/in/faqsvc/") in get(app, "/in/").text
    assert served(app, f"/in/faqsvc/{stylesheet_name()}") == STYLESHEET


def test_two_embeds_share_a_page_and_the_inner_one_is_found_inside() -> None:  # F7, J1
    one, two = slow_embed({"pricing": A}), slow_embed({"pricing": B})
    seen = list[FAQEmbed]()

    async def endpoint(request: Request) -> Response:
        seen.append(faqs_from(request))
        return HTMLResponse(f"{one.render('pricing')}<hr>{two.render('pricing')}")

    async def outside(scope: Any, receive: Any, send: Any) -> None:
        await inner(scope, receive, send)
        seen.append(faqs_from(Request(scope)))

    inner: Callable[..., Awaitable[None]] = FAQMiddleware(Starlette(routes=[Route("/", endpoint)]), embed=two)
    answer = get(FAQMiddleware(outside, embed=one))
    assert answer.text.count("<style>") == answer.text.count("ld+json") == 1
    assert (block(A) in answer.text, script(A, B) in answer.text) == (True, True)
    assert seen == [two, one]


def test_loops_of_several_threads_get_ready_together(monkeypatch: pytest.MonkeyPatch) -> None:
    embed, times = fake_embed(FAQS), list[float]()
    app = app_of(embed, "{{ faq('legal') }}")

    def get_ready() -> None:
        times.append(time.monotonic())
        time.sleep(0.05)

    monkeypatch.setattr(embed, "get_ready", get_ready)
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: get(app).text, range(3)))
    assert (len(set(answers)), len(times)) == (1, 1)


def test_a_page_is_served_by_a_loop_that_is_not_of_asyncio() -> None:
    """Trio's, say: what is held needs nothing of the loop."""
    embed, sent = fake_embed(FAQS), list[Message]()
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string("{{ faq('legal') }}")

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await HTMLResponse(template.render())(scope, receive, send)

    async def receive() -> Message:
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "GET", "path": "/", "headers": []}
    page = FAQMiddleware(app, embed=embed)(scope, receive, send)
    with pytest.raises(StopIteration):
        page.send(None)
    assert [message.get("status", 0) for message in sent] == [200, 0]
    assert sent[1]["body"].decode() == alone(B)
