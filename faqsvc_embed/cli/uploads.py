"""Reads files and folders for `faqsvc publish`, and checks them before any is sent."""

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from faqsvc_embed.api.publish_request import publish_body, summary
from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.output import note, write_atomically
from faqsvc_embed.errors import PublishRejected
from faqsvc_embed.text import normalized

if TYPE_CHECKING:
    from faqsvc_embed.files import Document
    from faqsvc_embed.files.folder import FAQFile

MAX_PROBLEMS: Final = 20
_WEBSITE: Final = ("website_url", "website_name")
_OPTIONS: Final = {"websiteUrl is missing": "--website-url", "websiteName is missing": "--website-name"}
_REVISION: Final = re.compile(r'((?:^revision:|"revision"\s*:)[ \t]*(?:!!int ")?)[0-9]+', re.MULTILINE)
"""The revision in front matter, in YAML and in JSON."""


@dataclass(frozen=True, slots=True)
class Upload:
    """A file with its content, in which options have replaced fields."""

    file: str
    document: "Document"

    @property
    def slug(self) -> Any:
        """The slug in the file or the options; None if the service chooses one."""
        return self.document.slug

    @property
    def listed_slug(self) -> str:
        """The slug as the service lists it."""
        return normalized("NFC", str(self.slug))

    def state_revision(self, revision: int | None) -> None:
        """Write a new revision number into a file that states one, so that it can be published again.

        If that fails, print a warning and no error: the FAQ is published.
        """
        if self.document.revision is None or revision in (None, self.document.revision):
            return
        path = Path(self.file)
        try:
            text = path.read_bytes().decode()
            stated = _REVISION.sub(rf"\g<1>{revision}", text, count=1)
            if stated == text:
                raise ValueError("it is not in a line of its own")
            write_atomically({path: stated})
        except (OSError, ValueError) as error:  # ValueError: UTF-16
            reason = error.strerror if isinstance(error, OSError) else error
            self.warn(f"its revision is now {revision}, which cannot be written into it: {reason}")

    def body(self) -> dict[str, Any]:
        """Return the body of the request; raises a failure that names the file if it is not valid.

        An FAQ with a slug may lack its website: the service may know it.
        """
        try:
            return publish_body(**self.document.publication())
        except PublishRejected as error:
            problems = [self.located(problem) for problem in error.problems]
            raise failure(f"{self.file}: {summary(problems, MAX_PROBLEMS)}") from None

    def located(self, problem: str) -> str:
        """Return a problem with its line in the file, or with the option that corrects it."""
        option = _OPTIONS.get(problem)
        return (
            f"{problem}: use {option}, or put it into the file" if option else self.document.locate(problem)
        )

    def warn(self, message: str) -> None:
        """Print a warning about the file on standard error, in one line."""
        note(f"Warning: {self.file}: {message}")


def read_uploads(targets: Sequence[str], options: dict[str, Any], *, new_slug: bool = False) -> list[Upload]:
    """Return the uploads of files and folders, sorted by slug, each FAQ before its translations.

    `options` are fields that override those of every file. With `new_slug`, the service chooses the slugs.
    The files of an FAQ share the website that one of them states.
    """
    from faqsvc_embed.cli.checks import messages_in
    from faqsvc_embed.files.folder import by_slug, in_order

    given = {name: value for name, value in options.items() if value is not None}
    if new_slug:
        given["slug"] = "-"  # the name of the file need not be a slug
    # `faqs faqs/a.md` names a.md twice.
    found = {os.path.abspath(file.path): file for target in targets for file in _read(target, given)}
    files, read = in_order(by_slug(found.values())), list[Upload]()
    if problems := dict.fromkeys(str(problem) for file in files for problem in file.problems):
        raise failure(summary(list(problems), MAX_PROBLEMS))
    every = [(file.slug, name, getattr(file.document, name)) for file in files for name in _WEBSITE]
    stated = {(slug, name): value for slug, name, value in reversed(every) if value}
    for file in files:
        if file.document is not None:
            lacking = [name for name in _WEBSITE if not getattr(file.document, name)]
            shared: dict[str, Any] = {name: stated.get((file.slug, name)) for name in lacking}
            document = replace(file.document, slug=None if new_slug else file.slug, **shared)
            upload = Upload(str(file.path), document)
            upload.body()
            for message in messages_in(file):
                upload.warn(message)
            if document.cta is not None:
                upload.warn("cta is not published: the service keeps that of its FAQ")
            read.append(upload)
    return read


def _read(target: str, given: Mapping[str, Any]) -> "list[FAQFile]":
    """Return the files of a folder, or one file, with the fields `given`; fails if there is none."""
    from faqsvc_embed.files import Folder

    path = Path(target)
    try:
        path.stat()
        files = Folder.at(path, given).files
    except OSError as error:
        raise failure(f"{target}: {error.strerror}") from error
    if not files:
        raise failure(f"{target}: there is no FAQ file in this folder")
    return files
