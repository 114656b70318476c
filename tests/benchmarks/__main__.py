"""Runs measurements and prints them: `python -m tests.benchmarks [--json FILE] [NAME …]`, all by default."""

import argparse
import json
import platform
import sys
from collections.abc import Callable, Iterable
from importlib import import_module
from pathlib import Path

from tests.benchmarks.tables import Table

MEASUREMENTS = {
    "typed_in": "FAQs against the same text typed in, and what the middleware costs a page without an FAQ",
    "streams": "a stream of 5,000 parts with an FAQ, against the same text typed in",
    "cold": "an FAQ that is not cached, against a kept-alive get and json.loads",
    "outage": "the service hangs while the record expires",
    "imports": "what importing costs",
    "scale": "requests of a site with 100,000 FAQs stored, against 100, on SQLite and PostgreSQL",
    "feed": "how fast an edit is on every page, and 1,000 subscribers",
    "extraction": "how well generation reads websites",
}
"""Each is a module of this name with a function of this name, which yields tables. If it is short, it
measures as little as it can, to show that it works."""


def main() -> None:
    names = "\n".join(f"  {name:<14}{about}" for name, about in MEASUREMENTS.items())
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks",
        description="Measure side by side, and print ratios.",
        epilog=names,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="what to measure; all, if none is named")
    parser.add_argument(
        "--short", action="store_true", help="as little as possible, to see that all of it works"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all numbers there, too")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - MEASUREMENTS.keys())
    if unknown:
        parser.error(f"no measurement {', '.join(unknown)}: there are {', '.join(MEASUREMENTS)}")
    tables_by_name: dict[str, list[Table]] = {}
    for name in arguments.names or MEASUREMENTS:
        measure: Callable[[bool], Iterable[Table]] = getattr(import_module(f"tests.benchmarks.{name}"), name)
        tables_by_name[name] = []
        for table in measure(arguments.short):
            print(table, end="\n\n", flush=True)
            tables_by_name[name].append(table)
    if arguments.json:
        tables = {name: [table.to_dict() for table in tables] for name, tables in tables_by_name.items()}
        machine = {"python": platform.python_version(), "machine": platform.platform(), "arguments": sys.argv}
        arguments.json.write_text(json.dumps({**machine, "measured": tables}, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
