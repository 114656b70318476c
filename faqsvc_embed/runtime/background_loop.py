"""One event loop on a daemon thread, which does all I/O for the host's threads and event loops."""

import asyncio
import atexit
import contextlib
import contextvars
import inspect
import os
import selectors
import socket
import sys
import threading
import time
import weakref
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import Executor, Future
from typing import Any, Final, TypeVar

from faqsvc_embed.runtime import fork
from faqsvc_embed.runtime.threads import call_in_thread, running_loop, start_thread, unpatched

T = TypeVar("T")
Cleanup = Callable[[], Awaitable[object]]

CLOSE_TIMEOUT: Final = 1.0
"""Seconds that closing may take. Work that ignores its cancellation is abandoned."""
SUSPENSION: Final = 1.0
"""A deadline that is noticed so many seconds too late means that the process was suspended, as AWS Lambda
suspends it between two requests."""


class BackgroundLoop:
    """Runs coroutines on an event loop in a daemon thread.

    The thread starts with the first coroutine. It ends with `close()`, with this object, or with the
    process; later work starts a new one. A forked child starts its own.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: _Loop | None = None
        fork.register(self)

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the loop, in an empty context, and return its future.

        What a closing loop submits, such as the fetch of a change that it has just received, is cancelled.

        Raises:
            RuntimeError: no thread can be started.
            OSError: too many files are open.
        """
        if sys.is_finalizing():
            raise RuntimeError("the interpreter is shutting down")
        fork.check()
        with self._lock:
            loop = self._loop
            if loop is None or (loop.is_ending and running_loop() is not loop):
                loop = self._loop = _Loop(self, unpatched(selectors, "DefaultSelector")())
        return loop.submit(coroutine)

    @property
    def has_started(self) -> bool:
        """Whether there is a thread."""
        return self._loop is not None and not self._loop.is_ending

    def close(self) -> None:
        """Cancel all tasks, run the cleanups, and end the thread; takes at most a second."""
        with self._lock:
            loop = self._loop
            if loop is not None:
                loop.is_ending = True
        if loop is not None:
            loop.end()
            if not in_background():  # the loop cannot wait for its own end
                loop.has_ended.wait(CLOSE_TIMEOUT)

    def after_fork(self) -> None:
        """In a forked child: drop the loop of the parent, whose thread does not exist here."""
        self._lock = threading.Lock()
        if self._loop is not None and not self._loop.has_ended.is_set():
            self._loop.abandon()
        self._loop = None


def on_close(cleanup: Cleanup) -> None:
    """Await `cleanup` when the running background loop ends, for example to close its connections."""
    loop = running_loop()
    if isinstance(loop, _Loop):
        loop.cleanups.append(cleanup)


async def finished(work: Coroutine[Any, Any, T]) -> T:
    """Shield work from the cancellation of its caller; closing the background loop waits for it."""
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    if isinstance(loop, _Loop):
        loop.finishing.add(task)
        task.add_done_callback(loop.finishing.discard)
    return await asyncio.shield(task)


def in_background() -> bool:
    """Return whether this code runs on a background loop."""
    return isinstance(running_loop(), _Loop)


