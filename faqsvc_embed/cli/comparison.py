"""Compares files with the FAQs of a site, for `faqsvc publish`: new, unchanged, changed or outdated."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from faqsvc_embed.cli.publications import Publication, warn
from faqsvc_embed.cli.waits import send_patiently
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.text import normalized

if TYPE_CHECKING:
    from faqsvc_embed import models
    from faqsvc_embed.api.contract import FAQSummary, Revision, TranslationSummary
    from faqsvc_embed.client import FAQClient, StoredRevision

_KEPT: Final = ("website_url", "website_name", "title")
"""The fields that an FAQ keeps if a file with a new revision leaves them out."""


class Refused(Exception):
    """A file is not published. The message says why, and what to do."""


@dataclass(frozen=True, slots=True)
class Step:
    """What to do with one file: write it if `if_match` is still the newest revision.

    `unchanged` is the published revision with the same content. A step that `is_new` only creates an FAQ or
    a translation.
    """

    publication: Publication
    unchanged: "models.Publication | None" = None
    if_match: str | None = None
    is_new: bool = False


class Comparison:
    """Compares files with the list of a site's FAQs, and with the history of each that differs.

    `overwrite` accepts files that are older than the newest revision, and `republish` unpublished FAQs.
    """

    def __init__(self, client: "FAQClient", *, overwrite: bool, republish: bool) -> None:
        self._client = client
        self._overwrite = overwrite
        self._republish = republish
        self._faqs = {normalized("NFC", faq.slug): faq for faq in send_patiently(client.list_faqs)}

    def step(self, publication: Publication) -> Step:
        """Return what to do with a file.

        Raises:
            Refused: it would undo a change that somebody made after the file was written.
        """
        faq = self._faqs.get(normalized("NFC", publication.slug))
        if faq is None:
            self._check_gone(publication)
            return Step(_with_cta(publication, None), is_new=True)
        # `languages` would leave out a default language that is unpublished.
        lang = publication.document.lang or (
            faq.translations[0].lang if faq.translations else faq.languages[0]
        )
        newest = next((one for one in faq.translations if one.lang == lang), None)
        is_unpublished = "unpublished" in (faq.state, newest.state if newest else None)
        is_republished = is_unpublished and not publication.is_draft
        message = f"{quoted(faq.slug)} was unpublished ({faq.updated_at:%Y-%m-%d %H:%M} UTC)"
        if is_republished and not self._republish:
            raise Refused(f"{message}: use --republish to publish it again")
        if newest is None:
            publication = _completed(publication, self._source(faq.slug), is_translation=True)
            step = Step(publication, is_new=not is_republished)
        else:
            step = self._compare(publication, faq, newest)
        if is_republished:  # a file that is refused makes nothing public
            warn(publication, f"{message}; it becomes public again")
        return step

    def _compare(self, publication: Publication, faq: "FAQSummary", listed: "TranslationSummary") -> Step:
        """Compare a file with the newest revision of its FAQ and, if they differ, with the history."""
        slug, lang = faq.slug, listed.lang
        is_current = publication.is_draft if listed.has_draft else listed.state == "published"
        if is_current and _is_complete(publication) and _etag(publication, slug, lang) == listed.etag:
            return Step(publication, self._published(slug, listed))
        history = send_patiently(lambda: self._client.revisions(slug, lang=lang))
        newest = base = next(one for one in history if not one.discarded)
        if base.state == "draft" and not publication.is_draft:
            base = next((one for one in history if one.state == "published"), base)
        current = send_patiently(lambda: self._client.get_revision(slug, base.revision, lang=lang))
        publication = _completed(publication, current)
        etag = _etag(publication, slug, lang)
        if etag == base.etag and base.state in ("published", "draft" if publication.is_draft else ""):
            return Step(publication, self._published(slug, base, lang))
        if _is_old(publication, etag, history):
            if not self._overwrite:
                raise Refused(f"the file lacks {_named(newest)}: {_advice(publication, slug, newest)}")
            warn(publication, f"overwrites {_named(newest)}")
        elif etag == newest.etag and newest.own is False:
            warn(publication, f"publishes {_named(newest)}")
        elif base is not newest and etag != newest.etag:
            warn(publication, f"overwrites {_named(newest)}, which is not published")
        return Step(publication, if_match=listed.etag)

    def _source(self, slug: str) -> "StoredRevision":
        """Return what is public in the default language of an FAQ, or its newest revision if nothing is."""
        history = send_patiently(lambda: self._client.revisions(slug))
        public = next((one.revision for one in history if one.state == "published"), None)
        if public is None:
            return send_patiently(lambda: self._client.newest_revision(slug))
        return send_patiently(lambda: self._client.get_revision(slug, public))

    def _published(
        self, slug: str, revision: "Revision | TranslationSummary", lang: str | None = None
    ) -> "models.Publication":
        """Return an existing revision as a publication."""
        from faqsvc_embed import models

        return models.Publication(
            slug=slug,
            faq_url=f"{self._client.settings.base_url}/faq/{quote(slug, safe='')}",
            lang=lang or getattr(revision, "lang", None),
            revision=revision.revision,
            state=revision.state,
            etag=revision.etag,
        )

    def _check_gone(self, publication: Publication) -> None:
        """Raise Refused if an FAQ that is not in the list is in the bin, or was purged."""
        if not (publication.document.website_url and publication.document.website_name):
            try:
                send_patiently(lambda: self._client.get_faq(publication.slug))
            except FAQNotFound as error:
                if error.status == 410:
                    raise Refused(gone(publication.slug)) from None


def gone(slug: str) -> str:
    """Return the reason for refusing a file whose FAQ was deleted."""
    return (
        f"{quoted(slug)} was deleted: `faqsvc restore {slug}` brings it back from the bin; "
        f"after a deletion for ever, an admin must first run `faqsvc restore {slug} --lift`"
    )


def _is_complete(publication: Publication) -> bool:
    return all(getattr(publication.document, name) for name in _KEPT)


def _completed(
    publication: Publication, current: "StoredRevision", *, is_translation: bool = False
) -> Publication:
    """Return a publication with the current call to action, and the fields that the file lacks."""
    document = publication.document
    known: dict[str, Any] = {
        "website_url": current.website_url,
        "website_name": current.faq.website_name,
        "title": None if is_translation else current.faq.title,
    }
    missing = {name: value for name, value in known.items() if not getattr(document, name)}
    completed = replace(publication, document=replace(document, **missing))
    return _with_cta(completed, None if is_translation else current.faq.cta)


def _with_cta(publication: Publication, cta: Any) -> Publication:
    """Return a publication with the call to action of the service, which accepts no other."""
    if publication.document.cta not in (None, cta):
        warn(publication, "unknown to the service and left out: cta")
    return replace(publication, document=replace(publication.document, cta=cta))


def _etag(publication: Publication, slug: str, lang: str) -> str:
    return f'"{publication.content().digest(slug, lang)}"'


def _is_old(publication: Publication, etag: str, history: "Sequence[Revision]") -> bool:
    """Return whether somebody has changed the FAQ after the file was written.

    A file that states a revision is old unless that is the newest one. A higher number than exists belongs to
    another service or language, or to a discarded draft. A file that states none is old if another key wrote
    the newest revision, or if it has the text of an older revision.
    """
    newest, stated = next(one for one in history if not one.discarded), publication.document.revision
    if etag == newest.etag:
        return False
    if stated is not None:
        return bool(stated != newest.revision)
    return newest.own is False or any(one.etag == etag for one in history if one is not newest)


def _advice(publication: Publication, slug: str, newest: "Revision") -> str:
    """Return what to do with an old file: pull the newer revision, unless that is a draft."""
    if newest.state == "draft":
        return "publish or discard that draft first, or use --overwrite"
    folder = Path(publication.file).parent
    pull = f"faqsvc pull {slug} --to {folder}"
    return f"get it with `{pull}`, which replaces the file, or use --overwrite"


def _named(newest: "Revision") -> str:
    """Return how a message names the newest revision."""
    what = "a draft" if newest.state == "draft" else "a change"
    by = f" by {newest.key}" if newest.key else ""
    return f"{what}{by} on {newest.created_at:%Y-%m-%d %H:%M} UTC (revision {newest.revision})"
