"""The body of a response as it passes, cut anywhere: FAQs are filled in, all else stays byte for byte."""

import asyncio
import weakref
from collections.abc import Callable, Mapping, Sequence

import html5lib
import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.page.body import BodyFilter
from faqsvc_embed.page.context import Page, enter_request, leave_request
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.parsed import json_ld, page_of, summary
from tests.support.slow import slow_embed

A = FAQ.from_dict(samples.pricing())
B = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“ & <du>."), title="Legal"))
FAQS = {"pricing": A, "legal": B}

Make = Callable[..., FAQEmbed]


def cached_embed(faqs: Mapping[str, FAQ]) -> FAQEmbed:
    embed = fake_embed(faqs)
    for slug in faqs:
        embed.render(slug)  # the first rendering leaves a placeholder
    return embed


embeds = pytest.mark.parametrize("make", [cached_embed, slow_embed], ids=["cached", "uncached"])


class DeferringPage(Page):
    defers = True


def filtered(
    embed: FAQEmbed,
    body: Callable[[FAQEmbed], str | bytes],
    charset: str = "utf-8",
    cuts: Sequence[int] = (),
    size: int = 0,
) -> list[bytes]:
    """Return what leaves of a body, which is cut at these places or into pieces of this size."""

    async def run() -> list[bytes]:
        token = enter_request(page := DeferringPage())
        made = body(embed)
        leave_request(token)
        text = made if isinstance(made, bytes) else made.encode(charset)
        places = range(size, len(text), size) if size else cuts
        pieces = [text[a:b] for a, b in zip([0, *places], [*places, len(text)], strict=True)]
        body_filter = BodyFilter(page, charset)
        last = len(pieces) - 1
        return [
            ready
            for number, piece in enumerate(pieces)
            async for ready in body_filter.afeed(piece, last=number == last)
        ]

    return asyncio.run(run())


def two(embed: FAQEmbed) -> str:
    return f"<p>ä</p>{embed.render('pricing')}<hr>{embed.render('legal')}<p>ö</p>"


@embeds
def test_two_faqs_of_a_whole_body_have_one_stylesheet_and_one_faq_page(make: Make) -> None:
    (body,) = filtered(make(FAQS), two)
    assert summary(body) == page_of(A, B)
    assert body.startswith("<p>ä</p>".encode())
    assert body.endswith("<p>ö</p>".encode())


@embeds
@pytest.mark.parametrize("size", [7, 64, 1000])
def test_a_body_in_pieces_becomes_the_same(make: Make, size: int) -> None:
    assert b"".join(filtered(make(FAQS), two, size=size)) == filtered(make(FAQS), two)[0]


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le"])
def test_a_placeholder_is_found_wherever_it_is_cut(charset: str) -> None:
    embed = slow_embed({"pricing": A})
    (expected,) = filtered(embed, one, charset)
    length = (60 + len("<>ä")) * len("a".encode(charset))
    for cut in range(0, length, 1 if charset == "utf-8" else 3):
        embed.forget()
        pieces = filtered(embed, one, charset, [cut, cut + 1])
        assert b"".join(pieces) == expected
    assert summary(expected.decode(charset)) == page_of(A)


def one(embed: FAQEmbed) -> str:
    return f"<ä>{embed.render('pricing')}<!--"


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "utf-32"])
@embeds
def test_an_faq_that_is_cut_within_a_character_beside_one_that_arrives_later(
    make: Make, charset: str
) -> None:
    """What is kept back of a piece may end within a character, and is not decoded a second time."""
    cached = cached_embed({"legal": B})

    def both(embed: FAQEmbed) -> str:
        return f"{cached.render('legal')}{embed.render('pricing')}{cached.render('legal')}"

    embed = make(FAQS)
    expected = filtered(embed, both, charset)[0]
    assert summary(expected.decode(charset)) == page_of(B, A, B)
    json_ld_at = cached.render("legal").encode(charset).rindex("–".encode(charset)[-2:])
    for cut in range(json_ld_at - 6, json_ld_at + 6):
        embed.forget()
        assert b"".join(filtered(embed, both, charset, [cut])) == expected


@given(data=st.data())
def test_any_cuts_give_the_same_body(data: st.DataObject) -> None:
    make = data.draw(st.sampled_from([cached_embed, slow_embed]))
    (expected,) = filtered(make(FAQS), two)
    cuts = data.draw(st.lists(st.integers(0, 150 if make is slow_embed else len(expected)), max_size=6))
    assert b"".join(filtered(make(FAQS), two, cuts=sorted(cuts))) == expected


@pytest.mark.parametrize("charset", ["utf-8", "utf-16-le", "iso-8859-1", "ascii"])
def test_a_published_faq_is_replaced_wherever_it_is_cut(charset: str) -> None:
    published, draft = f"<p>ä{'-' * 80}</p>", "<p>draft</p>"
    page = Page()
    page.leave_placeholder(draft, published)
    body = f"<b>{published}</b>{published[:9]}".encode(charset, "xmlcharrefreplace")
    expected = f"<b>{draft}</b>{published[:9]}".encode(charset, "xmlcharrefreplace")
    for cut in range(len(body)):
        body_filter = BodyFilter(page, charset)
        parts = [body_filter.feed(body[:cut], last=False), body_filter.feed(body[cut:], last=True)]
        assert b"".join(parts) == expected


