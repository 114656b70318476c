"""What importing costs: milliseconds and modules beyond what the host has imported anyway."""

import json
import statistics
import subprocess
import sys

PROGRAM = """
import sys, time, json
{first}
before = set(sys.modules)
start = time.perf_counter()
{then}
seconds = time.perf_counter() - start
heavy = [name in sys.modules for name in ("httpx2", "asyncio")]
print(json.dumps([seconds, len(set(sys.modules) - before), *heavy]))
"""


def imports() -> str:
    """Return a table of imports in fresh interpreters."""
    lines = ["Import, beyond what is there (median of 9 fresh interpreters)"]
    for first, then in (
        ("pass", "import faqsvc_embed"),
        ("import flask", "import faqsvc_embed.flask"),
    ):
        runs = [_run(first, then) for _ in range(9)]
        seconds = statistics.median(run[0] for run in runs)
        _, modules, client, loop = runs[0]
        after = f" after `{first}`" if first != "pass" else ""
        lines.append(
            f"  {then}{after}: {seconds * 1e3:.1f} ms, {modules:.0f} modules, "
            f"HTTP client: {'yes' if client else 'no'}, asyncio: {'yes' if loop else 'no'}"
        )
    return "\n".join(lines)


def _run(first: str, then: str) -> list[float]:
    program = PROGRAM.format(first=first, then=then)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True)
    result: list[float] = json.loads(done.stdout)
    return result
