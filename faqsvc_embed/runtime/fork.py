"""Tells objects that the process was forked, so that a child shares no connection with its parent."""

import os
import weakref
from typing import Final, Protocol

from faqsvc_embed.runtime.threads import new_lock


class ForkAware(Protocol):
    """An object with locks, connections or threads that a forked child must not share with its parent."""

    def after_fork(self) -> None:
        """Replace locks, and drop the parent's work without using its connections. Runs in the child."""


importing: Final = new_lock()
"""Locked while a background thread imports: a child forked meanwhile would have half of a module for ever."""

_registered: weakref.WeakSet[ForkAware] = weakref.WeakSet()
_pid = os.getpid()


def register(obj: ForkAware) -> None:
    """Call `obj.after_fork()` in every forked child, for as long as `obj` lives."""
    _registered.add(obj)


def check() -> None:
    """Handle a fork that Python did not notice: uWSGI forks in C, unless `py-call-osafterfork` is set."""
    if os.getpid() != _pid:
        _after_fork()


def _after_fork() -> None:
    global _pid
    _pid = os.getpid()
    for obj in list(_registered):
        obj.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=importing.acquire, after_in_parent=importing.release)
    os.register_at_fork(after_in_child=importing.release)
    os.register_at_fork(after_in_child=_after_fork)
