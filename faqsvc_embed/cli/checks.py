"""Finds problems in folders of FAQs, for every command that checks."""

import shlex
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import Final, NamedTuple

from faqsvc_embed.cli.output import counted
from faqsvc_embed.files.folder import FAQFile, Folder, Problem, is_faq, problem_of
from faqsvc_embed.rendering import answers

_OTHER_TEXTS: Final = (".txt", ".rst", ".adoc", ".org", ".doc", ".docx", ".odt", ".xls", ".xlsx", ".ods")
_OTHER_DATA: Final = (".jsonl", ".ndjson", ".json5", ".ts", ".js", ".xml")
"""Endings of other files that may contain an FAQ. A folder reads neither."""


class Findings(NamedTuple):
    """The problems in folders, and notes on what may be one."""

    problems: list[Problem]
    notes: list[Problem]

    def lines(self) -> list[str]:
        """Return a line for each problem and note."""
        return [*map(str, self.problems), *(f"{note} (note)" for note in self.notes)]


def findings(folders: Iterable[Folder]) -> Findings:
    """Return each finding in folders once, even if two folders have the same file."""
    problems, notes = dict[Problem, None](), dict[Problem, None]()
    for folder in folders:
        problems |= dict.fromkeys((*folder.problems, *_in_files(folder, _not_shown), *_uneven(folder)))
        notes |= dict.fromkeys((*_in_files(folder, _left_out), *_untranslated(folder)))
        notes |= dict.fromkeys((*_without_language(folder), *_ignored(folder)))
    return Findings([*problems], [*notes])


def messages_in(file: FAQFile) -> list[str]:
    """Return messages about the parts of a file that its page lacks, or shows as markup."""
    return [*_left_out(file), *_not_shown(file)]


def _by_faq(folder: Folder) -> Iterator[list[FAQFile]]:
    """Yield the files of each FAQ that are no drafts: the FAQ itself, then its translations."""
    public = (file for file in folder.files if not file.is_draft)
    return (list(files) for _, files in groupby(public, lambda file: file.slug))


def _uneven(folder: Folder) -> Iterator[Problem]:
    """Yield the translations that do not have as many questions as their FAQ."""
    for base, *translations in _by_faq(folder):
        for file in translations:
            if file.faq is not None and base.faq is not None:
                count, expected = len(file.faq.items), len(base.faq.items)
                if count != expected:
                    message = f"has {counted(count, 'question')}, but {base.path} has {expected}"
                    yield Problem(file.path, None, message)


def _not_shown(file: FAQFile, *, is_on_page: bool = False) -> Iterator[str]:
    """Yield the parts of answers that no page would show, or those that are on it and only machines lack."""
    if file.document is not None and file.faq is not None:
        for index, dropped in answers.problems(file.faq):
            if dropped.is_on_page is is_on_page:
                yield f"{file.document.place(index, dropped.line)}: {dropped}"


def _left_out(file: FAQFile) -> Iterator[str]:
    """Yield what is in a file and not in its FAQ, or shown as markup."""
    if file.document is not None:
        yield from file.document.all_notes()
        yield from _not_shown(file, is_on_page=True)
        for index, found in answers.leftovers(file.faq) if file.faq is not None else ():
            yield f"{file.document.place(index, found.line)}: {found}"


def _in_files(folder: Folder, messages: Callable[[FAQFile], Iterator[str]]) -> Iterator[Problem]:
    for file in folder.files:
        yield from (problem_of(file.path, message) for message in messages(file))


def _untranslated(folder: Folder) -> Iterator[Problem]:
    """Yield the FAQs that lack a language which another FAQ of the folder has."""
    languages = {file.lang for file in folder.files if file.lang is not None and not file.is_draft}
    for base, *translations in _by_faq(folder):
        if base.faq is not None:
            missing = languages - {base.lang, base.faq.lang, *(file.lang for file in translations)}
            if missing:
                yield Problem(base.path, None, f"is not translated into {', '.join(sorted(missing))}")


def _without_language(folder: Folder) -> Iterator[Problem]:
    """Yield the files without a language, and the drafts."""
    for file in folder.files:
        if file.is_draft:
            yield Problem(
                file.path, None, "is a draft: a folder does not show it, and a service stores it as one"
            )
        if file.faq is not None and file.faq.lang is None:
            hint = "has no language, and its texts do not show which: add `lang: en`, for example, at the top"
            yield Problem(file.path, None, hint)


def _ignored(folder: Folder) -> Iterator[Problem]:
    """Yield the files and subfolders that a folder ignores, although there may be an FAQ in them."""
    if folder.only is not None:
        return
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
