"""A page is one FAQPage with each question once, as a processor of JSON-LD 1.1 reads it.

The pages of other hosts have the same bytes (`test_conformance.py`).
"""

import json
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final

import pytest
import turbohtml
from flask import render_template_string
from pyld import jsonld

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.pages import environment, flask_app
from tests.support.slow import slow_embed

ADDRESS: Final = "https://shop.example/prices"
CONTEXT: Final = Path(__file__).parent / "schema_org_context.json"


def graph(html: str | bytes) -> list[dict[str, Any]]:
    """Return all nodes of the scripts of a page, read together; nodes with one `@id` are one."""
    scripts = turbohtml.parse(html).select('script[type="application/ld+json"]')
    options = {"base": ADDRESS, "documentLoader": _load}
    expanded = list[Any]()
    for number, script in enumerate(scripts):
        # A blank node of one script is not that of another.
        nodes = jsonld.expand(json.loads(script.text), options)
        expanded += json.loads(
            json.dumps(jsonld.flatten(nodes, None, options)).replace('"_:', f'"_:script{number}-')
        )
    flattened: list[dict[str, Any]] = jsonld.flatten(expanded, None, options)
    return flattened


def of_type(nodes: list[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a type of schema.org."""
    return (node for node in nodes if f"http://schema.org/{name}" in node.get("@type", ()))


def values(node: dict[str, Any], name: str) -> list[str]:
    """Return the texts, or the ids of the nodes, that a property has."""
    return [value.get("@value", value.get("@id")) for value in node.get(f"http://schema.org/{name}", ())]


def _load(url: str, options: object) -> dict[str, Any]:
    assert url.rstrip("/") == "https://schema.org", url
    context = json.loads(CONTEXT.read_text(encoding="utf-8"))
    return {"contentType": "application/ld+json", "contextUrl": None, "documentUrl": url, "document": context}


FAQS: Final = {
    slug: FAQ.from_dict(
        samples.record(slug, (f"What is {slug}?", f"It is {slug}."), ("May I return it?", f"Yes, {slug}."))
    )
    for slug in (f"faq{n}" for n in range(20))
}
FAQS["twice"] = FAQ.from_dict(samples.record("twice", ("Why?", "So."), ("Why?", "Not so."), ("How?", "So.")))
FAQS["markdown"] = FAQ.from_dict(
    {**samples.record("markdown", ("Why?", "# So\n\n*It* is.")), "answerFormat": "markdown"}
)

Host = Callable[[str, FAQEmbed], str]


def jinja(source: str, embed: FAQEmbed) -> str:
    return environment(embed).from_string(source).render()


def jinja_stream(source: str, embed: FAQEmbed) -> str:
    return "".join(environment(embed).from_string(source).generate())


def flask_after_a_mail(source: str, embed: FAQEmbed) -> str:
    def view() -> str:
        render_template_string(source)
        return render_template_string(source)

    return flask_app(view, embed).test_client().get("/").text


hosts = pytest.mark.parametrize("host", [jinja, jinja_stream, flask_after_a_mail])
TWENTY: Final = [f"faq{n}" for n in range(20)]


def assert_one_faq_page(html: str, faqs: Sequence[FAQ], *, with_ids: bool = True) -> None:
    """Check the graph of a page that shows these FAQs, each of which counts once."""
    nodes = graph(html)
    (page,) = of_type(nodes, "FAQPage")
    questions = {node["@id"]: node for node in of_type(nodes, "Question")}
    assert sorted(values(page, "mainEntity")) == sorted(questions)
    answers = {node["@id"]: node for node in of_type(nodes, "Answer")}
    found = list[tuple[str, str, str]]()
    elements = {f"{ADDRESS}#{element.attrs['id']}" for element in turbohtml.parse(html).select("[id]")}
    for identity, question in questions.items():
        ((name,), (lang,), (answer,)) = (
            values(question, prop) for prop in ("name", "inLanguage", "acceptedAnswer")
        )
        (text,) = values(answers[answer], "text")
        found.append((name, text, lang))
        if with_ids:
            assert identity in elements
            assert answer == f"{identity}-answer"
    expected = list[tuple[str, str, str]]()
    for faq in faqs:
        first = {item.question: item.answer for item in reversed(faq.items)}
        expected += [(question, answer, faq.lang or "") for question, answer in first.items()]
    assert sorted(found) == sorted(expected)


def source_of(slugs: Sequence[str]) -> str:
    return "<hr>".join(f'{{{{ faq("{slug}") }}}}' for slug in slugs)


@hosts
@pytest.mark.parametrize(
    "slugs", [["faq0"], ["faq0", "faq1"], TWENTY, ["faq0"] * 2, ["twice", "faq3", "twice"]]
)
@pytest.mark.parametrize("make", [fake_embed, slow_embed], ids=["cached", "uncached"])
def test_a_page_is_one_faq_page(host: Host, slugs: list[str], make: Any) -> None:
    html = host(source_of(slugs), make(FAQS))
    assert_one_faq_page(html, [FAQS[slug] for slug in dict.fromkeys(slugs)])


@hosts
def test_one_script_for_all_is_the_same_faq_page(host: Host) -> None:
    source = '{{ faq("faq0", schema=false) }}{{ faq("faq1", schema=false) }}{{ faq("faq0", schema=false) }}'
    html = host(source + "{{ faq_schema() }}", fake_embed(FAQS))
    assert html.count("application/ld+json") == 1
    assert_one_faq_page(html, [FAQS["faq0"], FAQS["faq1"]])


def test_markup_of_the_host_is_marked_up_once_without_ids() -> None:
    source = '{% set state = use_faq("faq0") %}{{ state.data.title }}{{ faq_schema() }}'
    assert_one_faq_page(jinja(source, fake_embed(FAQS)), [FAQS["faq0"]], with_ids=False)
    source = '{% if use_faq("faq0").data %}{{ faq("faq0") }}{% endif %}{{ faq_schema() }}'
    assert_one_faq_page(jinja(source, fake_embed(FAQS)), [FAQS["faq0"]])


def test_a_translation_is_not_a_copy(faulty: FaultyServer) -> None:
    texts = {"en": ("FAQ?", "Yes."), "de": ("FAQ?", "Ja.")}
    records = {lang: samples.record("faq", pair, lang=lang) for lang, pair in texts.items()}
    for lang, record in records.items():
        faulty.serve(record, lang=lang)
    with FAQEmbed(faulty.base_url, wait=20, push=False) as embed:
        html = jinja('{{ faq("faq", "en") }}{{ faq("faq", "de") }}{{ faq("faq", "en") }}', embed)
    assert_one_faq_page(html, [FAQ.from_dict(record) for record in records.values()])


def test_a_part_that_the_host_has_cached_is_on_the_same_faq_page() -> None:
    embed = fake_embed(FAQS)
    parts = [jinja(source_of([slug]), embed) for slug in ("faq0", "faq1", "faq0")]
    html = jinja("{{ part }}{{ faq('faq2') }}".replace("{{ part }}", "".join(parts)), embed)
    nodes = graph(html)
    assert len(list(of_type(nodes, "FAQPage"))) == 1
    assert len(list(of_type(nodes, "Question"))) == 6


def test_copies_with_other_options_have_one_answer() -> None:
    source = (
        '{{ faq("markdown") }}{{ faq("markdown", heading_level=4) }}{{ faq("markdown", heading_level=none) }}'
    )
    nodes = graph(jinja(source, fake_embed(FAQS)))
    (answer,) = of_type(nodes, "Answer")
    assert len(values(answer, "text")) == 1
