"""Every example to copy shows its FAQ."""

import runpy
from pathlib import Path

import pytest

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import faqs_from
from tests.docs.pages import ROOT
from tests.docs.running import visit

EXAMPLES = ROOT / "docs" / "examples"


@pytest.fixture(autouse=True)
def _folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_DIRECTORY", str(EXAMPLES / "faqs"))


@pytest.mark.parametrize("example", sorted(EXAMPLES.glob("*_app.py")), ids=lambda path: path.stem)
def test_an_application_shows_its_faq(example: Path) -> None:
    names = runpy.run_path(str(example))
    visit(names["app"], example.name)
    embed = names.get("embed") or faqs_from(names["app"])
    assert isinstance(embed, FAQEmbed)
    embed.close()


def test_a_static_page_shows_its_faq(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLES / "static_page.py"), run_name="__main__")
    assert "How much is a poster?" in capsys.readouterr().out


def test_the_list_of_examples_is_complete() -> None:
    listed = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert [path.name for path in EXAMPLES.glob("*.py") if path.name not in listed] == []
