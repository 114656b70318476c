"""What only the cyclic garbage collector frees."""

import gc
from collections.abc import Callable


def own_garbage(call: Callable[[], object]) -> list[str]:
    """Return the types of the package's objects that a second call leaves in reference cycles."""
    call()
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        call()
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        types = map(type, gc.garbage)
        return [kind.__qualname__ for kind in types if kind.__module__.startswith("faqsvc_embed")]
    finally:
        gc.set_debug(0)
        gc.garbage.clear()
        if was_enabled:
            gc.enable()
