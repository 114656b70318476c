"""Finds the files that are unchanged, for `faqsvc publish`, in one list of a site's FAQs."""

from typing import TYPE_CHECKING
from urllib.parse import quote

from faqsvc_embed.cli.publications import Publication
from faqsvc_embed.cli.waits import send_patiently
from faqsvc_embed.text import normalized

if TYPE_CHECKING:
    from faqsvc_embed import wire
    from faqsvc_embed.api.contract import TranslationSummary
    from faqsvc_embed.client import FAQClient


class Comparison:
    """The FAQs of a site, as they were before a run."""

    def __init__(self, client: "FAQClient") -> None:
        self._base_url = client.settings.base_url
        self._faqs = {normalized("NFC", faq.slug): faq for faq in send_patiently(client.list_faqs)}

    def before(self, publication: Publication, lang: str | None) -> "TranslationSummary | None":
        """Return the newest revision of the FAQ of a file, by default in its default language."""
        faq = self._faqs.get(normalized("NFC", str(publication.slug)))
        translations = faq.translations if faq else []
        lang = lang or (translations[0].lang if translations else None)
        return next((one for one in translations if one.lang == lang), None)

    def unchanged(self, publication: Publication) -> "wire.Publication | None":
        """Return the published revision that has the content of a file, if that is certain from the list."""
        from faqsvc_embed import wire

        listed = self.before(publication, publication.document.lang)
        if listed is None or not publication.is_complete:
            return None
        is_current = publication.is_draft if listed.has_draft else listed.state == "published"
        slug = normalized("NFC", str(publication.slug))
        if not is_current or f'"{publication.content().digest(slug, listed.lang)}"' != listed.etag:
            return None
        url = f"{self._base_url}/faq/{quote(slug, safe='')}"
        state = "draft" if listed.has_draft else "published"
        return wire.Publication(
            slug=slug, faq_url=url, lang=listed.lang, revision=listed.revision, state=state, etag=listed.etag
        )
