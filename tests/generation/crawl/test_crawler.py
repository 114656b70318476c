"""Which pages of a website are read, and in which order."""

import asyncio
import threading
import time
from contextlib import aclosing

import pytest

from faqsvc_embed.generation.crawl.crawler import MAX_PAGES, Crawler
from faqsvc_embed.generation.crawl.fetcher import FetchError, PageFetcher
from faqsvc_embed.generation.crawl.ssrf import BlockedURL
from tests.generation.websites import Content, endpoint, html, paths, website
from tests.support import faulty as faults
from tests.support.faulty import FaultyServer


def crawl(
    server: FaultyServer, path: str = "/", *, lang: str | None = None, max_pages: int = MAX_PAGES
) -> list[str]:
    """Return the paths of the pages that were read."""
    origin = f"http://127.0.0.1:{server.port}"

    async def run() -> list[str]:
        async with aclosing(PageFetcher(endpoint(server))) as fetcher:
            crawler = Crawler(fetcher, origin + path, lang=lang, max_pages=max_pages)
            await crawler.crawl()
        return [page.url.removeprefix(origin) for page in crawler.pages]

    return asyncio.run(run())


def links(*targets: str) -> str:
    return html("".join(f'<a href="{target}">{target}</a>' for target in targets))


def test_the_named_page_is_read_first_and_then_the_best_links(faulty: FaultyServer) -> None:
    pages: dict[str, Content] = {
        "/": links("/blog/a", "/about", "/faq", "/support/", "/pic.png", "mailto:x@y.z")
    }
    faulty.behave(website(pages | {name: html("x") for name in ("/blog/a", "/about", "/faq", "/support/")}))

    assert crawl(faulty, max_pages=2) == ["/", "/faq"]
    assert paths(faulty) == ["/robots.txt", "/", "/faq"]
    assert set(crawl(faulty, max_pages=3)) == {"/", "/faq", "/support/"}
    assert set(crawl(faulty, max_pages=4)) == {"/", "/faq", "/support/", "/about"}
    assert set(crawl(faulty)) == {"/", "/faq", "/support/", "/about", "/blog/a"}


