"""What is one page where there is no request: a rendering, or several that the host joins."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import Any

import pytest
from jinja2 import Environment

from faqsvc_embed import FAQEmbed
from tests.support import pages
from tests.support.pages import A, B, embed
from tests.support.parsed import page_of, summary

TWO = '{% faq "pricing" %}{{ faq("legal") }}'

TEMPLATES = {
    "one": '{% faq "pricing" %}',
    "other": '{{ faq("legal") }}',
    "base": '{{ faq("pricing") }}{% block body %}{% endblock %}{{ faq("pricing") }}',
    "mine": "{% macro show(slug) %}{{ faq(slug) }}{% endmacro %}",
}
MACROS = '{% import "faqsvc/macros.html" as m %}'
SOURCES = {
    "function": '{{ faq("pricing") }}{{ faq("legal") }}{{ faq("pricing") }}',
    "tag": '{% faq "pricing" %}{% faq "legal" %}{% faq "pricing" %}',
    "macro": MACROS + '{{ m.faq("pricing") }}{{ faq("legal") }}{{ m.faq("pricing") }}',
    "loop": '{% for slug in ["pricing", "legal", "pricing"] %}{% faq slug %}{% endfor %}',
    "include": '{% include "one" %}{% include "other" %}{% faq "pricing" %}',
    "extends": '{% extends "base" %}{% block body %}{{ faq("legal") }}{% endblock %}',
    "own macro": "{% macro show(slug) %}{{ faq(slug) }}{% endmacro %}"
    '{{ show("pricing") }}{{ show("legal") }}{{ show("pricing") }}',
    "imported macro": '{% from "mine" import show %}{{ show("pricing") }}{{ show("legal") }}'
    '{% faq "pricing" %}',
    "set": '{% set html %}{{ faq("pricing") }}{% endset %}{{ html }}{{ faq("legal") }}{% faq "pricing" %}',
    "filter": '{% filter indent %}{{ faq("pricing") }}{% endfilter %}{{ faq("legal") }}{% faq "pricing" %}',
}


def environment(faqs: FAQEmbed | None = None, **options: Any) -> Environment:
    return pages.environment(faqs, TEMPLATES, **options)


@pytest.mark.parametrize("enable_async", [False, True])
@pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES.keys())
def test_a_rendering_has_its_styles_once_and_one_faq_page(source: str, enable_async: bool) -> None:
    template = environment(enable_async=enable_async).from_string(source)
    for _ in range(2):  # the next rendering is a page of its own
        assert summary(template.render()) == page_of(A, B, A)


def test_text_of_the_host_stays_byte_for_byte() -> None:
    own = '<style>p {}</style><script type="application/ld+json">{"@type": "FAQPage"}</script>\ud800ä'
    html = environment().from_string(f"{own}{TWO}{own}").render()
    assert html.startswith(own)
    assert html.endswith(own)


def test_themes_and_variants_bring_their_styles_and_the_script_once() -> None:
    teal = 'variant="disclosure", theme={"accentColor": "teal"}'
    source = f'{{% faq "pricing" %}}{{% faq "legal", {teal} %}}{{% faq "pricing", {teal} %}}'
    html = environment().from_string(source).render()
    assert (summary(html).styles, html.count("<script>")) == (2, 1)


def test_a_rendering_that_fails_leaves_nothing_for_the_next() -> None:
    host = environment()
    with pytest.raises(ZeroDivisionError):
        host.from_string(TWO + "{{ 1 // 0 }}").render()
    assert host.from_string(TWO).render() == environment().from_string(TWO).render()


def test_renderings_of_many_threads_do_not_mix() -> None:
    template = environment().from_string(TWO)
    with ThreadPoolExecutor(8) as pool:
        pages = set(pool.map(lambda _: template.render(), range(64)))
    assert [summary(page) for page in pages] == [page_of(A, B)]


def test_renderings_of_many_tasks_do_not_mix() -> None:
    host = environment(enable_async=True)

    async def pause() -> str:
        await asyncio.sleep(0)
        return ""

    host.globals["pause"] = pause
    template = host.from_string('{{ pause() }}{% faq "pricing" %}{{ pause() }}{{ faq("legal") }}')

    async def all_at_once() -> list[str]:
        return await asyncio.gather(*(template.render_async() for _ in range(20)))

    pages = set(asyncio.run(all_at_once()))
    assert [summary(page) for page in pages] == [page_of(A, B)]


def test_a_context_that_was_copied_in_a_rendering_is_outside_of_it_afterwards() -> None:
    faqs = embed()
    host, contexts = environment(faqs), list[Any]()
    host.globals["copy"] = lambda: contexts.append(copy_context()) or ""  # type: ignore[func-returns-value]
    host.from_string("{% faq 'pricing' %}{{ copy() }}").render()
    (context,) = contexts
    for _ in range(2):
        assert summary(context.run(host.from_string(TWO).render)) == page_of(A, B)
        assert summary(context.run(faqs.render, "pricing")) == page_of(A)


def test_a_task_that_began_in_a_rendering_is_outside_of_it_afterwards() -> None:
    faqs = embed()
    host, tasks = environment(faqs, enable_async=True), list[asyncio.Task[str]]()

    async def mail() -> str:
        await asyncio.sleep(0)
        return await faqs.arender("pricing")

    host.globals["start"] = lambda: tasks.append(asyncio.create_task(mail())) or ""  # type: ignore[func-returns-value]

    async def main() -> str:
        await host.from_string("{% faq 'pricing' %}{{ start() }}").render_async()
        return await tasks[0]

    assert summary(asyncio.run(main())) == page_of(A)


def test_a_macro_that_python_calls_prints_complete_faqs() -> None:
    module: Any = environment().get_template("mine").make_module()
    assert [summary(module.show("pricing")) for _ in range(2)] == [page_of(A)] * 2


# Streams


@pytest.mark.parametrize("method", ["generate", "stream"])
@pytest.mark.parametrize("name", ["function", "imported macro"])
def test_a_streamed_rendering_is_what_a_whole_one_is(name: str, method: str) -> None:
    template = environment().from_string(SOURCES[name])
    assert "".join(getattr(template, method)()) == template.render()


@pytest.mark.parametrize("name", ["loop", "imported macro"])
def test_streams_that_are_read_in_turn_do_not_mix(name: str) -> None:
    template = environment().from_string(SOURCES[name])
    streams = [template.generate() for _ in range(3)]
    read = ["".join(parts) for parts in zip(*zip(*streams, strict=True), strict=True)]
    assert read == [template.render()] * 3
    assert summary(read[0]) == page_of(A, B, A)


def test_asynchronous_streams_that_are_read_in_turn_do_not_mix() -> None:
    template = environment(enable_async=True).from_string(SOURCES["imported macro"])

    async def read() -> list[list[str]]:
        streams, parts = [template.generate_async() for _ in range(2)], list[list[str]]()
        async for part in streams[0]:
            parts.append([part, await anext(streams[1])])
        return parts

    first, second = map("".join, zip(*asyncio.run(read()), strict=True))
    assert first == second
    assert summary(first) == page_of(A, B, A)


def test_what_is_rendered_between_the_parts_of_a_stream_is_a_page_of_its_own() -> None:
    template = environment().from_string(SOURCES["loop"])
    stream = template.generate()
    first = next(part for part in stream if "faqsvc" in part)
    assert summary(environment().from_string(TWO).render()) == page_of(A, B)
    assert summary(first + "".join(stream)).styles == 1


@pytest.mark.parametrize("method", ["render", "generate"])
@pytest.mark.parametrize("inner", ["render", "generate"])
def test_a_rendering_within_another_is_complete_if_either_is_streamed(method: str, inner: str) -> None:
    host, mails = environment(), list[str]()
    mail = host.from_string(TWO)
    host.globals["send"] = lambda: mails.append("".join(getattr(mail, inner)())) or ""  # type: ignore[func-returns-value]
    template = host.from_string('{% faq "pricing" %}{{ send() }}{% faq "legal" %}')
    assert summary("".join(getattr(template, method)())) == page_of(A, B)
    assert [summary(mail) for mail in mails] == [page_of(A, B)]


# Joined pages


def test_a_host_joins_renderings_to_one_page() -> None:
    faqs = embed()
    host = environment(faqs)
    for _ in range(2):
        with faqs.page():
            html = host.get_template("one").render()
            html += str(faqs.render("legal", schema=False))
            html += "".join(host.from_string(TWO).generate())
        assert summary(html) == page_of(A, B, A, B)
    assert summary(host.from_string(TWO).render()) == page_of(A, B)


def test_a_joined_page_has_every_question_by_schema() -> None:
    faqs = embed()
    with faqs.page():
        html = f"{faqs.render('pricing', schema=False)}{faqs.render('legal', schema=False)}"
        html += str(faqs.schema(A, B))
    assert summary(html) == page_of(A, B)


def test_joined_pages_can_be_nested_and_the_inner_one_is_of_its_own() -> None:
    faqs = embed()
    with faqs.page():
        outer = faqs.render("pricing")
        with faqs.page():
            assert summary(faqs.render("pricing") + faqs.render("legal", schema=False)).styles == 1
        outer += faqs.render("legal", schema=False)
    assert summary(outer)._replace(faq_pages=[]) == page_of(A, B)._replace(faq_pages=[])


def test_a_joined_page_is_not_that_of_another_thread() -> None:
    faqs, html = embed(), list[str]()
    with faqs.page():
        faqs.render("pricing")
        thread = threading.Thread(target=lambda: html.append(faqs.render("pricing")))
        thread.start()
        thread.join()
    assert summary(html[0]) == page_of(A)


def test_a_context_that_was_copied_in_a_joined_page_is_outside_of_it_afterwards() -> None:
    faqs = embed()
    with faqs.page():
        faqs.render("pricing")
        context = copy_context()
    assert summary(context.run(faqs.render, "pricing")) == page_of(A)


def test_without_a_page_each_call_from_python_is_complete() -> None:
    faqs = embed()
    assert [summary(faqs.render("pricing")) for _ in range(2)] == [page_of(A)] * 2
