"""The sources of the package, each with the same FAQs: what the conformance suite runs over."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from faqsvc_embed import FAQ, FAQEmbed, FAQGone, FAQUnavailable
from faqsvc_embed.files.folder import file_name
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer


def faq(slug: str = "pricing", title: str = "Pricing", lang: str = "en") -> FAQ:
    """Return an FAQ with one question."""
    return FAQ.from_dict(samples.record(slug, ("How much?", f"{title}: 5 €"), lang=lang, title=title))


ENGLISH: Final = faq()
GERMAN: Final = faq(title="Preise", lang="de")


class Backend:
    """A source that has `pricing` in English, by default, and in German."""

    may_fail = True
    has_languages = True

    def __init__(self, **settings: Any) -> None:
        self._settings = settings

    def embed(self, **settings: Any) -> FAQEmbed:
        """Return a new embed, as another process would have it."""
        return FAQEmbed(**self._settings, **settings)

    def close(self) -> None:
        """Stop what was started."""


class Folder(Backend):
    """Files in a folder."""

    may_fail = False

    def __init__(self, directory: Path) -> None:
        faqs = directory / "faqs"
        faqs.mkdir()
        for found, lang in ((ENGLISH, None), (GERMAN, "de")):
            (faqs / file_name("pricing", lang).replace(".md", ".json")).write_text(found.to_json())
        super().__init__(directory=faqs)


class Fake(Backend):
    """A fake for tests, whose record is that of every language."""

    may_fail = False
    has_languages = False

    def __init__(self, _: Path) -> None:
        super().__init__()

    def embed(self, **settings: Any) -> FAQEmbed:
        return fake_embed({"pricing": ENGLISH}, **settings)


class Remote(Backend):
    """A source that changes, fails and hangs on demand."""

    reads: int
    """How often it was asked for an FAQ."""

    def publish(self, new: FAQ) -> None:
        """Publish an FAQ in its language."""
        raise NotImplementedError

    def fail(self) -> None:
        """Fail from now on."""
        raise NotImplementedError

    def unpublish(self) -> None:
        """Have no FAQ any more, which is final."""
        raise NotImplementedError

    def hold(self) -> threading.Event:
        """Answer only when the event is set."""
        raise NotImplementedError

    def heal(self) -> None:
        """Answer again."""
        raise NotImplementedError

    def __enter__(self) -> "Remote":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Service(Remote):
    """A FAQ service on a socket."""

    def __init__(self, _: Path) -> None:
        self._server = FaultyServer()
        super().__init__(base_url=self._server.base_url, push=False)
        self.publish(ENGLISH)
        self.publish(GERMAN)

    @property
    def reads(self) -> int:  # type: ignore[override]
        return len(self._server.log)

    def publish(self, new: FAQ) -> None:
        self._server.serve(new.to_dict(), lang=None if new.lang == "en" else new.lang)

    def fail(self) -> None:
        self._server.behave(behaviours.status(503))

    def unpublish(self) -> None:
        self._server.behave(behaviours.status(410))

    def hold(self) -> threading.Event:
        release = threading.Event()
        self._server.behave(behaviours.held_until(release))
        return release

    def heal(self) -> None:
        self._server.behave(behaviours.healthy)

    def close(self) -> None:
        self._server.close()


class Shop:
    """A source of the host."""

    name = "shop"

    def __init__(self) -> None:
        self.faqs = dict[tuple[str, str | None], FAQ]()
        self.failure: Any = None
        self.release = threading.Event()
        self.release.set()
        self.calls = list[tuple[str, str | None]]()
        self.threads = set[int]()

    def get(self, slug: str, lang: str | None) -> FAQ | None:
        self.calls.append((slug, lang))
        self.threads.add(threading.get_ident())
        self.release.wait(60)
        if self.failure is not None:
            raise self.failure
        return self.faqs.get((slug, lang))


class AsyncShop(Shop):
    """The same as a coroutine."""

    async def get(self, slug: str, lang: str | None) -> FAQ | None:  # type: ignore[override]
        self.calls.append((slug, lang))
        self.threads.add(threading.get_ident())
        while not self.release.is_set():
            await asyncio.sleep(0.005)
        if self.failure is not None:
            raise self.failure
        return self.faqs.get((slug, lang))


class Host(Remote):
    """An object of the host."""

    make: type[Shop] = Shop

    def __init__(self, _: Path) -> None:
        self.shop = self.make()
        super().__init__(source=self.shop)
        self.publish(ENGLISH)
        self.publish(GERMAN)

    @property
    def reads(self) -> int:  # type: ignore[override]
        return len(self.shop.calls)

    def publish(self, new: FAQ) -> None:
        self.shop.faqs[new.slug, None if new.lang == "en" else new.lang] = new

    def fail(self) -> None:
        self.shop.failure = FAQUnavailable("the database is down")

    def unpublish(self) -> None:
        self.shop.failure = FAQGone("unpublished")

    def hold(self) -> threading.Event:
        self.shop.release = threading.Event()
        return self.shop.release

    def heal(self) -> None:
        self.shop.failure = None
        self.shop.release.set()

    def close(self) -> None:
        self.shop.release.set()


class AsyncHost(Host):
    """A coroutine of the host."""

    make = AsyncShop


REMOTE: Final[list[type[Remote]]] = [Service, Host, AsyncHost]
ALL: Final[list[Callable[[Path], Backend]]] = [*REMOTE, Folder, Fake]
