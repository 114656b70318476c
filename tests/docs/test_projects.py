"""The pages whose files are a project: Django, Django's admin, and Wagtail, each in processes of its own."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Final
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

import pytest

from tests.cache.conftest import valkey
from tests.docs.pages import ROOT, blocks_of
from tests.docs.running import EXAMPLE, needs, run_commands, write_files
from tests.processes.servers import running
from tests.support.service import Service
from tests.support.waiting import wait_until

DJANGO_PAGE: Final = ROOT / "docs" / "how-to" / "django.md"
BEGIN: Final = """
import django, html
django.setup()
from django.shortcuts import render
from django.test import Client, RequestFactory
for path in ("prices.html", "own.html"):
    body = render(RequestFactory().get("/"), path).content.decode()
    assert "How much is" in body and 1 <= body.count('"FAQPage"') == body.count('"#faqpage"'), (path, body)
response = Client().get("/", headers={"Accept-Language": "ko"})
assert response.status_code == 200 and "How much is" in response.content.decode()
assert "Accept-Language" in response.headers["Vary"]
"""


def test_the_project_and_every_block_of_the_page_work(place: Path, service: Service) -> None:
    blocks = blocks_of(DJANGO_PAGE)
    write_files(blocks, place, service)
    code = [BEGIN, *(block.text for block in blocks if block.language == "python" and not block.file)]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(code).replace(EXAMPLE, service.base_url)],
        env={
            **{name: value for name, value in os.environ.items() if name != "FAQSVC_BASE_URL"},
            "DJANGO_SETTINGS_MODULE": "shop.settings",
            "PYTHONPATH": f"{place}{os.pathsep}{ROOT}",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr


WAGTAIL_PAGE: Final = ROOT / "docs" / "how-to" / "wagtail.md"
# The tables of Wagtail as they are now, because its 200 migrations take longer than all the rest.
LOCAL_SETTINGS: Final = """
import sys

class NoMigrations:
    def __contains__(self, app):
        return True
    def __getitem__(self, app):
        return None

if "migrate" in sys.argv:
    MIGRATION_MODULES = NoMigrations()
WAGTAILSEARCH_BACKENDS = {"default": {"BACKEND": "wagtail.search.backends.database", "AUTO_UPDATE": False}}
"""
CODE: Final = """
import django
django.setup()
from django.core.exceptions import ValidationError
from django.contrib.auth.models import User
from django.test import Client
from wagtail.models import Locale, Page, Site
from home.blocks import FAQBlock, FAQOfServiceBlock
from home.models import HomePage

assert dict(FAQBlock().child_blocks["slug"].field.choices)["pricing"] == "pricing"
for block in (FAQBlock(), FAQOfServiceBlock()):
    block.clean(block.to_python({"slug": "pricing"}))
    try:
        block.clean(block.to_python({"slug": "nope"}))
    except ValidationError as error:
        assert "nope" in str(error.as_json_data()), error.as_json_data()
    else:
        raise AssertionError("a slug that does not exist was accepted")

body = [("faq", {"slug": "pricing"}), ("faq_of_service", {"slug": "returns"})]
Locale.objects.create(language_code="en")
home = Page.add_root(title="Root").add_child(instance=HomePage(title="Posters", slug="posters", body=body))
Site.objects.create(hostname="localhost", root_page=home, is_default_site=True)
client, visitor = Client(), Client()
for language, question in (("en", "How much?"), ("de", "Was kostet es?"), ("en", "How much?")):
    page = visitor.get("/", headers={"Accept-Language": language})
    text = page.content.decode()
    assert page.status_code == 200 and question in text and "May I return it?" in text, text
    assert text.count('<link rel="stylesheet"') == 2 and ("How much?" in text) == (language == "en"), text
