"""The commands that read, list, revert, unpublish, restore and preview the FAQs of a service."""

import json
import shlex
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import quote, urlsplit

import click
import msgspec

from faqsvc_embed.api.contract import PREVIEW_PARAMETER, State
from faqsvc_embed.api.publish_response import revert_command
from faqsvc_embed.api.requests import with_query
from faqsvc_embed.cli.errors import confirm, if_interrupted
from faqsvc_embed.cli.options import (
    base_url_option,
    database_option,
    format_option,
    json_option,
    lang_option,
    open_client,
    open_existing,
)
from faqsvc_embed.cli.output import note, print_data, print_result, print_text
from faqsvc_embed.cli.publish_run import fields_of, line_of
from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.text import LINE_END


@click.command()
@click.argument("slug")
@lang_option
@format_option(
    *("text", "json", "jsonld", "html", "markdown"),
    text="Output format; html is what a page shows, with its JSON-LD.",
)
@base_url_option
def get(slug: str, lang: str | None, form: str, base_url: str | None) -> None:
    """Print the FAQ SLUG.

    `faqsvc publish` reads the output of --format json and markdown, and writes a new revision of the same
    FAQ, unless somebody has changed the FAQ in the meantime.

    \b
      faqsvc get pricing --base-url https://faq.example.com
      faqsvc get pricing --lang ko --format json | jq -r '.items[].question'
      faqsvc get pricing --format markdown > pricing.md

    Exit status: 0; 1 if there is no such FAQ, or the service cannot be reached.
    """
    with open_client(base_url, api_key=None) as client:  # an invalid key must not stop a read
        published = client.get_published(slug, lang=lang)
    text = _written(published.faq, published.revision, form)
    if not text:
        raise click.ClickException(f"the FAQ {slug!r} has no question with an answer")
    print_ = print_text if form == "text" else print_data
    print_(text.rstrip("\n"))


def items_to_text(items: Iterable[Item], title: str = "") -> str:
    """Return questions followed by their answers, indented."""
    lines = [title, ""] if title else []
    for item in items:
        answer = LINE_END.sub("\n", item.answer).strip().split("\n")
        lines += [_one_line(item.question), *(f"    {line}".rstrip() for line in answer), ""]
    return "\n".join(lines)


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _written(faq: FAQ, revision: int | None, form: str) -> str:
    """Return an FAQ in a format."""
    if form == "json":
        stated = {} if revision is None else {"revision": revision}
        return json.dumps({**faq.to_dict(), **stated}, ensure_ascii=False, separators=(",", ":"))
    if form == "jsonld":
        from faqsvc_embed.rendering.json_ld import to_json_ld_string

        return to_json_ld_string(faq)
    if form == "html":
        from faqsvc_embed.embed import FAQEmbed

        # Rendering a record sends no request, so the address does not matter.
        return str(FAQEmbed("https://faq.invalid", strict=True, directory=None).render(faq))
    if form == "markdown":
        from faqsvc_embed.files import WRITERS, Document

        return WRITERS[".md"](Document.from_faq(faq, revision))
    head = [_one_line(faq.title) or _one_line(faq.website_name), faq.introduction]
    return items_to_text(faq.items, "\n\n".join(filter(None, head)))


@click.command("list")
@click.argument("text", required=False)
@click.option(
    "--state",
    type=click.Choice(["draft", "published", "unpublished", "binned"]),
    help="Only FAQs in this state.",
)
@lang_option
@json_option
@base_url_option
def list_(
    text: str | None, state: State | None, lang: str | None, as_json: bool, base_url: str | None
) -> None:
    """Print the FAQs of your site, the last changed first.

    With TEXT, only those that contain it. A line has the slug, the state, the newest revision, the languages,
    the time of the last change in UTC, and the title. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc list
      faqsvc list shipping --lang de
      faqsvc list --state draft --json | jq -r '.[].slug'

    Exit status: 0, even if there is no FAQ; 1 if the list cannot be read.
    """
    with open_client(base_url) as client:
        faqs = client.list_faqs(text=text, state=state, lang=lang)
    rows = (
        (
            faq.slug,
            faq.state,
            f"r{faq.revision}",
            ",".join(faq.languages),
            f"{faq.updated_at:%Y-%m-%d %H:%M}",
            faq.title,
        )
        for faq in faqs
    )
    print_result(as_json, msgspec.to_builtins(faqs), rows)


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
        note(f"{message}: `{revert_command(slug, newest.revision, lang)}` publishes it")
    print_result(as_json, fields_of(published), line_of(published))


