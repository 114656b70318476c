"""FAQs in any WSGI application, by FAQMiddleware: plain functions, Falcon, Bottle and Pyramid."""

import asyncio
import gc
import sys
import tracemalloc
import warnings
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextvars import Context, copy_context
from io import BytesIO, StringIO
from typing import Any
from wsgiref.handlers import SimpleHandler
from wsgiref.util import FileWrapper, setup_testing_defaults
from wsgiref.validate import validator

import pytest
from werkzeug.test import Client

from faqsvc_embed import ConfigurationError, FAQEmbed
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.wsgi import FAQMiddleware, faqs_from
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.garbage import own_garbage
from tests.support.pages import FAQS, TWO, A, B, environment
from tests.support.parsed import attributes, nonces, page_of, summary
from tests.support.slow import slow_embed

ONE = '<p>{{ faq("pricing") }}</p>'
HTML = ("Content-Type", "text/html; charset=utf-8")
TEXT = ("Content-Type", "text/plain")

App = Callable[..., Iterable[bytes]]


def app_of(body: Callable[[], Iterable[bytes]], *headers: tuple[str, str], status: str = "200 OK") -> App:
    """Return an application that responds with these headers and a body."""

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response(status, [HTML, *headers])
        return body()

    return app


def page(source: str, embed: FAQEmbed, *headers: tuple[str, str], **options: Any) -> Client:
    """Return a client of an application with one page from a template."""
    template = environment(embed).from_string(source)
    app = app_of(lambda: [template.render().encode()], *headers, **options)
    return Client(FAQMiddleware(app, embed=embed))


def served(app: App, embed: FAQEmbed | None = None) -> tuple[str, bytes]:
    """Return the status and the body that a server sends, and check what it and the application get."""
    environ: dict[str, Any] = {"QUERY_STRING": ""}
    setup_testing_defaults(environ)
    wrapped, out = FAQMiddleware(validator(app), embed=embed or fake_embed(FAQS)), BytesIO()
    SimpleHandler(BytesIO(), out, StringIO(), environ).run(validator(wrapped))
    head, _, body = out.getvalue().partition(b"\r\n\r\n")
    return head.decode().partition("\r\n")[0].partition(" ")[2], body


# Frameworks


def plain(source: str, embed: FAQEmbed) -> Any:
    template = environment(embed).from_string(source)
    return validator(app_of(lambda: [template.render().encode()]))


def falcon(source: str, embed: FAQEmbed) -> Any:
    import falcon

    class Home:
        def on_get(self, request: Any, response: Any) -> None:
            response.content_type = falcon.MEDIA_HTML
            response.text = template.render()

    template, app = environment(embed).from_string(source), falcon.App()
    app.add_route("/", Home())
    return app


def bottle(source: str, embed: FAQEmbed) -> Any:
    import bottle

    template, app = environment(embed).from_string(source), bottle.Bottle()
    app.route("/")(template.render)
    return app


def pyramid(source: str, embed: FAQEmbed) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of the modules that it imports
        from pyramid.config import Configurator
        from pyramid.response import Response

    template = environment(embed).from_string(source)
    with Configurator() as config:
        config.add_route("home", "/")
        config.add_view(lambda request: Response(template.render()), route_name="home")
        return config.make_wsgi_app()


def asynchronous(source: str, embed: FAQEmbed) -> Any:
    made = environment(embed, enable_async=True)
    template = made.from_string(source)
    return app_of(lambda: [asyncio.run(template.render_async()).encode()])


@pytest.mark.parametrize("make", [fake_embed, slow_embed])
@pytest.mark.parametrize("host", [plain, falcon, bottle, pyramid, asynchronous])
def test_a_page_of_any_host_is_as_in_plain_jinja(host: Any, make: Any) -> None:
    embed = make(FAQS)
    if host in (falcon, bottle, pyramid):
        pytest.importorskip(host.__name__)
    for source in (ONE, TWO):
        response = Client(FAQMiddleware(host(source, embed), embed=embed)).get("/", buffered=True)
        assert response.text == environment(fake_embed(FAQS)).from_string(source).render()


# The interface of WSGI


