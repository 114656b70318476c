"""A folder of FAQs: `pricing.md` is the FAQ `pricing`, and `pricing.de.md` is its German translation.

`refresh` reads only the files that have changed.
"""

import difflib
import hashlib
import os
import re
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final, NamedTuple, Self

from msgspec import structs

from faqsvc_embed.errors import PublishRejected, quoted
from faqsvc_embed.files.detection import detect_language, is_certain
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.formats import MAX_FILE, READERS, UnreadableFile, read_file
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.runtime.threads import Lock
from faqsvc_embed.text import normalized

NO_LANGUAGE: Final = "has no language"
"""The beginning of the note on a file whose language was detected."""
_LANGUAGE_LIKE: Final = re.compile("[A-Za-z]{2}(?:[-_](?:[A-Za-z]{2,4}|[0-9]{3})){0,2}")
_PLAIN_NAME: Final = re.compile(r"[^\W_][\w-]{0,49}")
_PLACE: Final = re.compile(r"(?:line|row) ([0-9]+):? ")

_Signature = tuple[int, ...]
"""Values that change when a file is edited; empty for a file that cannot be examined."""


class Problem(NamedTuple):
    """A problem in a file, with its place."""

    path: Path
    line: int | None
    message: str

    def __str__(self) -> str:
        place = str(self.path) if self.line is None else f"{self.path}:{self.line}"
        return f"{place}: {self.message}"


@dataclass(frozen=True, slots=True)
class FAQFile:
    """One file of a folder. With problems, it has no record."""

    path: Path
    slug: str
    lang: str | None
    """The language of a translation; None for the FAQ itself."""
    document: Document | None = None
    faq: FAQ | None = None
    problems: tuple[Problem, ...] = ()

    @property
    def is_draft(self) -> bool:
        """Whether the file says that its FAQ is not public."""
        return self.document is not None and self.document.draft is True


BySlug = dict[tuple[str, str | None], FAQFile]
"""Files by slug and language."""


class Folder:
    """The FAQs in a folder, as of the last reading.

    Names that begin with a dot or an underscore, README files, folders and other file types are left out.

    Raises:
        OSError: the folder cannot be read.
    """

    def __init__(
        self,
        directory: str | os.PathLike[str],
        *,
        only: str | None = None,
        lang: str | None = None,
        max_bytes: int = MAX_FILE,
        stated: Mapping[str, Any] | None = None,
    ) -> None:
        """Read a folder, or `only` the file of this name.

        `lang` is the language of files that state none; `max_bytes` limits each of them. `stated` are fields
        that replace those of the files.
        """
        self.directory: Path = Path(directory).expanduser()
        self.only = only
        self._lang = lang
        self._read_faq_file = partial(
            read_faq_file, lang=lang, max_bytes=min(max_bytes, MAX_FILE), stated=stated or {}
        )
        self._files = dict[tuple[str, _Signature], FAQFile]()
        """The files by name and signature, which changes with the content."""
        self._by_slug: BySlug = {}
        self._lock = Lock()
        self.refresh()

    @classmethod
    def at(cls, path: Path, stated: Mapping[str, Any] | None = None) -> Self:
        """Return the folder at a path. If the path is that of a file, the folder has this file only."""
        if path.is_dir():
            return cls(path, stated=stated)
        return cls(path.parent, only=path.name, stated=stated)

    @property
    def files(self) -> list[FAQFile]:
        """Its files, sorted by slug and language."""
        return in_order(self._by_slug)

    @property
    def problems(self) -> list[Problem]:
        """All problems in its files."""
        return [problem for file in self.files for problem in file.problems]

    def find(self, slug: str, lang: str | None) -> FAQFile | None:
        """Return the translation into a language, else the FAQ itself, else any translation; but no draft."""
        found = (self._by_slug.get((slug, each)) for each in (lang, None, self._lang, *LANGUAGES))
        return next((file for file in found if file is not None and not file.is_draft), None)

    def similar(self, slug: str) -> str:
        """Return the end of a message that suggests the slug of a file, if one is similar."""
        found = difflib.get_close_matches(slug, {slug for slug, _ in self._by_slug}, 1)
        return f": did you mean {found[0]!r}?" if found else ""

    def refresh(self) -> bool:
        """Read the files that have changed, and return whether there are any."""
        with self._lock.own():
            files = dict[tuple[str, _Signature], FAQFile]()
            for path in self._paths():
                if (signature := _signature(path)) is not None:
                    key = path.name, signature
                    files[key] = self._files.get(key) or self._read_file(path)
            if files == self._files:
                return False
            self._files, self._by_slug = files, by_slug(files.values())
            return True

    def _read_file(self, path: Path) -> FAQFile:
        """Read a file. A link within the folder is followed, as Kubernetes mounts files as such links."""
        if self.only is None and not _is_within(path, self.directory):
            problem = Problem(path, None, "a link out of the folder is not followed: copy the file")
            return FAQFile(path, *name_of(path), problems=(problem,))
        return self._read_faq_file(path)

    def _paths(self) -> list[Path]:
        if self.only is not None:
            return [self.directory / self.only]
        return sorted(filter(is_faq, self.directory.iterdir()))


