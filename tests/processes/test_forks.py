"""What a forked child shares with its parent: nothing. And other surroundings than one plain process."""

import json
import multiprocessing
import os
import subprocess
import sys
import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import pytest

import faqsvc_embed
from faqsvc_embed import FAQEmbed
from faqsvc_embed.runtime import background_loop as loops
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import EPOCH, Clock
from tests.support.faulty import FaultyServer

ROOT: Final = Path(faqsvc_embed.__file__).parent.parent

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")


def script(code: str, *arguments: str) -> str:
    """Run a script in a process of its own, which ends by itself; return what it printed."""
    ran = subprocess.run(
        [sys.executable, "-c", f"import signal; signal.alarm(30)\n{code}", *arguments],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=40,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout


SOCKETS: Final = """
import json, os, sys, time
from faqsvc_embed import FAQEmbed

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
@pytest.mark.skipif(not os.path.exists("/proc/self/fd"), reason="no /proc here")
@pytest.mark.parametrize("with_store", [False, True])
def test_a_child_holds_no_socket_of_its_parents(
    with_store: bool, faulty: FaultyServer, request: pytest.FixtureRequest
) -> None:  # F2
    for slug in ("pricing", "other", "third"):
        faulty.serve(samples.record(slug))
    faulty.then(behaviours.healthy, behaviours.hang)
    settings = {"base_url": faulty.base_url, "timeout": 5}
    if with_store:
        settings["store"] = request.getfixturevalue("valkey")
    before, inherited, own, after = json.loads(script(SOCKETS, json.dumps(settings)))
    assert len(before) >= (4 if with_store else 3)  # connections, and the loop's own pair
    assert inherited == []
    assert own
    assert set(own) & set(before) == set()
    assert set(before) & set(after)  # the parent's live on


@needs_fork
def test_a_child_of_a_parent_with_every_lock_taken_goes_on(faulty: FaultyServer) -> None:  # F2
    faulty.serve(samples.pricing())
    code = """
import os, sys
from faqsvc_embed import FAQEmbed
embed = FAQEmbed(sys.argv[1])
embed.get_faq("pricing")
fetcher = embed._reader._fetcher
for lock in (embed.cache.lock, fetcher._lock, fetcher._transport._lock):
    lock.acquire()  # as another thread did at the moment of the fork
pid = os.fork()
if pid == 0:
    embed.forget()
    assert embed.get_faq("pricing").title == "Pricing"
    assert embed.health()
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    assert script(code, faulty.base_url).strip() == "0"
    assert len(faulty.log) == 2


@needs_fork
def test_children_of_children_refresh_on_their_own(faulty: FaultyServer) -> None:  # F1
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=0"})
    code = """
import os, sys, time
from faqsvc_embed import FAQEmbed
embed = FAQEmbed(sys.argv[1])
embed.get_faq("pricing")
for generation in range(3):
    pid = os.fork()
    if pid:
        os._exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
    embed.use_faq("pricing")
    while embed.is_fetching:
        time.sleep(0.002)
    assert not embed.use_faq("pricing", wait=0).is_degraded
"""
    script(code, faulty.base_url)
    assert len({request.connection for request in faulty.log}) == 1 + 3


def _in_child(base_url: str, warm: Any, answers: Any) -> None:
    answers.put(warm.get_faq("pricing").title)
    warm.forget("pricing")
    answers.put(warm.get_faq("pricing").title)
    warm.close()


@needs_fork
@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_pool_that_forks_as_celery_does(faulty: FaultyServer) -> None:  # F1
    faulty.serve(samples.pricing())
    context = multiprocessing.get_context("fork")
    with FAQEmbed(faulty.base_url) as embed:
        embed.get_faq("pricing")
        faulty.serve({**samples.pricing(), "title": "Edited"})
        answers: Any = context.SimpleQueue()
        children = [
            context.Process(target=_in_child, args=(faulty.base_url, embed, answers)) for _ in range(3)
        ]
        for child in children:
            child.start()
        for child in children:
            child.join(20)
        assert [child.exitcode for child in children] == [0, 0, 0]
        assert sorted(answers.get() for _ in range(6)) == ["Edited"] * 3 + ["Pricing"] * 3
        assert embed.get_faq("pricing").title == "Pricing"
    assert len(faulty.log) == 4


@needs_fork
def test_a_fork_that_python_was_not_told_of_is_noticed(faulty: FaultyServer) -> None:  # F1: uWSGI
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=0"})
    code = """
import ctypes, os, sys, time
from faqsvc_embed import FAQEmbed
embed = FAQEmbed(sys.argv[1])
embed.get_faq("pricing")
pid = ctypes.PyDLL(None).fork()
embed.use_faq("pricing")
deadline = time.monotonic() + 10
while embed.is_fetching:
    assert time.monotonic() < deadline
    time.sleep(0.002)
assert not embed.use_faq("pricing", wait=0).is_degraded
if pid == 0:
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
embed.close()
"""
    assert script(code, faulty.base_url).strip() == "0"
    assert len({request.connection for request in faulty.log}) == 2


# Where no thread can run


def test_where_no_thread_can_start_a_page_fetches_by_itself(
    faulty: FaultyServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:  # F4
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(loops, "start_thread", refuse)
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60"})
    with FAQEmbed(faulty.base_url, wait=0.3, timeout=2) as embed:
        embed.get_ready()
        embed.cache.clock, embed.cache.chance = clock.now, lambda: 1.0
        assert "What does it cost?" in embed.render("pricing")
        faulty.serve({**samples.pricing(), "title": "Edited"})
        clock.advance(100)
        state = embed.use_faq("pricing")  # within the budget of this page
        assert (state.data and state.data.title, state.is_stale) == ("Edited", False)
        faulty.behave(behaviours.hang)
        clock.advance(100)
        began = time.monotonic()
        state = embed.use_faq("pricing")
        assert (state.data and state.data.title, state.is_stale) == ("Edited", True)
        assert 0.25 < time.monotonic() - began < 0.3 + 0.3
        while embed.use_faq("pricing").is_fetching:
            assert time.monotonic() - began < 10
        state = embed.use_faq("pricing")
        assert (state.data and state.data.title, state.is_degraded) == ("Edited", True)
        faulty.behave(behaviours.healthy)
        clock.advance(100)
        assert not embed.use_faq("pricing").is_stale
    assert [t for t in threading.enumerate() if t.name.startswith("faqsvc-embed")] == []


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
def test_uwsgi_is_asked_whether_threads_run(
    options: dict[str, object], expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:  # F4
    assert loops.threads_run()
    uwsgi = type(sys)("uwsgi")
    uwsgi.opt = options  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "uwsgi", uwsgi)
    assert loops.threads_run() is expected


def test_under_gevent_the_hosts_own_loops_run_and_pages_wait(faulty: FaultyServer) -> None:  # F6
    pytest.importorskip("gevent")
    for slug in ("pricing", "other"):
        faulty.serve(samples.record(slug))
    faulty.behave(behaviours.slow_head(0.2))
    code = """
from gevent import monkey; monkey.patch_all()
import asyncio, sys, gevent
from faqsvc_embed import FAQEmbed
ticks = []
def tick():
    while True:
        gevent.sleep(0.01)
        ticks.append(1)
gevent.spawn(tick)
embed = FAQEmbed(sys.argv[1], wait=5, timeout=10)
assert embed.use_faq("pricing").data
assert embed.use_faq("other").data  # while our loop runs
assert len(ticks) > 20, "the hub was held up"
async def own():
    await asyncio.sleep(0.01)
    return "ran"
assert asyncio.run(own()) == "ran"
embed.forget()
asked = [gevent.spawn(embed.get_faq, "pricing") for _ in range(100)]
gevent.joinall(asked, raise_error=True)
embed.close()
print("well")
"""
    assert script(code, faulty.base_url).strip() == "well"
    assert len(faulty.log) == 3


# Two of them, and time


def test_two_embeds_of_one_process_share_nothing(faulty: FaultyServer) -> None:  # F7
    with FaultyServer() as second:
        faulty.serve(samples.record("pricing", title="First"))
        second.serve(samples.record("pricing", title="Second"))
        with FAQEmbed(faulty.base_url) as one, FAQEmbed(second.base_url) as two:
            assert (one.get_faq("pricing").title, two.get_faq("pricing").title) == ("First", "Second")
            one.forget()
            one.close()
            second.refuse()
            assert two.get_faq("pricing").title == "Second"
            assert one.get_faq("pricing").title == "First"
    assert (len(faulty.log), len(second.log)) == (2, 1)


@pytest.mark.parametrize("days", [1, -1, 3650, -3650])
@pytest.mark.parametrize("with_store", [False, True])
def test_a_wall_clock_that_jumps_neither_freezes_nor_storms(
    days: int, with_store: bool, faulty: FaultyServer, clock: Clock, tmp_path: Path
) -> None:  # K15
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60"})
    store = f"file:{tmp_path}" if with_store else None
    with FAQEmbed(faulty.base_url, store=store) as embed:
        embed.cache.clock, embed.cache.wall_clock = clock.now, clock.wall

        def settle() -> Any:
            embed.use_faq("pricing")
            while embed.is_fetching:
                time.sleep(0.002)
            return embed.use_faq("pricing", wait=0)

        settle()
        clock.set_wall(EPOCH + timedelta(days=days))
        assert settle().data is not None
        assert len(faulty.log) == 1
        for lifetime in range(3):
            clock.advance(100)
            faulty.serve({**samples.pricing(), "title": f"Edited {lifetime}"})
            for _ in range(20):
                settle()
            assert settle().data.title == f"Edited {lifetime}"
            assert len(faulty.log) == 2 + lifetime


def test_a_laptop_that_was_closed_over_a_holiday_shows_pages_at_once(
    faulty: FaultyServer, clock: Clock
) -> None:  # K15
    faulty.serve(samples.pricing(), {"Cache-Control": "max-age=60"})
    with FAQEmbed(faulty.base_url, keep_for=7 * 86_400, wait=5) as embed:
        embed.cache.clock, embed.cache.wall_clock = clock.now, clock.wall
        embed.get_faq("pricing")
        faulty._hang_up()  # its connections did not last
        clock.advance(3 * 86_400)
        assert embed.use_faq("pricing").is_stale
        while embed.is_fetching:
            time.sleep(0.002)
        assert not embed.use_faq("pricing").is_stale
        clock.advance(30 * 86_400)  # too long for any copy: asked for again, within the budget
        state = embed.use_faq("pricing")
        assert (state.is_stale, state.source) == (False, "network")
        assert len(faulty.log) == 3
