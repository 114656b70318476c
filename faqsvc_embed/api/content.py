"""The record of a revision, and its digest, which service and client compute alike."""

import hashlib

from msgspec import structs

from faqsvc_embed.models import FAQ


def stored_record(faq: FAQ, slug: str, lang: str) -> FAQ:
    """Return an FAQ as readers get it. Without a title, it gets the website's name followed by "FAQ"."""
    return structs.replace(
        faq,
        slug=slug,
        title=faq.title or (faq.website_name and f"{faq.website_name} FAQ"),
        lang=lang,
        items=tuple(
            item if item.position == index else structs.replace(item, position=index)
            for index, item in enumerate(faq.items)
        ),
        # Only links in Markdown need it; other records have only the specified fields.
        website_url=faq.website_url if faq.answer_format == "markdown" else None,
    )


def faq_digest(faq: FAQ, slug: str, lang: str) -> str:
    """Return the digest of a revision with this content: equal contents have equal entity tags."""
    return revision_digest(faq.website_url or "", stored_record(faq, slug, lang).to_json())


def revision_digest(website_url: str, record: str) -> str:
    """Return the digest of everything that a write can change."""
    return digest_of(website_url + record)


def digest_of(text: str) -> str:
    """Return the digest of a text, such as a record in JSON."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
