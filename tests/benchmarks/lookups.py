"""The look-up of a cached FAQ, against a look-up in a dictionary."""

from collections.abc import Iterator

from faqsvc_embed.testing import fake_embed
from tests.benchmarks.hostpage import SLUG, record
from tests.benchmarks.sidebyside import calling, compare
from tests.benchmarks.tables import Table


def lookups() -> Iterator[Table]:
    """Compare `use_faq` and `get_faq` of a cached FAQ with the smallest that could do it."""
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
