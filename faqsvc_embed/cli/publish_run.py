"""The run of `faqsvc publish`: compares all files with the service, and refuses those that are outdated."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.api.publish_request import PublishFields
from faqsvc_embed.cli.comparison import Comparison
from faqsvc_embed.cli.errors import failure, interrupted
from faqsvc_embed.cli.output import print_json, print_text, progress
from faqsvc_embed.cli.publications import Publication, warn
from faqsvc_embed.cli.refusals import Refused, gone, reason_of
from faqsvc_embed.cli.waits import send_patiently
from faqsvc_embed.errors import (
    AuthenticationError,
    FAQError,
    FAQNotFound,
    OutcomeUnknown,
    PublishRejected,
    RevisionConflict,
)

if TYPE_CHECKING:
    from faqsvc_embed import wire
    from faqsvc_embed.client import FAQClient


class PublishRun:
    """One run over `count` files. `idempotency_key` is for a file whose slug the service chooses."""

    def __init__(self, client: "FAQClient", count: int, idempotency_key: str, *, as_json: bool) -> None:
        self._client = client
        self._count = count
        self._idempotency_key = idempotency_key
        self._as_json = as_json
        self._done = list[dict[str, Any]]()
        self._refused = list[str]()

    def publish(self, publications: Sequence[Publication], *, overwrite: bool, republish: bool) -> None:
        """Publish files, and print what was published.

        Raises:
            Exit: a file was refused; its reason is on standard error.
            ClickException: the run ended early, for example because the service does not respond.
        """
        insists = {"old-file": overwrite, "unpublished": republish}
        comparison = None
        if any(publication.slug is not None for publication in publications):
            comparison = Comparison(self._client)
        try:
            with progress(publications, "Publishing") as watched:
                for publication in watched:
                    try:
                        self._take(publication, comparison, insists)
                    except Refused as error:
                        self._refused.append(f"{publication.file}: {error}")
        finally:
            if self._as_json and self._done:
                print_json(self._done)
            for reason in self._refused:
                failure(reason).show()
        if self._refused:
            raise click.exceptions.Exit(1)

    def _take(
        self, publication: Publication, comparison: Comparison | None, insists: dict[str, bool]
    ) -> None:
        """Publish one file, unless it is unchanged, and print the result.

        Raises:
            Refused: the service refuses this file; it may accept others.
        """
        published = None if comparison is None else comparison.unchanged(publication)
        is_unchanged = published is not None
        if published is None:
            published = self._send(publication, insists)
            before = None if comparison is None else comparison.before(publication, published.lang)
            if before is not None and published.revision is not None:
                is_current = publication.is_draft if before.has_draft else before.state == "published"
                is_unchanged = published.revision < before.revision + is_current
                if before.has_draft and published.revision == before.revision and not publication.is_draft:
                    self._name_author(publication, published)
            if publication.document.cta is not None and published.revision is not None:
                self._compare_cta(publication, published)
        if not is_unchanged:
            publication.state_revision(published.revision)
        self._done.append({**fields_of(published), "unchanged": is_unchanged, "file": publication.file})
        if not self._as_json:
            line = line_of(published) + ("  (unchanged)" if is_unchanged else "")
            print_text(f"{line}  {publication.file}" if self._count > 1 else line)

    def _name_author(self, publication: Publication, published: "wire.Publication") -> None:
        """Warn that the draft of somebody else was published, which has the text of the file."""
        history = send_patiently(lambda: self._client.revisions(published.slug, lang=published.lang))
        [draft] = [one for one in history if one.revision == published.revision]
        if draft.own is False:
            warn(publication, f"publishes a draft by {draft.key} (revision {draft.revision})")

    def _compare_cta(self, publication: Publication, published: "wire.Publication") -> None:
        """Warn if a file has another call to action than the service, which keeps its own."""
        slug, lang, number = published.slug, published.lang, published.revision or 0
        kept = send_patiently(lambda: self._client.get_revision(slug, number, lang=lang))
        if kept.faq.cta != publication.document.cta:
            warn(publication, "not published, because the service keeps its own: cta")

    def _send(self, publication: Publication, insists: dict[str, bool]) -> "wire.Publication":
        """Publish one file, and insist where an option says so.

        Raises:
            Refused: the service refuses this file.
        """
        fields, warnings = publication.fields(), list[str]()
        if publication.slug is None:
            fields["idempotency_key"] = self._idempotency_key
        while True:
            try:
                published = self._attempt(publication, fields)
            except PublishRejected as error:
                reason = reason_of(publication, error)
                if error.code not in insists or not insists[error.code]:
                    raise Refused(reason.advice) from error
                insists = {**insists, error.code: False}  # only once
                warnings.append(reason.warning)
                if error.code == "unpublished":
                    fields["republish"] = True
                elif isinstance(error, RevisionConflict) and error.current is not None:
                    fields["overwrite"], fields["if_match"] = True, error.current.etag
            else:
                for warning in warnings:
                    warn(publication, warning)
                return published

    def _attempt(self, publication: Publication, fields: PublishFields) -> "wire.Publication":
        """Send one request; a failure says how to retry, and how many files are published."""
        file = publication.file
        retry = ": publish it again; this does not create a second FAQ"
        if publication.slug is None:
            retry = f": retry with --idempotency-key {self._idempotency_key}"
        so_far = f"; {len(self._done)} of {self._count} are published" if self._done else ""
        try:
            return send_patiently(lambda: self._client.publish_faq(**fields))
        except KeyboardInterrupt:
            message = f"{file}: interrupted; it may have been published{retry}{so_far}"
            raise interrupted(message) from None
        except OutcomeUnknown as error:
            raise failure(f"{file}: {error}{retry}{so_far}") from error
        except PublishRejected:
            raise
        except FAQNotFound as error:
            raise Refused(gone(publication.slug) if error.status == 410 else str(error)) from error
        except FAQError as error:
            message = publication.document.locate(str(error))
            if isinstance(error, AuthenticationError) and error.code == "not-your-site":
                raise Refused(message) from error
            raise failure(f"{file}: {message}{so_far}") from error


def line_of(published: "wire.Publication") -> str:
    """Return the line that is printed for a publication."""
    state = f"  (draft {published.revision})" if published.state == "draft" else ""
    return f"{f'{published.slug}  {published.faq_url}'.rstrip()}  {published.template}{state}"


def fields_of(published: "wire.Publication") -> dict[str, Any]:
    """Return the JSON object that is printed for a publication."""
    return {
        "slug": published.slug,
        "faqUrl": published.faq_url,
        "lang": published.lang,
        "revision": published.revision,
        "state": published.state,
        "etag": published.etag,
        "template": published.template,
    }
