"""`faqsvc get`, `publish` and `generate`, against our own service and one that fails."""

import errno
import json
import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from faqsvc_embed import FAQ, FAQClient, to_json_ld_string
from faqsvc_embed.cli import main
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service, service

ROOT = Path(__file__).parents[2]
SECRET = "fs_live_" + "s3cretABC_-" * 4
BODY: dict[str, Any] = {
    "websiteUrl": "https://tea.example",
    "websiteName": "Tea & Sons",
    "items": [{"question": "What does it cost?", "answer": "Nothing."}],
}


def faqsvc(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def failed(result: Result) -> str:
    """Return what a command said that failed as commands do: one line, exit status 1, nothing else."""
    assert (result.exit_code, result.stdout, result.stderr.count("\n")) == (1, "", 1)
    return result.stderr.removeprefix("Error: ").rstrip("\n")


@pytest.fixture
def ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """Our service, to which the environment leads."""
    with service(tmp_path) as running:
        monkeypatch.setenv("FAQSVC_BASE_URL", running.base_url)
        monkeypatch.setenv("FAQSVC_API_KEY", running.key)
        yield running


@pytest.fixture
def theirs(faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> FaultyServer:
    """A faulty server, to which the environment leads."""
    monkeypatch.setenv("FAQSVC_BASE_URL", faulty.base_url)
    monkeypatch.setenv("FAQSVC_API_KEY", SECRET)
    faulty.serve(samples.pricing())
    return faulty


def write(directory: Path, name: str, **changes: Any) -> str:
    file = directory / name
    file.write_text(json.dumps({**BODY, **changes}), encoding="utf-8")
    return str(file)


# get


def test_get_prints_text_for_people(theirs: FaultyServer) -> None:
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


def test_get_prints_the_record_and_its_json_ld(theirs: FaultyServer) -> None:  # E8
    faq = FAQ.from_dict(samples.pricing())
    assert faqsvc("get", "pricing", "--format", "json").stdout == faq.to_json() + "\n"
    assert faqsvc("get", "pricing", "--format", "jsonld").stdout == to_json_ld_string(faq) + "\n"


@pytest.mark.parametrize("key", ["<API_KEY>", "s3cret", "fs_live_"])
@pytest.mark.parametrize("form", ["text", "html"])
def test_a_key_that_cannot_be_stops_writers_only(
    theirs: FaultyServer, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, key: str, form: str
) -> None:  # G8
    monkeypatch.setenv("FAQSVC_API_KEY", key)
    assert faqsvc("get", "pricing", "--format", form).exit_code == 0
    assert faqsvc("pull", "pricing", "--lang", "en", "--to", str(tmp_path / "faqs")).exit_code == 0
    assert "has not the form fs_live_" in failed(faqsvc("publish", write(tmp_path, "faq.json")))
    assert "has not the form fs_live_" in failed(faqsvc("generate", "https://tea.example"))


def test_get_prints_html_as_a_page_gets_it(theirs: FaultyServer) -> None:
    html = faqsvc("get", "pricing", "--format", "html").stdout
    assert "it&#39;s &lt;b&gt;your&lt;/b&gt; choice" in html
    assert html.count('<script type="application/ld+json">') == 1
    assert len(theirs.log) == 1


def test_get_prints_markdown_in_which_text_is_text(theirs: FaultyServer) -> None:  # X4
    assert (
        faqsvc("get", "pricing", "--format", "markdown").stdout
        == """\
# Pricing

## What does it cost?

Nothing \\< 10 users; then €5 \\& taxes.

## Is there a "free" plan?

Yes.

It has:\\
\\- 1 site\\
\\- 3 FAQs

## May I cancel?

Any time, it's \\<b\\>your\\</b\\> choice.
"""
    )


def test_get_asks_for_a_language(theirs: FaultyServer) -> None:
    faqsvc("get", "pricing", "--lang", "de-CH", "--base-url", theirs.base_url)
    assert theirs.log[-1].target == "/api/v1/faq/pricing?lang=de"


@pytest.mark.parametrize("form", ["text", "markdown"])
def test_foreign_text_moves_no_cursor(theirs: FaultyServer, form: str) -> None:  # D6
    theirs.serve(samples.record("evil", ("A\x1b[2J?", "B\r\x9b1A\x07"), title="\x1b]0;x\x07"))
    printed = faqsvc("get", "evil", "--format", form).stdout
    assert [c for c in printed if not c.isprintable() and c != "\n"] == []


@pytest.mark.parametrize("slug", ["nothing-here", "../secret", "a\x1b[31mb"])
def test_a_slug_that_is_not_there_is_named(theirs: FaultyServer, slug: str) -> None:
    theirs.behave(behaviours.status(404))
    assert repr(slug) in failed(faqsvc("get", slug))


def test_a_service_that_is_not_there_is_told(theirs: FaultyServer) -> None:
    theirs.refuse()
    assert "cannot be reached for 'pricing'" in failed(faqsvc("get", "pricing"))


def test_an_faq_with_nothing_in_it_is_told(theirs: FaultyServer) -> None:
    theirs.serve(samples.record("empty", (" ", " "), title=""))
    for form in ("html", "jsonld"):
        assert "'empty' has no question" in failed(faqsvc("get", "empty", "--format", form))


def test_reading_needs_no_key_and_sends_none(theirs: FaultyServer, monkeypatch: pytest.MonkeyPatch) -> None:
    faqsvc("get", "pricing")
    monkeypatch.delenv("FAQSVC_API_KEY")
    assert faqsvc("get", "pricing").exit_code == 0
    assert [request for request in theirs.log if "x-plugin-key" in request.headers] == []


# publish


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("faq.json", json.dumps(BODY)),
        ("faq.yml", "items:\n- question: What does it cost?\n  answer: Nothing.\n"),
        ("faq.csv", "Question;Answer\nWhat does it cost?;Nothing.\n"),
        ("faq.md", "## What does it cost?\n\nNothing.\n"),
    ],
)
def test_publish_prints_the_slug_and_the_address_of_the_page(
    ours: Service, tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    arguments = ["--website-url", "https://tea.example", "--website-name", "Tea & Sons"]
    result = faqsvc("publish", str(tmp_path / name), *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    slug, url = result.stdout.split()
    assert url == f"{ours.base_url}/faq/{slug}"
    with FAQClient() as client:
        faq = client.get_faq(slug)
    assert faq.website_name == "Tea & Sons"
    assert [(item.question, item.answer) for item in faq.items] == [("What does it cost?", "Nothing.")]


def test_what_get_prints_can_be_published_again(ours: Service, tmp_path: Path) -> None:
    slug = faqsvc("publish", write(tmp_path, "faq.json")).stdout.split()[0]
    record = json.loads(faqsvc("get", slug, "--format", "json").stdout)
    again = write(tmp_path, "again.json", **{**record, "title": "Anew", "websiteUrl": "https://tea.example"})
    assert faqsvc("publish", again).stdout.split()[0] == slug
    assert json.loads(faqsvc("get", slug, "--format", "json").stdout)["title"] == "Anew"


def test_publish_takes_many_files_and_says_which_is_which(ours: Service, tmp_path: Path) -> None:
    files = [write(tmp_path, f"{n}.json", title=f"FAQ {n}") for n in range(3)]
    result = faqsvc("publish", *files)
    assert [line.split()[2] for line in result.stdout.splitlines()] == files
    assert result.stderr == ""


def test_publish_checks_all_files_before_it_sends_the_first(theirs: FaultyServer, tmp_path: Path) -> None:
    good, bad = (
        write(tmp_path, "good.json"),
        write(tmp_path, "bad.json", items=[{"question": "", "answer": "a"}]),
    )
    said = failed(faqsvc("publish", good, bad))
    assert said == f"{bad}: items[0].question is empty"
    assert theirs.log == []


def test_publish_says_how_far_it_came(ours: Service, tmp_path: Path) -> None:
    files = [
        write(tmp_path, "a.json"),
        write(tmp_path, "b.json", slug="not-there"),
        write(tmp_path, "c.json"),
    ]
    result = faqsvc("publish", *files)
    assert (result.exit_code, result.stdout.count("\n")) == (1, 1)
    assert result.stderr.startswith(f"Error: {files[1]}: ")
    assert result.stderr.endswith("; 1 of 3 are published\n")


def test_a_publication_that_got_no_answer_can_be_repeated(theirs: FaultyServer, tmp_path: Path) -> None:  # W5
    theirs.then(behaviours.reset, behaviours.body(b'{"slug": "tea"}', status=201))
    file = write(tmp_path, "faq.json")
    said = failed(faqsvc("publish", file))
    assert "it may have been published: another attempt with the same idempotency key" in said
    arguments = said.split(": give ")[1].split()
    assert faqsvc("publish", file, *arguments).stdout == "tea\n"
    keys = {request.headers["idempotency-key"] for request in theirs.log}
    assert (arguments[0], {arguments[1]}) == ("--idempotency-key", keys)
    assert faqsvc("publish", file, file, *arguments).exit_code == 2


@pytest.mark.parametrize(
    ("behaviour", "known"),
    [
        (behaviours.body(b"abc", {"Content-Encoding": "gzip"}, status=201), "the answer is no gzip: "),
        (
            behaviours.body(b"abc", {"Content-Encoding": "br"}, status=201),
            "the answer's content coding 'br' was",
        ),
        (behaviours.body(b" " * 2_000_000, status=201), "the answer is larger than max_bytes, "),
        (behaviours.body(b"{}", status=201), "the answer names no slug: "),
        (behaviours.body(b"<html>", status=201), "the answer names no slug: "),
        (behaviours.body(b'{"slug": "tea"}'), "the service answered 200; it may have been published: "),
        (behaviours.no_gzip, "; it may have been published: "),
        (behaviours.status(500), "; it may have been published: "),
        (behaviours.status(503), "; it may have been published: "),
        (behaviours.garbage, "; it may have been published: "),
    ],
    ids=["gzip", "coding", "large", "no slug", "html", "200", "200 gzip", "500", "503", "garbage"],
)
def test_whatever_came_but_a_refusal_a_publication_can_be_repeated(
    theirs: FaultyServer, tmp_path: Path, behaviour: behaviours.Behaviour, known: str
) -> None:  # W5
    theirs.behave(behaviour)
    said = failed(faqsvc("publish", write(tmp_path, "faq.json")))
    (request,) = theirs.log
    assert said.endswith(f": give --idempotency-key {request.headers['idempotency-key']}")
    took = known.startswith("the answer")
    assert (f"the service took it (201), so it was published, but {known}" if took else known) in said


def test_a_publication_that_ctrl_c_ended_can_be_repeated(theirs: FaultyServer, tmp_path: Path) -> None:  # W5
    theirs.behave(behaviours.hang)
    file = write(tmp_path, "faq.json")
    with subprocess.Popen(
        command("publish", file),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(FAQSVC_TIMEOUT="60"),
    ) as process:
        theirs.wait_for_requests(1)
        process.send_signal(signal.SIGINT)
        printed, said = process.communicate(timeout=10)
    (request,) = theirs.log
    assert (process.returncode, printed) == (1, "")
    assert said == (
        f"\nError: {file}: interrupted; it may have been published: another attempt with the same "
        "idempotency key publishes nothing twice: "
        f"give --idempotency-key {request.headers['idempotency-key']}\n"
    )


@pytest.mark.parametrize("status", [307, 400, 401, 404, 405, 409, 422, 429])
def test_what_was_refused_was_not_published(theirs: FaultyServer, tmp_path: Path, status: int) -> None:
    theirs.behave(behaviours.status(status))
    said = failed(faqsvc("publish", write(tmp_path, "faq.json")))
    assert ("published" in said, "--idempotency-key" in said) == (False, False)


@pytest.mark.parametrize("key", ["", "a b", "é", "x" * 256])
def test_an_idempotency_key_that_none_can_be_is_a_mistake_of_usage(
    theirs: FaultyServer, tmp_path: Path, key: str
) -> None:
    result = faqsvc("publish", write(tmp_path, "faq.json"), "--idempotency-key", key)
    assert (result.exit_code, result.stdout, theirs.log) == (2, "", [])
    assert "1 to 255 visible ASCII characters are accepted" in result.stderr


def test_publish_says_which_options_are_missing(theirs: FaultyServer, tmp_path: Path) -> None:
    file = tmp_path / "faq.csv"
    file.write_text("question,answer\na,b\n")
    assert failed(faqsvc("publish", str(file))) == (
        f"{file}: websiteUrl is missing: give --website-url, or put it in the file; "
        "websiteName is missing: give --website-name, or put it in the file"
    )


def test_a_dry_run_prints_what_would_be_sent_and_sends_nothing(
    theirs: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:  # W9
    monkeypatch.delenv("FAQSVC_API_KEY")
    monkeypatch.delenv("FAQSVC_BASE_URL")
    result = faqsvc("publish", write(tmp_path, "faq.json"), "--dry-run")
    assert (result.exit_code, json.loads(result.stdout)) == (0, BODY)
    assert theirs.log == []


def test_without_a_key_publish_says_where_it_comes_from(
    theirs: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FAQSVC_API_KEY")
    assert "set FAQSVC_API_KEY" in failed(faqsvc("publish", write(tmp_path, "faq.json")))


def test_a_file_that_is_not_there_is_named(theirs: FaultyServer) -> None:
    assert failed(faqsvc("publish", "no/such.json")) == "no/such.json: No such file or directory"


@pytest.mark.parametrize("status", [401, 403, 413, 422, 429, 500])
def test_no_output_ever_has_the_key(theirs: FaultyServer, tmp_path: Path, status: int) -> None:  # W1
    def echo(exchange: behaviours.Exchange) -> None:
        exchange.reply(status, json.dumps({"detail": exchange.request.headers["x-plugin-key"]}).encode())

    theirs.behave(echo)
    assert "s3cret" not in failed(faqsvc("publish", write(tmp_path, "faq.json")))


def test_a_bar_shows_progress_on_a_terminal_only(ours: Service, tmp_path: Path) -> None:
    files = [write(tmp_path, f"{n}.json") for n in range(2)]
    ours_side, theirs_side = pty.openpty()
    ran = subprocess.run(
        command("publish", *files), stdout=subprocess.PIPE, stderr=theirs_side, env=environment(), check=True
    )
    os.close(theirs_side)
    shown = terminal(ours_side)
    assert len(ran.stdout.splitlines()) == 2
    assert "Publishing" in shown
    assert "100%" in shown


def terminal(descriptor: int, encoding: str = "utf-8") -> str:
    """Return all that was written to the other side of a terminal."""
    shown = b""
    try:
        while chunk := os.read(descriptor, 4096):
            shown += chunk
    except OSError as error:
        if error.errno != errno.EIO:  # how Linux says that the other side is closed
            raise
    finally:
        os.close(descriptor)
    return shown.decode(encoding)


# generate


GENERATED = [
    {"question": "Open?", "answer": "Yes: *daily*.", "source": "https://tea.example/#open"},
    {"question": "Closed?", "answer": "No."},
]


def test_generate_prints_what_publish_reads(theirs: FaultyServer, tmp_path: Path) -> None:
    theirs.behave(behaviours.body(json.dumps({"items": GENERATED}).encode()))
    arguments = ["https://tea.example", "--lang", "en", "--count", "2", "--topic", "Hours"]
    bodies = list[dict[str, Any]]()
    for form, name in (("json", "faq.json"), ("markdown", "faq.md")):
        (tmp_path / name).write_text(faqsvc("generate", *arguments, "--format", form).stdout)
        dry = faqsvc("publish", str(tmp_path / name), "--website-name", "Tea", "--dry-run")
        bodies.append(json.loads(dry.stdout))
    items = [{"question": item["question"], "answer": item["answer"]} for item in GENERATED]
    assert bodies == [
        {"websiteUrl": "https://tea.example", "websiteName": "Tea", "items": items, "lang": "en"}
    ] * 2  # fmt: skip
    sent = {"websiteUrl": "https://tea.example", "lang": "en", "count": 2, "topic": "Hours"}
    assert [json.loads(request.body) for request in theirs.log] == [sent, sent]


def test_generate_prints_text_for_people(theirs: FaultyServer) -> None:
    theirs.behave(behaviours.body(json.dumps({"items": GENERATED}).encode()))
    assert faqsvc("generate", "https://tea.example").stdout == (
        "Open?\n    Yes: *daily*.\n\nClosed?\n    No.\n"
    )


def test_generate_says_that_nothing_was_found(theirs: FaultyServer) -> None:
    theirs.behave(behaviours.body(b'{"items": []}'))
    said = failed(faqsvc("generate", "https://tea.example"))
    assert said == "no questions were found for 'https://tea.example'"


def test_generate_refuses_what_is_no_address(theirs: FaultyServer) -> None:
    assert "websiteUrl is 'tea'" in failed(faqsvc("generate", "tea"))


# How commands behave


@pytest.mark.parametrize(
    "arguments",
    [
        ["get"],
        ["get", "a", "b"],
        ["get", "a", "--format", "pdf"],
        ["get", "a", "--lang", "tlh"],
        ["get", "a"],  # of which service?
        ["get", "a", "--base-url", "nonsense"],
        ["pull", "a", "--to", "b", "--base-url", "ftp://faq.example.com"],
        ["generate", "https://tea.example", "--base-url", "https://faq.example.com/?x"],
        ["publish"],
        ["generate", "https://tea.example", "--count", "0"],
        ["nothing"],
    ],
)
def test_a_mistake_of_usage_is_told_as_one(arguments: list[str]) -> None:
    result = faqsvc(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "Traceback" not in result.stderr


def test_an_address_that_can_be_none_is_named_with_what_is_accepted() -> None:
    said = faqsvc("get", "a", "--base-url", "nonsense").stderr
    assert "Invalid value for --base-url: base_url is 'nonsense': an address with http or https" in said


@pytest.mark.parametrize("name", ["get", "publish", "generate", "serve", "keys"])
def test_help_teaches_by_example(name: str) -> None:
    result = faqsvc(name, "--help")
    assert result.exit_code == 0
    assert f"\n    faqsvc {name} " in result.stdout or f"$(faqsvc {name} " in result.stdout


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-W", "error", "-m", "faqsvc_embed.cli", *arguments]


def environment(**changes: str) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(ROOT), **changes}


def test_ctrl_c_ends_a_command_at_once_without_a_traceback(theirs: FaultyServer) -> None:
    theirs.behave(behaviours.hang)
    with subprocess.Popen(
        command("get", "pricing"), stderr=subprocess.PIPE, text=True, env=environment(FAQSVC_TIMEOUT="60")
    ) as process:
        theirs.wait_for_requests(1)
        process.send_signal(signal.SIGINT)
        start = time.monotonic()
        _, said = process.communicate(timeout=10)
    assert time.monotonic() - start < 2
    assert (process.returncode, said.strip()) == (1, "Aborted!")


def test_ctrl_c_that_meets_another_thread_ends_a_command_too(theirs: FaultyServer) -> None:
    # A signal that does not interrupt the main thread's wait is seen when that wakes.
    theirs.behave(behaviours.hang)
    code = """
import signal, sys, threading
from faqsvc_embed.cli import main
told = threading.Thread(
    target=lambda: sys.stdin.read(1) and signal.pthread_kill(threading.get_ident(), signal.SIGINT)
)
told.start()
main()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, "get", "pricing"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(FAQSVC_TIMEOUT="60"),
    ) as process:
        theirs.wait_for_requests(1)
        _, said = process.communicate("x", timeout=10)
    assert (process.returncode, said.strip()) == (1, "Aborted!")


def test_a_reader_that_goes_away_is_no_failure_to_tell(theirs: FaultyServer) -> None:
    theirs.serve(samples.large())  # more than a pipe holds
    with subprocess.Popen(
        command("get", "large"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        env=environment(PYTHONUNBUFFERED=""),  # set, Python itself would hide the failure
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.read(10)
        process.stdout.close()
        assert (process.stderr.read(), process.wait(10)) == (b"", 1)


@pytest.mark.parametrize(
    ("form", "encoding"),
    [("json", "cp1252"), ("jsonld", "latin-1"), ("html", "cp1252"), ("markdown", "cp949")],
)
def test_what_is_read_from_a_pipe_is_utf_8_whatever_a_terminal_has(
    theirs: FaultyServer, form: str, encoding: str
) -> None:
    theirs.serve(samples.record("tea", ("\uac00 \u20ac \xe9?", "\U0001f375")))
    printed = run("get", "tea", "--format", form, PYTHONIOENCODING=encoding).decode()
    assert "\uac00 \u20ac \xe9?" in printed
    assert "\U0001f375" in printed


def test_a_dry_run_prints_utf_8_whatever_a_terminal_has(tmp_path: Path) -> None:
    file = write(tmp_path, "faq.json", title="\uac00\xe9")
    printed = run("publish", file, "--dry-run", PYTHONIOENCODING="cp1252")
    assert json.loads(printed.decode()) == {**BODY, "title": "\uac00\xe9"}


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_terminal_gets_what_it_can_show(theirs: FaultyServer, form: str) -> None:
    theirs.serve(samples.record("tea", ("\uac00 \xe9?", "a")))
    ours_side, theirs_side = pty.openpty()
    asked = command("get", "tea", "--format", form)
    subprocess.run(asked, stdout=theirs_side, env=environment(PYTHONIOENCODING="cp1252"), check=True)
    os.close(theirs_side)
    assert "\\uac00 \xe9?" in terminal(ours_side, "cp1252")


def run(*arguments: str, **changes: str) -> bytes:
    """Return what a command prints that succeeds."""
    return subprocess.run(
        command(*arguments), stdout=subprocess.PIPE, env=environment(**changes), check=True
    ).stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("arguments", [["--help"], ["get", "--help"]])
def test_what_cannot_be_written_is_told_in_one_line(arguments: list[str], unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            command(*arguments),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(PYTHONUNBUFFERED=unbuffered),
        )
    assert (ran.returncode, ran.stderr) == (1, b"Error: [Errno 28] No space left on device\n")


@pytest.mark.parametrize(("name", "missing", "extra"), [("faq.yaml", "yaml", "yaml")])
def test_an_extra_that_is_missing_is_named_with_how_to_install_it(
    tmp_path: Path, name: str, missing: str, extra: str
) -> None:
    (tmp_path / name).write_text("items: []")
    code = f"import sys; sys.modules[{missing!r}] = None; from faqsvc_embed.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, "publish", str(tmp_path / name)],
        capture_output=True, text=True, check=False, env=environment(),
    )  # fmt: skip
    assert (ran.returncode, ran.stdout) == (1, "")
    assert ran.stderr == f"Error: {missing} is not installed: pip install 'faqsvc-embed[{extra}]'\n"


def test_help_is_there_at_once() -> None:
    slow = {"asyncio", "httpx2", "mcp", "starlette", "yaml"}
    code = f"import sys; from faqsvc_embed.cli import main; sys.exit(bool({slow} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], env=environment(), check=False).returncode == 0
