"""The page about Django's admin: its files are a project with tests, on a server of two processes."""

import os
import re
import subprocess
import sys
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Final
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from tests.cache.stores.conftest import valkey
from tests.docs.pages import ROOT, blocks_of
from tests.docs.running import write_files
from tests.processes.servers import running
from tests.support.waiting import wait_until

__all__ = ["valkey"]

PAGE: Final = ROOT / "docs" / "how-to" / "django-admin.md"
WORKERS: Final = """
import os
from django.core.wsgi import get_wsgi_application
from django.http import HttpResponse
django = get_wsgi_application()

def application(environ, start_response):
    if environ["PATH_INFO"] == "/loop":
        start_response("200 OK", [])
        return [b"ran"]
    def start(status, headers, *error):
        return start_response(status, [*headers, ("X-Worker", str(os.getpid()))], *error)
    return django(environ, start)
"""
USER: Final = (
    "from django.contrib.auth.models import User; User.objects.create_superuser('editor', '', 'secret')"
)
Environ = dict[str, str]


@pytest.fixture
def project(tmp_path: Path) -> Environ:
    """The environment of a process in the project of the page, with a migrated database."""
    write_files(blocks_of(PAGE), tmp_path)
    environ = {
        **{name: value for name, value in os.environ.items() if not name.startswith("FAQSVC_")},
        "DJANGO_SETTINGS_MODULE": "shop.settings",
        "PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}",
        "DATABASE": str(tmp_path / "shop.db"),
    }
    django(environ, tmp_path, "makemigrations", "faqs")
    return environ


def django(environ: Environ, place: Path, *arguments: str) -> str:
    """Run a command of the project."""
    command = [sys.executable, "-W", "error", "-m", "django", *arguments]
    done = subprocess.run(command, env=environ, cwd=place, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def test_the_project_is_checked_and_its_own_tests_pass(project: Environ, tmp_path: Path) -> None:
    assert "no issues" in django(project, tmp_path, "check")
    assert "Ran 1 test" in django(project, tmp_path, "test", "faqs.tests")


class Editor:
    """A person in the admin of a server."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))
        self.post("/admin/login/", username="editor", password="secret", next="/admin/")

    def post(self, path: str, **fields: str) -> None:
        """Fill in the form of a page, and send it."""
        form = self._opener.open(self._url + path, timeout=20).read().decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
        assert token is not None
        data = urlencode({**hidden, **fields, "csrfmiddlewaretoken": token[1]}).encode()
        response = self._opener.open(Request(self._url + path, data), timeout=20)
        assert "Please correct" not in response.read().decode()


def workers_with(port: int, text: str) -> set[str]:
    """Return the workers whose page shows `text`, of some requests."""
    opener, found = build_opener(), set[str]()
    for _ in range(20):
        with opener.open(f"http://127.0.0.1:{port}/", timeout=20) as response:
            if text in response.read().decode():
                found.add(response.headers["X-Worker"])
    return found


@pytest.mark.system
@pytest.mark.parametrize("has_store", [True, False], ids=["redis", "max_fresh"])
def test_an_edit_in_the_admin_is_shown_by_every_process(
    has_store: bool, project: Environ, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if has_store:
        project["STORE"] = request.getfixturevalue("valkey")
    else:
        project["FAQSVC_MAX_FRESH"] = "1"
        settings = tmp_path / "shop" / "settings.py"
        settings.write_text(settings.read_text().replace(', "MAX_FRESH": 60', ""))
    django(project, tmp_path, "migrate")
    django(project, tmp_path, "shell", "-c", USER)
    (tmp_path / "workers.py").write_text(WORKERS)
    command = "gunicorn --bind 127.0.0.1:{port} --workers 2 workers:application"
    with running(f"{command} --chdir {tmp_path}", tmp_path / "log", **project) as server:
        editor = Editor(server.port)
        question = {"questions-0-position": "0", "questions-0-question": "How much?"}
        question["questions-TOTAL_FORMS"] = "1"
        added = {"slug": "pricing", "lang": "en", "title": "Prices", "is_published": "on"}
        editor.post("/admin/faqs/faq/add/", **added, **question, **{"questions-0-answer": "€5"})
        wait_until(lambda: len(workers_with(server.port, "€5")) == 2)
        changed = {"title": "Prices", "is_published": "on"}
        editor.post("/admin/faqs/faq/1/change/", **changed, **question, **{"questions-0-answer": "€6"})
        wait_until(lambda: len(workers_with(server.port, "€6")) == 2)
        assert workers_with(server.port, "€5") == set()