# What is before a placeholder


def test_text_before_a_placeholder_is_sent_before_its_faq_arrives() -> None:
    async def run() -> list[bytes]:
        arrived = asyncio.Event()

        async def filling() -> str:
            await arrived.wait()
            return "<p>FAQ</p>"

        page = DeferringPage()
        body = f"<p>before</p>{page.leave_placeholder(filling)}<p>after</p>".encode()
        pieces = BodyFilter(page, "utf-8").afeed(body, last=False)
        first = await asyncio.wait_for(anext(pieces), 2)
        arrived.set()
        return [first, *[piece async for piece in pieces]]

    assert asyncio.run(run()) == [b"<p>before</p>", b"<p>FAQ</p><p>after</p>"]


ENDS = ["", "<", "<!--", "<!--faqsvc ", "<!--faqsvc 000000000000000000000000 0-->", "</p"]


@pytest.mark.parametrize("end", ENDS)
@embeds
def test_the_end_of_a_body_is_not_kept_back(make: Make, end: str) -> None:
    pieces = filtered(make(FAQS), lambda embed: f"{embed.render('pricing')}<p>{end}", size=50)
    assert b"".join(pieces).decode().endswith(f"</script><p>{end}")


def test_a_placeholder_that_the_host_has_cut_stays_as_it_is() -> None:
    def cut(embed: FAQEmbed) -> str:
        return f"<p>{embed.render('pricing')[:-2]}"

    (body,) = filtered(slow_embed(FAQS), cut)
    assert body.startswith(b"<p><!--faqsvc ")
    assert body.endswith(b" 0-")


@pytest.mark.parametrize("text", ENDS)
def test_text_that_looks_like_a_placeholder_is_left_alone(text: str) -> None:
    (body,) = filtered(slow_embed(FAQS), lambda embed: f"{text}{embed.render('pricing')}{text}")
    assert body.decode().startswith(f"{text}<style>")
    assert body.decode().endswith(f"</script>{text}")


def test_an_faq_whose_text_looks_like_a_placeholder_is_shown_as_it_is() -> None:
    trap = FAQ.from_dict(samples.record("pricing", ("<!--faqsvc 0-->", r"\1 \g<0> <!--faqsvc 1-->")))
    (body,) = filtered(slow_embed({"pricing": trap, "legal": B}), two)
    assert summary(body) == page_of(trap, B)


def test_a_placeholder_that_the_host_prints_twice_is_filled_twice() -> None:
    (body,) = filtered(slow_embed(FAQS), lambda embed: f"{(x := embed.render('pricing'))}<hr>{x}")
    first, second = body.split(b"<hr>")
    assert summary(first) == page_of(A)
    assert second.strip() == first[first.index(b"<section") : first.index(b"<script")].strip()


def test_the_order_is_that_of_the_document_and_not_of_the_calls() -> None:
    def turned(embed: FAQEmbed) -> str:
        first = embed.render("pricing")
        return f"{embed.render('legal')}{first}"

    (body,) = filtered(slow_embed(FAQS), turned)
    assert summary(body) == page_of(B, A)


# Charsets


CHARSETS = ["utf-8", "latin-1", "windows-1252", "shift_jis", "euc-kr", "gb18030", "utf-16", "utf-16be"]


@pytest.mark.parametrize("charset", CHARSETS)
@pytest.mark.parametrize("size", [0, 31], ids=["whole", "in pieces"])
def test_a_page_in_another_charset_gets_its_faqs_in_it(charset: str, size: int) -> None:
    yen = FAQ.from_dict(samples.record("pricing", ("Wie viel? ¥€", "¥100 – „viel“ 서울 👍 ~\\"), lang="de"))
    body = b"".join(filtered(slow_embed({"pricing": yen}), one_between, charset, size=size))
    # The decoders of browsers differ from Python's here and there.
    tree = html5lib.parse(body, transport_encoding=charset, namespaceHTMLElements=False)
    (text,) = (e.text for e in tree.iter("script"))
    assert json_ld(f'<script type="application/ld+json">{text}</script>') == json_ld(
        cached_embed({"pricing": yen}).render("pricing")
    )
    assert ["".join(e.itertext()) for e in tree.iter("p")] == ["a", "¥100 – „viel“ 서울 👍 ~\\", "b"]


def one_between(embed: FAQEmbed) -> str:
    return f"<p>a</p>{embed.render('pricing')}<p>b</p>"


@pytest.mark.parametrize("charset", ["utf-8", "utf-16", "utf-32", "gb18030"])
@embeds
def test_two_faqs_share_one_faq_page_in_any_unicode(make: Make, charset: str) -> None:
    for size in (0, 64):
        body = b"".join(filtered(make(FAQS), two, charset, size=size)).decode(charset)
        assert summary(body) == page_of(A, B)


