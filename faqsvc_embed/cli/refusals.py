"""Why the service refuses a file of `faqsvc publish`, and what to do."""

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from faqsvc_embed.cli.publications import Publication, with_option
from faqsvc_embed.errors import PublishRejected, RevisionConflict, quoted

if TYPE_CHECKING:
    from faqsvc_embed.api.contract import CurrentRevision


class Refused(Exception):
    """A file is not published. The message says why, and what to do."""


class Reason(NamedTuple):
    """Why a file is refused, with advice, and the warning if an option insists."""

    advice: str
    warning: str = ""


def reason_of(publication: Publication, error: PublishRejected) -> Reason:
    """Return why the service refused a file."""
    slug = str(publication.slug)
    if error.code == "unpublished":
        message = f"{quoted(slug)} was unpublished"
        return Reason(
            f"{message}: use --republish to publish it again", f"{message}; it becomes public again"
        )
    if error.code == "old-file" and isinstance(error, RevisionConflict) and error.current is not None:
        named = _named(error.current)
        advice = _advice(publication, slug, error.current)
        return Reason(f"the file lacks {named}: {advice}", f"overwrites {named}")
    if isinstance(error, RevisionConflict):
        reason = "somebody else changed the FAQ at the same time: publish the file again"
        if publication.document.lang is None:
            reason += ", with --lang if the service may detect another language"
        return Reason(reason)
    problems = [with_option(publication.document.locate(problem)) for problem in error.problems]
    return Reason("; ".join(problems) or publication.document.locate(str(error)))


def gone(slug: Any) -> str:
    """Return the reason for refusing a file whose FAQ was deleted."""
    return (
        f"{quoted(slug)} was deleted: `faqsvc restore {slug}` brings it back from the bin; "
        f"after a deletion for ever, an admin must first run `faqsvc restore {slug} --lift`"
    )


def _advice(publication: Publication, slug: str, current: "CurrentRevision") -> str:
    """Return what to do with an old file: pull the newer revision, unless that is a draft."""
    if current.has_draft:
        return "publish or discard that draft first, or use --overwrite"
    folder = Path(publication.file).parent
    pull = f"faqsvc pull {slug} --to {folder}"
    return f"get it with `{pull}`, which replaces the file, or use --overwrite"


def _named(current: "CurrentRevision") -> str:
    """Return how a message names the newest revision."""
    what = "a draft" if current.has_draft else "a change"
    by = f" by {current.key}" if current.key else ""
    return f"{what}{by} on {current.created_at:%Y-%m-%d %H:%M} UTC (revision {current.revision})"
