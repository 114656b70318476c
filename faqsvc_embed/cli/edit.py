"""`faqsvc edit`: change an FAQ in an editor, or one answer."""

import shlex
import tempfile
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import click

from faqsvc_embed.api.changes import closest, finder
from faqsvc_embed.api.contract import Change
from faqsvc_embed.api.publish_response import revert_command
from faqsvc_embed.cli.errors import failure, if_interrupted
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import note, print_result
from faqsvc_embed.cli.publish_run import fields_of, line_of, publication_of
from faqsvc_embed.cli.uploads import Upload
from faqsvc_embed.client import FAQClient, StoredRevision
from faqsvc_embed.errors import FAQError, RevisionConflict, quoted
from faqsvc_embed.models import wire


@click.command()
@click.argument("slug")
@lang_option
@click.option(
    "--question", metavar="TEXT", help="Change only the answer to this question; TEXT may be its id."
)
@click.option("--answer", metavar="TEXT", help="The new answer. Default: edit the old one in the editor.")
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

    With --question, only the answer to this question is changed; case and punctuation do not matter. If the
    FAQ was unpublished, use --draft. With --question, also use it if the FAQ has a draft.

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
            _check_public(client, newest, is_part=question is not None)
        if question is None:
            published = _edit_and_send(_markdown(newest), partial(_publish, client, newest, draft=draft))
        else:
            old = _answer_to(newest, question)
            change = partial(_change, client, newest, question, draft=draft)
            if answer is None:
                published = _edit_and_send(old, lambda path: change(_text_of(path)))
            else:
                published = change(answer)
        is_unchanged = published is None or published.etag == newest.etag
        published = published or publication_of(client, slug, newest.faq.lang, newest, newest.state)
    if is_unchanged:
        note(f"{slug} was not changed")
    if as_json or not is_unchanged:
        print_result(as_json, {**fields_of(published), "unchanged": is_unchanged}, line_of(published))


def _check_public(client: FAQClient, newest: StoredRevision, *, is_part: bool) -> None:
    """Raise a failure if a change would also publish something that is not public.

    A draft that the editor opens is published with the change; a note says so.
    """
    slug, number = newest.faq.slug, newest.revision
    if newest.state == "superseded" or (newest.state == "draft" and _is_unpublished(client, newest)):
        message = f"{quoted(slug)} was unpublished: `faqsvc restore {shlex.quote(slug)}` publishes it again"
        raise failure(f"{message}; with --draft, the change becomes a draft")
    if newest.state == "draft" and is_part:
        message = f"revision {number} is a draft, which would be published with the change"
        command = revert_command(slug, number, newest.faq.lang)
        raise failure(f"{message}: use --draft, or publish it with `{command}`")
    if newest.state == "draft":
        by = f" by {newest.key}" if newest.key else ""
        message = f"revision {number} is a draft{by}, and is published with your change"
        note(f"Note: {message}; use --draft to keep it a draft")


def _is_unpublished(client: FAQClient, newest: StoredRevision) -> bool:
    """Return whether the translation of a draft, or its FAQ, was unpublished."""
    slug, lang = newest.faq.slug, newest.faq.lang
    found = [faq for faq in client.list_faqs(text=slug) if faq.slug == slug]
    states = [one.state for faq in found for one in faq.translations if one.lang == lang]
    return "unpublished" in (*states, *(faq.state for faq in found))


def _edit_and_send(text: str, send: Callable[[Path], wire.Publication]) -> wire.Publication | None:
    """Open a text in the editor, and send the saved file; return None if the editor did not change it.

    If something fails, the file with the changed text stays, and the error names it.
    """
    handle, name = tempfile.mkstemp(".md", "faqsvc-")  # only this user can read it
    path, before = Path(name), text.encode()
    with open(handle, "wb") as file:
        file.write(before)
    try:
        with if_interrupted("nothing was published"):
            _open_editor(path)
        sent = send(path) if _is_changed(path, before) else None
    except (FAQError, click.ClickException, ValueError) as error:
        if _is_changed(path, before):
            raise failure(f"{error}; your text is in {path}") from error
        path.unlink(missing_ok=True)
        raise
    path.unlink(missing_ok=True)
    if sent is None:
        note("the editor saved nothing; one that opens a window must wait, as `code --wait` does")
    return sent


def _open_editor(path: Path) -> None:
    try:
        click.edit(filename=str(path))
    except (click.ClickException, ValueError) as error:  # shlex raises ValueError
        raise failure(f"{error}; set VISUAL or EDITOR to a command such as 'code --wait'") from error


def _is_changed(path: Path, before: bytes) -> bool:
    return path.exists() and path.read_bytes() != before


def _text_of(path: Path) -> str:
    from faqsvc_embed.files.formats import decode

    return decode(path.read_bytes()).rstrip("\n")


def _answer_to(newest: StoredRevision, question: str) -> str:
    """Return the answer to a question, named by its text or id; raises a failure if it is unknown."""
    items = newest.record.items
    found = finder(items)(Change(question=question))
    if found is None:
        similar = ", ".join(map(quoted, closest(question, [item.question for item in items])))
        raise failure(
            f"there is no question {quoted(question)}{f'; similar are {similar}' if similar else ''}"
        )
    return found.answer


def _change(
    client: FAQClient, newest: StoredRevision, question: str, answer: str, *, draft: bool
) -> wire.Publication:
    """Publish a new answer, unless somebody has written a newer revision meanwhile."""
    slug, lang, etag = newest.faq.slug, newest.faq.lang, newest.etag or "*"
    change = {"question": question, "answer": answer}
    with if_interrupted("it may have been published"):
        return client.change_faq(slug, [change], if_match=etag, lang=lang, draft=draft)


def _markdown(newest: StoredRevision) -> str:
    """Return a revision as a file."""
    from faqsvc_embed.files import WRITERS, Document

    # The service keeps the call to action of the FAQ.
    return WRITERS[".md"](replace(Document.from_faq(newest.record), cta=None))


def _publish(client: FAQClient, newest: StoredRevision, path: Path, *, draft: bool) -> wire.Publication:
    """Publish the edited file, unless there is a newer revision than the one it was made from."""
    from faqsvc_embed.cli.checks import messages_in
    from faqsvc_embed.files import read_file
    from faqsvc_embed.files.folder import FAQFile

    document = read_file(path)
    slug, lang = newest.faq.slug, newest.faq.lang
    if document.slug != slug:
        stated = "no slug" if document.slug is None else f"the slug {quoted(document.slug)}"
        message = f"the text has {stated}: change it back to {quoted(slug)}"
        raise failure(f"{message}, or use `faqsvc publish` for another FAQ")
    document = replace(document, lang=document.lang or lang, draft=draft or document.draft)
    upload = Upload(str(path), document)
    upload.body()
    fields = upload.document.publication()
    if document.lang == lang:
        fields["if_match"], fields["revision"] = newest.etag, newest.revision
    else:
        fields["if_none_match"] = "*"
    try:
        with if_interrupted("it may have been published"):
            published = client.publish_faq(**fields)
    except RevisionConflict as error:
        if document.lang == lang or not error.revision:
            raise
        message = f"lang is {quoted(document.lang)}, and {quoted(slug)} already has this translation"
        raise failure(f"{message}: use `faqsvc edit --lang {document.lang}` to change it") from error
    for message in messages_in(FAQFile(path, slug, None, document, document.to_faq(slug))):
        note(f"Warning: {slug}: {message}")
    return published
