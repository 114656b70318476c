"""Every code block of the documentation runs, and what the README shows works when it is pasted."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, SKILL, Block, blocks_of, name_of
from tests.docs.running import (
    APPLICATIONS,
    PROJECTS,
    READERS,
    TEMPLATES,
    run_code,
    run_commands,
    write_files,
)
from tests.support.service import Service

LANGUAGES = {"python", "console", *TEMPLATES, *READERS}
PLAIN = {
    "text",
    "sql",
    "markdown",
    "css",
    "nginx",
    "csv",
    "ini",
    "html",
    "dockerfile",
    "diff",
    "http",
    "html+django",
}
"""Languages of blocks that are not run by themselves."""


PROCESSES = {ROOT / "docs" / "how-to" / f"{name}.md" for name in ("django", "django-admin", "wagtail")}
"""Pages whose files are an application for a process of its own: `test_projects.py` and others run them."""
RUN_ELSEWHERE = {
    ROOT / "README.md": "the tests below",
    ROOT / "CONTRIBUTING.md": "all of its commands are stand-ins",
    SKILL: "the pages from which it is made",
    **dict.fromkeys((ROOT / "docs" / "how-to" / name for name in PROJECTS), "test_projects.py"),
}


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


@pytest.mark.parametrize(
    "page", sorted({*pages_with("python", *TEMPLATES, *READERS)} - {SKILL, *PROCESSES}), ids=name_of
)
def test_code_runs(page: Path, place: Path, service: Service) -> None:
    blocks = blocks_of(page)
    write_files(blocks, place, service)
    if page in APPLICATIONS:
        blocks = [block for block in blocks if not block.file]
    assert run_code(blocks, service)


@pytest.mark.system
@pytest.mark.parametrize("page", sorted({*pages_with("console")} - RUN_ELSEWHERE.keys()), ids=name_of)
def test_commands_run(page: Path, tmp_path: Path, service: Service) -> None:
    blocks = blocks_of(page)
    write_files(blocks, tmp_path, service)
    run_commands(blocks, tmp_path, service)


def test_every_block_names_its_language() -> None:
    blocks = [block for page in PAGES for block in blocks_of(page) if not block.language.startswith("{")]
    assert [str(block) for block in blocks if block.language not in LANGUAGES | PLAIN] == []


README = ROOT / "README.md"


def test_a_newcomer_reads_it_in_a_minute() -> None:
    text = README.read_text(encoding="utf-8")
    assert len(text) <= 6_000
    assert blocks_of(README)[0].line <= 15


def test_its_picture_is_there_and_small() -> None:
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", README.read_text(encoding="utf-8"))
    assert pictures
    for picture in pictures:
        assert (ROOT / picture).stat().st_size < 150_000


@pytest.mark.system
def test_its_commands_end_with_the_faq_on_the_page(tmp_path: Path) -> None:
    blocks = blocks_of(README)
    write_files(blocks, tmp_path)
    blocks.append(Block(README, 0, "console", "curl --fail --silent http://127.0.0.1:5000/"))
    page = run_commands(blocks, tmp_path)
    assert "How much is a poster?" in page
    assert "<strong>Ten</strong>" in page
    assert page.count('"FAQPage"') == 1


def test_its_install_lines_install_the_clone_beside_the_site() -> None:
    text = "\n".join(block.text for block in blocks_of(README) if block.language == "console")
    lines = re.findall(r"^pip install .*faqsvc-embed.*$", text, re.MULTILINE)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert lines
    for line in lines:
        named = re.fullmatch(r"pip install (?:-e )?'\.\./faqsvc-embed\[(\w+)\]'", line)
        assert named, line
        assert named[1] in extras
