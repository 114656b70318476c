"""`render`, `arender` and `schema` of the facade."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from markupsafe import Markup

from faqsvc_embed import (
    FAQ,
    ConfigurationError,
    FAQEmbed,
    FAQError,
    FAQNotFound,
    FAQUnavailable,
    InvalidFAQ,
)
from faqsvc_embed.page.page import REQUEST, Page
from faqsvc_embed.testing import fake_embed
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.pages import A, B, embed, environment, renders
from tests.support.parsed import faq_pages, json_ld, nodes_of, nonces, page_of, summary, text_of

Render = Callable[..., Markup]


def with_template(embed: FAQEmbed, source: str, **variables: object) -> None:
    """Let the host override the template of FAQs."""
    environment(embed, {"faqsvc/faq.html": source}).globals.update(variables)


@renders
def test_an_faq_is_rendered_with_its_styles_answers_and_json_ld(render: Render) -> None:
    html = render(embed(), "pricing")
    assert isinstance(html, Markup)
    assert summary(html) == page_of(A)
    assert faq_pages(html) == [nodes_of(A)]
    assert text_of(html, ".faqsvc-title") == ["Pricing"]
    assert [" ".join(text.split()) for text in text_of(html, ".faqsvc-answer")] == [
        " ".join(item.answer.split()) for item in A.items
    ]


@renders
def test_a_record_is_rendered_as_its_slug_is_and_nothing_is_fetched(render: Render) -> None:
    faqs = FAQEmbed("http://127.0.0.1:1")
    assert render(faqs, A) == render(embed(), "pricing")
    assert faqs.health() == []
    assert not faqs.reader.fetcher.is_fetching()


@renders
@pytest.mark.parametrize("faq", [FAQ("empty"), FAQ.from_dict(samples.record("blank", ("Why?", " ")))])
def test_a_record_without_answers_prints_nothing(render: Render, faq: FAQ) -> None:
    assert render(fake_embed({faq.slug: faq}), faq) == ""
    assert render(fake_embed({faq.slug: faq}), faq.slug) == ""


@renders
@pytest.mark.parametrize(
    ("behaviour", "kind"),
    [
        (behaviours.status(404), FAQNotFound),
        (behaviours.status(410), FAQNotFound),
        (behaviours.status(500), FAQUnavailable),
        (behaviours.body(b"[]"), InvalidFAQ),
        (behaviours.hang, FAQUnavailable),
    ],
    ids=["404", "410", "500", "no record", "hang"],
)
def test_an_faq_that_cannot_be_had_prints_nothing_and_raises_if_strict(
    render: Render, faulty: FaultyServer, behaviour: behaviours.Behaviour, kind: type[FAQError]
) -> None:
    faulty.behave(behaviour)
    seconds = 0.1 if behaviour is behaviours.hang else 5
    with FAQEmbed(faulty.base_url, wait=seconds, timeout=seconds) as faqs:
        assert render(faqs, "pricing") == ""
    with FAQEmbed(faulty.base_url, wait=seconds, timeout=seconds, strict=True) as strict:
        with pytest.raises(kind):
            render(strict, "pricing")
        assert strict.use_faq("pricing").data is None  # the hook does not raise for what the service does


@renders
def test_a_problem_is_visible_in_development_and_escaped(render: Render) -> None:
    class DevelopmentPage(Page):
        shows_problems = True

    token = REQUEST.set(DevelopmentPage())
    html = render(embed(), "<script>")
    REQUEST.reset(token)
    assert text_of(html, "script") == []
    (problem,) = text_of(html, ".faqsvc-problem")
    assert "<script>" in problem


@renders
def test_a_broken_template_costs_the_faq_and_not_the_page(
    render: Render, caplog: pytest.LogCaptureFixture
) -> None:
    faqs = embed()
    with_template(faqs, "{{ 1 / 0 }}")
    assert [render(faqs, "pricing") for _ in range(3)] == [""] * 3
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    strict = fake_embed({"pricing": A}, strict=True)
    with_template(strict, "{{ 1 / 0 }}")
    with pytest.raises(ZeroDivisionError):
        render(strict, "pricing")


def test_schema_is_one_script_for_all_records() -> None:
    faqs = embed()
    html = faqs.schema(A, B, A)
    assert isinstance(html, Markup)
    assert summary(html) == page_of(A, B)._replace(faqs=[], styles=0)
    assert nonces(faqs.schema(A, nonce="n")) == ["n"]
    assert faqs.schema() == faqs.schema(FAQ("empty")) == ""


def test_schema_leaves_out_what_could_not_be_read() -> None:
    faqs = embed()
    missing = faqs.use_faq("unknown")
    assert faqs.schema(missing.data, A, missing) == faqs.schema(A)
    assert faqs.schema(faqs.use_faq("pricing"), B) == faqs.schema(A, B)
    assert faqs.schema(missing) == ""


@pytest.mark.parametrize("wrong", ["pricing", 5, [A], {}])
def test_schema_refuses_what_is_no_faq(wrong: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"schema\(\)"):
        embed().schema(wrong)


def test_schema_is_for_what_was_rendered_without_it() -> None:
    faqs = embed()
    assert summary(faqs.render("pricing", schema=False) + faqs.schema(A)) == page_of(A)


@renders
def test_a_setting_leaves_json_ld_out_and_an_argument_beats_it(render: Render) -> None:
    faqs = fake_embed({"pricing": A}, schema=False)
    assert not json_ld(render(faqs, "pricing"))
    assert json_ld(render(faqs, "pricing", schema=True))


def test_csp_sources_has_the_hashes_of_inline_elements_by_directive() -> None:
    faqs = fake_embed({"pricing": A}, variant="disclosure", styles="inline")
    html = faqs.render("pricing", theme={"accentColor": "#123456"})
    hashes = faqs.csp_sources(html)
    assert hashes == faqs.csp_sources(f"<!doctype html><style>p {{}}</style>{html}")
    assert all(value.startswith("'sha256-") for values in hashes.values() for value in values)
    assert len(hashes["style-src"]) >= 1
    json.dumps(hashes)
