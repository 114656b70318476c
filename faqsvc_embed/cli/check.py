"""`faqsvc check`: checks a folder of FAQs, in an editor or in CI."""

import difflib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.output import print_data, print_text
from faqsvc_embed.cli.publications import not_shown

if TYPE_CHECKING:
    from faqsvc_embed.files.folder import FAQFile, Folder, Problem

_FOLDER: Final = click.Path(file_okay=False, exists=True, path_type=Path)


@click.command()
@click.argument("directory", metavar="DIR", type=_FOLDER)
@click.option(
    "--templates", metavar="DIR", type=_FOLDER, help="Also report slugs in these templates that no file has."
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object with problems and notes.")
def check(directory: Path, templates: Path | None, as_json: bool) -> None:
    """Check the FAQ files in DIR.

    Problems are files that cannot be read, questions without an answer or asked twice, text, links and
    images that no page would show, two files for one FAQ, and translations with fewer or more questions.
    Each is a line with file and line number. Missing translations are notes.

    \b
      faqsvc check faqs
      faqsvc check faqs --templates templates

    Exit status: 0; 1 if there is a problem.
    """
    from faqsvc_embed.files.folder import Folder

    try:
        folder = Folder(directory)
        problems = [*folder.problems, *_not_shown(folder), *_uneven(folder)]
        problems += _unknown(folder, templates) if templates else ()
    except OSError as error:
        raise failure(f"{error.filename or directory}: {error.strerror}") from error
    notes = list(_untranslated(folder))
    if as_json:
        print_data(json.dumps({"problems": _listed(problems), "notes": _listed(notes)}, ensure_ascii=False))
    else:
        for line in (
            *map(str, problems),
            *(f"{note} (note)" for note in notes),
            _summary(folder, len(problems)),
        ):
            print_text(line)
    if problems:
        raise click.exceptions.Exit(1)


def _listed(problems: "list[Problem]") -> list[dict[str, object]]:
    return [{"file": str(one.path), "line": one.line, "message": one.message} for one in problems]


def _summary(folder: "Folder", problems: int) -> str:
    faqs, files = len(_by_slug(folder)), len(folder.files)
    return f"{_count(faqs, 'FAQ')} in {_count(files, 'file')}: {_count(problems, 'problem')}"


def _count(number: int, noun: str) -> str:
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"


def _by_slug(folder: "Folder") -> "dict[str, list[FAQFile]]":
    """Return the files of each FAQ, the FAQ itself first."""
    files: dict[str, list[FAQFile]] = {}
    for file in folder.files:
        files.setdefault(file.slug, []).append(file)
    return files


def _uneven(folder: "Folder") -> "Iterator[Problem]":
    """Yield the translations that do not have as many questions as their FAQ."""
    from faqsvc_embed.files.folder import Problem

    for base, *translations in _by_slug(folder).values():
        for file in translations:
            if file.faq is not None and base.faq is not None:
                count, expected = len(file.faq.items), len(base.faq.items)
                if count != expected:
                    message = f"has {count} of the {expected} questions of {base.path}"
                    if count > expected:
                        message = f"has {count} questions, but {base.path} has {expected}"
                    yield Problem(file.path, None, message)


def _not_shown(folder: "Folder") -> "Iterator[Problem]":
    """Yield what of the answers no page would show."""
    from faqsvc_embed.files.folder import problem_of

    for file in folder.files:
        if file.document is not None and file.faq is not None:
            for message in not_shown(file.document, file.faq):
                yield problem_of(file.path, message)


def _untranslated(folder: "Folder") -> "Iterator[Problem]":
    """Yield the FAQs that lack a language which another FAQ of the folder has."""
    from faqsvc_embed.files.folder import Problem

    languages = sorted({file.lang for file in folder.files if file.lang is not None})
    for base, *translations in _by_slug(folder).values():
        own = {file.lang for file in (base, *translations)} | {base.faq.lang if base.faq else None}
        if missing := [lang for lang in languages if lang not in own]:
            yield Problem(base.path, None, f"is not translated into {', '.join(missing)}")


def _unknown(folder: "Folder", templates: Path) -> "Iterator[Problem]":
    """Yield the places where templates name a slug that no file has."""
    from faqsvc_embed.files.folder import Problem
    from faqsvc_embed.files.templates import find_uses

    slugs = {file.slug for file in folder.files}
    for use in find_uses(templates):
        if use.slug not in slugs:
            similar = difflib.get_close_matches(use.slug, slugs, 1)
            hint = f": did you mean {similar[0]!r}?" if similar else ""
            yield Problem(
                use.path, use.line, f"no file in {folder.directory} has the slug {use.slug!r}{hint}"
            )
