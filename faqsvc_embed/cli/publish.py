"""`faqsvc publish`: publish FAQs from files."""

from pathlib import Path

import click

from faqsvc_embed.api.publish_request import summary
from faqsvc_embed.cli.options import FilePath, base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import note, print_json
from faqsvc_embed.cli.publish_run import PublishRun
from faqsvc_embed.cli.uploads import read_uploads


@click.command()
@click.argument("files", metavar="FILE...", nargs=-1, required=True, type=FilePath())
@click.option("--website-url", metavar="URL", help="Address of the website that the FAQ is about.")
@click.option("--website-name", metavar="NAME", help="Name of that website.")
@click.option(
    "--slug",
    metavar="SLUG",
    help="Slug to publish under. Default: the slug in the file, or the name of the file.",
)
@click.option(
    "--new-slug",
    is_flag=True,
    help="Create another FAQ, under a slug that the service chooses; the same file creates one a day.",
)
@click.option("--title", metavar="TITLE", help="Title of the FAQ.")
@lang_option
@click.option("--draft", is_flag=True, help="Store drafts instead of publishing.")
@click.option(
    "--overwrite", is_flag=True, help="Publish files even if the FAQ was changed after they were written."
)
@click.option("--republish", is_flag=True, help="Publish files even if the FAQ was unpublished.")
@click.option("--dry-run", is_flag=True, help="Check the files and print the request bodies; send nothing.")
@json_option
@base_url_option
def publish(
    files: tuple[str, ...],
    draft: bool,
    dry_run: bool,
    as_json: bool,
    new_slug: bool,
    overwrite: bool,
    republish: bool,
    base_url: str | None,
    **options: str | None,
) -> None:
    """Publish FAQs from files. Print the slug, the address and the template line of each.

    The name of a file is its slug, unless the file or --slug states another: pricing.md is the FAQ
    "pricing", and pricing.de.md its German translation. This writes a new revision of the FAQ, or creates
    it. If the file has no title or website, the current ones are kept. Unchanged files are skipped.

    A file is refused if it would undo somebody's work: the FAQ was changed after the file was written (pull
    it, or use --overwrite), or was unpublished (use --republish). The other files are published.
    After a folder, a note names published FAQs that have no file in it: perhaps one was renamed.

    All files are checked before the first one is sent. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc publish faqs
      faqsvc publish pricing.en.md pricing.de.md
      faqsvc publish faq.csv --slug pricing --website-url https://heron.example --website-name Heron
      faqsvc get pricing --format markdown > pricing.md; faqsvc publish pricing.md --draft

    \b
    .json, .yaml   {"websiteUrl": ..., "websiteName": ..., "items": [{"question": ..., "answer": ...}]},
                   with slug, title, lang and answerFormat; or only the list of items
    .csv           a first row with the column names, question and answer among them
    .md            a heading for each question; the other fields between two lines of ---

    Exit status: 0 if all files are published, 1 if one is not, 2 for a mistake in the command line.
    """
    if new_slug and options["slug"] is not None:
        raise click.UsageError("--new-slug and --slug exclude each other")
    if new_slug and (len(files) > 1 or Path(files[0]).is_dir()):
        raise click.UsageError("--new-slug takes only one FILE")
    uploads = read_uploads(files, {**options, "draft": draft or None}, new_slug=new_slug)
    if dry_run:
        for upload in uploads:
            print_json(upload.body())
        return
    with open_client(base_url) as client:
        overrides = [code for code, given in (("old-file", overwrite), ("unpublished", republish)) if given]
        run = PublishRun(client, uploads, overrides=overrides, as_json=as_json)
        run.publish()
    if any(Path(file).is_dir() for file in files) and (slugs := run.published_without_file()):
        found = f"published, but in none of these files: {summary(slugs, 10)}"
        note(f"Note: {found}; `faqsvc delete SLUG` unpublishes one")
