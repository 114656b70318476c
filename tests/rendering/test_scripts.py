"""The script of a page of several FAQs is made once, as long as it shows the same ones."""

import pytest
from jinja2 import Environment

from faqsvc_embed import FAQ, Item
from faqsvc_embed.jinja import install
from faqsvc_embed.rendering import renderer as rendering
from faqsvc_embed.rendering import scripts
from faqsvc_embed.runtime.steps import Steps, finished
from faqsvc_embed.testing import fake_embed
from tests.support.blocks import script


def faq(slug: str, answer: str = "Yes.") -> FAQ:
    return FAQ(slug, lang="en", items=(Item(0, f"Is it {slug}?", answer),))


A, B = faq("a"), faq("b")


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[tuple[FAQ, ...]]:
    """Which FAQs were marked up together, each time."""
    made, script_steps = list[tuple[FAQ, ...]](), rendering.script_steps

    def noting(faqs: tuple[FAQ, ...], nonce: str | None = None) -> Steps[str]:
        made.append(tuple(faqs))
        return script_steps(faqs, nonce)

    monkeypatch.setattr(scripts, "_made", {})
    monkeypatch.setattr(scripts, "script_steps", noting)
    return made


def test_the_same_faqs_are_marked_up_once_whatever_the_nonce(made: list[tuple[FAQ, ...]]) -> None:  # J15
    nonces = [None, "x", 'a"b', None]
    assert [finished(scripts.page_script((A, B), nonce)) for nonce in nonces] == [
        script(A, B),
        script(A, B, nonce=' nonce="x"'),
        script(A, B, nonce=' nonce="a&#34;b"'),
        script(A, B),
    ]
    assert made == [(A, B)]


def test_other_faqs_another_order_and_another_version_are_another_script(made: list[tuple[FAQ, ...]]) -> None:
    together = [(A, B), (B, A), (A,), (A, faq("b", "No.")), (A, B)]
    assert [finished(scripts.page_script(faqs)) for faqs in together] == [script(*faqs) for faqs in together]
    assert len(made) == 4


def test_what_is_remembered_is_bounded_in_number_and_in_length(made: list[tuple[FAQ, ...]]) -> None:  # K16
    long = faq("long", "x" * scripts.LONGEST)
    for _ in range(2):
        assert finished(scripts.page_script((A, long))) == script(A, long)
    assert len(made) == 2
    for number in range(3 * scripts.MOST):
        finished(scripts.page_script((A, faq(str(number)))))
        assert len(scripts._made) <= scripts.MOST


def test_faqs_without_a_question_have_no_script(made: list[tuple[FAQ, ...]]) -> None:  # J5, J16
    for _ in range(2):
        assert finished(scripts.page_script((FAQ("a"), FAQ("b")), "x")) == ""


@pytest.mark.parametrize("answer_format", ["text", "markdown"])
def test_pages_with_markup_of_the_hosts_share_a_script(
    answer_format: str, made: list[tuple[FAQ, ...]]
) -> None:  # J15, K16
    host = Environment(autoescape=True)
    install(host, fake_embed({"a": A, "b": B}, answer_format=answer_format))
    page = host.from_string("{% set a, b = use_faq('a'), use_faq('b') %}{{ faq_schema() }}")
    assert len({page.render() for _ in range(3)}) == 1
    assert len(made) == len(scripts._made) == 1
