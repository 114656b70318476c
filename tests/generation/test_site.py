"""Which pages of a website are read, in which order, and which are not."""

import asyncio
import gzip
import threading
import time

import pytest

from faqsvc_embed.generation.guard import Refused
from faqsvc_embed.generation.site import MAX_PAGES, Site
from faqsvc_embed.generation.visiting import Unreachable, Visitor
from tests.generation.websites import Page, endpoint, html, paths, website
from tests.support import faulty as faults
from tests.support.faulty import FaultyServer


def visit(
    server: FaultyServer, lang: str | None = None, *, patience: float = 30.0, max_pages: int = MAX_PAGES
) -> list[str]:
    """Return the paths of the pages that were read."""
    origin = f"http://127.0.0.1:{server.port}"

    async def go() -> list[str]:
        async with Visitor(endpoint(server), patience=patience) as visitor:
            site = Site(visitor, origin + "/", lang, max_pages=max_pages)
            await site.visit()
        return [page.url.removeprefix(origin) for page in site.pages]

    return asyncio.run(go())


def links(*targets: str) -> str:
    return html("".join(f'<a href="{target}">{target}</a>' for target in targets))


def test_the_page_that_was_named_is_read_first_then_the_likeliest(faulty: FaultyServer) -> None:
    pages: dict[str, Page] = {
        "/": links("/blog/a", "/about", "/faq", "/support/", "/pic.png", "mailto:x@y.z")
    }
    faulty.behave(website(pages | {name: html("x") for name in ("/blog/a", "/about", "/faq", "/support/")}))

    assert visit(faulty, max_pages=2) == ["/", "/faq"]
    assert paths(faulty) == ["/robots.txt", "/", "/sitemap.xml", "/faq"]
    assert set(visit(faulty, max_pages=3)) == {"/", "/faq", "/support/"}
    assert set(visit(faulty, max_pages=4)) == {"/", "/faq", "/support/", "/about"}
    assert set(visit(faulty)) == {"/", "/faq", "/support/", "/about", "/blog/a"}