class _Loop(asyncio.SelectorEventLoop):
    """An event loop with a thread of its own, which runs until it is ended or its owner is freed."""

    def __init__(self, owner: BackgroundLoop, selector: selectors.BaseSelector) -> None:
        super().__init__(selector)
        self.is_ending = False
        self.has_ended = threading.Event()
        self.cleanups: list[Cleanup] = []
        self.finishing = set[asyncio.Task[Any]]()
        self._futures = set[Future[Any]]()
        self._connected = weakref.WeakSet[socket.socket]()
        self._finalizer = weakref.finalize(owner, self.end)  # without waiting: it may run at any moment
        self._finalizer.atexit = False
        atexit.register(self._at_exit)
        try:
            start_thread(self._run, "faqsvc-embed")
        except BaseException:
            self._unregister()
            self.close()
            raise

    def submit(self, coroutine: Coroutine[Any, Any, T]) -> Future[T]:
        if self.is_ending:
            coroutine.close()
            interrupted = Future[T]()
            interrupted.cancel()
            return interrupted
        # The host's own context may refer to its request, which must not live as long as a connection.
        future = contextvars.Context().run(asyncio.run_coroutine_threadsafe, coroutine, self)
        self._futures.add(future)
        future.add_done_callback(self._futures.discard)
        if self.has_ended.is_set():
            future.cancel()
        return future

    def _run(self) -> None:
        try:
            asyncio.set_event_loop(self)
            self.run_forever()
        finally:
            # This also runs after a SystemExit in a callback, so that no caller waits for a stopped loop.
            self.is_ending = True
            shutdown = self.create_task(_shut_down(self))
            while not shutdown.done():
                with contextlib.suppress(RuntimeError):  # `end` has stopped the loop again
                    self.run_until_complete(shutdown)
            for sock in list(self._connected):  # left open by tasks that did not end in time
                sock.close()
            for future in list(self._futures):  # their tasks did not end in time
                future.cancel()
            self.close()
            self.has_ended.set()
            for future in list(self._futures):  # submitted too late to run
                future.cancel()
            self._unregister()

    def end(self) -> None:
        """Stop the loop, from any thread."""
        with contextlib.suppress(RuntimeError):  # it is closed
            self.call_soon_threadsafe(self.stop)

    def abandon(self) -> None:
        """In a forked child: close the inherited sockets without sending anything to their peers."""
        self._unregister()
        own = [value for value in vars(self).values() if isinstance(value, socket.socket)]
        for sock in (*self._connected, *own):
            with contextlib.suppress(OSError):  # it is closed
                os.close(sock.detach())  # detached: its number may become that of another file
        _abandoned.append(self)

    def _unregister(self) -> None:
        self._finalizer.detach()
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        self.end()
        self.has_ended.wait(CLOSE_TIMEOUT)

    def run_in_executor(  # type: ignore[override]
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> asyncio.Future[T]:
        """Call a blocking function, such as `getaddrinfo`, in a daemon thread of its own."""
        if executor is not None:
            return super().run_in_executor(executor, func, *args)
        return asyncio.wrap_future(call_in_thread(func, *args), loop=self)

    async def sock_connect(self, sock: socket.socket, address: Any) -> None:
        """Remember the sockets of connections, for `abandon`."""
        self._connected.add(sock)
        await super().sock_connect(sock, address)


async def _shut_down(loop: _Loop) -> None:
    """Cancel all tasks, then run the cleanups; each of the two may take half of `CLOSE_TIMEOUT`.

    The tasks of `finished` are cancelled only after half of their time.
    """
    deadline = time.monotonic() + CLOSE_TIMEOUT / 2
    await asyncio.sleep(0)  # let what was submitted become tasks
    while (tasks := asyncio.all_tasks() - {asyncio.current_task()}) and time.monotonic() < deadline:
        is_early = time.monotonic() < deadline - CLOSE_TIMEOUT / 4
        if any(map(_is_new, tasks)) and is_early:
            await asyncio.sleep(0)  # let it start: cancelling it before gives a warning
            continue
        for task in tasks - loop.finishing if is_early else tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=CLOSE_TIMEOUT / 5)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_TIMEOUT / 2):
            for cleanup in loop.cleanups:
                with contextlib.suppress(Exception):
                    await cleanup()
    await asyncio.sleep(0)  # run the callbacks that closing has scheduled


def _is_new(task: asyncio.Task[Any]) -> bool:
    coroutine = task.get_coro()
    return inspect.iscoroutine(coroutine) and inspect.getcoroutinestate(coroutine) == inspect.CORO_CREATED


_abandoned: Final[list[_Loop]] = []
"""The loops of parent processes: freeing them would close connections that the parent uses."""
