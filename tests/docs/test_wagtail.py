"""The page about Wagtail: its files are a project, with FAQs in a folder."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.docs.applications import needs
from tests.docs.pages import ROOT, blocks_of
from tests.docs.running import write_files

PAGE: Final = ROOT / "docs" / "how-to" / "wagtail.md"
CODE: Final = """
import django
django.setup()
from django.core.exceptions import ValidationError
from django.core.management import call_command
call_command("makemigrations", "home", verbosity=0)
call_command("migrate", verbosity=0)

from django.contrib.auth.models import User
from django.test import Client
from wagtail.models import Page, Site
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
home = Page.objects.get(depth=1).add_child(instance=HomePage(title="Posters", slug="posters", body=body))
Site.objects.update(root_page=home)
client, visitor = Client(), Client()
for language, question in (("en", "How much?"), ("de", "Was kostet es?"), ("en", "How much?")):
    page = visitor.get("/", headers={"Accept-Language": language})
    text = page.content.decode()
    assert page.status_code == 200 and question in text and "May I return it?" in text, text
    assert text.count('<link rel="stylesheet"') == 2 and ("How much?" in text) == (language == "en"), text
client.force_login(User.objects.create_superuser("editor"))
form = client.get(f"/cms/pages/{home.pk}/edit/").content.decode()
assert "pricing" in form and "returns" in form
"""


@pytest.mark.system
def test_editors_choose_an_faq_and_pages_show_it_in_the_language_of_the_visitor(tmp_path: Path) -> None:
    needs("wagtail")
    write_files(blocks_of(PAGE), tmp_path)
    faqs = tmp_path / "faqs"
    faqs.mkdir()
    (faqs / "pricing.md").write_text("## How much?\n\n€5\n\n## Why?\n\nPaper.\n")
    (faqs / "pricing.de.md").write_text("## Was kostet es?\n\n5 €\n")
    (faqs / "returns.md").write_text("## May I return it?\n\nYes.\n")
    environ = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "settings",
        "PYTHONPATH": os.pathsep.join(map(str, (tmp_path / "site", tmp_path, ROOT))),
    }
    done = subprocess.run(
        [sys.executable, "-c", CODE], env=environ, cwd=tmp_path, capture_output=True, text=True, timeout=180
    )
    assert done.returncode == 0, done.stdout + done.stderr
