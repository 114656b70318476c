"""Commands in processes of their own: terminals, pipes, signals, and what they import."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from faqsvc_embed.service.storage import open_storage
from tests.cli.support import command, environment, on_terminal, output, write
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.faulty import FaultyServer
from tests.support.service import Service

pytestmark = pytest.mark.system


# Terminals and pipes


@pytest.mark.parametrize("form", ["text", "html"])
def test_no_format_controls_a_terminal(faulty_service: FaultyServer, form: str) -> None:
    evil = "hi\x1b]0;PWNED\x07 \x1b[2J \x9b31m \u202eabc\x7f \u2066"
    faulty_service.serve(samples.record("evil", (evil, evil), title=evil, website_name=evil))
    printed = on_terminal("get", "evil", "--format", form)
    assert "abc" in printed
    assert [c for c in printed if c in "\x00\x07\x1b\x7f\x9b\u202e\u2066"] == []


def test_a_terminal_gets_characters_that_its_encoding_lacks_as_escapes(faulty_service: FaultyServer) -> None:
    faulty_service.serve(samples.record("tea", ("\uac00 \xe9?", "a")))
    assert "\\uac00 \xe9?" in on_terminal("get", "tea", encoding="cp1252")


def test_a_terminal_shows_only_the_lines_of_publications(ours: Service, tmp_path: Path) -> None:
    files = [write(tmp_path, f"{n}.json") for n in range(2)]
    assert on_terminal("publish", *files, stream="stderr") == ""


@pytest.mark.parametrize(("form", "encoding"), [("json", "cp1252"), ("html", "cp949")])
def test_a_pipe_gets_utf_8(faulty_service: FaultyServer, form: str, encoding: str) -> None:
    faulty_service.serve(samples.record("tea", ("\uac00 \u20ac \xe9?", "\U0001f375")))
    printed = output("get", "tea", "--format", form, PYTHONIOENCODING=encoding).decode()
    assert "\uac00 \u20ac \xe9?" in printed
    assert "\U0001f375" in printed


def test_a_reader_that_goes_away_is_not_reported(faulty_service: FaultyServer) -> None:
    faulty_service.serve(samples.large())  # more than a pipe holds
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
        assert (process.stderr.read(), process.wait(60)) == (b"", 1)


def test_a_run_whose_output_is_closed_says_how_many_files_are_published(
    ours: Service, tmp_path: Path
) -> None:
    files = [write(tmp_path, f"piped-{n}.json") for n in range(20)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command("publish", *files), stdout=pipe, stderr=pipe, env=environment()) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        errors = process.stderr.read().decode()
    assert (process.returncode, errors.count("\n")) == (1, 1)
    assert re.search(r"standard output was closed; \d+ of 20 are published", errors)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize(("arguments", "unbuffered"), [(["--help"], ""), (["get", "--help"], "1")])
def test_a_full_disk_is_reported_in_one_line(arguments: list[str], unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            command(*arguments),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(PYTHONUNBUFFERED=unbuffered),
        )
    assert (ran.returncode, ran.stderr.count(b"\n")) == (1, 1)
    assert b"standard output" in ran.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_a_key_that_cannot_be_printed_is_named_so_that_it_can_be_revoked(database: str) -> None:
    with open("/dev/full", "wb") as full:
        ran = subprocess.run(
            command("keys", "create", "--database", database),
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env=environment(PYTHONUNBUFFERED=""),
        )
    storage = open_storage(database)
    [key] = storage.keys.list()
    storage.close()
    assert (ran.returncode, ran.stderr.count(b"\n")) == (1, 1)
    assert f"...{key.ending}" in ran.stderr.decode()


@pytest.mark.parametrize("arguments", [["db", "export"], ["sites", "list", "--json"]])
def test_a_command_whose_output_is_closed_succeeds(database: str, arguments: list[str]) -> None:
    line = [*command(*arguments, "--database", database)]
    ran = subprocess.run(["sh", "-c", '"$@" >&-', "sh", *line], stderr=subprocess.PIPE, env=environment())
    assert (ran.returncode, ran.stderr) == (0, b"")


# Signals


def test_ctrl_c_that_another_thread_receives_ends_a_command_too(faulty_service: FaultyServer) -> None:
    # A signal that does not interrupt the main thread's wait is noticed when that thread wakes up.
    faulty_service.behave(behaviours.hang)
    code = """
import signal, sys, threading
from faqsvc_embed.cli import main
receiver = threading.Thread(
    target=lambda: sys.stdin.read(1) and signal.pthread_kill(threading.get_ident(), signal.SIGINT)
)
receiver.start()
main()
"""
    with subprocess.Popen(
        [sys.executable, "-c", code, "get", "pricing"],
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(FAQSVC_TIMEOUT="60"),
    ) as process:
        faulty_service.wait_for_requests(1)
        _, errors = process.communicate("x", timeout=60)
    assert (process.returncode, errors.strip().count("\n")) == (1, 0)


def test_a_publication_that_ctrl_c_ended_can_be_retried(faulty_service: FaultyServer, tmp_path: Path) -> None:
    faulty_service.behave(behaviours.hang)
    file = write(tmp_path, "faq.json")
    with subprocess.Popen(
        command("publish", file, "--new-slug"),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(FAQSVC_TIMEOUT="60"),
    ) as process:
        faulty_service.wait_for_requests(1)
        process.send_signal(signal.SIGINT)
        printed, errors = process.communicate(timeout=60)
    assert (process.returncode, printed) == (1, "")
    assert errors.startswith(f"\nError: interrupted; {file} may have been published: publish it again")


# Imports


@pytest.mark.parametrize(
    ("missing", "arguments", "extra"),
    [
        ("mcp", ["mcp"], "mcp"),
        ("granian", ["serve", "--port", "0"], "service"),
        ("sqlalchemy", ["keys", "create"], "service"),
        ("psycopg", ["keys", "create", "--database", "postgresql://127.0.0.1:9/x"], "postgresql"),
    ],
)
def test_a_missing_package_is_reported_with_the_extra_that_installs_it(
    tmp_path: Path, missing: str, arguments: list[str], extra: str
) -> None:
    code = f"import sys; sys.modules[{missing!r}] = None; from faqsvc_embed.cli import main; main()"
    ran = subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True, text=True, check=False, cwd=tmp_path, env=environment(), timeout=60,
    )  # fmt: skip
    assert (ran.returncode, ran.stdout, ran.stderr.count("\n")) == (1, "", 1)
    assert f"'faqsvc-embed[{extra}]'" in ran.stderr
    assert missing in ran.stderr


def test_help_imports_nothing_slow() -> None:
    slow = {"httpx2", "jinja2", "markdown_it", "mcp", "nh3", "starlette", "yaml"}
    code = f"import sys; from faqsvc_embed.cli import main; sys.exit(bool({slow} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], env=environment(), check=False).returncode == 0


def test_a_terminal_shows_that_generation_may_take_a_minute(faulty_service: FaultyServer) -> None:
    faulty_service.behave(behaviours.body(b'{"items": [{"question": "a", "answer": "b"}]}'))
    shown = on_terminal("generate", "https://heron.example", stream="stderr")
    assert "https://heron.example, which may take a minute" in shown
