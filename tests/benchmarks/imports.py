"""What importing costs: milliseconds, memory and modules beyond what the host has imported anyway."""

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.benchmarks.tables import Table

ROOT: Final = Path(__file__).parents[2]

PROGRAM: Final = """
import json, os, sys, time

def mebibytes():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

{first}
before, memory, start = set(sys.modules), mebibytes(), time.process_time()
{then}
seconds, memory = time.process_time() - start, mebibytes() - memory
print(json.dumps([seconds * 1e3, memory, len(set(sys.modules) - before), "httpx2" in sys.modules]))
"""

IMPORTS: Final = (
    ("pass", "import faqsvc_embed"),
    ("import flask", "import faqsvc_embed.flask"),
    ("import jinja2", "import faqsvc_embed.jinja"),
    ("import starlette.applications, starlette.templating", "import faqsvc_embed.starlette"),
)


def imports(is_short: bool) -> Iterator[Table]:
    """Measure imports in fresh interpreters, in seconds of the processor, with byte code at hand."""
    rounds = 1 if is_short else 15
    table = Table(
        f"Import, beyond what is there: median of {rounds} fresh interpreters",
        {"ms": ".1f", "best": ".1f", "MiB": ".2f", "modules": ".0f", "HTTP client": ".0f"},
        notes=("goal: faqsvc_embed.flask at most 30 ms and 4 MiB, and no HTTP client",),
    )
    imports = IMPORTS[: 1 if is_short else None]
    runs: dict[tuple[str, str], list[list[float]]] = {pair: [] for pair in imports}
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    for _ in range(1 + rounds):
        for pair in imports:
            runs[pair].append(_run(*pair, environment))
    for (first, then), measured in runs.items():
        ms, memory, modules, client = zip(*measured[1:], strict=True)  # the first one wrote the byte code
        name = then if first == "pass" else f"{then}, after {first.removeprefix('import ')}"
        table.add(name, statistics.median(ms), min(ms), statistics.median(memory), modules[0], client[0])
    yield table


def _run(first: str, then: str, environment: dict[str, str]) -> list[float]:
    program = PROGRAM.format(first=first, then=then)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, check=True, text=True, env=environment
    )
    result: list[float] = json.loads(done.stdout)
    return result