def test_the_middleware_keeps_to_the_specification() -> None:  # PEP 3333
    embed = fake_embed(FAQS, styles="linked")
    app = validator(FAQMiddleware(plain(TWO, embed), embed=embed))
    html = Client(app).get("/", buffered=True).text
    for link in attributes(html, "link", "href"):
        assert Client(app).get(str(link), buffered=True).status_code == 200


@pytest.mark.parametrize("how", ["a list", "a generator", "a length", "a lazy start"])
def test_every_form_of_a_body_passes_as_it_is(how: str) -> None:  # PEP 3333
    embed = fake_embed(FAQS)
    template = environment(embed).from_string(TWO)

    def parts() -> Iterator[bytes]:
        yield b"<h1></h1>"
        yield from map(str.encode, template.generate())

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        if how == "a lazy start":
            return lazy(start_response)
        if how == "a length":
            body = list(parts())
            start_response("200 OK", [HTML, ("Content-Length", str(sum(map(len, body))))])
            return iter(body)
        start_response("200 OK", [HTML])
        return parts() if how == "a generator" else list(parts())

    def lazy(start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [HTML])
        yield from parts()

    response = Client(FAQMiddleware(app, embed=embed)).get("/", buffered=True)
    assert response.text == f"<h1></h1>{template.render()}"
    assert response.content_length == (len(response.data) if how == "a length" else None)


@pytest.mark.parametrize("count", [1, 10])
@pytest.mark.parametrize("kind", [list, tuple, FileWrapper, iter])
def test_a_body_and_its_headers_are_those_of_the_application(kind: Any, count: int) -> None:  # I9
    embed = fake_embed({f"faq{n}": A for n in range(count)})
    template = environment(embed).from_string("".join(f'{{{{ faq("faq{n}") }}}}' for n in range(count)))
    html = template.render().encode()
    given = kind(BytesIO(html) if kind is FileWrapper else [html])
    headers = [HTML, ("Content-Length", str(len(html))), ("ETag", '"x"'), ("Content-Encoding", "identity")]

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        template.render()
        start_response("200 OK", headers)
        return given  # type: ignore[no-any-return]

    started = list[Any]()
    environ = {"wsgi.file_wrapper": FileWrapper, "HTTP_ACCEPT_LANGUAGE": "de"}
    body = FAQMiddleware(app, embed=embed)(environ, lambda *start: started.append(start))  # type: ignore[arg-type]
    if kind is iter:  # it may be wrapped, but its parts are the same objects
        assert [part is html for part in body] == [True]
        body.close()  # type: ignore[attr-defined]
    else:
        assert body is given
    assert started == [("200 OK", [*headers, ("Vary", "Accept-Language")])]


@pytest.mark.parametrize("is_page", [False, True])
def test_a_file_wrapper_may_be_a_function(is_page: bool) -> None:  # PEP 3333; uWSGI has one
    embed, file = fake_embed(FAQS), BytesIO(b"%PDF")
    template = environment(embed).from_string(TWO)

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [HTML])
        return [template.render().encode()] if is_page else environ["wsgi.file_wrapper"](file)

    environ = {"wsgi.file_wrapper": lambda file, _=0: file}
    body = FAQMiddleware(app, embed=embed)(environ, lambda *_: None)  # type: ignore[arg-type]
    assert body == [template.render().encode()] if is_page else body is file


def test_an_error_page_replaces_the_start_of_a_page() -> None:  # PEP 3333, I3
    embed = fake_embed(FAQS)
    template = environment(embed).from_string(TWO)

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        start_response("200 OK", [HTML])
        try:
            template.render()
            raise KeyError
        except KeyError:
            start_response("500 Internal Server Error", [HTML], sys.exc_info())
            return [template.render().encode()]

    response = Client(FAQMiddleware(app, embed=embed)).get("/", buffered=True)
    assert (response.status_code, response.text) == (500, template.render())


def test_an_error_after_a_part_was_sent_is_raised() -> None:  # PEP 3333
    def app(environ: Any, start_response: Any) -> Iterator[bytes]:
        start_response("200 OK", [HTML])
        yield b"half"
        try:
            raise KeyError
        except KeyError:
            start_response("500 Internal Server Error", [HTML], sys.exc_info())
        yield b"error page"

    assert served(app) == ("200 OK", b"half")


