"""The code of the README runs, against a real service."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from flask import Flask
from jinja2 import Environment, Undefined
from starlette.applications import Starlette
from starlette.testclient import TestClient

from faqsvc_embed import FAQ, FAQClient, FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.service import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import open_storage
from faqsvc_embed.settings import NAMES
from tests.support.samples import record

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
ADDRESS = "https://faq.example.com"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


class Running(NamedTuple):
    base_url: str
    key: str


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('readme') / 'faqs.db'}")
    for slug in ("pricing", "getting-started"):
        storage.put(FAQ.from_dict(record(slug, ("How much?", "€5"), lang="en")))
    with running(create_app(storage)) as base_url:
        yield Running(base_url, storage.keys.create("readme"))
    storage.close()


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, service: Running) -> None:
    """Where an example runs: beside a template, with a key in the environment."""
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates" / "home.html").write_text('{{ faq("pricing") }}', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("FAQSVC_API_KEY", service.key)


@pytest.mark.usefixtures("place")
@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.splitlines()[0])
def test_every_python_example_runs(block: str, service: Running) -> None:
    names: dict[str, Any] = {"__name__": __name__}
    exec(compile(block.replace(ADDRESS, service.base_url), "README.md", "exec"), names)
    app, client = names.get("app"), names.get("client")
    if isinstance(app, Flask):
        assert "How much?" in app.test_client().get("/").text
    elif isinstance(app, Starlette):
        with TestClient(app) as browser:
            assert "How much?" in browser.get("/").text
    if isinstance(client, FAQClient):
        assert client.get_faq(names["published"].slug).items[0].answer == "From ten to four."
        client.close()
    if isinstance(names.get("embed"), FAQEmbed):
        names["embed"].close()


@pytest.mark.parametrize("block", blocks("jinja"), ids=lambda block: block.splitlines()[0])
def test_every_template_example_renders(block: str, service: Running) -> None:
    environment = Environment(autoescape=True, undefined=Undefined)
    with FAQEmbed(service.base_url, strict=True) as embed:
        install(environment, embed)
        text = environment.from_string(block).render()
    assert "How much?" in text
    assert text.count('"FAQPage"') == 1


def test_every_setting_is_described_with_its_default() -> None:
    for name in NAMES:
        assert f"| `{name}` |" in README
