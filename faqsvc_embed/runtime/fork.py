"""What a forked child does first: it lets go of everything that would be used by it and by its parent."""

import os
import weakref
from typing import Protocol


class Forks(Protocol):
    """Something that a forked child must not share with its parent."""

    def forked(self) -> None:
        """In the child: make locks new, and let go of the parent's work without a word to anybody."""


_alive: weakref.WeakSet[Forks] = weakref.WeakSet()
_pid = os.getpid()


def watch_for(one: Forks) -> None:
    """Call its `forked` in every child, for as long as somebody holds it."""
    _alive.add(one)


def notice() -> None:
    """Do what is due after a fork that Python was not told of: uWSGI forks so, unless it is asked not to."""
    if os.getpid() != _pid:
        _after_fork()


def _after_fork() -> None:
    global _pid
    _pid = os.getpid()
    for one in list(_alive):
        one.forked()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
