"""Threads and connections end with the embed, whether it is closed, dropped or only used once."""

import asyncio
import gc
import subprocess
import sys
import threading
import weakref
from concurrent.futures import Future
from pathlib import Path

import anyio
import pytest

from faqsvc_embed import FAQ, FAQClient, FAQEmbed, FAQUnavailable
from faqsvc_embed.cache.sqlite import SQLiteBackend
from faqsvc_embed.runtime import background_loop
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from tests.support import samples
from tests.support.embeds import PRICING, MakeEmbed, own_threads
from tests.support.faults import behaviours
from tests.support.faults.exchange import as_json
from tests.support.faulty import FaultyServer
from tests.support.waiting import wait_until


def test_closing_ends_the_thread_and_its_connections(make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    embed = make_embed()
    embed.get_faq("pricing")
    assert len(own_threads()) == 1
    embed.close()
    wait_until(lambda: not own_threads() and not faulty.open_connections)
    embed.close()
    assert embed.get_faq("pricing") == PRICING  # still cached
    assert own_threads() == []


def test_an_embed_can_be_closed_before_it_has_fetched_anything(make_embed: MakeEmbed) -> None:
    embed = make_embed()
    embed.close()
    asyncio.run(embed.aclose())
    with embed:
        pass
    assert own_threads() == []


def test_closing_waits_for_a_record_that_is_being_stored(
    make_embed: MakeEmbed, faulty: FaultyServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put = SQLiteBackend.put

    async def put_slowly(backend: SQLiteBackend, name: str, value: bytes, seconds: float) -> None:
        await asyncio.sleep(0.05)
        await put(backend, name, value, seconds)

    monkeypatch.setattr(SQLiteBackend, "put", put_slowly)
    embed = make_embed(store=f"file:{tmp_path}")
    embed.get_faq("pricing")
    embed.close()
    faulty.refuse()
    assert make_embed(store=f"file:{tmp_path}").use_faq("pricing", wait=5).data == PRICING


def test_closing_leaves_no_connection_open_however_late_it_is(
    make_embed: MakeEmbed,
    faulty: FaultyServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    faulty.behave(behaviours.hang)
    embed = make_embed(timeout=60)
    embed.use_faq("pricing", wait=0)
    faulty.wait_for_requests(1)
    monkeypatch.setattr(background_loop, "CLOSE_TIMEOUT", 0.0)  # as if the machine were too busy
    embed.close()
    assert faulty.wait_for_disconnects()
    wait_until(lambda: not own_threads())
    assert caplog.text == ""


def test_closing_does_not_block_the_event_loop(make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    embed = make_embed(timeout=60)
    faulty.behave(behaviours.hang)

    async def host() -> object:
        async with embed:
            waiting = asyncio.create_task(embed.aget_faq("pricing"))
            await asyncio.to_thread(faulty.wait_for_requests, 1)
        return (await asyncio.gather(waiting, return_exceptions=True))[0]

    assert isinstance(asyncio.run(host()), FAQUnavailable)


def test_a_dropped_embed_or_client_leaves_no_thread_no_connection_and_no_warning(
    faulty: FaultyServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faulty.serve(samples.pricing())
    FAQEmbed(faulty.base_url, push=False).render("pricing")
    for name in "abc":
        FAQEmbed(faulty.base_url, push=False, store=f"file:{tmp_path / name}").render("pricing")
    FAQClient(faulty.base_url).get_faq("pricing")
    assert faulty.connections == 5
    wait_until(lambda: gc.collect() >= 0 and not own_threads() and not faulty.open_connections)
    assert caplog.messages == []


def test_an_embed_that_is_dropped_while_it_fetches_ends_with_its_fetch(faulty: FaultyServer) -> None:
    import threading

    faulty.serve(samples.pricing())
    release = threading.Event()
    faulty.behave(behaviours.held_until(release))
    assert FAQEmbed(faulty.base_url, timeout=60).use_faq("pricing", wait=0).is_loading
    faulty.wait_for_requests(1)
    gc.collect()
    assert len(own_threads()) == 1
    release.set()
    wait_until(lambda: gc.collect() >= 0 and not own_threads())


def test_a_dropped_embed_is_collected(faulty: FaultyServer) -> None:
    faulty.serve(samples.pricing())
    embed = FAQEmbed(faulty.base_url)
    embed.render("pricing")
    embed.close()
    reference = weakref.ref(embed)
    del embed
    gc.collect()
    assert reference() is None


FUNCTIONS = """
import asyncio, gc, sys, threading, time
from faqsvc_embed import aget_faq, get_faq

def threads():
    return [thread for thread in threading.enumerate() if thread.name.startswith("faqsvc-embed")]

for number in range(20):
    assert get_faq("pricing", base_url=f"{sys.argv[1]}/{number}").slug == "pricing"
assert asyncio.run(aget_faq("pricing", base_url=f"{sys.argv[1]}/19")).slug == "pricing"
gc.collect()
deadline = time.monotonic() + 60
while len(threads()) >= 12 and time.monotonic() < deadline:  # threads of dropped embeds need a moment to end
    time.sleep(0.01)
print(len(threads()))
"""


@pytest.mark.system
def test_the_functions_keep_few_embeds(faulty: FaultyServer) -> None:
    """Each address has an embed of its own; the least recently used are dropped, and end."""
    faulty.behave(behaviours.body(as_json(samples.pricing())))
    process = subprocess.run(
        [sys.executable, "-c", FUNCTIONS, faulty.base_url], capture_output=True, text=True, check=True
    )
    assert 1 <= int(process.stdout) < 12
    assert sum("/faq/" in request.target for request in faulty.log) == 20  # the others subscribe to changes


def test_closing_while_a_task_starts_another_gives_no_warning() -> None:
    async def child() -> None:
        await anyio.sleep(10)

    async def parent(steps: int) -> None:
        for _ in range(steps):
            await anyio.sleep(0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child)

    for attempt in range(60):
        loop = BackgroundLoop()
        loop.submit(parent(steps=attempt % 6))
        loop.close()
    gc.collect()  # "never awaited" would be an error here


def test_what_is_submitted_during_the_cleanup_of_a_loop_is_cancelled_without_a_warning(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def submit_during_cleanup() -> Future[None]:
        loop, submitted = BackgroundLoop(), list[Future[None]]()

        async def cleanup() -> None:
            submitted.append(loop.submit(anyio.sleep(60)))

        async def work() -> None:
            background_loop.on_close(cleanup)

        loop.submit(work()).result()
        loop.close()
        return submitted[0]

    assert submit_during_cleanup().cancelled()
    wait_until(lambda: not own_threads())
    gc.collect()  # a task that has not ended would be logged here
    assert not caplog.records


def test_what_closing_interrupts_starts_no_new_thread() -> None:
    has_begun = threading.Event()

    class Source:
        async def get(self, slug: str, lang: str | None) -> FAQ | None:
            has_begun.set()
            try:
                await asyncio.sleep(60)
            finally:
                embed.use_faq("another", wait=0)
            return None

    embed = FAQEmbed(source=Source())
    embed.use_faq("pricing", wait=0)
    assert has_begun.wait(60)
    embed.close()
    wait_until(lambda: not own_threads())
