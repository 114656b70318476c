"""A forked child shares nothing with its parent; under gevent and without threads, pages still work."""

import json
import multiprocessing
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Final

import pytest

import faqsvc_embed
from faqsvc_embed import FAQEmbed
from faqsvc_embed.runtime.threads import threads_are_enabled
from tests.support import samples
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.feed_service import feed_service

ROOT: Final = Path(faqsvc_embed.__file__).parent.parent

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def script(code: str, *arguments: str) -> str:
    """Run a script in a process of its own, which ends by itself; return what it printed."""
    process = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import signal; signal.alarm(300)\n{code}", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=360,
        check=False,
    )
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout.strip()


SOCKETS: Final = """
import json, os, sys, warnings
from faqsvc_embed import FAQEmbed
from faqsvc_embed.cache import backend, redis
warnings.simplefilter("ignore", DeprecationWarning)  # of forking with threads
backend.CALL_TIMEOUT = redis.SOCKET_TIMEOUT = 60.0  # for a busy machine

def sockets():
    found = []
    for fd in os.listdir("/proc/self/fd"):
        try:
            found.append(os.readlink(f"/proc/self/fd/{fd}"))
        except FileNotFoundError:  # the one by which the directory was read
            pass
    return sorted(link for link in found if link.startswith("socket:"))

settings = json.loads(sys.argv[1])
embed = FAQEmbed(**settings)
embed.get_faq("pricing")
embed.use_faq("hangs", wait=0.2)
before = sockets()
reading, writing = os.pipe()
if os.fork() == 0:
    inherited = sockets()
    embed.get_faq("other")
    os.write(writing, json.dumps([inherited, sockets()]).encode())
    os._exit(0)
inherited, own = json.loads(os.read(reading, 100_000))
os.wait()
assert embed.get_faq("third").title
print(json.dumps([before, inherited, own, sockets()]))
embed.close()
"""


@needs_fork
@pytest.mark.system
@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc here")
@pytest.mark.parametrize("with_store", [False, True])
def test_a_child_has_no_socket_of_its_parent(
    with_store: bool, faulty: FaultyServer, request: pytest.FixtureRequest
) -> None:
    for slug in ("pricing", "other", "third"):
        faulty.serve(samples.record(slug))
    faulty.then(behaviours.healthy, behaviours.hang)
    settings = {"base_url": faulty.base_url}
    if with_store:
        settings["store"] = request.getfixturevalue("valkey")
    before, inherited, own, after = json.loads(script(SOCKETS, json.dumps(settings)))
    assert len(before) >= (4 if with_store else 3)  # connections, and the loop's own pair
    assert inherited == []
    assert own
    assert set(own) & set(before) == set()
    assert set(before) & set(after)  # those of the parent stay open


BUSY: Final = """
import os, sys, threading, warnings
from faqsvc_embed import FAQEmbed
warnings.simplefilter("ignore", DeprecationWarning)
embed = FAQEmbed(sys.argv[1])
embed.get_faq("pricing")

def work():
    while True:
        embed.health()
        embed.forget("busy")
        embed.use_faq("busy", wait=0)

for _ in range(4):
    threading.Thread(target=work, daemon=True).start()
for _ in range(5):
    pid = os.fork()
    if pid == 0:
        embed.forget()
        assert embed.get_faq("pricing").title == "Pricing"
        assert embed.health()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
os._exit(0)
"""


@needs_fork
@pytest.mark.system
def test_a_process_can_be_forked_while_other_threads_have_locks(faulty: FaultyServer) -> None:
    for slug in ("pricing", "busy"):
        faulty.serve(samples.record(slug))
    script(BUSY, faulty.base_url)


FOLLOWING: Final = """
import os, signal, sys, time, warnings
signal.alarm(300)
if sys.argv[2] == "uwsgi":  # forks in C, without Python's hooks; a real one may hang
    os.register_at_fork = lambda **_: None
from faqsvc_embed import FAQEmbed
warnings.simplefilter("ignore", DeprecationWarning)
embed = FAQEmbed(sys.argv[1], push=True)
embed.prefetch("pricing")
reading, writing = os.pipe()
if (pid := os.fork()) == 0:
    signal.alarm(300)
    while (answer := embed.get_faq("pricing").items[0].answer) != "New.":
        os.write(writing, answer.encode())
        time.sleep(0.01)
    os._exit(0)
assert os.read(reading, 4) == b"Old."
print("shown", flush=True)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


@needs_fork
@pytest.mark.system
@pytest.mark.parametrize("server", ["gunicorn --preload", "uwsgi"])
def test_a_child_follows_the_change_feed_from_its_first_page(server: str) -> None:
    with feed_service() as service:
        service.answers["pricing"] = "Old."
        command = [sys.executable, "-c", FOLLOWING, service.url, server]
        environment = {**os.environ, "PYTHONPATH": str(ROOT)}
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "shown\n"
            service.publish("pricing", "New.")
            assert process.wait(300) == 0


def _in_child(embed: FAQEmbed, titles: Any) -> None:
    titles.put(embed.get_faq("pricing").title)
    embed.forget("pricing")
    titles.put(embed.get_faq("pricing").title)
    embed.close()


@needs_fork
@pytest.mark.system
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_the_workers_of_a_pool_that_forks_fetch_on_their_own(faulty: FaultyServer) -> None:  # Celery
    faulty.serve(samples.pricing())
    context = multiprocessing.get_context("fork")
    with FAQEmbed(faulty.base_url) as embed:
        embed.get_faq("pricing")
        faulty.serve({**samples.pricing(), "title": "Edited"})
        titles: Any = context.SimpleQueue()
        children = [context.Process(target=_in_child, args=(embed, titles)) for _ in range(3)]
        for child in children:
            child.start()
        for child in children:
            child.join(60)
        assert [child.exitcode for child in children] == [0, 0, 0]
        assert sorted(titles.get() for _ in range(6)) == ["Edited"] * 3 + ["Pricing"] * 3
        assert embed.get_faq("pricing").title == "Pricing"
    assert len(faulty.log) == 4


# Threads


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, False),
        ({"enable-threads": True}, True),
        ({"enable-threads": b"true"}, True),
        ({"enable-threads": b"false"}, False),
        ({"threads": b"4"}, True),
        ({"processes": b"4"}, False),
    ],
)
def test_in_uwsgi_threads_run_only_if_they_are_enabled(
    options: dict[str, object], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert threads_are_enabled()
    uwsgi = type(sys)("uwsgi")
    uwsgi.opt = options  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "uwsgi", uwsgi)
    assert threads_are_enabled() is expected
    if not expected:
        assert isinstance(
            FAQEmbed("http://127.0.0.1:1").use_faq("pricing").error, faqsvc_embed.FAQUnavailable
        )


GEVENT: Final = """
import warnings; warnings.simplefilter("ignore")  # those of gevent
from gevent import monkey; monkey.patch_all()
import asyncio, sys, gevent
sys.setswitchinterval(1e-6)  # threads then meet at every lock
from faqsvc_embed import FAQEmbed
ticks = []
def tick():
    while True:
        gevent.sleep(0.01)
        ticks.append(1)
