"""`faqsvc get`: one FAQ, in any format."""

import json
from pathlib import Path

import pytest

from faqsvc_embed import FAQ, to_json_ld_string
from tests.cli.support import SECRET, failure, faqsvc
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service


def test_text_is_for_people(faulty_service: FaultyServer) -> None:
    result = faqsvc("get", "pricing")
    assert (result.exit_code, result.stderr) == (0, "")
    assert (
        result.stdout
        == """\
Pricing

What does it cost?
    Nothing < 10 users; then €5 & taxes.

Is there a "free" plan?
    Yes.

    It has:
    - 1 site
    - 3 FAQs

May I cancel?
    Any time, it's <b>your</b> choice.
"""
    )


def test_json_is_the_record_and_jsonld_its_faqpage(faulty_service: FaultyServer) -> None:
    faq = FAQ.from_dict(samples.pricing())
    assert faqsvc("get", "pricing", "--format", "json").stdout == faq.to_json() + "\n"
    assert faqsvc("get", "pricing", "--json").stdout == faq.to_json() + "\n"
    assert faqsvc("get", "pricing", "--format", "jsonld").stdout == to_json_ld_string(faq) + "\n"


def test_html_is_what_a_page_shows(faulty_service: FaultyServer) -> None:
    html = faqsvc("get", "pricing", "--format", "html").stdout
    assert "it&#39;s &lt;b&gt;your&lt;/b&gt; choice" in html
    assert html.count('<script type="application/ld+json">') == 1
    assert len(faulty_service.log) == 1


def test_variables_may_end_with_the_line_end_of_their_file(
    faulty_service: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_BASE_URL", f"{faulty_service.base_url}\r")
    monkeypatch.setenv("FAQSVC_API_KEY", f"{SECRET}\n")
    assert faqsvc("get", "pricing").exit_code == 0


@pytest.mark.parametrize("form", ["json", "markdown"])
def test_publish_reads_what_get_prints(ours: Service, tmp_path: Path, form: str) -> None:
    items = [
        ("Is <b>this</b>\n# bold?", " *No*,\r\n\tnot \x1b at all. \n"),
        ("1. Why?", "## So\n\n- a\n\n\n- b"),
    ]
    entries = [{"question": question, "answer": answer} for question, answer in items]
    body = {
        "websiteUrl": "https://tea.example",
        "websiteName": "Tea",
        "title": "Tea & *more*",
        "items": entries,
    }
    (tmp_path / "faq.json").write_text(json.dumps({**body, "lang": "de"}))
    slug = faqsvc("publish", str(tmp_path / "faq.json")).stdout.split()[0]
    before = faqsvc("get", slug, "--format", "json").stdout
    printed = tmp_path / f"again.{'json' if form == 'json' else 'md'}"
    printed.write_text(faqsvc("get", slug, "--format", form).stdout, newline="")
    again = faqsvc("publish", str(printed), "--website-url", "https://tea.example")
    assert again.stdout.split()[0] == slug
    assert faqsvc("get", slug, "--format", "json").stdout == before


def test_a_language_is_requested(faulty_service: FaultyServer) -> None:
    faqsvc("get", "pricing", "--lang", "de-CH", "--base-url", faulty_service.base_url)
    assert faulty_service.log[-1].target == "/api/v1/faq/pricing?lang=de"


@pytest.mark.parametrize("slug", ["nothing-here", "../secret", "a\x1b[31mb"])
def test_an_unknown_slug_is_named(faulty_service: FaultyServer, slug: str) -> None:
    faulty_service.behave(behaviours.status(404))
    assert repr(slug) in failure(faqsvc("get", slug))


def test_the_address_of_a_missing_faq_is_named(faulty_service: FaultyServer) -> None:
    address = f"{faulty_service.base_url}/help"  # of something else than the service
    faulty_service.behave(behaviours.status(404))
    assert f"{address}/api/v1/faq/pricing" in failure(faqsvc("get", "pricing", "--base-url", address))


def test_the_address_of_a_page_is_refused_with_that_of_its_service(faulty_service: FaultyServer) -> None:
    result = faqsvc("get", "pricing", "--base-url", f"{faulty_service.base_url}/faq/pricing")
    assert (result.exit_code, faulty_service.connections) == (2, 0)
    assert result.stderr.rstrip().endswith(f" {faulty_service.base_url}")


def test_a_service_that_is_down_is_named(faulty_service: FaultyServer) -> None:
    faulty_service.refuse()
    assert faulty_service.base_url in failure(faqsvc("get", "pricing"))


@pytest.mark.parametrize("form", ["html", "jsonld"])
def test_an_faq_without_an_answer_has_no_html(faulty_service: FaultyServer, form: str) -> None:
    faulty_service.serve(samples.record("empty", (" ", " "), title=""))
    assert "'empty'" in failure(faqsvc("get", "empty", "--format", form))


@pytest.mark.parametrize("key", [None, "<API_KEY>", "s3cret", SECRET])
@pytest.mark.parametrize("form", ["text", "html"])
def test_reading_needs_no_key_and_sends_none(
    faulty_service: FaultyServer, monkeypatch: pytest.MonkeyPatch, key: str | None, form: str
) -> None:
    monkeypatch.delenv("FAQSVC_API_KEY")
    if key is not None:
        monkeypatch.setenv("FAQSVC_API_KEY", key)
    assert faqsvc("get", "pricing", "--format", form).exit_code == 0
    assert [request for request in faulty_service.log if "x-plugin-key" in request.headers] == []