def read_faq_file(
    path: Path,
    *,
    lang: str | None = None,
    max_bytes: int = MAX_FILE,
    stated: Mapping[str, Any] = MappingProxyType({}),
) -> FAQFile:
    """Return a file with its record or its problems.

    `lang` is its language if it states none; `stated` are fields that replace those of the file.
    """
    slug, name_lang = name_of(path)
    document: Document | None = None
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            raise UnreadableFile("not a regular file")
        read = read_file(path, max_bytes)
        document = replace(read, **stated)
        if (read.slug or slug, read.lang or name_lang) != (document.slug or slug, document.lang or name_lang):
            document = replace(document, revision=None)  # of another FAQ or translation
        if isinstance(document.slug, str):
            slug = document.slug
        if document.lang is None:
            document = replace(document, lang=name_lang)
        if name_lang not in (None, lookup(f"{document.lang}")) and "lang" not in stated:
            message = f"lang is {quoted(document.lang)}, but the name says {name_lang!r}: change one of them"
            raise UnreadableFile(message)
        faq = document.to_faq(slug if document.slug is None else document.slug)
        if faq.lang is None:
            document, faq = _with_language(document, faq, lang)
        return FAQFile(path, slug, name_lang, document, faq)
    except PublishRejected as error:
        messages = [*map(document.locate, error.problems)] if document is not None else []
    except UnreadableFile as error:
        messages = [str(error).removeprefix(f"{path}: ")]
    except OSError as error:
        messages = [f"cannot be read: {error.strerror}"]
    problems = tuple(problem_of(path, message) for message in messages)
    return FAQFile(path, slug, name_lang, document, None, problems)


def _with_language(document: Document, faq: FAQ, usual: str | None) -> tuple[Document, FAQ]:
    """Return a file and its record in the language of its texts if that is certain, else in `usual`."""
    # The file of a record names its website; the record may have no language.
    is_record = None not in (document.slug, document.website_name)
    found = None if is_record else detect_language(faq.items)
    if found is not None and is_certain(found, faq.items):
        note = f"{NO_LANGUAGE}: its texts are read as {found!r}: state it, such as `lang: {found}` at the top"
        document, usual = replace(document, notes=[*document.notes, note]), found
    return replace(document, lang=usual), structs.replace(faq, lang=usual)


def is_faq(path: Path) -> bool:
    """Return whether a folder reads a file of this name."""
    return path.suffix.lower() in READERS and not path.name.lower().startswith((".", "_", "readme."))


def _signature(path: Path) -> _Signature | None:
    """Return the signature of a file; None if it is a folder, or gone."""
    try:
        status = path.stat()
    except FileNotFoundError:
        return () if path.is_symlink() else None
    except OSError:  # a loop of links, or a link into a folder that this process may not enter
        return ()
    if stat.S_ISDIR(status.st_mode):
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino, status.st_mode


def _is_within(path: Path, folder: Path) -> bool:
    return not path.is_symlink() or Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder))


def name_of(path: Path) -> tuple[str, str | None]:
    """Return the slug and the language in the name of a file."""
    name = normalized("NFC", path.stem)  # macOS decomposes names
    slug, _, tag = name.rpartition(".")
    lang = lookup(tag) if slug and _LANGUAGE_LIKE.fullmatch(tag) else None
    return (slug, lang) if lang else (name, None)


def file_name(slug: str, lang: str | None) -> str:
    """Return the name of a new Markdown file: the slug if it can be one on any file system."""
    name = slug
    is_plain = _PLAIN_NAME.fullmatch(name) is not None and name == normalized("NFC", name.lower())
    if not is_plain or name == "readme":
        digest = hashlib.sha256(slug.encode()).hexdigest()[:8]
        name = f"{re.sub('[^a-z0-9]+', '-', slug.lower())[:40].strip('-')}-{digest}".lstrip("-")
    return ".".join(filter(None, (name, lang, "md")))


def problem_of(path: Path, message: str) -> Problem:
    """Return a problem of a file, with the line or row at the beginning of the message as its place."""
    place = _PLACE.match(message)
    if place is None:
        return Problem(path, None, message)
    return Problem(path, int(place[1]), message[place.end() :])


def by_slug(files: Iterable[FAQFile]) -> BySlug:
    """Return files by slug and language, with a problem where two files contradict each other."""
    found: BySlug = {}
    for file in sorted(files, key=lambda file: file.is_draft):
        first = found.setdefault((file.slug, file.lang), file)
        if first is not file:
            message = f"is the same FAQ as {file.path}: remove one of them"
            found[file.slug, file.lang] = _with_problem(first, message)
    for (slug, lang), file in list(found.items()):
        base, _, ending = slug.rpartition(".")
        stated = file.document.lang if lang is None and file.document is not None else None
        same = found.get((slug, stated)) if isinstance(stated, str) else None
        has_wrong_language = (base, None) in found and _LANGUAGE_LIKE.fullmatch(ending)
        if has_wrong_language and name_of(file.path)[0] == slug:
            message = f"{ending!r} is not one of {', '.join(LANGUAGES)}: rename the file"
            found[slug, lang] = _with_problem(file, message)
        elif same is not None and same is not file:
            message = f"is in {stated!r}, and so is {same.path}: remove one, or change its lang"
            found[slug, lang] = _with_problem(file, message)
    return found


def in_order(files: BySlug) -> list[FAQFile]:
    """Return files by slug, the FAQ before its translations: the first language becomes the default."""
    return sorted(files.values(), key=lambda file: (file.slug, (None, *LANGUAGES).index(file.lang)))


def _with_problem(file: FAQFile, message: str) -> FAQFile:
    return replace(file, faq=None, problems=(*file.problems, Problem(file.path, None, message)))
