"""The page about Django: its files are a project, in a process of its own, which runs its other blocks."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.docs.pages import ROOT, blocks_of
from tests.docs.running import EXAMPLE, write_files
from tests.support.service import Service

PAGE: Final = ROOT / "docs" / "how-to" / "django.md"
BEGIN: Final = """
import django, html
django.setup()
from faqsvc_embed.django import faqs_from
faqs_from().get_faq("pricing")  # a busy machine may take longer than a page waits
from django.shortcuts import render
from django.test import Client, RequestFactory
from faqsvc_embed.django import faqs_from
faqs_from().get_faq("pricing")  # a cold process on a busy machine may take longer than a page waits
for path in ("prices.html", "own.html"):
    body = render(RequestFactory().get("/"), path).content.decode()
    assert "How much?" in body and 1 <= body.count('"FAQPage"') == body.count('"#faqpage"'), (path, body)
faqs_from().get_faq("pricing", lang="ko")
response = Client().get("/", headers={"Accept-Language": "ko"})
assert response.status_code == 200 and "How much?" in response.content.decode()
assert "Accept-Language" in response.headers["Vary"]
"""


def test_the_project_and_every_block_of_the_page_work(place: Path, service: Service) -> None:
    blocks = blocks_of(PAGE)
    write_files(blocks, place, service)
    code = [BEGIN, *(block.text for block in blocks if block.language == "python" and not block.file)]
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(code).replace(EXAMPLE, service.base_url)],
        env={
            **os.environ,
            "DJANGO_SETTINGS_MODULE": "shop.settings",
            "PYTHONPATH": f"{place}{os.pathsep}{ROOT}",
        },
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
