"""Makes one function of the package raise: its code is replaced, wherever the function is referred to."""

import gc
import inspect
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import _lru_cache_wrapper, cache, cached_property
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, ClassVar, Final

import faqsvc_embed

PACKAGE: Final = str(Path(faqsvc_embed.__file__).parent)

KINDS: Final = {
    inspect.CO_COROUTINE: ("async def", "raise error"),
    inspect.CO_GENERATOR: ("def", "raise error; yield"),
    inspect.CO_ASYNC_GENERATOR: ("async def", "raise error; yield"),
}
"""How a function is written that raises only while its result is awaited or iterated over."""


class Injected:
    """Counts the exceptions that these functions raise in the main thread, where the requests are."""

    count: ClassVar[int] = 0

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)
        Injected.count += threading.current_thread() is threading.main_thread()


class InjectedError(Injected, RuntimeError):
    """An ordinary exception."""


class InjectedMemoryError(Injected, MemoryError):
    """What a process raises that has no memory left."""


Call = tuple[CodeType, CodeType | None]
"""The code of a function, and of the function of ours that calls it."""


def calls_of(request: Callable[[], object]) -> list[Call]:
    """Return which functions of the package a request runs in its thread, once for each caller."""
    found = dict[Call, None]()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and _is_ours(frame.f_code):
            caller = frame.f_back
            while caller is not None and not _is_ours(caller.f_code):
                caller = caller.f_back
            found[frame.f_code, caller and caller.f_code] = None

    sys.setprofile(note)
    try:
        request()
    finally:
        sys.setprofile(None)
    return list(found)


def _is_ours(code: CodeType) -> bool:
    """Return whether a code is that of a function in the package. A template has one, too."""
    return code.co_filename.startswith(PACKAGE) and code.co_filename.endswith(".py")


def name_of(code: CodeType) -> str:
    """Return the module and the name of a function."""
    module = Path(code.co_filename).relative_to(PACKAGE).with_suffix("").parts
    return f"{'.'.join(module)}:{code.co_qualname}"


@contextmanager
def raising(code: CodeType, error: type[Exception], *, late: bool = False) -> Iterator[None]:
    """Let the function with a code raise; if it is `late`, while it is awaited or iterated over."""
    functions = [(function, function.__code__) for function in _functions_with(code)]
    assert functions, name_of(code)
    new = _code_that_raises(code, error, late=late)
    for function, old in functions:
        function.__code__ = _replaced(old, code, new)
    try:
        yield
    finally:
        for function, old in functions:
            function.__code__ = old


@contextmanager
def closures_are_found() -> Iterator[None]:
    """Keep what is made meanwhile in the heap's youngest generation, where `raising` looks for closures."""
    gc.collect(1)
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _functions_with(code: CodeType) -> list[FunctionType]:
    """Return the functions that have a code, or that make functions with it."""
    closures = [one for one in gc.get_objects(0) if type(one) is FunctionType]
    found = {id(one): one for one in (*_functions(len(sys.modules)), *closures)}
    return [one for one in found.values() if id(code) in _nested(one.__code__)]


@cache
def _functions(modules: int) -> list[FunctionType]:
    """Return the functions in modules and classes of the package, anew after more `modules` were loaded."""
    found, todo, seen = list[FunctionType](), list[object](), set[int]()
    todo += [module for name, module in sys.modules.items() if name.partition(".")[0] == "faqsvc_embed"]
    while todo:
        one = todo.pop()
        if id(one) in seen:
            continue
        seen.add(id(one))
        match one:
            case FunctionType():
                found.append(one)
                todo.append(getattr(one, "__wrapped__", None))
            case _lru_cache_wrapper():
                todo.append(one.__wrapped__)
            case property():
                todo.append(one.fget)
            case cached_property():
                todo.append(one.func)
            case classmethod() | staticmethod():
                todo.append(one.__func__)
            case ModuleType(__name__=name) | type(__module__=name) if name.startswith("faqsvc_embed"):
                todo += vars(one).values()
    return found


def is_lazy(code: CodeType) -> bool:
    """Return whether the function runs only while its result is awaited or iterated over."""
    return any(code.co_flags & flag for flag in KINDS)


_inner: Final = dict[int, tuple[CodeType, frozenset[int]]]()


def _nested(code: CodeType) -> frozenset[int]:
    """Return the identities of a code and of those of the functions in it; comparing codes takes long."""
    if not code.co_filename.startswith(PACKAGE):
        return frozenset()
    known = _inner.get(id(code))
    if known is None:
        inner = [_nested(const) for const in code.co_consts if isinstance(const, CodeType)]
        known = _inner[id(code)] = (code, frozenset({id(code)}).union(*inner))
    return known[1]


def _replaced(code: CodeType, old: CodeType, new: CodeType) -> CodeType:
    """Return a code with another one in place of itself, or of a function in it."""
    if code is old:
        return new
    consts = [_replaced(one, old, new) if isinstance(one, CodeType) else one for one in code.co_consts]
    return code.replace(co_consts=tuple(consts))


def _code_that_raises(code: CodeType, error: type[Exception], *, late: bool) -> CodeType:
    """Return code that a function with these variables of its surroundings can have."""
    kind, body = "def", "raise error"
    if late:
        kind, body = next(text for flag, text in KINDS.items() if code.co_flags & flag)
    names = code.co_freevars
    lines = [
        "def make():",
        *(f"    {name} = None" for name in names),
        f"    {kind} function(*arguments, **options):",
        f"        {body.replace('error', '__import__({!r}, fromlist=[{!r}]).{}({!r})')}".format(
            __name__, error.__name__, error.__name__, "injected"
        ),
        f"        ({''.join(f'{name}, ' for name in names)})",  # is not reached
        "    return function",
    ]
    scope: dict[str, Any] = {}
    exec("\n".join(lines), scope)
    made: CodeType = scope["make"]().__code__
    return made.replace(co_name=code.co_name, co_qualname=code.co_qualname)
