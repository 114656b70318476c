"""`flask faq check`, and what `flask run` prints of an invalid setting or file."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from flask import Blueprint, Flask
from flask.cli import FlaskGroup
from jinja2 import DictLoader

from faqsvc_embed import ConfigurationError
from faqsvc_embed.flask import FAQExtension
from tests.cli.support import faqsvc
from tests.support import samples
from tests.support.faulty import FaultyServer

TEMPLATES = {
    "home.html": '{% extends "base.html" %}\n{% faq "pricing", lang="ko" %}{# {{ faq("comment") }} #}',
    "base.html": "{{ faq( slug = 'pricing' ) }}\n\n{%- set state = use_faq(\"legal\") -%}{{ faq(variable) }}",
    "other.html": "<p>faq(\"text\")</p>{% raw %}{{ faq('raw') }}{% endraw %}",
    "faqsvc/faq.html": "{{ faq.title }}",
}


def make_app(base_url: str = "https://faq.example.com", **settings: Any) -> Flask:
    app = Flask("host")
    app.jinja_loader = DictLoader(TEMPLATES)
    FAQExtension(app, base_url=base_url, **settings)
    return app


def run(app: Flask, *arguments: str) -> tuple[int, str]:
    """Return the exit status and the output of `flask faq`."""
    result = app.test_cli_runner().invoke(args=["faq", *arguments])
    return result.exit_code, result.output


def missing(app: Flask) -> dict[str, str]:
    """Return the slugs that a check misses, each with the places in templates that name it."""
    lines = [line for line in run(app, "check")[1].splitlines() if line.endswith(")")]
    return {line.partition(":")[0]: line.rpartition("(")[2].rstrip(")") for line in lines}


def test_the_faqs_of_the_templates_are_found_with_their_places() -> None:
    found = missing(make_app(offline=True))
    assert found == {"legal": "base.html:3", "pricing": "base.html:1, home.html:2"}


def test_slugs_are_found_in_every_notation() -> None:
    app = make_app(offline=True)
    page = """{# faq("no") #}<!-- {{ faq("no") }} -->{% comment %}{% faq "no" %}{% endcomment %}
{{ faq("pricing") }}{{ faq( 'one', lang="de") }}{{ faq(variable) }}{{ my_faq("other") }}
{% faq "two" lang="ko" %}{%- faq 'three', theme={} -%}
{% set state = use_faq(
    slug="four") %}{% use_faq "five" as state %}
"""
    app.jinja_loader = DictLoader({"page": page})
    numbers = {"pricing": 2, "one": 2, "two": 3, "three": 3, "four": 4, "five": 5}
    assert missing(app) == {slug: f"page:{line}" for slug, line in numbers.items()}


def test_templates_of_blueprints_are_read_too(tmp_path: Path) -> None:
    (tmp_path / "shop.html").write_text('{{ faq("shop") }}')
    (tmp_path / "logo.html").write_bytes(b"\x89PNG\xff")
    app = make_app(offline=True)
    app.register_blueprint(Blueprint("shop", "shop", template_folder=str(tmp_path)))
    assert missing(app)["shop"] == "shop.html:1"


def test_a_check_fails_until_every_faq_is_published(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    status, output = run(make_app(faulty.base_url), "check")
    assert (status, "pricing: published" in output, "base.html:3" in output) == (1, True, True)
    (unchecked,) = [line for line in output.splitlines() if "variable" in line]
    assert unchecked.startswith("base.html:3: ")
    faulty.serve(samples.record("legal"))
    assert run(make_app(faulty.base_url), "check")[0] == 0


@pytest.mark.parametrize("command", [["faq", "check"], ["run"]])
def test_the_command_names_an_invalid_file_without_a_traceback(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "legal.md").write_text("# Legal\n\n## Why?\n\n## How?\n\nSo.\n")

    def create_app() -> Flask:
        app = Flask("host")
        FAQExtension(app, directory=str(tmp_path))
        return app

    result = CliRunner().invoke(FlaskGroup(create_app=create_app), command)
    assert (result.exit_code, result.output) == (1, f"Error: {tmp_path}/legal.md:3: answer is empty\n")
    with pytest.raises(ConfigurationError, match=r"legal\.md:3"):
        create_app()


def test_a_check_of_a_folder_finds_what_the_command_finds(tmp_path: Path) -> None:
    (tmp_path / "legal.md").write_text("## Why?\n\nSo.\n\n## How?\n\nSo.\n")
    (tmp_path / "legal.de.md").write_text("## Warum?\n\nDarum.\n")
    (tmp_path / "pricin.md").write_text("## Why?\n\nSo.\n")
    app = Flask("host")
    app.jinja_loader = DictLoader(TEMPLATES)
    FAQExtension(app, directory=str(tmp_path), lang="en")
    status, output = run(app, "check")
    assert (status, "did you mean 'pricin'?" in output) == (1, True)
    problem, *_ = faqsvc("check", str(tmp_path)).stdout.splitlines()
    assert problem in output.splitlines()


@pytest.mark.parametrize(("arguments", "status"), [(["nonsense"], 2), (["--help"], 0)])
def test_a_mistake_is_one_line_and_a_status(arguments: list[str], status: int) -> None:
    found, output = run(make_app(), *arguments)
    assert (found, "Traceback" in output) == (status, False)
