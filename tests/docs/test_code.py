"""Every code block of the documentation runs."""

from pathlib import Path

import pytest

from tests.docs.pages import PAGES, ROOT, SKILL, blocks_of, name_of
from tests.docs.running import READERS, TEMPLATES, run_code, run_commands, write_files
from tests.support.service import Service

LANGUAGES = {"python", "console", *TEMPLATES, *READERS}
PLAIN = {
    "text",
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


PROCESSES = {
    ROOT / "docs" / "how-to" / f"{name}.md"
    for name in ("django", "django-admin", "wagtail", "components", "static-sites", "applications")
}
"""Pages whose files are an application for a process of its own: `test_django.py` and others run them."""
RUN_ELSEWHERE = {
    ROOT / "README.md": "tests/test_readme.py",
    ROOT / "CONTRIBUTING.md": "all of its commands are stand-ins",
    SKILL: "the pages from which it is made",
}


def pages_with(*languages: str) -> list[Path]:
    return [page for page in PAGES if any(block.language in languages for block in blocks_of(page))]


@pytest.mark.parametrize(
    "page", sorted({*pages_with("python", *TEMPLATES, *READERS)} - {SKILL, *PROCESSES}), ids=name_of
)
def test_code_runs(page: Path, place: Path, service: Service) -> None:
    blocks = blocks_of(page)
    write_files(blocks, place, service)
    assert run_code(blocks, service)


@pytest.mark.system
@pytest.mark.parametrize("page", sorted({*pages_with("console")} - RUN_ELSEWHERE.keys()), ids=name_of)
def test_commands_run(page: Path, tmp_path: Path, service: Service) -> None:
    blocks = blocks_of(page)
    write_files(blocks, tmp_path, service)
    run_commands(blocks, tmp_path, service)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_every_block_names_its_language(page: Path) -> None:
    unknown = [
        str(block)
        for block in blocks_of(page)
        if block.language not in LANGUAGES | PLAIN and not block.language.startswith("{")
    ]
    assert unknown == []
