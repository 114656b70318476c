"""The code of the README runs, against a real service."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from flask import Flask
from jinja2 import Environment, Undefined

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.service import create_app
from faqsvc_embed.service.serving import running
from faqsvc_embed.service.storage import open_storage
from faqsvc_embed.settings import Settings
from tests.support.samples import record

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")
ADDRESS = "https://faq.example.com"


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('readme') / 'faqs.db'}")
    for slug in ("pricing", "getting-started"):
        storage.put(FAQ.from_dict(record(slug, ("How much?", "€5"), lang="en")))
    with running(create_app(storage)) as base_url:
        yield base_url
    storage.close()


@pytest.mark.parametrize("block", blocks("python"), ids=lambda block: block.splitlines()[0])
def test_every_python_example_runs(block: str, service: str, capsys: pytest.CaptureFixture[str]) -> None:
    names: dict[str, object] = {"__name__": __name__}
    exec(compile(block.replace(ADDRESS, service), "README.md", "exec"), names)
    if "app" in names:
        app = names["app"]
        assert isinstance(app, Flask)
        page = app.test_client().get("/")
        assert page.status_code == 200
        assert "How much?" in page.text


@pytest.mark.parametrize("block", blocks("jinja"), ids=lambda block: block.splitlines()[0])
def test_every_template_example_renders(block: str, service: str) -> None:
    environment = Environment(autoescape=True, undefined=Undefined)
    with FAQEmbed(service, strict=True) as embed:
        install(environment, embed)
        text = environment.from_string(block).render()
    assert "How much?" in text
    assert text.count('"FAQPage"') == 1


def test_every_setting_is_described_with_its_default() -> None:
    for name in Settings.__dataclass_fields__:
        if name != "store":  # not before it stores
            assert f"| `{name}` |" in README
