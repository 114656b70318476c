"""A record by itself: the look-up of a cached one, and from a record to HTML with its JSON-LD."""

import time
from collections.abc import Iterator
from functools import partial
from typing import Final

from msgspec.structs import replace

from faqsvc_embed import FAQ, Theme
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import COUNTS, SLUG, record
from tests.benchmarks.sidebyside import calling, compare
from tests.benchmarks.tables import Table

LARGEST: Final = 10_000
THEME: Final = Theme()


def records() -> Iterator[Table]:
    """Compare look-ups with that of a dictionary, and renderings by their lengths."""
    embed = fake_embed({SLUG: record(5)})
    cached = {SLUG: embed.get_faq(SLUG)}
    yield compare(
        "The look-up of a cached FAQ",
        {
            "dict[slug]": calling(lambda: cached[SLUG]),
            "embed.get_faq(slug)": calling(lambda: embed.get_faq(SLUG)),
            "embed.use_faq(slug)": calling(lambda: embed.use_faq(SLUG)),
        },
        notes=("goal: use_faq at most 2 µs",),
    )
    linear = Table(
        "From a record to HTML: what a question costs",
        {"µs a question": ".2f", "ratio to the shortest": ".3f"},
        notes=("linear, if it does not grow",),
    )
    for count in (*COUNTS, LARGEST):
        table = _rendering(embed, count)
        yield table
        each = table.rows[-1][1][1] / count
        linear.add(f"{count:,} questions", each, each / (linear.rows[0][1][0] if linear.rows else each))
    yield linear


def _rendering(embed: FAQEmbed, count: int) -> Table:
    faq = FAQ.from_dict(record(count))

    def first(times: int) -> float:
        records = [replace(faq) for _ in range(times)]  # what was rendered of one is kept as long as it lives
        began = time.process_time()
        for each in records:
            embed.render(each, theme=THEME)
        return time.process_time() - began

    return compare(
        f"From a record to HTML, {count:,} questions",
        {
            "embed.render(faq), again": calling(partial(embed.render, faq, theme=THEME)),
            "embed.render(faq), the first time": first,
        },
        rounds=100 if count < LARGEST else 7,
        turn=0.01,
    )
