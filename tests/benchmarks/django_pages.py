"""A Django page with a cached FAQ, against the same page with the same text typed into its template."""

from collections.abc import Callable, Iterator
from functools import partial
from io import BytesIO
from typing import Any

from django.core.handlers.wsgi import WSGIHandler
from django.http import HttpRequest, HttpResponse
from django.template import engines

from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import COUNTS, HEAD, SLUG, TAIL, VALUES, record
from tests.benchmarks.sidebyside import calling, compare
from tests.benchmarks.tables import Table
from tests.support import django_project

ONE, TWO = '{% faq "pricing" %}', '{% faq "pricing" %}{% faq "second" %}'


def django_pages() -> Iterator[Table]:
    """Measure whole requests of Django in process."""
    for count in COUNTS:
        embed = fake_embed({slug: record(count, slug) for slug in (SLUG, "second")})
        typed = {name: _verbatim(str(embed.render(SLUG)), times) for name, times in (("one", 1), ("two", 2))}
        sources = {
            "typed": typed["one"],
            "faq": ONE,
            "typed-twice": typed["two"],
            "two-faqs": TWO,
        }
        pages = {name: engines["django"].from_string(_page(source)) for name, source in sources.items()}

        def view(asked: HttpRequest, kind: str, pages: dict[str, Any] = pages) -> HttpResponse:
            return HttpResponse(pages[kind].render(dict(VALUES), asked))

        with django_project.project(view, embed):
            handler = WSGIHandler()
            contestants: dict[str, Callable[[], object]] = {
                name: partial(request, handler, name) for name in sources
            }
            yield compare(
                f"Django: a whole request in process, {count} questions",
                {name: calling(call) for name, call in contestants.items()},
                notes=("goal: {% faq %} at most 1.30 with 20 questions, 1.15 with 200",),
            )


def _page(source: str) -> str:
    return "{% load faqsvc %}" + HEAD + source + TAIL


def _verbatim(html: str, times: int) -> str:
    return "{% verbatim %}" + html * times + "{% endverbatim %}"


def _start(status: str, headers: list[tuple[str, str]], error: Any = None) -> Callable[[bytes], object]:
    return bytes


def request(handler: WSGIHandler, kind: str) -> bytes:
    environ = {
        "REQUEST_METHOD": "GET",
        "PATH_INFO": f"/{kind}",
        "SERVER_NAME": "host.test",
        "SERVER_PORT": "80",
        "wsgi.input": BytesIO(),
        "wsgi.url_scheme": "http",
        "HTTP_ACCEPT_LANGUAGE": "de-CH,de;q=0.9,en;q=0.8",
    }
    response = handler(environ, _start)
    body = b"".join(response)
    response.close()
    return body
