"""Generation: the questions and answers of an FAQ, made from a website. It works without the service.

Start with `generator.generate()`. `crawl` reads the pages of a website, `extraction` finds the questions and
answers on them, and an engine of `engines` makes the items from these. It needs the extra `generation`.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("generation"):
    from faqsvc_embed.generation.generator import generate

__all__ = ["generate"]
