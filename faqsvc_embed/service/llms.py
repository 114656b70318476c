"""GET /llms.txt: what is published here, for readers that are no browsers (the proposal of llmstxt.org)."""

from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote, urlsplit

from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.reading import is_slug
from faqsvc_embed.errors import quoted
from faqsvc_embed.files.to_markdown import escaped_line
from faqsvc_embed.service.accepting import accepted
from faqsvc_embed.service.addresses import Addresses, page_address
from faqsvc_embed.service.asking import ask
from faqsvc_embed.service.hosted import SUFFIX
from faqsvc_embed.service.markdown import link
from faqsvc_embed.service.problems import Problem
from faqsvc_embed.service.reading import cacheable
from faqsvc_embed.service.storage import Listed, Storage
from faqsvc_embed.service.words import WORDS

CACHE_CONTROL: Final = "public, max-age=60"
PAGE: Final = 500
"""FAQs in one answer; it leads to the next."""


@dataclass(frozen=True)
class List:
    """The handler of the list."""

    storage: Storage
    addresses: Addresses

    async def __call__(self, request: Request) -> Response:
        """Answer with the FAQs behind the slug `after`, or with the first ones."""
        base = self.addresses.base(request)
        media_type = accepted(request, "text/plain", "text/markdown")
        after = request.query_params.get("after")
        if after is not None and not is_slug(after):
            problem = f"after is {quoted(after)}: a slug is accepted"
            raise Problem(422, problem, problems=[problem])
        faqs = await ask(partial(self.storage.listed, after=after or "", limit=PAGE + 1))
        headers, following = dict[str, str](), ""
        if len(faqs) > PAGE:
            following = f"{base}/llms.txt?after={quote(faqs[PAGE - 1].slug, safe='')}"
            headers["link"] = f'<{following}>; rel="next"'
        text = _text(base, faqs[:PAGE], following)
        headers["vary"] = "Accept"
        return cacheable(request, text.encode(), media_type, CACHE_CONTROL, headers)


def _text(base: str, faqs: list[Listed], following: str) -> str:
    parts = [
        f"# FAQs on {escaped_line(urlsplit(base).netloc)}",
        "> Questions and answers that websites have published here: each as a page, and as Markdown with"
        f" `{SUFFIX}` behind its address.",
        "## FAQs",
    ]
    if faqs:
        parts.append("\n".join(_line(base, faq) for faq in faqs))
    if following:
        parts += ["## More", f"- {link('The next FAQs', following)}: in the order of their addresses"]
    return "\n\n".join(parts) + "\n"


def _line(base: str, faq: Listed) -> str:
    name = faq.title.strip() or faq.slug
    notes = filter(None, (escaped_line(faq.website_name), WORDS[faq.lang].language))
    return f"- {link(name, page_address(base, faq.slug) + SUFFIX)}: {', '.join(notes)}"
