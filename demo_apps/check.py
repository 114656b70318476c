"""Open the pages of a host as a visitor would, and say what is on them."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import product

import httpx2

from demo_apps import content
from demo_apps.hosts import HOSTS, Host
from demo_apps.looking import Sight, plain
from demo_apps.site import LANGUAGES, PAGES, Page
from faqsvc_embed import FAQ, FAQError

LANGUAGE_TAGS = [tag for tag, _ in LANGUAGES]
TIMEOUT = 15.0
"""Seconds after which a page counts as one that does not come."""


Look = Callable[..., tuple[str, list[str]]]


def check(hosts: dict[str, str]) -> bool:
    """Open every page of every host, named with its address, and print a line for each.

    Return whether all of them showed what they should.
    """
    outcomes = []
    with httpx2.Client(timeout=TIMEOUT, trust_env=False) as client:
        for host in HOSTS:
            address = hosts[host.name]
            looks: list[tuple[str, str, Look]] = [
                (page.path, lang, partial(visit, page=page)) for page, lang in visits(host)
            ]
            looks += [(path, lang, visit_data) for path, lang in product(host.data, LANGUAGE_TAGS)]
            for path, lang, look in looks:
                asked = f"{path}?lang={lang}"
                found, wrong = look(client, address + asked, lang=lang)
                print(f"{'FAILED' if wrong else 'ok':6}  {host.name:9}  {asked:20}  {found}", flush=True)
                for reason in wrong:
                    print(f"        {reason}", flush=True)
                outcomes.append(not wrong)
    failed = outcomes.count(False)
    print(f"{failed} of {len(outcomes)} pages failed." if failed else f"All {len(outcomes)} pages are right.")
    return not failed


def visits(host: Host) -> Iterator[tuple[Page, str]]:
    """Yield the start page in every language, and every other page in one, each in the next."""
    start, *others = PAGES + host.pages
    for lang in LANGUAGE_TAGS:
        yield start, lang
    for index, page in enumerate(others):
        yield page, LANGUAGE_TAGS[index % len(LANGUAGE_TAGS)]


def visit_data(client: httpx2.Client, url: str, lang: str) -> tuple[str, list[str]]:
    """Read an FAQ as JSON; return what was found, and what is wrong with it."""
    try:
        response = client.get(url)
        faq = FAQ.from_json(response.content)
    except (httpx2.HTTPError, FAQError) as error:
        return "no data", [f"{type(error).__name__}: {error}"]
    found = f"{response.status_code}, lang {faq.lang}, {len(faq.items)} questions as JSON"
    items = [(item["question"], item["answer"]) for item in content.publication(faq.slug, lang)["items"]]
    right = faq.lang == lang and [(item.question, item.answer) for item in faq.items] == items
    return found, [] if right else ["it is not the FAQ that was published"]


def visit(client: httpx2.Client, url: str, page: Page, lang: str) -> tuple[str, list[str]]:
    """Open a page; return what was found, and what is wrong with it."""
    try:
        response = client.get(url)
        sight = Sight(response.text)
        faq_pages = sight.faq_pages
    except (httpx2.HTTPError, ValueError) as error:
        return "no page", [f"{type(error).__name__}: {error}"]
    items = [item for slug in page.shows for item in content.publication(slug, lang)["items"]]
    if page.headless:
        shown = f"{sum(plain(item['question']) in sight.text for item in items)} questions in its own markup"
    else:
        shown = f"{sight.details} questions as <details>"
    found = f"{response.status_code}, lang {sight.lang}, {shown}, {len(faq_pages)} FAQPage"
    wrong = []
    if response.status_code != 200:
        wrong.append("the status is not 200")
    if sight.lang != lang:
        wrong.append(f"the language is not {lang}")
    wrong += _wrong_for_people(sight, page, items)
    wrong += _wrong_for_machines(faq_pages, items)
    if page.strict_policy:
        wrong += _wrong_for_browsers(sight, response.headers.get("content-security-policy", ""))
    return found, wrong


def _wrong_for_people(sight: Sight, page: Page, items: list[dict[str, str]]) -> Iterator[str]:
    expected = 0 if page.headless else len(items)
    if sight.details != expected:
        yield f"there should be {expected} <details>"
    texts = [plain(text) for item in items for text in item.values()]
    missing = [text for text in texts if text not in sight.text]
    if missing:
        yield f"{len(missing)} of {len(texts)} texts cannot be read, the first is {missing[0][:60]!r}"


def _wrong_for_machines(faq_pages: list[dict[str, object]], items: list[dict[str, str]]) -> Iterator[str]:
    expected = 1 if items else 0
    if len(faq_pages) != expected:
        yield f"there should be {expected} FAQPage"
    elif items and _marked_up(faq_pages[0]) != [(item["question"], item["answer"]) for item in items]:
        yield "the FAQPage does not say what the page says"


def _marked_up(faq_page: dict[str, object]) -> list[tuple[object, object]]:
    entities = faq_page.get("mainEntity")
    return [
        (entity.get("name"), entity.get("acceptedAnswer", {}).get("text"))
        for entity in (entities if isinstance(entities, list) else [entities])
        if isinstance(entity, dict)
    ]


def _wrong_for_browsers(sight: Sight, policy: str) -> Iterator[str]:
    if "default-src 'none'" not in policy:
        yield "there is no strict Content-Security-Policy"
    if not all(nonce and f"'nonce-{nonce}'" in policy for nonce in sight.nonces):
        yield "a style or script has not the nonce of the policy"
