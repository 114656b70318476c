"""An event loop of our own beside a host's code: on a thread, or run by those who wait, where none can be.

Nothing starts before the first work. gevent makes greenlets of threads, and a loop on one would be taken for
the host's own; so ours gets a real thread, and real selectors, in any case.
"""

import asyncio
import contextlib
import contextvars
import inspect
import os
import selectors  # noqa: F401  # `_original` takes it from sys.modules
import socket
import stat
import sys
import threading
import time
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, TypeVar

T = TypeVar("T")

LONGEST_CLOSE: Final = 1.0
_NO: Final = (False, 0, "", "0", "false", "no", "off")


class BackgroundLoop:
    """An event loop, started by its first use. Its owner's lock is held around every call but `drive`."""

    def __init__(self) -> None:
        self._loop: Loop | None = None
        self._ended: threading.Event | None = None
        """Set at the end of the thread; None if no thread runs the loop."""
        self._driving = threading.Lock()
        self._work = set[Future[Any]]()
        self._pid = 0
        self.has_crashed = False
        """The loop has ended, or is ending, and nobody had stopped it: later work needs another."""

    def submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run `work` on the loop, in a context of its own: what stays open must not hold a host's page.

        Raises:
            RuntimeError: no thread can be started, and who waits is in an event loop and cannot run another.
        """
        return contextvars.Context().run(self._submit, work)

    def _submit(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        if self._loop is None:
            loop = Loop()
            ended = threading.Event()
            try:
                if threads_run():
                    start_thread(lambda: self._run(loop, ended), "faqsvc-embed")
                    self._ended = ended
                elif asyncio._get_running_loop() is not None:
                    raise RuntimeError("uWSGI runs without enable-threads")
            except RuntimeError:
                if asyncio._get_running_loop() is not None:
                    loop.close()
                    raise
                # No thread can be started: whoever waits drives the loop.
            self._loop, self._pid = loop, os.getpid()
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        self._work.add(future)
        future.add_done_callback(self._work.discard)
        if self._loop.is_closed():
            future.cancel()
        return future

    def _run(self, loop: "Loop", ended: threading.Event) -> None:
        asyncio.set_event_loop(loop)
        last = _end_all(loop)  # nothing is left, unless this is a crash
        try:
            loop.run_forever()
        finally:
            self.has_crashed = self._loop is loop
            try:
                loop.run_until_complete(last)
            finally:
                last.close()
                loop.close()
                for future in list(self._work):  # what came while it crashed
                    future.cancel()
                ended.set()

    def drive(self, until: Future[Any], seconds: float) -> bool:
        """Run the loop here until then, at most so long, if no thread runs it; tell whether that was so."""
        loop = self._loop
        if loop is None or self._ended is not None or asyncio._get_running_loop() is not None:
            return False
        if not self._driving.acquire(blocking=False):
            return False
        try:
            loop.run_until_complete(asyncio.wait([asyncio.wrap_future(until, loop=loop)], timeout=seconds))
        finally:
            self._driving.release()
        return True

    def stop(self, last: Coroutine[Any, Any, None]) -> None:
        """Cancel what is running, run `last`, and end the loop; at most a second passes."""
        loop, ended = self._loop, self._ended
        self._loop = self._ended = None
        if loop is None or loop.is_closed():
            last.close()
        elif ended is None:
            with contextlib.suppress(RuntimeError):  # in an event loop, or while somebody drives it
                loop.run_until_complete(_wind_up(loop, last))
                loop.close()
        else:
            with contextlib.suppress(RuntimeError):  # it ended meanwhile
                asyncio.run_coroutine_threadsafe(_wind_up(loop, last), loop)
            ended.wait(LONGEST_CLOSE)

    def drop(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """End as `stop` does, without waiting for it; takes no lock, for a garbage collector calls it."""
        loop, ended = self._loop, self._ended
        self._loop = self._ended = None
        if loop is None or self._pid != os.getpid():
            return
        with contextlib.suppress(RuntimeError):  # it ended, or is ending
            if ended is None:
                loop.close()
            else:
                loop.call_soon_threadsafe(loop.wind_up, last)

    def forked(self) -> None:
        """In a forked child: let go of a loop that runs in the parent only."""
        if self._loop is not None:
            self._loop.let_go()
            _parents.append((self._loop, self._work))  # collecting them would end what is the parent's
            self._loop = self._ended = None
        self._driving = threading.Lock()
        self._work = set()


class Loop(asyncio.SelectorEventLoop):
    """An event loop that knows its descriptors."""

    def __init__(self) -> None:
        self._polls = _original("selectors", "DefaultSelector")()
        super().__init__(self._polls)
        self.set_default_executor(DaemonThreads())

    def wind_up(self, last: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Begin to end; the task is held here, because a loop holds its tasks weakly."""
        self._ending = self.create_task(_wind_up(self, last()))

    def transports(self) -> list[asyncio.BaseTransport]:
        """Return its connections that are open; asyncio has this table, and no name for it."""
        table: dict[int, asyncio.BaseTransport] = dict(vars(self).get("_transports", {}))
        return [one for fd, one in table.items() if one.get_extra_info("socket").fileno() == fd]

    def _descriptors(self) -> Iterator[int]:
        for transport in self.transports():
            yield transport.get_extra_info("socket").fileno()
        yield from self._polls.get_map()  # those that are connecting, and one end of the loop's own pair
        for own in vars(self).values():
            if isinstance(own, socket.socket):
                yield own.fileno()

    def let_go(self) -> None:
        """In a forked child: point every descriptor at nothing; so nothing is said on them, or kept open.

        Their numbers stay taken: what still names them can do no harm to others.
        """
        nothing = os.open(os.devnull, os.O_RDWR | os.O_CLOEXEC)
        for descriptor in set(self._descriptors()):
            with contextlib.suppress(OSError):
                if stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                    os.dup2(nothing, descriptor, inheritable=False)
        if hasattr(self._polls, "fileno"):
            os.dup2(nothing, self._polls.fileno(), inheritable=False)
        os.close(nothing)