def test_usual_paths_are_tried_if_no_link_leads_to_an_faq(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": links("/blog"), "/blog": html("blog"), "/faq": html("faq")}))

    assert set(crawl(faulty)) == {"/", "/faq", "/blog"}
    assert set(paths(faulty)) == {"/robots.txt", "/", "/faq", "/faqs", "/help", "/blog"}


def test_a_page_without_questions_may_lead_to_an_faq(faulty: FaultyServer) -> None:
    answered = (
        links("/guide/faq") + "<h1>FAQ</h1><h2>Is it far?</h2><p>No.</p><h2>Is it open?</h2><p>Yes.</p>"
    )
    others = [f"/{number}" for number in range(9)]
    pages: dict[str, Content] = {
        "/": links("/support", "/faq", *others),
        "/support": links("/support/faq", "/support/news"),
        "/faq": answered,
    }
    faulty.behave(website(pages | {name: html("x") for name in ("/support/faq", "/guide/faq", *others)}))

    found = crawl(faulty, max_pages=8)
    assert {"/faq", "/support", "/support/faq"} < set(found)
    assert {"/guide/faq", "/support/news"}.isdisjoint(paths(faulty))


@pytest.mark.system
def test_a_long_robots_txt_takes_no_time_of_the_event_loop(faulty: FaultyServer) -> None:
    robots = "User-agent:*\n" + "\n".join(f"Disallow:/é{number:x}$" for number in range(10_000))
    faulty.behave(website({"/": html("home"), "/robots.txt": robots}))
    started = time.thread_time()  # of this thread, which is that of the event loop

    assert crawl(faulty) == ["/"]

    assert time.thread_time() - started < 0.4


def test_no_more_pages_are_read_than_the_limit(faulty: FaultyServer) -> None:
    pages: dict[str, Content] = {f"/faq/{number}": html("x") for number in range(100)}
    faulty.behave(website({"/": links(*pages), **pages}))

    assert len(crawl(faulty)) == MAX_PAGES
    assert len(faulty.log) == MAX_PAGES + 1  # robots.txt


def test_a_site_named_without_a_path_is_read_once(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": links("/")}))

    assert crawl(faulty, path="") == ["/"]
    assert paths(faulty).count("/") == 1


def test_pages_of_other_sites_are_not_read(faulty: FaultyServer) -> None:
    faulty.behave(
        website({"/": links("http://127.0.0.1:1/faq", "http://localhost/faq", "//else.example/faq")})
    )

    assert crawl(faulty) == ["/"]


def test_a_site_that_disallows_the_crawler_is_not_read(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": html("home"), "/robots.txt": "User-agent: faqsvc-embed\nDisallow: /"}))

    with pytest.raises(BlockedURL):
        crawl(faulty)

    assert paths(faulty) == ["/robots.txt"]


def test_disallowed_pages_are_not_read_after_a_redirect_either(faulty: FaultyServer) -> None:
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

    assert crawl(faulty) == ["/", "/faq"]
    assert not any(path.startswith("/private") for path in paths(faulty))


@pytest.mark.parametrize("status", [500, 503, 429])
def test_a_site_that_fails_to_serve_its_robots_txt_is_not_read(faulty: FaultyServer, status: int) -> None:
    faulty.behave(website({"/": html("home"), "/robots.txt": faults.status(status)}))

    with pytest.raises(BlockedURL, match=str(status)):
        crawl(faulty)


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_a_site_without_robots_txt_is_read(faulty: FaultyServer, status: int) -> None:
    faulty.behave(website({"/": html("home"), "/robots.txt": faults.status(status)}))

    assert crawl(faulty) == ["/"]


@pytest.mark.parametrize(
    "page",
    [
        faults.status(500),
        faults.status(404),
        faults.body(b"%PDF", {"Content-Type": "application/pdf"}),
        faults.body(b"{}", {"Content-Type": "application/json"}),
    ],
    ids=["500", "404", "PDF", "JSON"],
)
def test_a_named_page_without_html_is_an_error(faulty: FaultyServer, page: faults.Behaviour) -> None:
    faulty.behave(website({"/": page}))

    with pytest.raises(FetchError):
        crawl(faulty)


def test_pages_that_fail_are_left_out(faulty: FaultyServer) -> None:
    faulty.behave(
        website(
            {
                "/": links("/faq/a", "/faq/b", "/faq/c", "/faq/d"),
                "/faq/a": faults.reset,
                "/faq/b": faults.garbage,
                "/faq/c": faults.status(500),
                "/faq/d": html("here"),
            }
        )
    )

    assert crawl(faulty) == ["/", "/faq/d"]


def test_pages_in_the_requested_language_are_read_first(faulty: FaultyServer) -> None:
    head = (
        '<link rel="alternate" hreflang="de-AT" href="/de/"><link rel="alternate" hreflang="fr" href="/fr/">'
    )
    faulty.behave(
        website({"/": html("home", head), "/de/": html("da", lang="de"), "/fr/": html("là", lang="fr")})
    )

    assert crawl(faulty, lang="de", max_pages=2) == ["/", "/de/"]


def test_a_cancelled_crawl_keeps_its_pages_and_leaves_no_thread(faulty: FaultyServer) -> None:
    faulty.behave(website({"/": links("/faq"), "/faq": faults.hang}))
    threads = threading.active_count()

    async def run() -> list[str]:
        async with aclosing(PageFetcher(endpoint(faulty))) as fetcher:
            crawler = Crawler(fetcher, f"{faulty.base_url}/")
            task = asyncio.ensure_future(crawler.crawl())
            await asyncio.to_thread(faulty.wait_for_requests, 3)  # with robots.txt
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return [page.url for page in crawler.pages]

    assert asyncio.run(run()) == [f"{faulty.base_url}/"]
    assert threading.active_count() <= threads + 1