gevent.spawn(tick)
embed = FAQEmbed(sys.argv[1])
assert embed.use_faq("pricing").data
assert embed.use_faq("other").data  # while the background loop runs
assert len(ticks) > 4, "the hub stood still"
async def own():
    await asyncio.sleep(0.01)
    return "ran"
assert asyncio.run(own()) == "ran"
for _ in range(5):
    embed.forget()
    readers = [gevent.spawn(embed.get_faq, "pricing") for _ in range(100)]
    gevent.joinall(readers, raise_error=True)
embed.close()
print("done")
"""


@pytest.mark.system
def test_under_gevent_other_greenlets_run_while_a_page_waits(faulty: FaultyServer) -> None:
    pytest.importorskip("gevent")
    for slug in ("pricing", "other"):
        faulty.serve(samples.record(slug))
    faulty.behave(behaviours.slow_head(0.2))
    assert script(GEVENT, faulty.base_url) == "done"
    assert len(faulty.log) == 7


# At import and at the start


WATCHED: Final = """
import sys
seen = []
watched = ("_thread.start_new_thread", "os.fork")
sys.addaudithook(lambda event, _: seen.append(event) if event in watched or event[:7] == "socket." else None)
"""


def watched(code: str) -> list[str]:
    return script(WATCHED + code).splitlines()


@pytest.mark.system
def test_importing_and_making_an_embed_opens_no_socket_and_starts_no_thread() -> None:
    code = """
import faqsvc_embed, faqsvc_embed.jinja
embed = faqsvc_embed.FAQEmbed("https://faq.example.com", api_key="fs_live_secret", store="file:/nowhere")
embed.health(); embed.schema(); embed.close()
print(seen)
import faqsvc_embed.testing
print(seen)
"""
    assert watched(code) == ["[]", "[]"]


@pytest.mark.system
def test_an_offline_embed_uses_no_network() -> None:
    code = """
import logging
from faqsvc_embed import FAQEmbed
logging.disable()
embed = FAQEmbed("http://127.0.0.1:1", offline=True)
print(len(embed.render("pricing")), type(embed.use_faq("pricing").error).__name__, embed.prefetch("a", "b"))
print(embed.health(), seen, "httpx2" in sys.modules)
"""
    assert watched(code) == ["0 FAQUnavailable None", "[] [] False"]


FIRST_PAGE: Final = """
import os, sys, threading, time, warnings
from faqsvc_embed import FAQEmbed
warnings.simplefilter("ignore", DeprecationWarning)
embed = FAQEmbed(sys.argv[1])
page = threading.Thread(target=embed.render, args=["pricing"])
page.start()
children = []
while page.is_alive() and len(children) < 50:
    pid = os.fork()
    if pid == 0:
        signal.alarm(200)
        os._exit(0 if "How much" in embed.render("pricing") else 1)
    children.append(pid)
    time.sleep(0.001)
page.join()
print(len(children) > 3, {os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) for pid in children})
os._exit(0)
"""


@needs_fork
@pytest.mark.system
@pytest.mark.parametrize("answer_format", ["text", "markdown"])
def test_a_process_can_be_forked_at_any_moment_of_its_first_page(
    answer_format: str, faulty: FaultyServer
) -> None:
    record = samples.record("pricing", ("How much?", "**Five** [euros](https://tea.example/)."))
    faulty.serve({**record, "answerFormat": answer_format})
    faulty.behave(behaviours.slow_head(0.3))
    assert script(FIRST_PAGE, faulty.base_url) == "True {0}"


AT_THE_END: Final = """
import sys, logging
from faqsvc_embed import FAQEmbed
logging.basicConfig(level=logging.ERROR, stream=sys.stdout)
embed, unused = FAQEmbed(sys.argv[1]), FAQEmbed(sys.argv[1])
class Page:
    def __del__(self):
        embed.render("other")
        unused.render("other")
page = Page()
print(bool(embed.render("pricing")))
"""


@pytest.mark.system
def test_a_page_at_the_end_of_the_interpreter_prints_no_traceback(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    assert script(AT_THE_END, faulty.base_url) == "True"
