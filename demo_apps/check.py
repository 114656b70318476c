"""`python -m demo_apps --check`: opens every page and checks what people and machines find on it."""

import logging
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import httpx2

from demo_apps.content import faq_body
from demo_apps.demo import WEBSITES, Demo
from demo_apps.page_content import PageContent, normalize
from demo_apps.site import LANGUAGES, MISSING_SLUG, Page
from faqsvc_embed import FAQ, FAQError

TIMEOUT: Final = 15.0
"""Seconds after which a request has failed."""
HOSTED: Final = Page("hosted", "/faq/pricing", ("pricing",))
"""The page that the service itself has for an FAQ."""


@dataclass(frozen=True, slots=True)
class Result:
    """What was found at an address, and what is wrong with it."""

    found: str
    problems: tuple[str, ...] = ()


def check(demo: Demo) -> bool:
    """Open every page of a demo and print a line for each; return whether all are right."""
    # The page `missing` shows what happens to an FAQ that does not exist; its warning is no failure.
    logging.getLogger("faqsvc_embed").addFilter(lambda record: MISSING_SLUG not in record.getMessage())
    results = []
    with httpx2.Client(timeout=TIMEOUT, trust_env=False) as client:
        for name, address, result in _results(client, demo):
            print(f"{'FAILED' if result.problems else 'ok':8}{name:11}{address:22}{result.found}", flush=True)
            for problem in result.problems:
                print(f"{'':8}{problem}", flush=True)
            results.append(result)
    failed = sum(bool(result.problems) for result in results)
    print(f"{failed} of {len(results)} pages failed." if failed else f"All {len(results)} pages are right.")
    return not failed


def _results(client: httpx2.Client, demo: Demo) -> Iterator[tuple[str, str, Result]]:
    """Yield the name of the website, the path and the result of each page."""
    for website in WEBSITES:
        base = demo.websites[website.name]
        for page, lang in _in_languages(website.pages):
            path = f"{page.path}?lang={lang}"
            yield website.name, path, check_page(client, base + path, page, lang)
        for json_path in website.json_paths:
            for lang in LANGUAGES:
                path = f"{json_path}?lang={lang}"
                yield website.name, path, check_json(client, base + path, lang)
    for page, lang in _in_languages((HOSTED,)):
        path = f"{page.path}?lang={lang}"
        yield "service", path, check_page(client, demo.service + path, page, lang)


def _in_languages(pages: tuple[Page, ...]) -> Iterator[tuple[Page, str]]:
    """Yield the first page in every language, and each of the others in one."""
    first, *others = pages
    languages = list(LANGUAGES)
    for lang in languages:
        yield first, lang
    for index, page in enumerate(others):
        yield page, languages[index % len(languages)]


def check_json(client: httpx2.Client, url: str, lang: str) -> Result:
    """Check an address that returns an FAQ as JSON."""
    try:
        response = client.get(url)
        faq = FAQ.from_json(response.content)
    except (httpx2.HTTPError, FAQError) as error:
        return Result("no FAQ", (f"{type(error).__name__}: {error}",))
    found = f"{response.status_code}, lang {faq.lang}, {len(faq.items)} questions as JSON"
    items = [(item.question, item.answer) for item in faq.items]
    is_right = faq.lang == lang and items == _published((faq.slug,), lang)
    return Result(found, () if is_right else ("this is not the FAQ that was published",))


def check_page(client: httpx2.Client, url: str, page: Page, lang: str) -> Result:
    """Check a page: its status, its language, the FAQs that people see, and the FAQPage."""
    try:
        response = client.get(url)
        content = PageContent(response.text)
        faq_pages = content.faq_pages
    except (httpx2.HTTPError, ValueError) as error:
        return Result("no page", (f"{type(error).__name__}: {error}",))
    items = _published(page.slugs, lang)
    if page.is_headless:
        questions = f"{sum(_shown(question) in content.text for question, _ in items)} questions"
    else:
        questions = f"{content.details} questions as <details>"
    problems = []
    if response.status_code != 200:
        problems.append("the status is not 200")
    if content.lang != lang:
        problems.append(f"the language is not {lang}")
    problems += _problems_of_text(content, page, items)
    problems += _problems_of_json_ld(faq_pages, items)
    if page.has_strict_policy:
        problems += _problems_of_policy(content, response.headers.get("content-security-policy", ""))
    count = len({faq_page.get("@id") for faq_page in faq_pages})
    found = f"{response.status_code}, lang {content.lang}, {questions}, {count} FAQPage"
    return Result(found, tuple(problems))


def _published(slugs: tuple[str, ...], lang: str) -> list[tuple[str, str]]:
    """Return the questions and answers of some FAQs."""
    items = [item for slug in slugs for item in faq_body(slug, lang)["items"]]
    return [(item["question"], item["answer"]) for item in items]


def _shown(text: str) -> str:
    """Return what people see of a text, whose Markdown is bold words and lists."""
    return normalize(re.sub(r"\*\*|^- ", "", text, flags=re.MULTILINE))


def _problems_of_text(content: PageContent, page: Page, items: list[tuple[str, str]]) -> Iterator[str]:
    expected = 0 if page.is_headless else len(items)
    if content.details != expected:
        yield f"there should be {expected} <details>"
    texts = [_shown(text) for item in items for text in item]
    missing = [text for text in texts if text not in content.text]
    if missing:
        yield f"{len(missing)} of {len(texts)} texts are missing, such as {missing[0][:60]!r}"


def _problems_of_json_ld(faq_pages: list[dict[str, object]], items: list[tuple[str, str]]) -> Iterator[str]:
    marked_up = [pair for faq_page in faq_pages for pair in _marked_up(faq_page)]
    if len({faq_page.get("@id") for faq_page in faq_pages}) != (1 if items else 0):
        yield "there should be one FAQPage"
    elif len(marked_up) != len(items) or not all(map(_is_same, marked_up, items)):
        yield "the FAQPage differs from the text of the page"


def _is_same(marked_up: tuple[str, str], item: tuple[str, str]) -> bool:
    """Return whether an entry of a FAQPage, whose answer is text or HTML, says what was published."""
    (name, text), (question, answer) = marked_up, item
    return name == question and _shown(answer) in (normalize(text), PageContent(text).text)


def _marked_up(faq_page: dict[str, object]) -> list[tuple[str, str]]:
    """Return the questions and answers of a FAQPage."""
    entities = faq_page.get("mainEntity")
    return [
        (entity.get("name", ""), entity.get("acceptedAnswer", {}).get("text", ""))
        for entity in (entities if isinstance(entities, list) else [entities])
        if isinstance(entity, dict)
    ]


def _problems_of_policy(content: PageContent, policy: str) -> Iterator[str]:
    if "default-src 'none'" not in policy:
        yield "there is no strict Content-Security-Policy"
    if not all(nonce and f"'nonce-{nonce}'" in policy for nonce in content.nonces):
        yield "a style or script element does not have the nonce of the policy"
