"""Finds problems in a folder of FAQs, for every command that checks."""

import shlex
from collections.abc import Callable, Iterator
from typing import Final

from faqsvc_embed.files.folder import FAQFile, Folder, Problem, is_faq, problem_of
from faqsvc_embed.rendering import answers

_OTHER_TEXTS: Final = (".txt", ".rst", ".adoc", ".org", ".doc", ".docx", ".odt", ".xls", ".xlsx", ".ods")
_OTHER_DATA: Final = (".jsonl", ".ndjson", ".json5", ".ts", ".js", ".xml")
"""Endings of other files that may contain an FAQ. A folder reads neither."""


def problems_of(folder: Folder) -> list[Problem]:
    """Return the problems in the files of a folder."""
    return [*folder.problems, *_in_files(folder, _not_shown), *_uneven(folder)]


def notes_of(folder: Folder) -> list[Problem]:
    """Return what may be a problem: texts and files that are left out, missing translations and languages."""
    return [
        *_in_files(folder, _left_out),
        *_untranslated(folder),
        *_without_language(folder),
        *(_ignored(folder) if folder.only is None else ()),
    ]


def by_slug(folder: Folder) -> dict[str, list[FAQFile]]:
    """Return the files of each FAQ, the FAQ itself first."""
    files: dict[str, list[FAQFile]] = {}
    for file in folder.files:
        files.setdefault(file.slug, []).append(file)
    return files


def _uneven(folder: Folder) -> Iterator[Problem]:
    """Yield the translations that do not have as many questions as their FAQ."""
    for base, *translations in by_slug(folder).values():
        for file in translations:
            if file.faq is not None and base.faq is not None:
                count, expected = len(file.faq.items), len(base.faq.items)
                if count != expected:
                    message = f"has {count} of the {expected} questions of {base.path}"
                    if count > expected:
                        message = f"has {count} questions, but {base.path} has {expected}"
                    yield Problem(file.path, None, message)


def messages_in(file: FAQFile) -> list[str]:
    """Return messages about the parts of a file that its page lacks, or shows as markup."""
    return [*_left_out(file), *_not_shown(file)]


def _not_shown(file: FAQFile) -> Iterator[str]:
    """Yield the parts of answers that no page would show."""
    if file.document is not None and file.faq is not None:
        for index, dropped in answers.problems(file.faq):
            yield f"{file.document.place(index, dropped.line)}: {dropped}"


def _left_out(file: FAQFile) -> Iterator[str]:
    """Yield what is in a file and not in its FAQ, or shown as markup."""
    if file.document is not None:
        yield from file.document.all_notes()
        for index, found in answers.leftovers(file.faq) if file.faq is not None else ():
            yield f"{file.document.place(index, found.line)}: {found}"


def _in_files(folder: Folder, messages: Callable[[FAQFile], Iterator[str]]) -> Iterator[Problem]:
    for file in folder.files:
        yield from (problem_of(file.path, message) for message in messages(file))


def _untranslated(folder: Folder) -> Iterator[Problem]:
    """Yield the FAQs that lack a language which another FAQ of the folder has."""
    languages = sorted({file.lang for file in folder.files if file.lang is not None})
    for base, *translations in by_slug(folder).values():
        own = {file.lang for file in (base, *translations)} | {base.faq.lang if base.faq else None}
        missing = [lang for lang in languages if lang not in own and base.faq is not None]
        if missing:
            yield Problem(base.path, None, f"is not translated into {', '.join(missing)}")


def _without_language(folder: Folder) -> Iterator[Problem]:
    """Yield the files without a language."""
    for file in folder.files:
        if file.faq is not None and file.faq.lang is None:
            hint = "has no language, and its texts do not show which: add `lang: en`, for example, at the top"
            yield Problem(file.path, None, hint)


def _ignored(folder: Folder) -> Iterator[Problem]:
    """Yield the files and subfolders that a folder ignores, although there may be an FAQ in them."""
    if not folder.files:
        yield Problem(folder.directory, None, "there is no FAQ file in this folder")
    for path in sorted(folder.directory.glob("[!._]*")):
        ending, advice = path.suffix.lower(), ""
        if ending in (".html", ".htm"):
            advice = f"`faqsvc extract {shlex.quote(str(path))}` prints its questions as Markdown"
        elif ending in _OTHER_TEXTS + _OTHER_DATA and path.stem.lower() != "readme":
            advice = "save it as Markdown or CSV"
        elif any(map(is_faq, path.glob("*"))):
            advice = "move its files into the folder"
        if advice:
            yield Problem(path, None, f"is ignored: {advice}")
