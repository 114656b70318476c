"""A host's type checker reads the package: it knows every type, and finds mistakes before the page does."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import faqsvc_embed

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parent.parent
EXAMPLES: Final = sorted((ROOT / "docs" / "examples").glob("*.py"))
SITES: Final = [HERE / "usage.py", HERE / "hosts.py", *EXAMPLES]
"""What hosts write: the public names, a site in each framework, and the examples of the documentation."""
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


def mypy(folder: Path, *paths: Path) -> str:
    """Return the output of mypy for files of a host.

    The checks of the package, which `.ci/run` has run before, leave their cache in `MYPY_CACHE_DIR`.
    """
    pytest.importorskip("mypy")
    options = ["--strict", "--no-error-summary", f"--cache-dir={os.environ.get('MYPY_CACHE_DIR', folder)}"]
    return run(sys.executable, "-m", "mypy", *options, *map(str, paths))


def pyright(folder: Path, *paths: Path) -> str:
    """Return the output of pyright for files of a host.

    basedpyright is pyright with Node.js in a package; its own rules are off.
    """
    settings = {
        "include": [str(path) for path in paths],
        "extraPaths": [str(ROOT)],
        "typeCheckingMode": "strict",
    }
    project = folder / "pyrightconfig.json"
    project.write_text(json.dumps(settings), encoding="utf-8")
    options = ["--project", str(project), "--pythonpath", sys.executable, "--outputjson"]
    result = json.loads(run(program("basedpyright"), *options))
    assert result["summary"]["filesAnalyzed"] == len(paths)
    found = result["generalDiagnostics"]
    lines = [f"{one['file']}:{one['range']['start']['line'] + 1}: error: {one['message']}" for one in found]
    return "\n".join(lines)


def run(*command: str) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return done.stdout + done.stderr


def program(name: str) -> str:
    """Return the path of a program of this environment."""
    path = shutil.which(name, path=str(Path(sys.executable).parent))
    if path is None:
        if os.environ.get("CI"):
            pytest.fail(f"{name} is not installed")
        pytest.skip(f"{name} is not installed")
    return path


def test_the_package_says_that_it_has_types() -> None:  # PEP 561
    assert (Path(faqsvc_embed.__file__).parent / "py.typed").is_file()


@pytest.mark.system
@pytest.mark.parametrize("check", [mypy, pyright])
def test_strict_type_checkers_find_mistakes_of_a_host_and_nothing_in_a_site_of_any_framework(
    tmp_path: Path, check: Any
) -> None:
    for name in ("django", "falcon", "litestar", "quart", "sanic"):
        pytest.importorskip(name)
    host = tmp_path / "host.py"
    host.write_text(PREAMBLE + "".join(f"    {line}\n" for line in MISTAKES), encoding="utf-8")
    output = check(tmp_path, host, *SITES)
    assert [text for text in output.splitlines() if "error" in text and "host.py:" not in text] == []
    for number, (line, word) in enumerate(MISTAKES.items(), PREAMBLE.count("\n") + 1):
        found = [text for text in output.splitlines() if f"host.py:{number}: error" in text]
        assert any(word in text.lower() or check is pyright for text in found), f"{line}\n{output}"
