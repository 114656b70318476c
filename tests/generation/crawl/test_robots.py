"""robots.txt: which rules apply to this crawler, and what parsing them costs."""

import re
import tracemalloc

import pytest

from faqsvc_embed.generation.crawl.crawler import parse_robots
from tests.support.growth import grows_linearly
from tests.test_dependencies import PROJECT


def is_allowed(robots: str, path: str = "/faq") -> bool:
    return parse_robots(robots.encode()).can_fetch(f"https://shop.example{path}", "faqsvc-embed")


@pytest.mark.parametrize(
    "robots",
    [
        "User-agent: *\nDisallow: /",
        "User-agent: faqsvc-embed\nDisallow: /\n\nUser-agent: *\nAllow: /",
        "User-agent: *\nAllow: /\n\nUser-agent: faqsvc-embed\nDisallow: /",
        "User-agent: otherbot\nUser-agent: faqsvc-embed\nUser-agent: thirdbot\nDisallow: /",
        "User-agent: faqsvc-embed/1.0\nDisallow: /",
        "\ufeffUser-Agent: FAQSVC-Embed\r\nDisallow: /*",
        "useragent : faqsvc-embed # this one\nDisallow: /faq",
        "user agent faqsvc-embed\nDisallow: /",
        "User-agent: faqsvc-embed\nAllow: /help\n\nUser-agent: faqsvc-embed\nDisallow: /",
    ],
)
def test_a_rule_for_this_crawler_or_for_all_applies(robots: str) -> None:
    assert not is_allowed(robots)


@pytest.mark.parametrize(
    "robots",
    [
        "",
        "User-agent: otherbot\nDisallow: /",
        "User-agent: otherbot\nDisallow: /\n\nUser-agent: *\nDisallow: /private/",
        "User-agent: *\nDisallow: /\n\nUser-agent: faqsvc-embed\nAllow: /",
        "User-agent: *\nDisallow: /\nAllow: /faq",
        "User-agent: otherbot\nUser-agent: thirdbot\nDisallow: /\n\nUser-agent: *\nUser-agent: x\nAllow: /",
        "Disallow: /",
        "<!doctype html><title>Not found</title>",
    ],
)
def test_a_rule_for_other_crawlers_does_not_apply(robots: str) -> None:
    assert is_allowed(robots)


@pytest.mark.parametrize(
    ("user_agent", "line_end"),
    [("User-agent:", "\n"), ("useragent ", "\r"), ("User \t agent ", "\u2028")],
)
def test_many_crawlers_do_not_multiply_the_rules(user_agent: str, line_end: str) -> None:
    crawlers = "".join(f"{user_agent}{number:x}{line_end}" for number in range(500))
    rules = "".join(f"Allow:{number:x}{line_end}" for number in range(1_000))
    tracemalloc.start()

    parse_robots((crawlers + rules).encode())

    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4 * 1024 * 1024


def test_the_work_on_a_file_grows_with_its_rules() -> None:
    def robots(rules: int) -> str:
        return "User-agent:*\n" + "\n".join(f"Disallow:*a*x{number:x}" for number in range(rules))

    assert grows_linearly(lambda text: is_allowed(text, "/" + "a" * 2_000), robots, 200)


def test_wildcards_are_matched_in_linear_time() -> None:
    rule = "User-agent: *\nDisallow: /*a*a*a*a*b"
    assert grows_linearly(lambda path: is_allowed(rule, path), lambda count: "/" + "a" * count, 25)


def test_versions_of_protego_with_exponential_wildcards_are_excluded() -> None:
    (floor,) = re.findall(r"'protego>=([\d.]+)'", str(PROJECT["optional-dependencies"]))
    assert tuple(map(int, floor.split("."))) >= (0, 6, 2)
