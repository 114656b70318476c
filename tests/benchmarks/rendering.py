"""From a record to HTML with its JSON-LD, the first time and again, against React's `renderToString`."""

import time
from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from typing import Final

from msgspec.structs import replace

from faqsvc_embed import FAQ, Theme
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import COUNTS, record
from tests.benchmarks.react import NAME, Unavailable, react
from tests.benchmarks.sidebyside import Contestant, calling, compare
from tests.benchmarks.tables import Table

LARGEST: Final = 10_000
THEME: Final = Theme()


def rendering() -> Iterator[Table]:
    """Measure each length by itself, and how a question's cost grows with the length."""
    counts = (*COUNTS, LARGEST)
    embed = fake_embed({})
    linear = Table(
        "From a record to HTML: what a question costs",
        {"µs a question": ".2f", "ratio to the shortest": ".3f"},
        notes=("linear, if it does not grow",),
    )
    with ExitStack() as stack:
        reason, theirs = "", dict[str, Contestant]()
        try:
            theirs = stack.enter_context(react({str(count): record(count) for count in counts}))
        except Unavailable as unavailable:
            reason = f"{NAME}: skipped, {unavailable}"
        for count in counts:
            table = _rendering(embed, count, theirs.get(str(count)))
            if reason:
                table.note(reason)
            yield table
            each = table.rows[-1][1][1] / count
            linear.add(f"{count:,} questions", each, each / (linear.rows[0][1][0] if linear.rows else each))
    yield linear


def _rendering(embed: FAQEmbed, count: int, theirs: Contestant | None) -> Table:
    faq = FAQ.from_dict(record(count))

    def first(times: int) -> float:
        records = [replace(faq) for _ in range(times)]  # what was rendered of one is kept as long as it lives
        began = time.process_time()
        for each in records:
            embed.render(each, theme=THEME)
        return time.process_time() - began

    contestants = {NAME: theirs} if theirs else {}
    contestants["embed.render(faq), again"] = calling(partial(embed.render, faq, theme=THEME))
    contestants["embed.render(faq), the first time"] = first
    return compare(
        f"From a record to HTML, {count:,} questions",
        contestants,
        rounds=100 if count < LARGEST else 7,
        turn=0.01,  # Node counts its time in thousandths of a second
        notes=("goal: at most 1",),
    )
