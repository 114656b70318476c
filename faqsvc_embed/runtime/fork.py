"""Tells objects that the process was forked, so that a child shares no connection with its parent."""

import os
import weakref
from typing import Protocol


class ForkAware(Protocol):
    """An object with locks, connections or threads that a forked child must not share with its parent."""

    def after_fork(self) -> None:
        """Replace locks, and drop the parent's work without using its connections. Runs in the child."""


_registered: weakref.WeakSet[ForkAware] = weakref.WeakSet()
pid: int = os.getpid()
"""The process that these objects belong to."""


def register(obj: ForkAware) -> None:
    """Call `obj.after_fork()` in every forked child, for as long as `obj` lives."""
    _registered.add(obj)


def check() -> None:
    """Handle a fork that Python did not notice: uWSGI forks in C, unless `py-call-osafterfork` is set."""
    if os.getpid() != pid:
        _after_fork()


def _after_fork() -> None:
    global pid
    pid = os.getpid()
    for obj in list(_registered):
        obj.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
