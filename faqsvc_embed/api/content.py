"""The content of a revision, its record, and their digest, which service and client compute alike."""

import hashlib
from dataclasses import dataclass, fields
from typing import Any, Self

from msgspec import UNSET, structs

from faqsvc_embed.models import FAQ, AnswerFormat, Item


@dataclass(frozen=True, slots=True)
class Content:
    """The content of a revision. Without a title, it is the website's name followed by "FAQ".

    With `cta=UNSET`, a new revision keeps the call to action of the newest one.
    """

    website_url: str
    website_name: str
    items: tuple[Item, ...]
    title: str | None = None
    answer_format: AnswerFormat = "text"
    cta: Any = None
    page_url: str | None = None
    introduction: str | None = None

    @classmethod
    def of(cls, faq: FAQ, website_url: str) -> Self:
        """Return the content of a record."""
        kept = {field.name: getattr(faq, field.name) for field in fields(cls)}
        return cls(**{**kept, "website_url": website_url})

    def record(self, slug: str, lang: str) -> FAQ:
        """Return the record as readers get it, with positions from 0."""
        return FAQ(
            slug=slug,
            title=f"{self.website_name} FAQ" if self.title is None else self.title,
            website_name=self.website_name,
            lang=lang,
            items=tuple(structs.replace(item, position=index) for index, item in enumerate(self.items)),
            cta=None if self.cta is UNSET else self.cta,
            answer_format=self.answer_format,
            # Only links in Markdown need it; other records have only the specified fields.
            website_url=self.website_url if self.answer_format == "markdown" else None,
            page_url=self.page_url,
            introduction=self.introduction,
        )

    def digest(self, slug: str, lang: str) -> str:
        """Return the digest of a revision with this content: equal contents have equal entity tags."""
        return revision_digest(self.website_url, self.record(slug, lang).to_json())


def revision_digest(website_url: str, record: str) -> str:
    """Return the digest of everything that a write can change."""
    return digest_of(website_url + record)


def digest_of(text: str) -> str:
    """Return the digest of a text, for its entity tag."""
    return hashlib.sha256(text.encode()).hexdigest()[:32]
