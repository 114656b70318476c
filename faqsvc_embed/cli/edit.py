"""`faqsvc edit`: change an FAQ in an editor, or one answer."""

import os
import shlex
import tempfile
from dataclasses import replace
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

import click
import msgspec
from msgspec.structs import astuple

from faqsvc_embed.api.changes import closest, finder
from faqsvc_embed.cli.errors import failure, if_interrupted
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import note, print_result
from faqsvc_embed.cli.publications import Publication
from faqsvc_embed.cli.publish_run import fields_of, line_of, publication_of
from faqsvc_embed.errors import FAQError, RevisionConflict, quoted
from faqsvc_embed.models import ANSWER_FORMATS, FAQ, Item

if TYPE_CHECKING:
    from faqsvc_embed.client import FAQClient, StoredRevision
    from faqsvc_embed.models import wire


@click.command()
@click.argument("slug")
@lang_option
@click.option("--question", metavar="TEXT", help="Change only this question, named by its text or id.")
@click.option("--answer", metavar="TEXT", help="Its new answer. Default: edit the old one in an editor.")
@click.option("--add", is_flag=True, help="Add the question.")
@click.option("--new-question", "newQuestion", metavar="TEXT", help="Its new text.")
@click.option("--section", metavar="TEXT", help="Put it at the end of this section.")
@click.option("--after", metavar="TEXT", help="Put it after this question; '' is the beginning.")
@click.option("--id", metavar="ID", help="Its new id.")
@click.option("--remove", is_flag=True, help="Remove it.")
@click.option("--title", metavar="TEXT", help="The new title of the FAQ.")
@click.option("--introduction", metavar="TEXT", help="The new introduction; '' removes it.")
@click.option("--answer-format", type=click.Choice(ANSWER_FORMATS), help="The format of all answers.")
@click.option("--draft", is_flag=True, help="Store a draft instead of publishing.")
@json_option
@base_url_option
def edit(slug: str, lang: str | None, draft: bool, as_json: bool, base_url: str | None, **given: Any) -> None:
    """Open the FAQ SLUG in an editor, and publish the saved text.

    The editor opens the newest revision, which may be a draft, as Markdown. If somebody else changes the FAQ
    in the meantime, nothing is published, and your text is kept in a file. If you change the line `lang`, you
    create a translation. VISUAL or EDITOR sets the editor. The API key is read from FAQSVC_API_KEY.

    With --question, only that question is changed; with --title, --introduction or --answer-format, only
    that. The spelling of a question does not matter. An unpublished FAQ needs --draft; so does an FAQ that
    has a draft, unless the whole text is edited.

    \b
      faqsvc edit pricing
      faqsvc edit pricing --lang de --draft
      faqsvc edit pricing --question "How much is a poster?" --answer "Six euros."
      faqsvc edit pricing --title Prices

    Exit status: 0 if the FAQ is published or was not changed, 1 if not.
    """
    values = {name: value for name, value in given.items() if value not in (None, False)}
    fields = {name: values.pop(name) for name in ("title", "introduction", "answer_format") if name in values}
    if values and "question" not in values:
        raise click.UsageError(f"--{next(iter(values)).replace('newQ', 'new-q')} needs --question")
    with open_client(base_url) as client:
        newest = client.newest_revision(slug, lang=lang)
        is_part = bool(values or fields)
        if not draft:
            _check_public(client, newest, is_part=is_part)
        old_answer = _answer_to(newest, values) if values else ""
        asks_for_answer = "answer" not in values and ("add" in values or values.keys() == {"question"})
        if is_part and not asks_for_answer:
            published = _change(client, newest, values, draft=draft, **fields)
        else:
            path = _write(old_answer if values else _markdown(newest))
            try:
                with if_interrupted("nothing was published"):
                    is_changed = _edit(path)
                if not is_changed:
                    published = publication_of(client, slug, newest.faq.lang, newest, newest.state)
                elif values:
                    values["answer"] = path.read_text(encoding="utf-8").rstrip("\n")
                    published = _change(client, newest, values, draft=draft, **fields)
                else:
                    published = _publish(client, path, newest, is_draft=draft)
            except (FAQError, click.ClickException) as error:
                kept = f": your text is in {path}" if path.exists() else ""
                raise failure(f"{error}{kept}") from error
            path.unlink(missing_ok=True)
    is_unchanged = published.etag == newest.etag
    if is_unchanged:
        note(f"{slug} was not changed")
    if as_json or not is_unchanged:
        print_result(as_json, {**fields_of(published), "unchanged": is_unchanged}, line_of(published))


def _check_public(client: "FAQClient", newest: "StoredRevision", *, is_part: bool) -> None:
    """Raise a failure if a change would also publish something that is not public.

    A draft that the editor opens is published with the change; a note says so.
    """
    slug, number = newest.faq.slug, newest.revision
    if newest.state == "superseded" or (newest.state == "draft" and _is_unpublished(client, newest)):
        message = f"{quoted(slug)} was unpublished: `faqsvc restore {shlex.quote(slug)}` publishes it again"
        raise failure(f"{message}; with --draft, the change becomes a draft")
    if newest.state == "draft" and is_part:
        message = f"revision {number} is a draft, which would be published with the change"
        raise failure(
            f"{message}: use --draft, or publish it with `faqsvc revert {shlex.quote(slug)} {number}`"
        )
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


def _answer_to(newest: "StoredRevision", values: dict[str, Any]) -> str:
    """Return the answer to the question that is named or added; raises a failure if it is unknown."""
    if values.get("add"):
        return ""
    name, items = values["question"], [Item(*astuple(item)) for item in newest.faq.items]
    found = finder(items)(name, None)
    if found is None:
        similar = ", ".join(map(quoted, closest(name, [item.question for item in items])))
        shown = f", or name an existing one, such as {similar}" if similar else ""
        raise failure(f"there is no question {quoted(name)}: use --add to add it{shown}")
    return found.answer


def _change(
    client: "FAQClient", newest: "StoredRevision", change: dict[str, Any], **fields: Any
) -> "wire.Publication":
    """Publish the change of one question or field, unless there is a newer revision than the one read."""
    changes, etag = [change] if change else [], newest.etag or "*"
    with if_interrupted("it may have been published"):
        return client.change_faq(newest.faq.slug, changes, if_match=etag, lang=newest.faq.lang, **fields)


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


def _publish(
    client: "FAQClient", path: Path, newest: "StoredRevision", *, is_draft: bool
) -> "wire.Publication":
    """Publish the edited file, unless there is a newer revision than the one it was made from."""
    from faqsvc_embed.files import read_file

    document = read_file(path)
    slug, lang = newest.faq.slug, newest.faq.lang
    if document.slug != slug:
        message = f"the text has the slug {quoted(document.slug)}: change it back to {quoted(slug)}"
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
        with if_interrupted("it may have been published"):
            return client.publish_faq(**fields)
    except RevisionConflict as error:
        if document.lang == lang or not error.revision:
            raise
        message = f"lang is {quoted(document.lang)}, and {quoted(slug)} already has this translation"
        raise failure(f"{message}: use `faqsvc edit --lang {document.lang}` to change it") from error
