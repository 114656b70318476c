"""`faqsvc history` and `faqsvc revert`: the revisions of an FAQ."""

import shlex

import click
import msgspec

from faqsvc_embed.cli.errors import if_interrupted
from faqsvc_embed.cli.options import base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import note, print_result
from faqsvc_embed.cli.publish_run import fields_of, line_of


@click.command()
@click.argument("slug")
@lang_option
@json_option
@base_url_option
def history(slug: str, lang: str | None, as_json: bool, base_url: str | None) -> None:
    """Print the revisions of the FAQ SLUG, newest first.

    A line has the number, the state, the time in UTC, and the person or the API key that wrote the revision.
    A discarded draft stays in the history. Without --lang, the revisions are those of the default language.
    The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc history pricing
      faqsvc history pricing --lang de --json

    Exit status: 0; 1 if there is no such FAQ, or its history cannot be read.
    """
    with open_client(base_url) as client:
        revisions = client.revisions(slug, lang=lang)
    rows = (
        (
            str(one.revision),
            "discarded" if one.discarded else one.state,
            f"{one.created_at:%Y-%m-%d %H:%M}",
            one.key or "",
        )
        for one in revisions
    )
    print_result(as_json, msgspec.to_builtins(revisions), rows)


@click.command()
@click.argument("slug")
@click.argument("number", metavar="N", type=click.IntRange(1), required=False)
@lang_option
@json_option
@base_url_option
def revert(slug: str, number: int | None, lang: str | None, as_json: bool, base_url: str | None) -> None:
    """Publish revision N of the FAQ SLUG: an earlier one or a draft.

    An earlier revision is copied to a new one, so nothing is lost. An unpublished FAQ becomes public again in
    this language; `faqsvc restore` publishes it in all languages. A newer draft is replaced, but stays in the
    history: a note names it. `faqsvc history` prints the numbers. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc history pricing
      faqsvc revert pricing 3

    Exit status: 0 if the revision is published, 1 if not.
    """
    if number is None:
        raise click.UsageError(
            f"Missing argument 'N': `faqsvc history {shlex.quote(slug)}` prints the numbers."
        )
    with open_client(base_url) as client:
        newest = client.newest_revision(slug, lang=lang)
        with if_interrupted(f"revision {number} of {slug} may have been published"):
            published = client.publish_revision(slug, number, lang=lang)
    if newest.state == "draft" and newest.revision != published.revision:
        by = f" by {newest.key}" if newest.key else ""
        message = f"Note: the draft{by} (revision {newest.revision}) is replaced"
        command, language = f"faqsvc revert {shlex.quote(slug)}", f" --lang {lang}" if lang else ""
        note(f"{message}: `{command} {newest.revision}{language}` publishes it")
    print_result(as_json, fields_of(published), line_of(published))
