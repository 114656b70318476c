"""The border between this package and its host: an exception of the package ends here, and the page goes on.

The adapters call the package through `guarded(do, *arguments, otherwise=…)`. Nothing else in the adapters, in
`jinja` and in `page` catches `Exception`.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from typing import Final, TypeVar, TypeVarTuple

from markupsafe import Markup, escape

from faqsvc_embed.models.items import Origin
from faqsvc_embed.rendering.answers import answer_html
from faqsvc_embed.runtime.bounded_log import MAX_REMEMBERED, logger, origin_of

T = TypeVar("T")
D = TypeVar("D")
Ts = TypeVarTuple("Ts")
Passing = type[Exception] | tuple[type[Exception], ...]

MAX_LINES: Final = 1000
"""Maximum number of log lines about one place in the code, if its failure comes and goes."""


def guarded(
    do: Callable[[*Ts], T],
    *arguments: *Ts,
    otherwise: D,
    about: object = None,
    on_error: Callable[[Exception], D] | None = None,
    passes: Passing = (),
) -> T | D:
    """Return the result of `do`; if it raises an `Exception`, log that and return `otherwise`.

    A failure is logged once, with its traceback. It is logged again only after the function has succeeded
    `about` the same thing, such as the slug of an FAQ. With `on_error`, its result for the error is returned
    instead of `otherwise`. Exceptions in `passes` are raised; with the setting `strict`, these are all.
    """
    try:
        result = do(*arguments)
    except passes:
        raise
    except Exception as error:
        return _failed(error, do, about, otherwise, on_error)
    if _failing and do is not _forget:  # type: ignore[comparison-overlap]
        guarded(_forget, do, about, otherwise=None)  # guarded, because it may raise, too
    return result


async def aguarded(
    do: Callable[[*Ts], Awaitable[T]],
    *arguments: *Ts,
    otherwise: D,
    about: object = None,
    on_error: Callable[[Exception], D] | None = None,
    passes: Passing = (),
) -> T | D:
    """Return the result of a coroutine function, as `guarded` does."""
    try:
        result = await do(*arguments)
    except passes:
        raise
    except Exception as error:
        return _failed(error, do, about, otherwise, on_error)
    if _failing:
        guarded(_forget, do, about, otherwise=None)
    return result


def guarded_parts(
    parts: Iterable[bytes], split: Callable[[bytes], tuple[bytes, bytes]], finish: Callable[[bytes], bytes]
) -> Iterator[bytes]:
    """Yield the parts of a host's body as `split` changes them, and what `finish` makes of the rest.

    `split` returns what can be sent of a part, and the rest, with which the next part begins.
    """
    rest = b""
    for part in parts:
        rest += part
        sent, rest = guarded(split, rest, otherwise=(rest, b""))
        yield sent
    if rest:
        yield guarded(finish, rest, otherwise=rest)


_failing: Final = dict[tuple[str, str], set[tuple[str, str]]]()
"""The guarded calls that fail at present, by their function and the traceback of the exception."""
_lines: Final = Counter[tuple[str, str]]()
"""How often each of these failures was logged."""


def _failed(
    error: Exception,
    do: Callable[..., object],
    about: object,
    otherwise: D,
    on_error: Callable[[Exception], D] | None,
) -> D:
    """Log an error, and return what the page has instead of a result."""
    _report(error, do, about)
    with suppress(Exception):  # `on_error` may fail, too
        return otherwise if on_error is None else on_error(error)
    return otherwise


def _report(error: Exception, do: Callable[..., object], about: object) -> None:
    """Log an error, unless guarded calls fail with it already."""
    with suppress(Exception):  # a log handler of the host may fail, too
        call = _description(do, about)
        place = (call[0], origin_of(error))
        calls = _failing.setdefault(place, set())
        is_new = not calls and _lines[place] < MAX_LINES
        if len(calls) < MAX_REMEMBERED:
            calls.add(call)
        for remembered in (_failing, _lines):
            if len(remembered) > MAX_REMEMBERED:
                del remembered[next(iter(remembered))]
        if is_new:
            _lines[place] += 1
            logger.error("a page goes without %s%s: %r", *call, error, exc_info=error)


def _forget(do: Callable[..., object], about: object) -> None:
    """Note that a call has succeeded, so that its next failure is logged."""
    call = _description(do, about)
    for place, calls in list(_failing.items()):
        calls.difference_update((call, ("_forget", "")))  # `_forget` may have failed before, and works now
        if not calls:
            _failing.pop(place, None)


def _description(do: Callable[..., object], about: object) -> tuple[str, str]:
    return getattr(do, "__qualname__", "a call"), "" if about is None else f" of {about!r:.200}"


def _guarded_answer(answer: str, section: str | None, origin: Origin) -> Markup:
    """Return an answer as HTML for a template of the host; as escaped text, if the rendering fails."""
    return guarded(answer_html, answer, section, origin, otherwise=escape(answer), about=origin.slug)


Origin.render = _guarded_answer