class DaemonThreads(ThreadPoolExecutor):
    """Runs each call in a daemon thread: a name look-up that hangs does not hold the end of the process."""

    def submit(self, call: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        future = Future[T]()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call(*args, **kwargs))
                except BaseException as error:
                    future.set_exception(error)

        try:
            start_thread(run, "faqsvc-embed-call")
        except RuntimeError:  # none can be started
            run()
        return future


async def _wind_up(loop: Loop, last: Coroutine[Any, Any, None]) -> None:
    try:
        await _cancel_all()
        with contextlib.suppress(Exception):
            await asyncio.wait_for(last, LONGEST_CLOSE / 2)
        await asyncio.sleep(0)  # for what closing only scheduled
    finally:
        loop.stop()


async def _end_all(loop: Loop) -> None:
    await _cancel_all()
    for transport in loop.transports():
        if isinstance(transport, asyncio.Transport):
            transport.abort()
    await asyncio.sleep(0)


async def _cancel_all() -> None:
    """Cancel every task but this one; one that has not begun is let begin, or its work would complain.

    A task that swallowed it is asked again, and left behind in the end: closing takes no more than a second.
    """
    until = time.monotonic() + LONGEST_CLOSE / 2
    while (tasks := asyncio.all_tasks() - {asyncio.current_task()}) and time.monotonic() < until:
        begun = [task for task in tasks if not _is_new(task)]
        for task in begun:
            task.cancel()
        await asyncio.wait(tasks, timeout=LONGEST_CLOSE / 5 if len(begun) == len(tasks) else 0)


def _is_new(task: asyncio.Task[Any]) -> bool:
    work = task.get_coro()
    return inspect.iscoroutine(work) and inspect.getcoroutinestate(work) == inspect.CORO_CREATED


def threads_run() -> bool:
    """Tell whether threads go on between requests; in uWSGI they do only if it was told of them."""
    options = getattr(sys.modules.get("uwsgi"), "opt", None)
    if not isinstance(options, dict):
        return True
    told = (options.get(name, False) for name in ("threads", "enable-threads"))
    return any((value.decode() if isinstance(value, bytes) else value) not in _NO for value in told)


def start_thread(work: Callable[[], object], name: str) -> None:
    """Run `work` in a daemon thread, a real one even where gevent makes greenlets of them.

    Raises:
        RuntimeError: none can be started.
    """
    if "gevent.monkey" not in sys.modules:
        threading.Thread(target=work, name=name, daemon=True).start()
    else:
        _original("_thread", "start_new_thread")(work, ())


def _original(module: str, name: str) -> Any:
    """Return what a module had before gevent changed it."""
    monkey = sys.modules.get("gevent.monkey")
    return getattr(sys.modules[module], name) if monkey is None else monkey.get_original(module, name)


_parents = list[object]()
