"""The pages about other people's applications: each shows its FAQs, in a process of its own."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.docs.pages import ROOT, blocks_of
from tests.docs.running import APPLICATIONS, needs, write_files

NICEGUI: Final = """
from fastapi.testclient import TestClient
from nicegui_app import app
with TestClient(app) as client:
    print(client.get("/").text)
"""
DASH: Final = """
from dash_app import app
print(app.server.test_client().get("/").text)
"""
DATASETTE: Final = """
import asyncio
from datasette.app import Datasette
site = Datasette(memory=True, plugins_dir="plugins", template_dir="templates")
response = asyncio.run(site.client.get("/", headers={"Accept-Language": "de"}))
assert "accept-language" in response.headers["vary"].lower()
print(response.text)
assert "faqsvc" not in asyncio.run(site.client.get("/_memory.json")).text
"""
PELICAN: Final = """
from pathlib import Path
from pelican import main
Path("content").mkdir()
Path("content/hello.md").write_text("Title: Hello\\nDate: 2026-01-01\\n\\nText")
Path("theme/templates").mkdir(parents=True)
Path("theme/static").mkdir()
for name in ("index", "article", "archives", "author", "authors", "category", "categories", "tag", "tags",
             "period_archives", "page"):
    Path(f"theme/templates/{name}.html").write_text('<!doctype html>{{ faq("pricing") }}')
main(["content", "-s", "pelicanconf.py", "-t", "theme", "-o", "output", "--fatal", "errors"])
print(Path("output/index.html").read_text())
"""
MKDOCS: Final = """
from pathlib import Path
from mkdocs.__main__ import cli
Path("docs").mkdir()
Path("docs/index.md").write_text("---\\nfaq: pricing\\n---\\n\\n# Posters")
cli(["build", "--strict", "--quiet"], standalone_mode=False)
print(Path("site/index.html").read_text())
"""


@pytest.mark.system
@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("nicegui", NICEGUI),
        ("dash", DASH),
        ("datasette", DATASETTE),
        ("pelican", PELICAN),
        ("mkdocs", MKDOCS),
    ],
)
def test_a_page_has_its_faq_and_one_faqpage(name: str, code: str, tmp_path: Path) -> None:
    needs(name)
    write_files([block for page in APPLICATIONS for block in blocks_of(page)], tmp_path)
    done = subprocess.run(
        [sys.executable, "-c", f"import sys; sys.path[:0] = ['', {str(ROOT)!r}]\n{code}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    html = done.stdout
    assert [html.count(part) for part in ("@layer faqsvc", "FAQPage", "acceptedAnswer")] == [1, 1, 1]
    assert "faqsvc-answer" in html
