"""Runs the code blocks of a page, beside an FAQ service of their own in place of https://faq.example.com."""

import importlib.util
import json
import os
import re
import signal
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import pytest
import yaml
from flask import Flask
from jinja2 import Environment, FileSystemLoader
from sqlalchemy import Engine
from starlette.applications import Starlette
from starlette.testclient import TestClient
from werkzeug.test import Client as WSGIClient

from faqsvc_embed import FAQEmbed
from faqsvc_embed.jinja import install
from faqsvc_embed.runtime.serving import Address
from faqsvc_embed.starlette import FAQMiddleware as ASGIMiddleware
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware
from tests.docs.pages import ROOT, Block
from tests.support.asgi import get
from tests.support.parsed import faq_pages
from tests.support.service import Service

EXAMPLE: Final = "https://faq.example.com"
EXAMPLE_KEY: Final = "fs_live_..."
PORTS: Final = ("5000", "8000", "8700")
"""The ports of the pages, for which free ones are used."""
READERS: Final[dict[str, Any]] = {"json": json.loads, "yaml": yaml.safe_load, "toml": tomllib.loads}
TEMPLATES: Final = ("jinja", "html+jinja")
COMMANDS: Final = Path(__file__).parent / "commands.sh"
TIMEOUT: Final = 300.0
"""Seconds for the commands of a page, of which there may be thirty, on a busy machine."""

APPLICATIONS: Final = tuple(ROOT / "docs" / "how-to" / f"{name}.md" for name in ("jinja", "wsgi-and-asgi"))
"""Pages whose files are parts of other people's applications: `test_applications.py` runs these."""
IN_DEV: Final = ("datasette", "mkdocs", "pelican", "wagtail")
"""The applications of other people that the extra `dev` installs."""


def needs(name: str) -> None:
    """Skip a test without an application, unless CI should have it."""
    if importlib.util.find_spec(name) is None:
        reason = f"{name} is not installed"
        if os.environ.get("CI") and name in IN_DEV:
            pytest.fail(reason)
        pytest.skip(reason)


PROJECTS: Final[dict[str, tuple[str, ...]]] = {
    "django-admin.md": ("django-admin", "startproject", "shop", "."),
    "wagtail.md": ("wagtail", "start", "posters", "."),
}
"""Pages whose files belong into the project that a command makes."""


def write_files(blocks: Iterable[Block], directory: Path, service: Service | None = None) -> None:
    """Write the blocks that are contents of files, into the project with which the page begins."""
    for command in {PROJECTS[block.page.name] for block in blocks if block.page.name in PROJECTS}:
        program = Path(sys.executable).parent / command[0]
        subprocess.run([program, *command[1:]], cwd=directory, check=True, stdout=subprocess.DEVNULL)
    for block in blocks:
        if block.file:
            path = directory / block.file
            path.parent.mkdir(parents=True, exist_ok=True)
            text = block.text.replace(EXAMPLE, service.base_url) if service else block.text
            before = path.read_text(encoding="utf-8") if block.is_added else ""
            path.write_text(before + text, encoding="utf-8")


def run_code(blocks: Iterable[Block], service: Service) -> int:
    """Run the Python blocks of a page in one namespace, render its templates, and read its data.

    The current directory has the files of the page. Return the number of blocks.
    """
    module = ModuleType("page_of_the_documentation")
    sys.modules[module.__name__] = module  # where frameworks look for the names in annotations
    names: dict[str, Any] = vars(module)
    count = 0
    try:
        for block in blocks:
            text = block.text.replace(EXAMPLE, service.base_url)
            if block.language == "python":
                app = names.get("app")
                exec(compile("\n" * block.line + text, str(block), "exec"), names)
                # An example that ends with its own assertion shows its FAQ elsewhere.
                if names.get("app") is not app and "\nassert " not in text:
                    visit(names["app"], str(block))
            elif block.language in TEMPLATES:
                if block.file.startswith("templates/faqsvc/"):  # a part of an FAQ
                    continue
                render(text, service, str(block))
            elif block.language in READERS:
                READERS[block.language](text)
            else:
                continue
            count += 1
    finally:
        del sys.modules[module.__name__]
        for engine in (one for one in names.values() if isinstance(one, Engine)):
            engine.dispose()  # since Python 3.13, a connection to SQLite warns if nobody closes it
    return count


def visit(app: object, where: str) -> None:
    """Open the home page of an application that an example makes; it has to show an FAQ."""
    if isinstance(app, Flask):
        with app.test_client() as flask_client:
            flask_response = flask_client.get("/")
            found = flask_response.status_code, flask_response.text
    elif isinstance(app, Starlette):
        with TestClient(app) as client:
            response = client.get("/")
            found = response.status_code, response.text
    elif isinstance(app, WSGIMiddleware):
        wsgi_response = WSGIClient(app).get("/")
        found = wsgi_response.status_code, wsgi_response.text
    elif isinstance(app, ASGIMiddleware) or hasattr(app, "asgi_app"):
        asgi_response = get(app)  # type: ignore[arg-type]
        found = asgi_response.status, asgi_response.text
    else:
        return
    assert found[0] == 200, f"{where}: / has status {found[0]}"
    assert "faqsvc" in found[1] or "How much" in found[1], f"{where}: / shows no FAQ"


def render(text: str, service: Service, where: str) -> None:
    """Render a template in a plain environment, in which every mistake raises."""
    environment = Environment(autoescape=True, loader=FileSystemLoader("templates"))
    directory = "faqs" if Path("faqs").is_dir() else None
    with FAQEmbed(service.base_url, directory=directory, strict=True) as embed:
        install(environment, embed)
        html = environment.from_string(text).render()
    assert len(faq_pages(html)) <= 1, f"{where}: more than one FAQPage"


def run_commands(blocks: Iterable[Block], directory: Path, service: Service | None = None) -> str:
    """Run the console blocks of a page as one script, and return what it prints.

    `commands.sh` says what is not run, and waits for servers.
    """
    script = "\n".join(block.text for block in blocks if block.language == "console")
    if service is not None:
        script = script.replace(EXAMPLE, service.base_url).replace(EXAMPLE_KEY, service.key)
    texts = dict[Path, str]()
    for path in filter(Path.is_file, directory.rglob("*")):
        with suppress(UnicodeDecodeError):  # a compiled module of the project, or its database
            texts[path] = path.read_text(encoding="utf-8")
    ports = dict[str, str]()
    for port in PORTS:
        ports[port] = str(Address().checked().port)
    for path, text in texts.items():
        path.write_text(_with_ports(text, ports), encoding="utf-8")
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "FLASK_RUN_PORT": ports["5000"],
        "UVICORN_PORT": ports["8000"],
        "SERVICE_PORT": ports["8700"],
        "no_proxy": "*",
    }
    process = subprocess.Popen(
        ["bash", "-c", f'. "{COMMANDS}"\n{_with_ports(script, ports)}'],
        cwd=directory,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = process.communicate(timeout=TIMEOUT)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        output, _ = process.communicate()
        raise AssertionError(f"the commands took more than {TIMEOUT:.0f} s:\n{output}") from None
    assert process.returncode == 0, output
    return output


def _with_ports(text: str, ports: dict[str, str]) -> str:
    return re.sub(rf"\b(?:{'|'.join(ports)})\b", lambda match: ports[match[0]], text)
