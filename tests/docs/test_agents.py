"""What assistants read agrees with the pages."""

import runpy

import yaml

from tests.docs.pages import ROOT, SKILL

AGENTS = runpy.run_path(str(ROOT / "docs" / "agents.py"))
REMEDY = "run `python docs/agents.py`"


def test_llms_txt_agrees_with_the_pages() -> None:
    assert AGENTS["LLMS"].read_text(encoding="utf-8") == AGENTS["llms"](), REMEDY


def test_the_skill_agrees_with_the_pages() -> None:
    assert SKILL.read_text(encoding="utf-8") == AGENTS["skill"](), REMEDY


def test_the_skill_has_a_valid_head() -> None:
    head = yaml.safe_load(SKILL.read_text(encoding="utf-8").split("---")[1])
    assert head["name"] == SKILL.parent.name
    assert 0 < len(head["description"]) <= 1024


def test_every_page_has_a_summary_for_assistants() -> None:
    without = [path.name for path in AGENTS["pages"]() if not AGENTS["summary_of"](path.read_text("utf-8"))]
    assert without == []
