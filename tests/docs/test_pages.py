"""The pages are spelled well and complete, their links lead somewhere, and assistants read the same."""

import re
import runpy
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import click
import pytest
import yaml

import faqsvc_embed
from faqsvc_embed.cli import main
from faqsvc_embed.page.options import NAMES
from faqsvc_embed.settings import NAMES as SETTINGS
from tests.docs.pages import PAGES, ROOT, SKILL, tokens_of

REFERENCE = ROOT / "docs" / "reference"


def test_every_public_name_is_documented() -> None:
    pages = "".join(path.read_text(encoding="utf-8") for path in REFERENCE.glob("*.md"))
    errors = {name for name in faqsvc_embed.__all__ if is_error(name)}
    missing = [name for name in set(faqsvc_embed.__all__) - errors if f"faqsvc_embed.{name}\n" not in pages]
    assert missing == []


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
    "section",
    "questions",
    "schema",
    "nonce",
)


def test_every_setting_has_somebody_who_needs_it_and_a_page_that_says_so() -> None:
    table = (REFERENCE / "settings.md").read_text(encoding="utf-8").partition("## Who needs which")[2]
    rows = [line for line in table.splitlines() if line.startswith("| `")]
    assert sorted(re.findall(r"`(\w+)`", "".join(row.split(" | ")[0] for row in rows))) == sorted(SETTINGS)
    for row in rows:
        names, _, links = row.split(" | ")
        pages = [(REFERENCE / link).resolve() for link in re.findall(r"\(([^)]+)\)", links)]
        text = "".join(page.read_text(encoding="utf-8") for page in pages)
        for name in re.findall(r"`(\w+)`", names):
            assert re.search(rf"\b{name}\b|\bFAQSVC_{name.upper()}\b", text), name


def test_every_option_of_a_command_is_on_a_page_that_says_what_it_is_for() -> None:
    pages = "".join(page.read_text(encoding="utf-8") for page in PAGES if page != SKILL)
    missing = [
        f"{context.command_path} {option}"
        for context in contexts()
        for parameter in context.command.params
        if isinstance(parameter, click.Option)
        for option in parameter.opts[:1]
        if not re.search(rf"{option}(?![\w-])", pages)
    ]
    assert missing == []


def contexts(parent: click.Context | None = None) -> Iterator[click.Context]:
    """Yield the context of every command below `faqsvc`."""
    parent = parent or click.Context(main, info_name="faqsvc")
    assert isinstance(parent.command, click.Group)
    for name, command in parent.command.commands.items():
        context = click.Context(command, info_name=name, parent=parent)
        yield from contexts(context) if isinstance(command, click.Group) else [context]


def test_every_class_is_described() -> None:
    package = Path(faqsvc_embed.__file__).parent
    templates = "".join(path.read_text(encoding="utf-8") for path in package.glob("templates/faqsvc/*.html"))
    page = (REFERENCE / "css.md").read_text(encoding="utf-8")
    script = (package / "static" / "faqsvc.js").read_text(encoding="utf-8")
    used = set(re.findall(r'"(faqsvc-[\w-]+)"', templates))
    used |= {f"faqsvc-{name}" for name in re.findall(r'\$make\("\w+", "(\w+)"', script)}
    assert used <= set(re.findall(r"`(faqsvc[\w-]*)`", page))


@pytest.mark.parametrize("part", ["settings", "commands", "routes", "errors", "css", "template", "tools"])
def test_parts_are_generated(part: str) -> None:
    parts = runpy.run_path(str(ROOT / "docs" / "_ext" / "parts.py"))
    assert len(list(parts["PARTS"][part]())) > 3


def test_an_extra_that_is_named_exists() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    pages = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("docs/**/*.md"))
    named = set(",".join(re.findall(r"faqsvc-embed\[([\w,]+)\]", pages)).split(","))
    assert all(f"\n{extra} = [" in project for extra in named)


def test_the_layout_of_the_package_is_described_as_it_is() -> None:
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8").partition("| module or package |")[2]
    named = re.findall(r"`([a-z_]+(?:\.py|/))`", page.partition("To read the code")[0])
    package = Path(faqsvc_embed.__file__).parent
    modules = {path.name for path in package.glob("*.py")} - {"__init__.py", "__main__.py"}
    packages = {f"{path.name}/" for path in package.iterdir() if path.is_dir() and path.name[0].isalpha()}
    assert sorted(named) == sorted(modules | packages)


def test_links_lead_somewhere() -> None:
    assert [
        (page, link) for page in PAGES for link in links_of(page) if not leads_somewhere(page, link)
    ] == []


def links_of(page: Path) -> Iterator[str]:
    """Yield the relative addresses of links and pictures."""
    for token in tokens_of(page):
        for child in token.children or []:
            address = child.attrGet("href") or child.attrGet("src")
            if isinstance(address, str) and not re.match(r"[a-z]+:", address):
                yield address


def leads_somewhere(page: Path, link: str) -> bool:
    path, _, fragment = unquote(link).partition("#")
    target = (page.parent / path).resolve() if path else page
    if not target.is_relative_to(ROOT) or not target.exists():
        return False
    return not fragment or target.suffix != ".md" or fragment in anchors_of(target)


@cache
def anchors_of(page: Path) -> set[str]:
    """Return the anchors of headings, as GitHub and MyST make them."""
    tokens = tokens_of(page)
    titles = [
        tokens[at + 1].content.replace("`", "") for at, t in enumerate(tokens) if t.type == "heading_open"
    ]
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


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


GERMAN = "ist,sie,ue"
"""Words of examples in German that look like misspelled English."""


def test_spelling() -> None:
    pages = [*PAGES, ROOT / "CHANGELOG.md"]
    command = [sys.executable, "-m", "codespell_lib", "-L", GERMAN, *map(str, pages)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stdout + found.stderr
