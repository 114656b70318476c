"""The reference has everything that the code has."""

import re
import runpy
from pathlib import Path

import pytest

import faqsvc_embed
from faqsvc_embed.page.options import NAMES
from tests.docs.pages import ROOT

REFERENCE = ROOT / "docs" / "reference"


def test_every_public_name_is_documented() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    errors = {name for name in faqsvc_embed.__all__ if is_error(name)}
    missing = [name for name in set(faqsvc_embed.__all__) - errors if f"faqsvc_embed.{name}\n" not in pages]
    assert missing == ["FAQEvent"]  # in the generated part of `errors.md`, as the errors


def is_error(name: str) -> bool:
    value = getattr(faqsvc_embed, name)
    return isinstance(value, type) and issubclass(value, Exception)


def test_every_option_of_a_template_is_documented() -> None:
    page = (REFERENCE / "templates.md").read_text(encoding="utf-8")
    assert re.findall(r"(?m)^\| `(\w+)` \|", page) == [name for name in OPTIONS_IN_ORDER if name in NAMES]
    assert set(OPTIONS_IN_ORDER) == set(NAMES)


OPTIONS_IN_ORDER = (
    "lang",
    "theme",
    "show_title",
    "heading_level",
    "variant",
    "look",
    "exclusive",
    "schema",
    "nonce",
)


def test_every_class_is_described() -> None:
    package = Path(faqsvc_embed.__file__).parent
    templates = "".join(path.read_text(encoding="utf-8") for path in package.glob("templates/faqsvc/*.html"))
    page = (REFERENCE / "css.md").read_text(encoding="utf-8")
    script = (package / "static" / "faqsvc.js").read_text(encoding="utf-8")
    used = set(re.findall(r'"(faqsvc-[\w-]*)"', templates + script))
    assert used <= set(re.findall(r"`(faqsvc[\w-]*)`", page))


@pytest.mark.parametrize(
    "part", ["settings", "commands", "routes", "errors", "events", "css", "template", "tools"]
)
def test_parts_are_generated(part: str) -> None:
    parts = runpy.run_path(str(ROOT / "docs" / "_ext" / "parts.py"))
    assert len(list(parts["PARTS"][part]())) > 3


def test_an_extra_that_is_named_exists() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pages = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md"))
    named = set(",".join(re.findall(r"faqsvc-embed\[([\w,]+)\]", pages)).split(","))
    assert all(f"\n{extra} = [" in project for extra in named)
