"""The look-up of a held FAQ, against a look-up in a dictionary."""

from faqsvc_embed.testing import fake_embed
from tests.benchmarks.sidebyside import Timing, compare


def lookups() -> list[Timing]:
    """Compare `use_faq` and `get_faq` of a held FAQ with the smallest that could do it."""
    embed = fake_embed({"pricing": {"items": [{"question": "How much?", "answer": "A little."}]}})
    held = {"pricing": embed.get_faq("pricing")}
    return compare(
        {
            "dict[slug]": lambda: held["pricing"],
            "embed.get_faq(slug)": lambda: embed.get_faq("pricing"),
            "embed.use_faq(slug)": lambda: embed.use_faq("pricing"),
        },
        calls=2000,
    )
