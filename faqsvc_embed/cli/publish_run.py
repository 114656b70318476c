"""The run of `faqsvc publish`: skips files that are unchanged, and reports those that the service refuses."""

import shlex
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import quote

import click
import msgspec

from faqsvc_embed.api.content import faq_digest
from faqsvc_embed.api.contract import CurrentRevision, TranslationSummary
from faqsvc_embed.api.publish_request import idempotency_key
from faqsvc_embed.cli.errors import failure, if_interrupted
from faqsvc_embed.cli.output import note, print_json, print_text
from faqsvc_embed.cli.uploads import Upload
from faqsvc_embed.client import FAQClient, StoredRevision
from faqsvc_embed.errors import (
    FAQError,
    FAQGone,
    FAQNotFound,
    FAQUnavailable,
    OutcomeUnknown,
    PublishRejected,
    RevisionConflict,
    quoted,
)
from faqsvc_embed.models import wire
from faqsvc_embed.text import normalized

T = TypeVar("T")

MAX_WAIT: Final = 120.0
"""Maximum seconds of one wait."""
MAX_WAITS: Final = 20
"""Maximum number of waits for one request."""
RETRY: Final = ": publish it again; this does not create a second FAQ"


class PublishRun:
    """One run over files. `overrides` are the codes of the refusals that options override."""

    def __init__(
        self,
        client: FAQClient,
        uploads: Sequence[Upload],
        *,
        overrides: Collection[str],
        as_json: bool,
    ) -> None:
        self._client = client
        self._uploads = uploads
        self._overrides = overrides
        self._as_json = as_json
        self._done = list[dict[str, Any]]()
        self._refused = list[str]()
        has_slugs = any(upload.slug is not None for upload in uploads)
        listed = send_patiently(client.list_faqs) if has_slugs else ()
        self._before = {normalized("NFC", faq.slug): faq.translations for faq in listed}
        """The translations of each FAQ of the site, as they were before the run."""

    def publish(self) -> None:
        """Publish the files, and print what was published.

        Raises:
            Exit: a file was refused; its reason is on standard error.
            ClickException: the run ended early, for example because the service does not respond.
        """
        try:
            for upload in self._uploads:
                try:
                    with if_interrupted(f"{upload.file} may have been published{RETRY}{self._so_far()}"):
                        self._publish_file(upload)
                except FAQError as error:
                    reason = f"{upload.file}: {reason_of(upload, error)}"
                    if not isinstance(error, PublishRejected | FAQNotFound) and error.code != "not-your-site":
                        raise failure(f"{reason}{self._so_far()}") from error
                    self._refused.append(reason)
        except BrokenPipeError:
            raise failure(f"standard output was closed{self._so_far()}") from None
        finally:
            if self._as_json and self._done:
                print_json(self._done)
            for reason in self._refused:
                failure(reason).show()
        if self._refused:
            raise click.exceptions.Exit(1)

    def published_without_file(self) -> list[str]:
        """Return the slugs that were published before the run and are in none of the files."""
        own = {upload.listed_slug for upload in self._uploads}
        listed = ((slug, {one.state for one in translations}) for slug, translations in self._before.items())
        return [slug for slug, states in listed if "published" in states and slug not in own]

    def _publish_file(self, upload: Upload) -> None:
        """Publish one file, unless it is unchanged, and print the result."""
        published = self._unchanged(upload)
        is_unchanged = published is not None
        if published is None:
            published = self._send(upload)
            before, number = self._newest(upload, published.lang), published.revision
            if before is not None and number is not None:
                # The number of the newest revision is also returned if a draft becomes public.
                is_same = number == before.revision and _is_current(upload, before)
                is_unchanged = number < before.revision or is_same
        if not is_unchanged:
            upload.state_revision(published.revision)
        self._done.append({**fields_of(published), "unchanged": is_unchanged, "file": upload.file})
        if not self._as_json:
            line = line_of(published) + ("  (unchanged)" if is_unchanged else "")
            print_text(f"{line}  {upload.file}" if len(self._uploads) > 1 else line)

    def _newest(self, upload: Upload, lang: str | None) -> TranslationSummary | None:
        """Return the newest revision before the run, by default in the default language of the FAQ."""
        translations = self._before.get(upload.listed_slug, [])
        return next((one for one in translations if lang in (None, one.lang)), None)

    def _unchanged(self, upload: Upload) -> wire.Publication | None:
        """Return the published revision if the list proves that it has the content of a file."""
        document = upload.document
        is_complete = document.website_url and document.website_name and document.title
        listed = self._newest(upload, document.lang) if is_complete else None  # the service adds nothing
        if listed is None or not _is_current(upload, listed):
            return None
        slug = upload.listed_slug
        is_same = f'"{faq_digest(document.to_faq(document.slug), slug, listed.lang)}"' == listed.etag
        state = "draft" if listed.has_draft else "published"
        return publication_of(self._client, slug, listed.lang, listed, state) if is_same else None

    def _send(self, upload: Upload) -> wire.Publication:
        """Publish one file, and override the refusals that options override."""
        fields, overrides, warnings = upload.document.publication(), {*self._overrides}, list[str]()
        if upload.slug is None:
            fields["idempotency_key"] = idempotency_key(**fields)
        while True:
            try:
                published = send_patiently(lambda: self._client.publish_faq(**fields))
                break
            except PublishRejected as error:
                if error.code not in overrides:
                    raise
                overrides.remove(error.code)  # only once
                if error.code == "unpublished":
                    fields["republish"] = True
                    warnings.append(f"{quoted(str(upload.slug))} was unpublished; it becomes public again")
                elif isinstance(error, RevisionConflict) and error.current is not None:
                    fields["overwrite"], fields["if_match"] = True, error.current.etag
                    warnings.append(f"overwrites {_name_of(error.current)}")
        if published.state == "superseded":  # the response to an earlier run with the same key
            raise PublishRejected(
                f"it was published as {quoted(published.slug)} before, and this FAQ was changed or "
                "unpublished since: change the file, or publish it with --slug"
            )
        for warning in warnings:
            upload.warn(warning)
        return published

    def _so_far(self) -> str:
        return f"; {len(self._done)} of {len(self._uploads)} are published" if self._done else ""


