"""A FAQ service for the examples of the documentation, with the FAQs `pricing` and `getting-started`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from weakref import WeakSet

import pytest

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.service import create_app
from faqsvc_embed.service.storage import open_storage
from tests.service.storage.writes import put
from tests.support.running import running
from tests.support.samples import record
from tests.support.service import Service


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """The service in place of https://faq.example.com."""
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('docs') / 'faqsvc.db'}")
    for slug in ("pricing", "getting-started"):
        put(storage, FAQ.from_dict(record(slug, ("How much?", "€5"), ("Do you ship?", "Yes."), lang="en")))
    with running(create_app(storage)) as base_url:
        yield Service(base_url, storage.keys.create("docs"))
    storage.close()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: Service) -> Path:
    """The directory in which the examples of a page run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAQSVC_BASE_URL", service.base_url)
    monkeypatch.setenv("FAQSVC_API_KEY", service.key)
    return tmp_path


@pytest.fixture(autouse=True)
def _closed_embeds(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the embeds of the examples, which run in this process and leave that to its end."""
    make, made = FAQEmbed.__init__, WeakSet[FAQEmbed]()

    def note(embed: FAQEmbed, *arguments: Any, **options: Any) -> None:
        made.add(embed)
        make(embed, *arguments, **options)

    monkeypatch.setattr(FAQEmbed, "__init__", note)
    yield
    for embed in list(made):
        embed.close()
