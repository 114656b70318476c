"""`faqsvc check`: checks a folder of FAQs, or the markup of a page, in an editor or in CI."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from faqsvc_embed.api.requests import user_agent
from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.options import FilePath, is_url
from faqsvc_embed.cli.output import counted, print_result

if TYPE_CHECKING:
    from faqsvc_embed.files.folder import Problem

_PATH: Final = FilePath(exists=True, path_type=Path)


@click.command()
@click.argument("paths", metavar="[DIR|FILE]...", nargs=-1, type=_PATH)
@click.option(
    "--page",
    metavar="URL|FILE",
    type=FilePath(),
    help="Instead of files: compare the FAQPage markup of a page with its words.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object.")
def check(paths: tuple[Path, ...], page: str | None, as_json: bool) -> None:
    """Check the FAQ files in DIR, single files, or the FAQPage markup of a page.

    Problems are: files that cannot be read; questions that have no answer or occur twice; text, links and
    images that no page would show; two files for one FAQ; and translations with fewer or more questions.
    Each problem is printed with file and line number. Missing translations and unknown languages are notes.

    \b
      faqsvc check faqs
      faqsvc check faqs/pricing.md faqs/terms.md
      faqsvc check --page http://127.0.0.1:5000/prices

    With --page, each difference between the FAQPage markup of a page and its words is printed as a line. Any
    page can be compared, whoever made its markup.

    Exit status: 0; 1 if there is a problem, or the page cannot be read.
    """
    if bool(paths) == (page is not None):
        raise click.UsageError("name a folder or files, or a page with --page URL|FILE")
    if page is not None:
        _check_page(page, as_json)
    else:
        _check_files(paths, as_json)


def _check_page(page: str, as_json: bool) -> None:
    from faqsvc_embed.testing import faq_parity

    url, content = _fetched(page) if is_url(page) else (None, Path(page).read_bytes())
    differences = faq_parity(content, url)
    lines = (*differences, f"{page}: {counted(len(differences), 'difference')}")
    print_result(as_json, {"page": page, "differences": differences}, "\n".join(lines))
    if differences:
        raise click.exceptions.Exit(1)


def _fetched(page: str) -> tuple[str, bytes]:
    """Return the address and the content of a page, on any host that this machine reaches."""
    import httpx2

    silence_log()
    try:
        response = httpx2.get(page, follow_redirects=True, headers={"User-Agent": user_agent()})
    except (httpx2.HTTPError, httpx2.InvalidURL, ValueError) as error:
        raise failure(f"{page} cannot be read: {error}") from None
    if response.status_code != 200:
        raise failure(f"{page} responds with status {response.status_code}")
    return str(response.url), response.content


def _check_files(paths: tuple[Path, ...], as_json: bool) -> None:
    from faqsvc_embed.cli.checks import findings
    from faqsvc_embed.files.folder import Folder

    folders = list(map(Folder.at, paths))
    found = findings(folders)
    files = {file.path: file.slug for folder in folders for file in folder.files}
    read = f"{counted(len({*files.values()}), 'FAQ')} in {counted(len(files), 'file')}"
    lines = (*found.lines(), f"{read}: {counted(len(found.problems), 'problem')}")
    data = {"problems": _listed(found.problems), "notes": _listed(found.notes)}
    print_result(as_json, data, "\n".join(lines))
    if found.problems:
        raise click.exceptions.Exit(1)


def _listed(problems: "list[Problem]") -> list[dict[str, object]]:
    return [{"file": str(one.path), "line": one.line, "message": one.message} for one in problems]
