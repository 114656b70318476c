"""A host's type checker reads the package: it knows every type, and finds mistakes before the page does."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

import faqsvc_embed

HERE: Final = Path(__file__).parent
MISTAKES: Final = {
    'FAQEmbed("https://faq.example.com", wiat=1)': "unexpected",
    'FAQEmbed("https://faq.example.com", styles="cached")': "styles",
    'FAQEmbed("https://faq.example.com", variant="accordion")': "variant",
    'FAQEmbed("https://faq.example.com", wait="1")': "wait",
    "FAQEmbed(base_url=3)": "base_url",
    'FAQClient("https://faq.example.com", variant="open")': "unexpected",
    'FAQClient("https://faq.example.com", timeout=None)': "timeout",
    'FAQExtension(laang="en")': "unexpected",
    'FAQMiddleware(app, laang="en")': "unexpected",
    "Settings(max_entries=None)": "max_entries",
    "Settings(heading_level='2')": "heading_level",
    "Settings.from_env({}, xyzzy=1)": "unexpected",
    "Settings().replace(offline=5)": "offline",
    "fake_embed({}, stirct=True)": "unexpected",
    'faqs.render("pricing", heading="h2")': "unexpected",
    'faqs.render(b"pricing")': "argument",
    'faqs.use_faq("pricing").data.title': "title",
    'faqs.get_faq("pricing").titel': "titel",
    'FAQ.from_dict("pricing")': "argument",
    'FAQExtension(base_url="https://faq.example.com", push="no")': "push",
    'FAQMiddleware(app, embed="https://faq.example.com")': "embed",
}
PREAMBLE: Final = """
from typing import Any
from faqsvc_embed import FAQ, FAQClient, FAQEmbed, Settings
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.starlette import FAQMiddleware
from faqsvc_embed.testing import fake_embed

def host(app: Any, faqs: FAQEmbed) -> None:
"""


def check(path: Path, cache: Path) -> tuple[int, str]:
    """Return the exit status and the output of mypy for a file of a host."""
    command = [
        sys.executable,
        "-m",
        "mypy",
        "--strict",
        "--no-error-summary",
        f"--cache-dir={cache}",
        str(path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent.parent, check=False)
    return done.returncode, done.stdout + done.stderr


def test_the_package_says_that_it_has_types() -> None:  # PEP 561
    assert (Path(faqsvc_embed.__file__).parent / "py.typed").is_file()


@pytest.mark.system
def test_the_public_api_has_the_types_that_a_host_expects(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    assert check(HERE / "usage.py", tmp_path) == (0, "")


@pytest.mark.system
def test_a_type_checker_finds_the_mistakes_of_a_host(tmp_path: Path) -> None:
    pytest.importorskip("mypy")
    host = tmp_path / "host.py"
    host.write_text(PREAMBLE + "".join(f"    {line}\n" for line in MISTAKES), encoding="utf-8")
    _, output = check(host, tmp_path / "cache")
    first = PREAMBLE.count("\n") + 1
    for number, (line, word) in enumerate(MISTAKES.items(), first):
        found = [text for text in output.splitlines() if f"host.py:{number}: error" in text]
        assert any(word in text.lower() for text in found), f"{line}\n{output}"