@pytest.mark.parametrize("size", [0, 64])
def test_faqs_that_the_host_has_encoded_share_an_faq_page_with_others(size: int) -> None:
    cached = cached_embed(FAQS)

    def mixed(embed: FAQEmbed) -> str:
        return f"{cached.render('legal')}{embed.render('pricing')}{cached.render('legal')}"

    body = b"".join(filtered(slow_embed(FAQS), mixed, "gb18030", size=size)).decode("gb18030")
    assert summary(body) == page_of(B, A, B)


@pytest.mark.parametrize("damage", [b"\xff", b"\xc3(", b"\xe2\x82<"])
@embeds
def test_a_body_that_is_not_in_its_charset_passes_as_it_is(make: Make, damage: bytes) -> None:
    made = list[bytes]()

    def damaged(embed: FAQEmbed) -> bytes:
        made.append(damage + two(embed).encode())
        return made[0]

    assert filtered(make(FAQS), damaged) == made
    made.clear()
    pieces = filtered(make(FAQS), damaged, size=100)
    assert b"".join(pieces) == made[0]


def test_a_body_passes_as_it_is_from_where_it_is_not_in_its_charset() -> None:
    printed = str(cached_embed(FAQS).render("pricing"))
    body = b"".join(
        filtered(
            cached_embed(FAQS),
            lambda embed: two(embed).encode() + b"\xff" + printed.encode(),
            cuts=[len(two(cached_embed(FAQS)).encode())],
        )
    )
    before, _, after = body.partition(b"\xff")
    assert (summary(before), after.decode()) == (page_of(A, B), printed)


def test_the_first_piece_with_an_faq_may_begin_within_a_character() -> None:
    """A stream is looked at from its first FAQ on, which may be after a piece that ends anywhere."""
    (body,) = filtered(slow_embed({"pricing": A}), lambda embed: b"\xa4\xbd" + one(embed).encode())
    assert body.startswith(b"\xa4\xbd<\xc3\xa4><style>")


# Other markup


@pytest.mark.parametrize("around", ["<p>ä\r\n\t</p>", "<b a='1'B=2 >", "<!-- -->", "\0\x0b", "<p", "\ufeff"])
@embeds
def test_the_markup_of_the_host_stays_as_it_is(make: Make, around: str) -> None:
    (plain,) = filtered(make(FAQS), two)
    (body,) = filtered(make(FAQS), lambda embed: around + two(embed) + around)
    assert body == around.encode() + plain + around.encode()


@pytest.mark.parametrize("body", [b"", b"<p>no FAQ of ours</p>", b"\x00" * 1000])
def test_a_body_that_lacks_its_faqs_is_unchanged(body: bytes) -> None:
    async def run() -> tuple[bytes, bool]:
        page = DeferringPage()
        token = enter_request(page)
        for slug in FAQS:
            cached_embed(FAQS).render(slug)
        leave_request(token)
        body_filter = BodyFilter(page, "utf-8")
        return body_filter.feed(body, last=True), body_filter.has_changed

    assert asyncio.run(run()) == (body, False)


def test_a_page_may_have_a_json_ld_of_its_own() -> None:
    own = '<script type="application/ld+json">{"@type":"Thing"}</script>'
    (body,) = filtered(slow_embed(FAQS), lambda embed: f"{own}{two(embed)}{own}")
    assert body.count(own.encode()) == 2
    assert [node["@type"] for node in json_ld(body)] == ["Thing", "FAQPage", "Thing"]


def test_the_faq_page_of_a_stream_waits_for_the_faqs_behind_it() -> None:
    """The first FAQ is cached; its FAQPage has the questions of the second one, which is not."""
    cached = cached_embed({"pricing": A})
    pieces = filtered(
        slow_embed({"legal": B}), lambda embed: f"{cached.render('pricing')}{embed.render('legal')}", size=100
    )
    assert summary(b"".join(pieces)) == page_of(A, B)


def test_a_body_does_not_wait_for_the_garbage_collector() -> None:
    """A site sends many: one that is in a cycle stays in memory until the collector runs."""
    embed, page = cached_embed(FAQS), Page()
    token = enter_request(page)
    body = two(embed).encode()
    leave_request(token)
    body_filter = BodyFilter(page, "utf-8")
    assert summary(body_filter.feed(body, last=True)) == page_of(A, B)
    gone = weakref.ref(body_filter)
    del body_filter
    assert gone() is None


def test_very_many_placeholders_are_filled() -> None:
    records = [samples.record(f"faq-{number}", ("Why?", "So.")) for number in range(100)]
    faqs = {record["slug"]: FAQ.from_dict(record) for record in records}
    (body,) = filtered(slow_embed(faqs), lambda embed: "".join(map(embed.render, faqs)))
    assert summary(body) == page_of(*faqs.values())