def test_an_faq_that_nothing_leads_to_is_looked_for_where_it_often_is(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": links("/blog"), "/blog": html("blog"), "/faq": html("faq")}))

    assert set(visit(faulty)) == {"/", "/faq", "/blog"}
    assert set(paths(faulty)) == {"/robots.txt", "/", "/sitemap.xml", "/faq", "/faqs", "/help", "/blog"}


def test_a_sitemap_shows_what_no_link_does_packed_and_nested(faulty: FaultyServer) -> None:
    origin = f"http://127.0.0.1:{faulty.port}"
    index = f"<sitemapindex><sitemap><loc>{origin}/pages.xml.gz</loc></sitemap></sitemapindex>"
    packed = gzip.compress(
        f"<urlset><url><loc> {origin}/faq?a=1&amp;b=2 </loc></url><url><loc>https://else.example/faq</loc></url>"
        f"<url><loc>\n<![CDATA[ {origin}/help ]]>\n</loc></url>"
        "<url><loc>http://[broken</loc></url></urlset>".encode()
    )
    faulty.behave(
        website(
            {
                "/": html("home"),
                "/robots.txt": "User-agent: *\nDisallow:\nSitemap: /map.xml\nSitemap: http://[broken",
                "/map.xml": index,
                "/pages.xml.gz": packed,
                "/faq": html("faq"),
                "/help": html("help"),
            }
        )
    )

    assert set(visit(faulty)) == {"/", "/faq?a=1&b=2", "/help"}


@pytest.mark.parametrize("hostile", ["<loc>" + " " * 400_000, "<loc>x" * 80_000, "<loc><![CDATA[" * 40_000])
def test_a_hostile_sitemap_costs_no_more_than_its_length(faulty: FaultyServer, hostile: str) -> None:  # D13
    faulty.behave(website({"/": html("home"), "/sitemap.xml": hostile}))
    started = time.thread_time()

    assert visit(faulty) == ["/"]
    assert time.thread_time() - started < 5


@pytest.mark.parametrize(
    "bomb", ["<!DOCTYPE x [<!ENTITY a 'aaaa'>]><urlset>&a;</urlset>", "<loc>" * 100_000, ""]
)
def test_a_sitemap_that_is_none_is_no_error(faulty: FaultyServer, bomb: str) -> None:
    faulty.behave(website({"/": html("home"), "/sitemap.xml": bomb}))

    assert visit(faulty) == ["/"]


def test_no_more_pages_are_read_than_the_limit(faulty: FaultyServer) -> None:
    pages: dict[str, Page] = {f"/faq/{number}": html("x") for number in range(100)}
    faulty.behave(website({"/": links(*pages), **pages}))

    assert len(visit(faulty)) == MAX_PAGES
    assert len(faulty.log) == MAX_PAGES + 2  # robots.txt and the sitemap


def test_pages_of_other_sites_are_not_read(faulty: FaultyServer) -> None:
    faulty.behave(
        website({"/": links("http://127.0.0.1:1/faq", "http://localhost/faq", "//else.example/faq")})
    )

    assert visit(faulty) == ["/"]


@pytest.mark.parametrize(
    "rules",
    [
        "User-agent: *\nDisallow: /",
        "User-agent: faqsvc-embed\nDisallow: /\n\nUser-agent: *\nAllow: /",
        "\ufeffUser-Agent: FAQSVC-Embed\r\nDisallow: /*",
    ],
)
def test_a_site_that_wants_no_visit_has_none(faulty: FaultyServer, rules: str) -> None:
    faulty.behave(website({"/": html("home"), "/robots.txt": rules}))

    with pytest.raises(Refused, match=r"robots\.txt of its site disallows faqsvc-embed"):
        visit(faulty)

    assert paths(faulty) == ["/robots.txt"]


def test_pages_that_robots_disallows_are_left_out_even_behind_a_redirect(faulty: FaultyServer) -> None:
    faulty.behave(
        website(
            {
                "/": links("/faq", "/private/faq", "/moved"),
                "/faq": html("faq"),
                "/private/faq": html("secret"),
                "/moved": faults.redirect("/private/help"),
                "/private/help": html("secret"),
                "/robots.txt": "User-agent: *\nDisallow: /private/",
            }
        )
    )

    assert visit(faulty) == ["/", "/faq"]
    assert not any(path.startswith("/private") for path in paths(faulty))


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_site_whose_robots_txt_fails_is_not_visited(faulty: FaultyServer, status: int) -> None:
    faulty.behave(website({"/": html("home"), "/robots.txt": faults.status(status)}))

    with pytest.raises(Refused, match=f"robots.txt answers {status}"):
        visit(faulty)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_site_without_robots_txt_is_visited(faulty: FaultyServer, status: int) -> None:
    faulty.behave(website({"/": html("home"), "/robots.txt": faults.status(status)}))

    assert visit(faulty) == ["/"]


def test_a_site_that_asks_for_time_between_pages_gets_it(faulty: FaultyServer) -> None:
    pages: dict[str, Page] = {"/": links("/a", "/b"), "/a": html("a"), "/b": html("b")}
    faulty.behave(website({**pages, "/robots.txt": "User-agent: *\nCrawl-delay: 0.1"}))

    assert visit(faulty) == ["/", "/a", "/b"]
    first, second = [received.at for received in faulty.log if received.target in ("/a", "/b")]
    assert second - first >= 0.1


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        (faults.status(500), "answers 500"),
        (faults.status(404), "answers 404"),
        (faults.body(b"%PDF", {"Content-Type": "application/pdf"}), "application/pdf"),
        (faults.body(b"{}", {"Content-Type": "application/json"}), "application/json"),
    ],
    ids=["500", "404", "PDF", "JSON"],
)
def test_a_first_page_that_is_none_is_told(faulty: FaultyServer, page: faults.Behaviour, reason: str) -> None:
    faulty.behave(website({"/": page}))

    with pytest.raises(Unreachable, match=reason):
        visit(faulty)


def test_pages_that_fail_take_none_of_the_others_with_them(faulty: FaultyServer) -> None:
    faulty.behave(
        website(
            {
                "/": links("/faq/a", "/faq/b", "/faq/c", "/faq/d"),
                "/faq/a": faults.hang,
                "/faq/b": faults.garbage,
                "/faq/c": faults.status(500),
                "/faq/d": html("here"),
            }
        )
    )

    assert visit(faulty, patience=1.0) == ["/", "/faq/d"]


def test_pages_in_the_language_that_is_wanted_come_first(faulty: FaultyServer) -> None:
    head = (
        '<link rel="alternate" hreflang="de-AT" href="/de/"><link rel="alternate" hreflang="fr" href="/fr/">'
    )
    faulty.behave(
        website({"/": html("home", head), "/de/": html("da", lang="de"), "/fr/": html("là", lang="fr")})
    )

    assert visit(faulty, "de", max_pages=2) == ["/", "/de/"]


def test_nothing_goes_on_when_a_visit_is_cancelled(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": faults.hang}))
    threads = threading.active_count()

    async def go() -> None:
        async with Visitor(endpoint(faulty)) as visitor:
            task = asyncio.ensure_future(Site(visitor, f"http://127.0.0.1:{faulty.port}/", None).visit())
            while len(faulty.log) < 2:
                await asyncio.sleep(0.01)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(go())
    assert threading.active_count() <= threads + 1
