"""A desk on a real socket, with FAQs in it."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple, cast

import uvicorn
from msgspec.structs import replace
from playwright.sync_api import BrowserContext

from faqsvc_embed import FAQ
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.service import create_app
from faqsvc_embed.service.context import PublicURLs
from faqsvc_embed.service.desk.visit import COOKIE
from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.people import Person
from faqsvc_embed.service.storage.values import UNCONDITIONAL, Access, Write
from tests.support.waiting import wait_until

WEBSITE: Final = "https://www.heron.example"
TITLES: Final = {
    "pricing": {"en": "Prices and payment", "de": "Preise und Bezahlung", "ko": "요금과 결제"},
    "shipping": {"en": "Shipping"},
    "opening-hours": {"de": "Öffnungszeiten"},
    "account": {"en": "Your account"},
}
ITEMS: Final = {
    "en": [
        ("What does it cost?", "One room is free. Every further room is 4 € a month, billed yearly."),
        ("May I cancel at any time?", "Yes, to the end of each month. We send you a confirmation by e-mail."),
        ("How can I pay?", "By card, by direct debit, or by invoice from ten rooms on."),
    ],
    "de": [
        ("Was kostet es?", "Ein Raum ist kostenlos. Jeder weitere kostet 4 € im Monat."),
        ("Kann ich jederzeit kündigen?", "Ja, zum Ende jedes Monats."),
    ],
    "ko": [
        ("요금은 얼마인가요?", "방 하나는 무료입니다."),
        ("언제든지 해지할 수 있나요?", "네, 매달 말일에 해지됩니다."),
    ],
}


class Served(NamedTuple):
    """A running service: its address, its storage, and a person who is an admin."""

    url: str
    storage: Storage
    admin: Person

    def link(self) -> str:
        """Return a new sign-in link."""
        return PublicURLs(self.url).sign_in(self.storage.sign_ins.create_link(self.admin))

    def sign_in(self, context: BrowserContext) -> BrowserContext:
        """Sign the admin in to a browser context, without the page of the link, and return the context."""
        cookie = self.storage.sign_ins.redeem_link(self.storage.sign_ins.create_link(self.admin))
        assert cookie
        context.add_cookies([{"name": COOKIE, "value": cookie, "url": f"{self.url}/desk"}])
        return context


@contextmanager
def serve_desk(directory: Path, *, is_empty: bool = False) -> Iterator[Served]:
    """Serve a desk on a free port of 127.0.0.1."""
    storage = open_storage(f"sqlite:///{directory / 'desk.db'}")
    admin = storage.people.add("Mia", email="mia@heron.example", role="admin")
    storage.sites.update(admin.access, name="Heron", listed=True, website_url=WEBSITE)
    if not is_empty:
        fill(storage, admin.access)
    config = uvicorn.Config(create_app(storage), host="127.0.0.1", port=0, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    wait_until(lambda: server.started)
    port = server.servers[0].sockets[0].getsockname()[1]
    yield Served(f"http://127.0.0.1:{port}", storage, admin)
    server.should_exit = True
    thread.join(60)


def fill(storage: Storage, access: Access) -> None:
    """Write FAQs in several states and languages, and add people and a key."""
    storage.people.add("Tom", email="tom@heron.example", role="editor")
    storage.people.add("Ada", role="publisher")
    for slug, titles in reversed(TITLES.items()):
        for lang, title in titles.items():
            record = {"slug": slug, "lang": lang, "title": title, "websiteName": "Heron"}
            items = [{"question": question, "answer": answer} for question, answer in ITEMS[lang]]
            _write(storage, access, FAQ.from_dict({**record, "items": items}), is_draft=slug == "account")
    changed = [
        *ITEMS["en"][:1],
        ("May I cancel at any time?", "Yes, at the end of each month."),
        ITEMS["en"][2],
    ]
    items = [{"question": question, "answer": answer} for question, answer in changed]
    record = {"slug": "pricing", "lang": "en", "title": "Prices and payment", "websiteName": "Heron"}
    _write(storage, access, FAQ.from_dict({**record, "items": items}), is_draft=True)
    storage.keys.create("website", scope="read")


def remove(storage: Storage, access: Access) -> None:
    """Unpublish an FAQ, move one to the bin, and purge one for ever."""
    for slug in ("returns", "jobs"):
        record = {"slug": slug, "lang": "en", "title": slug.title(), "websiteName": "Heron"}
        items = [{"question": "Why?", "answer": "Because."}]
        _write(storage, access, FAQ.from_dict({**record, "items": items}), is_draft=False)
    storage.removal.bin(access, "returns", None, UNCONDITIONAL)
    storage.removal.purge(access, "jobs", None, UNCONDITIONAL)
    storage.removal.unpublish(access, "shipping", None, UNCONDITIONAL)


def _write(storage: Storage, access: Access, faq: FAQ, *, is_draft: bool) -> None:
    faq = replace(faq, website_url=WEBSITE)
    lang = cast("Lang", faq.lang)
    storage.writer.write(access, Write(faq=faq, slug=faq.slug, lang=lang, is_draft=is_draft))