@click.command()
@click.argument("slug")
@lang_option
@click.option("--purge", is_flag=True, help="Also move it to the bin, for 30 days.")
@click.option(
    "--now", is_flag=True, help="With --purge: delete all texts at once and for ever, as the law may require."
)
@click.option("--yes", is_flag=True, help="Do not ask before --purge.")
@json_option
@base_url_option
def delete(
    slug: str, lang: str | None, purge: bool, now: bool, yes: bool, as_json: bool, base_url: str | None
) -> None:
    """Unpublish the FAQ SLUG, or its translation into --lang. `faqsvc unpublish` is the same.

    Websites stop showing it within seconds or, without the change feed, when their record expires. The
    history is kept, and `faqsvc restore SLUG` publishes the FAQ again, even from the bin. --purge --now
    deletes all texts, and nobody can use the slug until `faqsvc restore SLUG --lift` allows it. The API key
    is read from FAQSVC_API_KEY.

    \b
      faqsvc delete pricing --lang de
      faqsvc delete pricing --purge --yes
      faqsvc delete pricing --purge --now

    Exit status: 0 if the FAQ is unpublished, 1 if not.
    """
    what = slug if lang is None else f"{slug} ({lang})"
    if now and not purge:
        raise click.UsageError("--now needs --purge")
    if purge and not yes:
        question = f"Delete {what} and its history for ever?" if now else f"Move {what} to the bin?"
        confirm(question)
    with open_client(base_url) as client, if_interrupted(f"{what} may have been unpublished"):
        client.unpublish_faq(slug, lang=lang, purge="now" if now else purge)
    state = "purged" if now else "binned" if purge else "unpublished"
    text = {"binned": "in the bin", "purged": "deleted for ever"}.get(state, state)
    print_result(as_json, {"slug": slug, "lang": lang, "state": state}, f"{what}  {text}")


@click.command()
@click.argument("slug")
@click.option(
    "--lift", is_flag=True, help="Allow the slug of an FAQ that was deleted for ever to be used again."
)
@database_option
@json_option
@base_url_option
def restore(slug: str, lift: bool, database: str, as_json: bool, base_url: str | None) -> None:
    """Undo the last deletion or unpublishing of the FAQ SLUG.

    It comes back with its history, in every language that was public. The API key is read from
    FAQSVC_API_KEY.

    An FAQ that was deleted for ever, with --purge --now or after 30 days in the bin, cannot come back, and
    nobody can use its slug. With --lift, its site can use it again; this needs the database, but no key.

    \b
      faqsvc delete pricing
      faqsvc restore pricing

    Exit status: 0 if the FAQ is back, 1 if not.
    """
    if lift:
        open_existing(database).removal.unblock(slug)
        note(f"{slug} can be published again")
        return
    with open_client(base_url) as client, if_interrupted(f"{slug} may have been restored"):
        restored = client.restore_faq(slug)
    print_result(as_json, msgspec.to_builtins(restored), f"{restored.slug}  {restored.state}")


def _page(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    with suppress(ValueError):
        if value is None or (urlsplit(value).scheme in ("http", "https") and urlsplit(value).hostname):
            return value
    raise click.BadParameter(f"{value!r} is not an address such as https://heron.example/prices")


@click.command()
@click.argument("slug")
@click.option(
    "--page",
    metavar="URL",
    callback=_page,
    help="A page of yours that shows SLUG. Default: the FAQ's page at the service.",
)
@lang_option
@json_option
@base_url_option
def preview(slug: str, page: str | None, lang: str | None, as_json: bool, base_url: str | None) -> None:
    """Print an address that shows the newest revision of the FAQ SLUG, which may be a draft.

    The address works for an hour, for everyone who has it. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc preview pricing --page https://heron.example/prices

    Exit status: 0; 1 if there is no such FAQ.
    """
    with open_client(base_url) as client:
        made = client.preview_faq(slug, lang=lang)
        url = page or f"{client.settings.base_url}/faq/{quote(slug, safe='')}"
    address = with_query(url, **{PREVIEW_PARAMETER: made.token, "lang": lang if page is None else None})
    data = {"slug": slug, "url": address, "token": made.token, "expiresAt": made.expires_at.isoformat()}
    print_result(as_json, data, address)
