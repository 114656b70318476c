"""The run of `faqsvc publish`: compares all files with the service, and refuses those that are outdated."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.cli.comparison import Comparison, Refused, Step, gone
from faqsvc_embed.cli.errors import failure, interrupted
from faqsvc_embed.cli.output import print_json, print_text, progress
from faqsvc_embed.cli.publications import Publication
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
    from faqsvc_embed import models
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
        steps = self._compare(publications, overwrite=overwrite, republish=republish)
        try:
            with progress(steps, "Publishing") as watched:
                for step in watched:
                    self._take(step)
        finally:
            if self._as_json and self._done:
                print_json(self._done)
            for reason in self._refused:
                failure(reason).show()
        if self._refused:
            raise click.exceptions.Exit(1)

    def _compare(
        self, publications: Sequence[Publication], *, overwrite: bool, republish: bool
    ) -> list[Step]:
        """Compare all files with the service; return what to do with each that is not refused."""
        if all(publication.slug is None for publication in publications):
            return [Step(publication) for publication in publications]
        comparison = Comparison(self._client, overwrite=overwrite, republish=republish)
        steps = list[Step]()
        with progress(publications, "Checking") as watched:
            for publication in watched:
                try:
                    step = comparison.step(publication)
                    step.publication.body()
                    steps.append(step)
                except Refused as error:
                    self._refused.append(f"{publication.file}: {error}")
        return steps

    def _take(self, step: Step) -> None:
        """Publish one file, unless it is unchanged, and print the result."""
        file = step.publication.file
        try:
            published = step.unchanged or self._send(step)
        except Refused as error:
            self._refused.append(f"{file}: {error}")
            return
        is_unchanged = step.unchanged is not None
        if not is_unchanged:
            step.publication.state_revision(published.revision)
        self._done.append({**fields_of(published), "unchanged": is_unchanged, "file": file})
        if not self._as_json:
            line = line_of(published) + ("  (unchanged)" if is_unchanged else "")
            print_text(f"{line}  {file}" if self._count > 1 else line)

    def _send(self, step: Step) -> "models.Publication":
        """Publish one file; a failure says how to retry, and how many files are published.

        Raises:
            Refused: the service refuses this file; it may accept others.
        """
        publication = step.publication
        file, fields = publication.file, publication.fields()
        fields["if_match"] = step.if_match
        retry = ": publish it again; this does not create a second FAQ"
        if publication.slug is None:
            fields["idempotency_key"] = self._idempotency_key
            retry = f": retry with --idempotency-key {self._idempotency_key}"
        elif step.is_new:
            fields["if_none_match"] = "*"
        so_far = f"; {len(self._done)} of {self._count} are published" if self._done else ""
        try:
            return send_patiently(lambda: self._client.publish_faq(**fields))
        except KeyboardInterrupt:
            message = f"{file}: interrupted; it may have been published{retry}{so_far}"
            raise interrupted(message) from None
        except OutcomeUnknown as error:
            raise failure(f"{file}: {error}{retry}{so_far}") from error
        except RevisionConflict as error:
            reason = "somebody else changed the FAQ at the same time: publish the file again"
            if publication.document.lang is None:
                reason += ", with --lang if the service may detect another language"
            raise Refused(reason) from error
        except FAQNotFound as error:
            raise Refused(gone(publication.slug) if error.status == 410 else str(error)) from error
        except FAQError as error:
            message = publication.document.locate(str(error))
            if isinstance(error, PublishRejected) or (
                isinstance(error, AuthenticationError) and error.code == "not-your-site"
            ):
                raise Refused(message) from error
            raise failure(f"{file}: {message}{so_far}") from error


def line_of(published: "models.Publication") -> str:
    """Return the line that is printed for a publication."""
    state = f"  (draft {published.revision})" if published.state == "draft" else ""
    return f"{f'{published.slug}  {published.faq_url}'.rstrip()}  {published.template}{state}"


def fields_of(published: "models.Publication") -> dict[str, Any]:
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
