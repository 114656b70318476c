"""Runs the demo: an FAQ service, and the website in every framework."""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from demo_apps import content, fastapi_app, flask_app, gallery, side_by_side, site, starlette_app, static_site
from demo_apps.servers import App, Program, address_of, listening, serving
from faqsvc_embed import FAQ, FAQClient
from faqsvc_embed.service import create_app as create_service
from faqsvc_embed.service.storage import open_storage

PORT: Final = 8700
"""The port of the service. The websites use the next ones, in the order of `WEBSITES`.

The page with all of them side by side uses the one after.
"""


def django_app(base_url: str) -> Program:
    """Return the website in Django, which this process does not import: its settings are for a process."""
    return Program("demo_apps.django_app", (base_url,))


@dataclass(frozen=True, slots=True)
class Website:
    """The website in one framework; `json_paths` are addresses that return an FAQ as JSON."""

    name: str
    create_app: Callable[[str], App]
    pages: tuple[site.Page, ...] = site.PAGES
    json_paths: tuple[str, ...] = ()


WEBSITES: Final = (
    Website("Flask", flask_app.create_app, (*site.PAGES, gallery.PAGE)),
    Website("Starlette", starlette_app.create_app),
    Website("FastAPI", fastapi_app.create_app, (*site.PAGES, fastapi_app.PLAIN), ("/faq/pricing",)),
    Website("Django", django_app, (*site.PAGES, site.DJANGO)),
    Website("Jinja", static_site.create_app, (static_site.HOME,)),
)


@dataclass(frozen=True, slots=True)
class Demo:
    """The addresses of a running demo, an API key of its service, and a sign-in link for its desk."""

    service: str
    api_key: str = field(repr=False)
    sign_in: str = field(repr=False)
    websites: dict[str, str]
    """Addresses by the name of the website."""
    side_by_side: str
    """The address of the page with all of them."""


def create_site(database: str) -> tuple[str, str]:
    """Return an API key of a new database, and the token of a sign-in link for its desk."""
    storage = open_storage(database)
    api_key = storage.keys.create("demo")
    link = storage.sign_ins.create_link(storage.people.admin("You"))
    storage.close()
    return api_key, link


def publish(service: str, api_key: str) -> None:
    """Publish every FAQ in every language."""
    with FAQClient(service, api_key=api_key) as client:
        for slug in content.SLUGS:
            for lang in site.LANGUAGES:
                body = content.faq_body(slug, lang)
                faq = FAQ.from_dict(body)
                client.publish_faq(
                    slug=slug,
                    lang=lang,
                    title=faq.title,
                    website_name=faq.website_name,
                    website_url=body["websiteUrl"],
                    answer_format=faq.answer_format,
                    items=faq.items,
                )


@contextmanager
def running_demo(port: int = PORT) -> Iterator[Demo]:
    """Start the service and the websites, and stop them when the block ends.

    `port` is the service's; 0 picks free ports for all. The database is temporary.

    Raises:
        PortTaken: one of the ports is in use.
    """
    ports = [port + n if port else 0 for n in range(len(WEBSITES) + 2)]
    with ExitStack() as stack:
        directory = stack.enter_context(tempfile.TemporaryDirectory(prefix="faqsvc-demo-"))
        listener, *listeners, beside = [stack.enter_context(listening(port)) for port in ports]
        service = address_of(listener)
        database = f"sqlite:///{Path(directory, 'faqsvc.db').as_posix()}"
        api_key, link = create_site(database)
        stack.enter_context(serving(create_service(database, base_url=service), listener))
        publish(service, api_key)
        for website, own in zip(WEBSITES, listeners, strict=True):
            stack.enter_context(serving(website.create_app(service), own))
        addresses = {website.name: address_of(own) for website, own in zip(WEBSITES, listeners, strict=True)}
        stack.enter_context(serving(side_by_side.create_app(service, addresses), beside))
        sign_in = f"{service}/desk/sign-in#link={link}"
        yield Demo(service, api_key, sign_in, addresses, address_of(beside))
