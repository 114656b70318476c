"""`faqsvc publish`: from files to FAQs."""

import json
from pathlib import Path
from typing import Any, Final

import pytest

from faqsvc_embed import FAQClient
from tests.cli.support import BODY, failure, faqsvc, write
from tests.support import faulty as behaviours
from tests.support.faulty import FaultyServer
from tests.support.service import Service

WEBSITE: Final = ("--website-url", "https://tea.example", "--website-name", "Tea")
LISTED: Final = behaviours.body(b'{"items": [], "next": null}')
CREATED: Final = behaviours.body(b'{"slug": "faq", "revision": 1}', status=201)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("in-json.json", json.dumps(BODY)),
        ("in-yml.yml", "items:\n- question: What does it cost?\n  answer: Nothing.\n"),
        ("in-csv.csv", "Question;Answer\nWhat does it cost?;Nothing.\n"),
        ("in-md.md", "## What does it cost?\n\nNothing.\n"),
    ],
)
def test_the_slug_the_address_and_the_line_for_a_template_are_printed(
    ours: Service, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    result = faqsvc("publish", str(tmp_path / name), *WEBSITE)
    assert (result.exit_code, result.stderr) == (0, "")
    slug, url, template = result.stdout.rstrip("\n").split("  ")
    assert slug == Path(name).stem
    assert template == f'{{{{ faq("{slug}") }}}}'
    assert url == f"{ours.base_url}/faq/{slug}"
    with FAQClient() as client:
        faq = client.get_faq(slug)
    assert faq.website_name == "Tea"
    assert [(item.question, item.answer) for item in faq.items] == [("What does it cost?", "Nothing.")]


def test_each_of_many_files_is_named_beside_its_slug(ours: Service, tmp_path: Path) -> None:
    files = [write(tmp_path, f"{n}.json", title=f"FAQ {n}") for n in range(3)]
    result = faqsvc("publish", *files, files[0])
    assert [line.split()[-1] for line in result.stdout.splitlines()] == files
    assert result.stderr == ""


def test_a_symbolic_link_in_a_folder_is_another_faq(tmp_path: Path) -> None:
    write(tmp_path, "one.json")
    (tmp_path / "two.json").symlink_to("one.json")
    bodies = faqsvc("publish", str(tmp_path), f"{tmp_path}/../{tmp_path.name}/one.json", "--dry-run").stdout
    assert [bodies.count(f'"slug": "{slug}"') for slug in ("one", "two")] == [1, 1]


def test_a_link_to_a_file_elsewhere_is_followed_if_it_is_named(tmp_path: Path) -> None:
    write(tmp_path, "one.json")
    link = tmp_path / "faqs" / "two.json"
    link.parent.mkdir()
    link.symlink_to("../one.json")
    assert '"slug": "two"' in faqsvc("publish", str(link), "--dry-run").stdout
    assert faqsvc("check", str(link)).exit_code == 0
    assert "a link out of the folder" in failure(faqsvc("publish", str(link.parent), "--dry-run"))


def test_whatever_is_not_shown_of_a_file_is_named_as_check_names_it(tmp_path: Path) -> None:
    text = "".join(f"## Question {n}?\n\nSee {{{{ v{n} }}}}, [here](javascript:{n}).\n\n" for n in range(30))
    (tmp_path / "many.md").write_text(f"---\nwebsiteUrl: https://a.example\nwebsiteName: A\n---\n{text}")
    warnings = faqsvc("publish", str(tmp_path / "many.md"), "--dry-run").stderr
    checked = faqsvc("check", str(tmp_path / "many.md")).stdout
    for what in ("a template (", "the link to "):
        assert (warnings.count(what), checked.count(what)) == (30, 30)


def test_a_file_may_be_named_after_its_language_alone(tmp_path: Path) -> None:
    body = faqsvc("publish", write(tmp_path, "de.json"), "--slug", "tea", "--lang", "de", "--dry-run").stdout
    assert (json.loads(body)["slug"], json.loads(body)["lang"]) == ("tea", "de")


def test_all_files_are_checked_before_the_first_is_sent(faulty_service: FaultyServer, tmp_path: Path) -> None:
    bad = write(tmp_path, "bad.json", items=[{"question": "", "answer": "a"}])
    message = failure(faqsvc("publish", write(tmp_path, "good.json"), bad))
    assert message.startswith(f"{bad}: items[0].question ")
    assert faulty_service.log == []


@pytest.mark.parametrize(
    ("name", "content", "places"),
    [
        (
            "faq.csv",
            "question,answer\n\nOpen?,\nOpen?,Yes\nClosed?,\n",
            ["faq.csv:3: answer", "faq.csv:5: answer"],
        ),
        (
            "faq.md",
            "---\nlang: en\n---\n## One?\n\n## Two?\nYes.\n## Three?\n",
            ["faq.md:4: answer", "faq.md:8: "],
        ),
        (
            "faq.yaml",
            "items:\n- question: One?\n- answer: Yes\n",
            ["faq.yaml:2: answer", "faq.yaml:3: question"],
        ),
        ("faq.csv", "question,answer\nDo you open?,Yes, from ten to four\n", ["faq.csv:2: "]),
    ],
    ids=["csv", "markdown", "yaml", "a csv row with too many cells"],
)
def test_a_problem_names_its_row_or_line(
    faulty_service: FaultyServer, tmp_path: Path, name: str, content: str, places: list[str]
) -> None:
    (tmp_path / name).write_text(content)
    message = failure(faqsvc("publish", str(tmp_path / name), *WEBSITE))
    assert [place for place in places if place not in message] == []
    assert faulty_service.log == []


def test_a_reason_of_the_service_names_the_row(faulty_service: FaultyServer, tmp_path: Path) -> None:
    (tmp_path / "faq.csv").write_text("question,answer\n\nOpen?,Yes\n")
    faulty_service.behave(behaviours.body(b'{"problems": ["items[0].answer is rude"]}', status=422))
    result = faqsvc("publish", str(tmp_path / "faq.csv"), *WEBSITE, "--new-slug")
    assert "row 3: answer is rude" in failure(result)


def test_a_long_list_of_problems_is_cut_and_too_many_questions_are_counted(tmp_path: Path) -> None:
    items = [{"question": "", "answer": "So."}] * 1500
    assert "880 more" in failure(faqsvc("publish", write(tmp_path, "faq.json", items=items[:900])))
    assert "items has 1500 elements" in failure(faqsvc("publish", write(tmp_path, "faq.json", items=items)))


@pytest.mark.parametrize(
    ("text", "line", "named"),
    [
        ("# Tea\n\n## Orders\nAll of them.\n### Why?\n\nSo.\n", 4, "All of them."),
        ("## Why?\n\nSo.\n\n[Help](help.html)\n", 5, "help.html"),
    ],
    ids=["text of no question", "link without a target"],
)
def test_what_no_page_would_show_is_named_and_the_rest_is_published(
    ours: Service, tmp_path: Path, text: str, line: int, named: str
) -> None:
    (tmp_path / "faq.md").write_text(text)
    result = faqsvc("publish", str(tmp_path / "faq.md"), *WEBSITE)
    assert (result.exit_code, result.stderr.count("\n")) == (0, 1)
    assert f"line {line}: " in result.stderr
    assert named in result.stderr


def test_a_detected_language_is_reported_unless_an_option_states_one(tmp_path: Path) -> None:
    (tmp_path / "faq.md").write_text("# FAQ\n\n## 요금은 얼마인가요?\n\n무료입니다.\n")
    command = ("publish", str(tmp_path / "faq.md"), *WEBSITE, "--dry-run")
    found = faqsvc(*command)
    assert (json.loads(found.stdout)["lang"], "'ko'" in found.stderr) == ("ko", True)
    stated = faqsvc(*command, "--lang", "ja")
    assert (json.loads(stated.stdout)["lang"], stated.stderr) == ("ja", "")


def test_a_failure_says_how_many_files_are_published(faulty_service: FaultyServer, tmp_path: Path) -> None:
    files = [write(tmp_path, f"{name}.json") for name in "abc"]
    created = behaviours.body(b'{"slug": "a"}', status=201)
    faulty_service.then(LISTED, created, behaviours.status(503))
    result = faqsvc("publish", *files)
    assert (result.exit_code, result.stdout.count("\n"), result.stderr.count("\n")) == (1, 1, 1)
    assert result.stderr.startswith(f"Error: {files[1]}: ")
    assert "1 of 3" in result.stderr


@pytest.mark.parametrize("status", [429, 503])
def test_retry_after_is_waited_for(faulty_service: FaultyServer, tmp_path: Path, status: int) -> None:
    later = behaviours.body(b"{}", {"Retry-After": "0"}, status=status)
    faulty_service.then(later, LISTED, later, later, CREATED)
    result = faqsvc("publish", write(tmp_path, "faq.json"))
    assert (result.exit_code, result.stdout.split()[0]) == (0, "faq")
    assert (result.stderr.count("\n"), result.stderr.count(f"({status})")) == (3, 3)
    assert [request.method for request in faulty_service.log] == ["GET", "GET", "PUT", "PUT", "PUT"]


@pytest.mark.parametrize("status", [429, 503])
def test_hours_are_not_waited_for(faulty_service: FaultyServer, tmp_path: Path, status: int) -> None:
    faulty_service.then(LISTED, behaviours.body(b"{}", {"Retry-After": "3600"}, status=status))
    assert str(status) in failure(faqsvc("publish", write(tmp_path, "faq.json")))


# Outcomes that are not known


def test_a_publication_without_a_response_can_be_retried(
    faulty_service: FaultyServer, tmp_path: Path
) -> None:
    faulty_service.then(behaviours.reset, behaviours.body(b'{"slug": "tea"}', status=201))
    file = write(tmp_path, "faq.json")
    assert "publish it again" in failure(faqsvc("publish", file, "--new-slug"))
    assert faqsvc("publish", file, "--new-slug").stdout == 'tea  {{ faq("tea") }}\n'
    assert len({request.headers["idempotency-key"] for request in faulty_service.log}) == 1


def test_a_file_published_twice_with_a_new_slug_makes_one_faq_and_republishes_none(
    ours: Service, tmp_path: Path
) -> None:
    file = write(tmp_path, "twin.json", title="Twins")
    first, again = (faqsvc("publish", file, "--new-slug").stdout for _ in range(2))
    slug = first.split()[0]
    assert (first, slug != "twin") == (again, True)
    assert faqsvc("publish", write(tmp_path, "twin.json", title="Others"), "--new-slug").stdout != first
    faqsvc("unpublish", slug)
    write(tmp_path, "twin.json", title="Twins")
    assert all(part in failure(faqsvc("publish", file, "--new-slug")) for part in (slug, "unpublished since"))
    assert slug in failure(faqsvc("get", slug))


@pytest.mark.parametrize(
    "behaviour",
    [
        behaviours.body(b"abc", {"Content-Encoding": "gzip"}, status=201),
        behaviours.body(b"{}", status=201),
        behaviours.body(b'{"slug": "tea"}'),
        behaviours.status(500),
        behaviours.garbage,
    ],
    ids=["gzip", "no slug", "200", "500", "garbage"],
)
def test_every_response_but_a_refusal_can_be_retried(
    faulty_service: FaultyServer, tmp_path: Path, behaviour: behaviours.Behaviour
) -> None:
    faulty_service.behave(behaviour)
    message = failure(faqsvc("publish", write(tmp_path, "faq.json"), "--new-slug"))
    assert (len(faulty_service.log), "publish it again" in message) == (1, True)


@pytest.mark.parametrize("status", [307, 401, 404, 422, 429])
def test_a_refusal_is_not_retried(faulty_service: FaultyServer, tmp_path: Path, status: int) -> None:
    faulty_service.behave(behaviours.status(status))
    message = failure(faqsvc("publish", write(tmp_path, "faq.json"), "--new-slug"))
    assert "publish" not in message


# Options and keys


@pytest.mark.parametrize("options", [(), ("--new-slug",)])
def test_missing_options_are_named(ours: Service, tmp_path: Path, options: tuple[str, ...]) -> None:
    (tmp_path / "new.csv").write_text("question,answer\na,b\n")
    message = failure(faqsvc("publish", str(tmp_path / "new.csv"), *options))
    assert [option for option in ("--website-url", "--website-name") if option not in message] == []


def test_a_dry_run_prints_the_body_and_sends_nothing(
    faulty_service: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAQSVC_API_KEY")
    monkeypatch.delenv("FAQSVC_BASE_URL")
    result = faqsvc("publish", write(tmp_path, "faq.json"), "--dry-run")
    assert (result.exit_code, json.loads(result.stdout)) == (0, {**BODY, "slug": "faq", "revision": None})
    assert faulty_service.log == []


@pytest.mark.parametrize("key", ["", "<API_KEY>", "s3cret", "fs_live_"])
def test_without_a_valid_key_nothing_is_sent(
    faulty_service: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    monkeypatch.setenv("FAQSVC_API_KEY", key)
    message = failure(faqsvc("publish", write(tmp_path, "faq.json")))
    assert "s3cret" not in message
    assert "fs_live_" in message or "FAQSVC_API_KEY" in message
    assert faulty_service.connections == 0


@pytest.mark.parametrize("status", [401, 403, 413, 422, 429, 500])
def test_no_output_has_the_key(faulty_service: FaultyServer, tmp_path: Path, status: int) -> None:
    def echo(exchange: behaviours.Exchange) -> None:
        exchange.respond(status, json.dumps({"detail": exchange.request.headers["x-plugin-key"]}).encode())

    faulty_service.behave(echo)
    for options in ((), ("--new-slug",)):
        assert "s3cret" not in failure(faqsvc("publish", write(tmp_path, "faq.json"), *options))


def test_a_file_that_is_not_there_is_named(faulty_service: FaultyServer) -> None:
    assert failure(faqsvc("publish", "no/such.json")).startswith("no/such.json: ")


@pytest.mark.parametrize(
    ("name", "fields", "options"),
    [
        ("tea.json", {"websiteUrl": "tea"}, ["--website-url", "https://tea.example"]),
        ("tea.json", {"websiteName": "x" * 900}, ["--website-name", "Tea"]),
        ("tea.json", {"title": "x" * 900}, ["--title", "Tea"]),
        ("tea.json", {"lang": "tlh"}, ["--lang", "en"]),
        ("tea.json", {"slug": "a/b"}, ["--slug", "tea"]),
        ("tea.json", {"slug": 7}, ["--slug", "tea"]),
        ("a\\b.json", {}, ["--slug", "tea"]),
        ("a\\b.json", {}, ["--new-slug"]),
    ],
)
def test_an_option_replaces_an_invalid_field_of_the_file(
    tmp_path: Path, name: str, fields: dict[str, Any], options: list[str]
) -> None:
    file = write(tmp_path, name, **fields)
    assert Path(file).name in failure(faqsvc("publish", file, "--dry-run"))
    result = faqsvc("publish", file, "--dry-run", *options)
    assert (result.exit_code, result.stderr) == (0, "")
    both = write(tmp_path, "tea.json", items=[{"question": "", "answer": "x"}], **fields)
    message = failure(faqsvc("publish", both, "--dry-run", *options))
    assert ("question" in message, message.count("tea.json")) == (True, 1)