def _is_current(upload: Upload, before: TranslationSummary) -> bool:
    """Return whether the newest revision has the state that the file asks for: a draft, or published."""
    return bool(upload.document.draft) if before.has_draft else before.state == "published"


def reason_of(upload: Upload, error: FAQError) -> str:
    """Return why a file is not published, and what to do."""
    slug = str(upload.slug)
    if error.code == "unpublished":
        return f"{quoted(slug)} was unpublished: use --republish to publish it again"
    if error.code == "old-file" and isinstance(error, RevisionConflict) and error.current is not None:
        pull = f"faqsvc pull {shlex.quote(slug)} --to {shlex.quote(str(Path(upload.file).parent))}"
        edited = "" if upload.document.revision is None else " if you edited it"
        advice = f"move the file away{edited}, then get the change with `{pull}`"
        if error.current.has_draft:  # `pull` reads what is published
            advice = "publish or discard that draft first"
        return f"the file lacks {_name_of(error.current)}: {advice}, or use --overwrite"
    if isinstance(error, RevisionConflict):
        reason = "somebody else changed the FAQ at the same time: publish the file again"
        is_detected = upload.document.lang is None
        return reason + ", with --lang if the service may detect another language" * is_detected
    if isinstance(error, FAQGone) and upload.slug is not None:
        command = f"faqsvc restore {shlex.quote(slug)}"
        return (
            f"{quoted(slug)} was deleted: `{command}` brings it back from the bin; if it was deleted for "
            f"ever, an admin must allow its slug at the desk, or an operator with `{command} --lift`"
        )
    if isinstance(error, OutcomeUnknown):
        return f"{error}{RETRY}"
    problems = error.problems if isinstance(error, PublishRejected) else ()
    return "; ".join(map(upload.located, problems or [str(error)]))


def _name_of(current: CurrentRevision) -> str:
    """Return the name of a change or draft for messages: its author, time and number."""
    by = f" by {current.key}" if current.key else ""
    at = f"on {current.created_at:%Y-%m-%d %H:%M} UTC (revision {current.revision})"
    return f"a {'draft' if current.has_draft else 'change'}{by} {at}"


def send_patiently(request: Callable[[], T]) -> T:
    """Send a request, and retry it after the wait the service asks for. Print each wait on standard error.

    Raises:
        FAQUnavailable: the service asks for too long a wait, or for too many.
    """
    for _ in range(MAX_WAITS):
        try:
            return request()
        except FAQUnavailable as error:
            seconds = error.retry_after
            if error.status not in (429, 503) or seconds is None or seconds > MAX_WAIT:
                raise
            reason = "limits requests" if error.status == 429 else "is not available"
            note(f"Waiting {seconds:g} s: the service {reason} ({error.status})")
            time.sleep(seconds)
    return request()


def line_of(published: wire.Publication) -> str:
    """Return the line that is printed for a publication."""
    state = f"  (draft {published.revision})" if published.state == "draft" else ""
    return f"{f'{published.slug}  {published.faq_url}'.rstrip()}  {published.template}{state}"


def publication_of(
    client: FAQClient, slug: str, lang: str, known: TranslationSummary | StoredRevision, state: str
) -> wire.Publication:
    """Return an existing revision in the form in which a write returns it."""
    url = f"{client.settings.base_url}/faq/{quote(slug, safe='')}"
    return wire.Publication(
        slug=slug, faq_url=url, lang=lang, revision=known.revision, state=state, etag=known.etag
    )


def fields_of(published: wire.Publication) -> dict[str, Any]:
    """Return the JSON object that is printed for a publication."""
    names = ("slug", "faqUrl", "lang", "revision", "state", "etag")
    fields = msgspec.to_builtins(published)
    return {**{name: fields[name] for name in names}, "template": published.template}
