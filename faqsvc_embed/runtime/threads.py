"""Native daemon threads, also in a process that gevent has patched, and the event loop of this thread."""

import _thread
import asyncio
import contextvars
import functools
import os
import sys
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Future, wait
from types import ModuleType
from typing import Any, Final, TypeVar

T = TypeVar("T")

_POLL: Final = 0.005
"""Seconds after which a greenlet checks again whether a native thread is done."""
_CTRL_C: Final = 0.5
"""Seconds after which a waiting thread wakes up, so that it notices a Ctrl-C."""
_OFF: Final = (False, 0, "", "0", "false", "no", "off")


def start_thread(target: Callable[[], object], name: str) -> None:
    """Run `target` in a native daemon thread, not in a greenlet of gevent.

    Raises:
        RuntimeError: no thread can be started.
    """
    if not threads_are_enabled():
        raise RuntimeError("uWSGI runs without threads: start it with --enable-threads")
    if is_gevent_patched():
        unpatched(_thread, "start_new_thread")(target, ())
    else:
        threading.Thread(target=target, name=name, daemon=True).start()


def threads_are_enabled() -> bool:
    """Return False in a uWSGI worker that was started without `enable-threads`: its threads never run."""
    options = getattr(sys.modules.get("uwsgi"), "opt", None)
    if not isinstance(options, dict):
        return True
    values = (options.get(name, False) for name in ("threads", "enable-threads"))
    return any((value.decode() if isinstance(value, bytes) else value) not in _OFF for value in values)


def is_gevent_patched() -> bool:
    """Return whether gevent has replaced parts of the standard library."""
    return "gevent.monkey" in sys.modules


def running_loop() -> asyncio.AbstractEventLoop | None:
    """Return the event loop that runs in this thread, or None."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None


def in_event_loop() -> bool:
    """Return whether an event loop runs in this thread, which therefore must not be blocked."""
    return running_loop() is not None


def unpatched(module: ModuleType, name: str) -> Any:
    """Return an attribute of a standard module as it was before gevent replaced it."""
    if is_gevent_patched():
        return sys.modules["gevent.monkey"].get_original(module.__name__, name)
    return getattr(module, name)


def call_in_thread(function: Callable[..., T], *args: Any) -> Future[T]:
    """Call a function in a daemon thread of its own, so that a call that hangs does not delay the exit."""
    future = Future[T]()

    def run() -> None:
        if future.set_running_or_notify_cancel():
            try:
                future.set_result(function(*args))
            except BaseException as error:
                future.set_exception(error)

    try:
        start_thread(run, "faqsvc-embed-call")
    except RuntimeError:  # no thread can be started
        run()
    return future


def new_lock() -> _thread.LockType:
    """Return a native lock, also under gevent.

    A greenlet that waits for a lock of gevent while a native thread holds it may never be woken.
    """
    lock: _thread.LockType = unpatched(_thread, "allocate_lock")()
    return lock


class Lock:
    """A lock for threads and greenlets; the code that holds it must not wait for anything.

    Each process has its own: at a fork, a thread of the parent may hold that of the parent. `with` gets the
    native lock, because a function of this package that raises when it is to be released leaves it locked.
    """

    def __init__(self) -> None:
        self._locks: dict[int, _thread.LockType] = {}

    def own(self) -> _thread.LockType:
        """Return the lock of this process, for a `with` statement."""
        process = os.getpid()
        return self._locks.get(process) or self._locks.setdefault(process, new_lock())


def sleep_until(is_done: Callable[[], object], seconds: float) -> None:
    """Let other greenlets of gevent run until `is_done` returns true, at most for some seconds.

    A native thread cannot wake a greenlet reliably.
    """
    end = time.monotonic() + seconds
    while not is_done() and (remaining := end - time.monotonic()) > 0:
        time.sleep(min(_POLL, remaining))


def wait_for(future: Future[Any], seconds: float = float("inf")) -> None:
    """Wait for a future whose result a native thread sets, at most for some seconds."""
    if is_gevent_patched():
        done = list[object]()
        future.add_done_callback(done.append)  # the thread calls it when it has released the locks
        sleep_until(lambda: done, seconds)
    else:
        end = time.monotonic() + seconds
        while not future.done() and (remaining := end - time.monotonic()) > 0:
            wait([future], min(_CTRL_C, remaining))


def at_once(work: Coroutine[Any, Any, T]) -> T:
    """Return the result of a coroutine that was told to block its thread, and so awaits nothing."""
    results = list[T]()

    async def keep() -> None:
        results.append(await work)

    # A loop, because tracebacks through a call of `send` differ once Python has specialised it.
    for _ in keep().__await__():
        raise RuntimeError("the coroutine waits for an event loop")
    return results[0]


async def to_thread(function: Callable[..., T], *args: Any) -> T:
    """Call a function in a thread, as `asyncio.to_thread` does; also after the main thread has ended."""
    call = functools.partial(contextvars.copy_context().run, function, *args)
    try:
        future = asyncio.get_running_loop().run_in_executor(None, call)
    except RuntimeError:  # the executors of `concurrent.futures` end with the main thread
        future = asyncio.wrap_future(call_in_thread(call))
    return await future