client.force_login(User.objects.create_superuser("editor"))
form = client.get(f"/admin/pages/{home.pk}/edit/").content.decode()
assert "pricing" in form and "returns" in form
"""


@pytest.mark.system
def test_editors_choose_an_faq_and_pages_show_it_in_the_language_of_the_visitor(tmp_path: Path) -> None:
    needs("wagtail")
    blocks = blocks_of(WAGTAIL_PAGE)
    write_files(blocks, tmp_path)
    faqs = tmp_path / "faqs"
    faqs.mkdir(exist_ok=True)
    (faqs / "pricing.md").write_text("## How much?\n\n€5\n\n## Why?\n\nPaper.\n")
    (faqs / "pricing.de.md").write_text("## Was kostet es?\n\n5 €\n")
    (faqs / "returns.md").write_text("## May I return it?\n\nYes.\n")
    (tmp_path / "posters" / "settings" / "local.py").write_text(LOCAL_SETTINGS)
    run_commands(
        [replace(block, text=block.text.replace("migrate\n", "migrate --run-syncdb\n")) for block in blocks],
        tmp_path,
    )
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "posters.settings.dev",
        "PYTHONPATH": os.pathsep.join(map(str, (tmp_path, ROOT))),
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stdout + done.stderr


__all__ = ["valkey"]

ADMIN_PAGE: Final = ROOT / "docs" / "how-to" / "django-admin.md"
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


@pytest.fixture(scope="module")
def migrated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The project of the page, with a database and an administrator."""
    folder = tmp_path_factory.mktemp("project")
    write_files(blocks_of(ADMIN_PAGE), folder)
    django(folder, "makemigrations", "faqs")
    django(folder, "migrate")
    django(folder, "shell", "-c", USER)
    return folder


@pytest.fixture
def project(migrated: Path, tmp_path: Path) -> Environ:
    """The environment of a process in a copy of the project."""
    shutil.copytree(migrated, tmp_path, dirs_exist_ok=True)
    return environ_of(tmp_path)


def environ_of(folder: Path) -> Environ:
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("FAQSVC_")},
        "DJANGO_SETTINGS_MODULE": "shop.settings",
        "PYTHONPATH": f"{folder}{os.pathsep}{ROOT}",
    }


def django(folder: Path, *arguments: str) -> str:
    """Run a command of the project."""
    command = [sys.executable, "-W", "error", "-m", "django", *arguments]
    done = subprocess.run(
        command, env=environ_of(folder), cwd=folder, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


FURTHER_TESTS: Final = """
from django.test import TransactionTestCase
from faqs.models import FAQ

class SourceTest(TransactionTestCase):
    def test_visitors_get_their_language_and_what_is_published(self):
        english = FAQ.objects.create(slug="pricing", title="Prices")
        question = english.questions.create(question="How much?", answer="€5")
        german = FAQ.objects.create(slug="pricing", lang="de")
        german.questions.create(question="Was kostet es?", answer="5 €")
        self.assertContains(self.client.get("/", headers={"Accept-Language": "de"}), "5 €")
        self.assertContains(self.client.get("/", headers={"Accept-Language": "ko"}), "€5")
        question.answer = "€6"
        question.save()
        self.assertContains(self.client.get("/"), "€6")
        for faq in (english, german):
            faq.is_published = False
            faq.save()
        self.assertNotContains(self.client.get("/"), "How much?")
"""


@pytest.mark.system
@pytest.mark.usefixtures("project")
def test_the_project_is_checked_and_its_own_tests_pass(tmp_path: Path) -> None:
    (tmp_path / "faqs" / "test_source.py").write_text(FURTHER_TESTS)
    output = run_commands(blocks_of(ADMIN_PAGE), tmp_path)
    assert ("no issues" in output, "Ran 1 test" in output) == (True, True)
    assert "Ran 1 test" in django(tmp_path, "test", "faqs.test_source")


class Editor:
    """A person in the admin of a server."""

    def __init__(self, port: int) -> None:
        self._url = f"http://127.0.0.1:{port}"
        self._opener = build_opener(HTTPCookieProcessor(CookieJar()))
        self.post("/admin/login/", username="editor", password="secret", next="/admin/")

    def post(self, path: str, **fields: str) -> None:
        """Fill in the form of a page, and send it."""
        form = self._opener.open(self._url + path, timeout=60).read().decode()
        token = re.search(r'name="csrfmiddlewaretoken" value="([^"]+)"', form)
        hidden = dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)"', form))
        assert token is not None
        data = urlencode({**hidden, **fields, "csrfmiddlewaretoken": token[1]}).encode()
        response = self._opener.open(Request(self._url + path, data), timeout=60)
        assert "Please correct" not in response.read().decode()


def workers_with(port: int, text: str) -> set[str]:
    """Return the workers whose page shows `text`, of some requests."""
    opener, found = build_opener(), set[str]()
    for _ in range(20):
        with opener.open(f"http://127.0.0.1:{port}/", timeout=60) as response:
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
