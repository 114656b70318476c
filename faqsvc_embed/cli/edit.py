"""`faqsvc edit`: change an FAQ in an editor, or one answer."""

import os
import tempfile
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

import click
import msgspec

from faqsvc_embed.cli.errors import failure, interrupted
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import note, print_json, print_text
from faqsvc_embed.cli.publications import Publication
from faqsvc_embed.cli.publish_run import fields_of, line_of
from faqsvc_embed.errors import FAQError, RevisionConflict, quoted
from faqsvc_embed.models import FAQ

if TYPE_CHECKING:
    from faqsvc_embed import wire
    from faqsvc_embed.client import FAQClient, StoredRevision


@click.command()
@click.argument("slug")
@lang_option
@click.option("--question", metavar="TEXT", help="Change only the answer to this question.")
@click.option("--answer", metavar="TEXT", help="The new answer. Default: edit the old one in an editor.")
@click.option("--draft", is_flag=True, help="Store a draft instead of publishing.")
@json_option
@base_url_option
def edit(
    slug: str,
    lang: str | None,
    question: str | None,
    answer: str | None,
    draft: bool,
    as_json: bool,
    base_url: str | None,
) -> None:
    """Open the FAQ SLUG in an editor, and publish the saved text.

    The editor opens the newest revision, which may be a draft, as Markdown. If somebody else changes the FAQ
    in the meantime, nothing is published, and your text is kept in a file. If you change the line `lang`, you
    create a translation. VISUAL or EDITOR sets the editor. The API key is read from FAQSVC_API_KEY.

    With --question, only the answer to that question is changed; a question that is not there is added. An
    unpublished FAQ, or one answer of an FAQ that has a draft, can only be changed with --draft.

    \b
      faqsvc edit pricing
      faqsvc edit pricing --lang de --draft
      faqsvc edit pricing --question "How much is a poster?" --answer "Six euros."

    Exit status: 0 if the FAQ is published or was not changed, 1 if not.
    """
    if answer is not None and question is None:
        raise click.UsageError("--answer needs --question")
    with open_client(base_url) as client:
        newest = client.newest_revision(slug, lang=lang)
        if not draft:
            _check_public(client, newest, is_one_answer=question is not None)
        text = _markdown(newest) if question is None else _answer_to(newest, question)
        path = _write(text if answer is None else answer)
        try:
            if not (_edit(path) if answer is None else answer != text):
                note(f"{slug} was not changed")
                path.unlink(missing_ok=True)
                return
            if question is None:
                published = _publish(client, path, newest, is_draft=draft)
            else:
                published = _change(client, path, newest, question, is_draft=draft)
        except KeyboardInterrupt:
            raise interrupted(f"interrupted; nothing was published{_kept(path)}") from None
        except (FAQError, click.ClickException) as error:
            raise failure(f"{_message(error)}{_kept(path)}") from error
    path.unlink()
    if question is not None and all(item.question != question for item in newest.faq.items):
        note(f"Note: {slug} had no question {quoted(question)}, so it was added")
    if as_json:
        print_json(fields_of(published))
    else:
        print_text(line_of(published))


def _check_public(client: "FAQClient", newest: "StoredRevision", *, is_one_answer: bool) -> None:
    """Raise a failure if a change would also publish something that is not public.

    A draft that the editor opens is published with the change; a note says so.
    """
    slug, number = newest.faq.slug, newest.revision
    if newest.state == "superseded" or (newest.state == "draft" and _is_unpublished(client, newest)):
        message = f"{quoted(slug)} was unpublished: `faqsvc restore {slug}` publishes it again"
        raise failure(f"{message}; with --draft, the change becomes a draft")
    if newest.state == "draft" and is_one_answer:
        message = f"revision {number} is a draft, which would be published with the answer"
        raise failure(f"{message}: use --draft, or publish it with `faqsvc revert {slug} {number}`")
    if newest.state == "draft":
        by = f" by {newest.key}" if newest.key else ""
        message = f"revision {number} is a draft{by}, and is published with your change"
        note(f"Note: {message}; use --draft to keep it a draft")


