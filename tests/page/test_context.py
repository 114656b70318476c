"""The page of a response: which one is current, and what it keeps."""

from contextvars import copy_context

import pytest

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.page.context import Page, enter_request, joined_context, leave_request, request_page
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.parsed import page_of, summary

A = FAQ.from_dict(samples.pricing())


def embed() -> FAQEmbed:
    return fake_embed({"pricing": A})


def test_pages_of_requests_are_entered_and_left_within_each_other() -> None:
    outer, inner = Page(), Page()
    assert request_page() is None
    first = enter_request(outer)
    second = enter_request(inner)
    assert request_page() is inner
    leave_request(second)
    assert request_page() is outer
    leave_request(first)
    assert request_page() is None


def test_a_page_is_not_current_after_its_response_was_sent() -> None:
    token = enter_request(page := Page())
    context = copy_context()
    page.is_over = True
    leave_request(token)
    assert context.run(request_page) is None
    assert [summary(context.run(embed().render, "pricing")) for _ in range(2)] == [page_of(A)] * 2


def test_the_page_of_a_request_beats_a_joined_page() -> None:
    faqs = embed()
    with joined_context():
        token = enter_request(page := Page())
        try:
            faqs.render("pricing")
        finally:
            leave_request(token)
        assert len(page.printed) == 1
        assert summary(faqs.render("pricing")) == page_of(A)


def test_faqs_of_one_slug_are_counted() -> None:
    page = Page()
    assert [page.next_ordinal(slug) for slug in ("a", "b", "a", "a")] == [1, 1, 2, 3]
    assert Page().next_ordinal("a") == 1


@pytest.mark.parametrize(("limits", "expected"), [((), None), ((20,), 20), ((20, 5, 60), 5), ((0, 5), 0)])
def test_the_shortest_limit_of_a_page_counts(limits: tuple[int, ...], expected: int | None) -> None:
    page = Page()
    for limit in limits:
        page.limit_max_age(limit)
    assert page.max_age == expected


def test_the_text_of_a_page_with_one_faq_stays_the_object_that_it_is() -> None:
    page = Page()
    token = enter_request(page)
    html = str(embed().render("pricing"))
    assert page.complete(html) is html
    html += str(embed().render("pricing"))
    assert summary(page.complete(html)) == page_of(A, A)
    leave_request(token)


def test_the_repr_of_a_page_does_not_show_what_it_refers_to() -> None:
    page = Page(folder="secret")
    assert "secret" not in repr(page)


def test_pages_do_not_share_what_they_keep() -> None:
    faqs, pages = embed(), [Page(), Page()]
    for page in pages:
        token = enter_request(page)
        faqs.use_faq("pricing")
        faqs.render("pricing", schema=False)
        leave_request(token)
    assert [(len(page.printed), len(page.states), len(page.take_deferred())) for page in pages] == [
        (1, 1, 1)
    ] * 2
    assert pages[0].take_deferred() == []
