"""The border between this package and its host: an exception of ours ends here, and the page goes on.

What a host's request runs of this package, it runs in `guarded(do, *arguments, otherwise=…)`. Nothing else
in the adapters, in `jinja` and in `page` catches `Exception`. With `strict`, the presenter uses no guard.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final, TypeVar, TypeVarTuple

from faqsvc_embed.runtime.bounded_log import MAX_REMEMBERED, logger

T = TypeVar("T")
D = TypeVar("D")
Ts = TypeVarTuple("Ts")

MAX_LINES: Final = 10
"""How often a failure is logged that comes and goes."""


def guarded(
    do: Callable[[*Ts], T],
    *arguments: *Ts,
    otherwise: D,
    about: object = None,
    on_error: Callable[[Exception], D] | None = None,
) -> T | D:
    """Return the result of `do`; if it raises an `Exception`, log that and return `otherwise`.

    A failure is logged with its traceback, and again only after the call has succeeded in between. `about`
    tells calls of one function apart, as the slug of an FAQ does. `on_error` returns what takes the place of
    `otherwise`, for the error.
    """
    try:
        result = do(*arguments)
    except Exception as error:
        _report(error, do, about)
        return otherwise if on_error is None else guarded(on_error, error, otherwise=otherwise)
    if _failures:
        _forget(do, about)
    return result


async def aguarded(
    do: Callable[[*Ts], Awaitable[T]],
    *arguments: *Ts,
    otherwise: D,
    about: object = None,
    on_error: Callable[[Exception], D] | None = None,
) -> T | D:
    """Return the result of a coroutine function, as `guarded` does."""
    try:
        result = await do(*arguments)
    except Exception as error:
        _report(error, do, about)
        return otherwise if on_error is None else guarded(on_error, error, otherwise=otherwise)
    if _failures:
        _forget(do, about)
    return result


class _Failure:
    """An exception that is raised in one place, by one path of calls."""

    def __init__(self) -> None:
        self.calls = set[str]()
        """The guarded calls that fail with it now."""
        self.lines = 0
        """How often it was logged."""


_failures: Final = dict[object, _Failure]()


def _report(error: Exception, do: Callable[..., object], about: object) -> None:
    """Log an error, unless guarded calls fail with it already."""
    with suppress(Exception):  # a page outlives a fault of the host's log, too
        failure = _failures.setdefault(_origin(error), _Failure())
        call, is_new = _name(do, about), not failure.calls and failure.lines < MAX_LINES
        if len(failure.calls) < MAX_REMEMBERED:
            failure.calls.add(call)
        if len(_failures) > MAX_REMEMBERED:
            del _failures[next(iter(_failures))]
        if is_new:
            failure.lines += 1
            logger.error("a page goes without %s: %r", call, error, exc_info=error)


def _forget(do: Callable[..., object], about: object) -> None:
    """Note that a call has succeeded, so that its next failure is logged."""
    with suppress(Exception):
        call = _name(do, about)
        for failure in list(_failures.values()):
            failure.calls.discard(call)


def _origin(error: Exception) -> object:
    """Return where an error was raised, and by which calls it came there."""
    traceback, places = error.__traceback__, list[object]()
    while traceback is not None:
        places.append((traceback.tb_frame.f_code.co_filename, traceback.tb_lasti))
        traceback = traceback.tb_next
    return (type(error), *places)


def _name(do: Callable[..., object], about: object) -> str:
    name = getattr(do, "__qualname__", type(do).__name__)
    return name if about is None else f"{name} of {about!r:.200}"
