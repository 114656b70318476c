"""What only the cyclic garbage collector frees."""

import gc
from collections.abc import Callable


def own_garbage(call: Callable[[], object]) -> list[str]:
    """Return the types of the package's objects that each call but the first leaves in reference cycles."""
    call()
    found = list[str]()
    for _ in range(3):  # a thread of an earlier test may leave something, too
        found = _garbage_of(call)
        if not found:
            break
    return found


def _garbage_of(call: Callable[[], object]) -> list[str]:
    was_enabled = gc.isenabled()
    gc.collect(1)  # the youngest generation then has only what the call leaves
    gc.disable()
    try:
        call()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect(0)
        types = map(type, gc.garbage)
        return [kind.__qualname__ for kind in types if kind.__module__.startswith("faqsvc_embed")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        if was_enabled:
            gc.enable()