def test_an_exception_passes_and_the_next_page_is_as_ever() -> None:
    embed, failing = fake_embed(FAQS), [True]
    template = environment(embed).from_string(TWO)

    def body() -> Iterable[bytes]:
        html = template.render()
        if failing.pop() if failing else False:
            raise KeyError
        return [html.encode()]

    client = Client(FAQMiddleware(app_of(body), embed=embed))
    with pytest.raises(KeyError):
        client.get("/", buffered=True)
    assert summary(client.get("/", buffered=True).data) == page_of(A, B)


class Body:
    """A body that counts how often it is closed."""

    def __init__(self, parts: Iterable[bytes]) -> None:
        self.parts = parts
        self.closed = 0

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.parts)

    def close(self) -> None:
        self.closed += 1


@pytest.mark.parametrize("headers", [[], [("Content-Length", "2")]], ids=["streamed", "whole"])
def test_the_body_of_the_host_is_closed_once(headers: list[tuple[str, str]]) -> None:  # PEP 3333
    body = Body([b"a", b"b"])
    response = Client(FAQMiddleware(app_of(lambda: body, *headers), embed=fake_embed(FAQS))).get(
        "/", buffered=True
    )
    response.close()
    assert (response.data, body.closed) == (b"ab", 1)


@pytest.mark.parametrize("headers", [[HTML], [HTML, ("Content-Length", "4")], [TEXT]])
@pytest.mark.parametrize("before", [b"", b"a"], ids=["", "before the body"])
def test_what_is_written_is_sent_where_it_was_written(headers: Any, before: bytes) -> None:  # PEP 3333
    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        write = start_response("200 OK", headers)
        if before:
            write(before)
        return body(write)

    def body(write: Callable[[bytes], object]) -> Iterator[bytes]:
        if not before:
            yield b"a"
        write(b"b")
        yield b"c"
        write(b"d")

    assert served(app) == ("200 OK", b"abcd")


# Pages


def test_a_middleware_within_another_prints_on_the_same_page() -> None:
    embed = fake_embed(FAQS)
    template = environment(embed).from_string(ONE)
    inner = FAQMiddleware(app_of(lambda: [template.render().encode()]), embed=embed)

    def outer(environ: Any, start_response: Any) -> Iterable[bytes]:
        return [*inner(environ, start_response), str(embed.render("legal")).encode()]

    response = Client(FAQMiddleware(outer, embed=embed)).get("/", buffered=True)
    assert summary(response.data) == page_of(A, B)._replace(styles=2)


@pytest.mark.parametrize("how", ["a list", "a generator", "an exception"])
def test_a_middleware_within_another_has_an_embed_of_its_own(how: str) -> None:
    one, other, found = fake_embed(FAQS), fake_embed(FAQS), list[FAQEmbed]()

    def inner(environ: Any, start_response: Any) -> Iterable[bytes]:
        return lazy(environ, start_response) if how == "a generator" else [*lazy(environ, start_response)]

    def lazy(environ: Any, start_response: Any) -> Iterator[bytes]:
        found.append(faqs_from(environ))
        if how == "an exception":
            raise KeyError
        start_response("200 OK", [HTML])
        yield b""

    def outer(environ: Any, start_response: Any) -> Iterable[bytes]:
        try:
            return FAQMiddleware(inner, embed=other)(environ, start_response)
        except KeyError:
            start_response("500 Internal Server Error", [HTML])
            return []
        finally:
            if how != "a generator":
                found.append(faqs_from(environ))

    Client(FAQMiddleware(outer, embed=one)).get("/", buffered=True)
    assert found == ([other] if how == "a generator" else [other, one])


@pytest.mark.parametrize("kind", [list, iter], ids=["whole", "streamed"])
def test_a_context_that_was_copied_in_a_request_is_outside_of_its_page_afterwards(kind: Any) -> None:
    contexts, embed = list[Context](), fake_embed(FAQS)

    def parts() -> Iterator[bytes]:
        contexts.append(copy_context())
        yield embed.render("pricing").encode()

    client = Client(FAQMiddleware(app_of(lambda: kind(parts())), embed=embed))
    response = client.get("/", buffered=True, environ_base={"faqsvc.csp_nonce": "x"})
    response.close()
    assert nonces(response.data) == ["x"] * 2
    with ThreadPoolExecutor(1) as pool:  # I4, I14
        html = pool.submit(contexts[0].run, embed.render, "pricing").result()
    assert (summary(html), nonces(html)) == (page_of(A), [None] * 2)


