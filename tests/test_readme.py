"""The README is short, and what it shows works when it is pasted."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT, Block, blocks_of
from tests.docs.running import run_commands, write_files

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


@pytest.mark.system
def test_its_install_line_finds_the_clone_beside_the_folder_of_the_site(tmp_path: Path) -> None:
    (tmp_path / "faqsvc-embed").symlink_to(ROOT)
    (tmp_path / "site").mkdir()
    text = "\n".join(block.text for block in blocks_of(README) if block.language == "console")
    lines = re.findall(r"^pip (install .*faqsvc-embed.*)$", text, re.MULTILINE)
    assert lines
    for line in lines:
        command = [sys.executable, "-m", "pip", "-q", *shlex.split(line), "--dry-run", "--no-deps"]
        done = subprocess.run(command, cwd=tmp_path / "site", capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, done.stderr