def _is_unpublished(client: "FAQClient", newest: "StoredRevision") -> bool:
    """Return whether the translation of a draft, or its FAQ, was unpublished."""
    slug, lang = newest.faq.slug, newest.faq.lang
    found = [faq for faq in client.list_faqs(text=slug) if faq.slug == slug]
    states = [one.state for faq in found for one in faq.translations if one.lang == lang]
    return "unpublished" in (*states, *(faq.state for faq in found))


def _write(text: str) -> Path:
    """Write a text to a file that only this user can read, and return its path."""
    from faqsvc_embed.cli.atomic import write_atomically

    path = Path(tempfile.gettempdir()) / f"faqsvc-{token_hex(8)}.md"
    write_atomically({path: text})
    return path


def _answer_to(newest: "StoredRevision", question: str) -> str:
    """Return the answer to a question, or an empty text if there is no such question."""
    return next((item.answer for item in newest.faq.items if item.question == question), "")


def _change(
    client: "FAQClient", path: Path, newest: "StoredRevision", question: str, *, is_draft: bool
) -> "wire.Publication":
    """Publish the answer in a file, unless there is a newer revision than the one that was read."""
    answer = path.read_text(encoding="utf-8").rstrip("\n")
    try:
        return client.change_faq(
            newest.faq.slug,
            [{"question": question, "answer": answer}],
            if_match=newest.etag or "*",
            lang=newest.faq.lang,
            draft=is_draft,
        )
    except KeyboardInterrupt:
        raise interrupted("interrupted; it may have been published") from None


def _markdown(newest: "StoredRevision") -> str:
    """Return a revision as a file."""
    from faqsvc_embed.files import WRITERS, Document

    document = Document.from_faq(FAQ.from_dict(msgspec.to_builtins(newest.faq)))
    # The service keeps the call to action of the FAQ.
    return WRITERS[".md"](replace(document, website_url=newest.website_url, cta=None))


def _edit(path: Path) -> bool:
    """Open a file in the editor, and return whether it was changed; otherwise it is deleted."""
    before = path.read_bytes()
    try:
        click.edit(filename=str(path))
    except ValueError as error:  # of shlex
        name = "VISUAL" if os.environ.get("VISUAL") else "EDITOR"
        message = f"{name} is {quoted(os.environ[name])}, which is not a command: {error}"
        raise failure(f"{message}; set it to one such as 'code --wait'") from error
    except click.ClickException as error:
        if not isinstance(error.__cause__, OSError):  # the editor has ended with an error
            raise
        command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "an editor"
        message = f"cannot run {command}: {error.__cause__.strerror}"
        raise failure(f"{message}; set VISUAL or EDITOR to a command such as 'code --wait'") from error
    finally:
        if path.read_bytes() == before:
            path.unlink()
    return path.exists()


def _kept(path: Path) -> str:
    return f": your text is in {path}" if path.exists() else ""


def _publish(
    client: "FAQClient", path: Path, newest: "StoredRevision", *, is_draft: bool
) -> "wire.Publication":
    """Publish the edited file, unless there is a newer revision than the one it was made from."""
    from faqsvc_embed.files import read_file

    document = read_file(path)
    slug, lang = newest.faq.slug, newest.faq.lang
    if document.slug != slug:
        message = f"slug is {quoted(document.slug)}, not {quoted(slug)}: state {quoted(slug)} again"
        raise failure(f"{message}, or use `faqsvc publish` for another FAQ")
    document = replace(document, lang=document.lang or lang, draft=is_draft or document.draft)
    publication = Publication(str(path), document)
    publication.body()
    fields = publication.fields()
    if document.lang == lang:
        fields["if_match"] = newest.etag
    else:
        fields["if_none_match"] = "*"
    try:
        return client.publish_faq(**fields)
    except KeyboardInterrupt:
        raise interrupted("interrupted; it may have been published") from None
    except RevisionConflict as error:
        if document.lang == lang or not error.revision:
            raise
        message = f"lang is {quoted(document.lang)}, and {quoted(slug)} already has this translation"
        raise failure(f"{message}: use `faqsvc edit --lang {document.lang}` to change it") from error


def _message(error: Exception) -> str:
    if isinstance(error, RevisionConflict):
        number = f" (revision {error.revision})" if error.revision else ""
        return f"somebody else changed the FAQ in the meantime{number}; nothing was published"
    return error.message if isinstance(error, click.ClickException) else str(error)