@pytest.mark.parametrize("query", ["", "?faq_preview=pppppppp"], ids=["published", "preview"])
def test_a_streamed_response_leaves_no_reference_cycle(query: str) -> None:  # I14
    embed = fake_embed(FAQS)
    template = environment(embed).from_string(TWO)
    client = Client(FAQMiddleware(app_of(lambda: map(str.encode, template.generate())), embed=embed))
    assert own_garbage(lambda: client.get(f"/{query}", buffered=True)) == []


# Headers


@pytest.mark.parametrize("present", [(), (("Vary", "Cookie"),)])
@pytest.mark.parametrize("kind", [list, iter], ids=["whole", "streamed"])
def test_a_page_in_the_visitors_language_says_so(kind: Any, present: Any, faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())

    def parts() -> Iterator[bytes]:
        yield embed.render("pricing").encode()

    with FAQEmbed(faulty.base_url, wait=5) as embed:
        client = Client(FAQMiddleware(app_of(lambda: kind(parts()), *present), embed=embed))
        response = client.get("/", buffered=True, headers={"Accept-Language": "ko"})
    assert [request.lang for request in faulty.log] == ["ko"]
    assert response.headers["Vary"] == ("Cookie, Accept-Language" if present else "Accept-Language")


def test_long_headers_of_visitors_do_not_fill_the_memory() -> None:
    client = page(ONE, fake_embed(FAQS))
    tracemalloc.start()
    for number in range(50):
        client.get("/", headers={"Accept-Language": f"{number}," + 20_000 * "x,"})
    gc.collect()  # the client's
    kept, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert kept < 1_000_000


def test_the_host_names_the_language_and_the_nonce_in_the_environment(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    settings: dict[str, Any] = {"faqsvc.lang": "de_CH", "faqsvc.csp_nonce": lambda: "n"}
    with FAQEmbed(faulty.base_url, wait=5) as embed:
        response = page(ONE, embed).get("/", environ_base=settings, headers={"Accept-Language": "ko"})
    assert [request.lang for request in faulty.log] == ["de"]
    assert set(nonces(response.data)) == {"n"}
    assert "Vary" not in response.headers


def test_files_are_served_below_the_path_of_the_application() -> None:
    client = page(ONE, fake_embed(FAQS, styles="linked"))
    (link,) = attributes(client.get("/", base_url="http://host/shop").data, "link", "href")
    assert str(link).startswith("/shop/faqsvc/")
    response = client.get(str(link).removeprefix("/shop"))
    assert (response.mimetype, "immutable" in response.headers["Cache-Control"]) == ("text/css", True)
    assert client.get("/faqsvc/other.css").mimetype == "text/html"  # the application's own


# The middleware


def test_the_embed_of_a_request_is_found() -> None:
    embed, found = fake_embed(FAQS), list[FAQEmbed]()

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        found.append(faqs_from(environ))
        start_response("200 OK", [HTML])
        return []

    Client(FAQMiddleware(FAQMiddleware(app, embed=embed), embed=embed)).get("/", buffered=True)
    assert found == [embed]
    with pytest.raises(ConfigurationError):
        faqs_from({})


@pytest.mark.parametrize("written", [0, 40, 10_000_000])
def test_a_preview_of_an_application_that_writes_states_no_length_that_is_wrong(written: int) -> None:
    embed = fake_embed({"faq": A})
    template = environment(embed).from_string("<p>The host's words</p>{{ faq('faq') }}")

    def app(environ: Any, start_response: Any) -> Iterable[bytes]:
        body = template.render().encode()
        write = start_response("200 OK", [HTML, ("Content-Length", str(len(body)))])
        for at in range(0, min(written, len(body)), 7):  # placeholders are cut in two
            write(body[at : min(at + 7, written)])
        return [body[written:]]

    response = Client(FAQMiddleware(app, embed=embed)).get("/?faq_preview=12345678")
    assert "Content-Length" not in response.headers
    assert "<p>The host's words</p>" in response.text
    assert "<!--faqsvc" not in response.text
