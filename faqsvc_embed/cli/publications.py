"""Reads files and folders for `faqsvc publish`, and checks them before any is sent."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from msgspec import UNSET

from faqsvc_embed.api.content import Content
from faqsvc_embed.api.publish_request import PublishFields, publish_body, summary
from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.output import note
from faqsvc_embed.errors import PublishRejected, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import FAQ, Item

if TYPE_CHECKING:
    from faqsvc_embed.files import Document

MAX_PROBLEMS: Final = 20
_OPTIONS: Final = {"websiteUrl is missing": "--website-url", "websiteName is missing": "--website-name"}
_REVISION: Final = re.compile(r'((?:^revision:|"revision"\s*:)[ \t]*(?:!!int ")?)[0-9]+', re.MULTILINE)
"""The revision in front matter, in YAML and in JSON."""


@dataclass(frozen=True, slots=True)
class Publication:
    """A file with its content, in which options have replaced fields."""

    file: str
    document: "Document"

    @property
    def slug(self) -> Any:
        """The slug in the file or the options; None if the service chooses one."""
        return self.document.slug

    @property
    def is_complete(self) -> bool:
        """Whether the file states everything, so that the service adds nothing."""
        document = self.document
        return bool(document.website_url and document.website_name and document.title)

    def content(self) -> Content:
        """Return the content of its revision; the document must be valid and complete."""
        document = self.document
        return Content(
            document.website_url,
            document.website_name,
            tuple(Item(index, **pair) for index, pair in enumerate(self.body()["items"])),
            document.title,
            document.answer_format or "text",
            document.cta,
            document.page_url,
            document.introduction,
        )

    def state_revision(self, revision: int | None) -> None:
        """Write a new revision number into a file that states one, so that it can be published again."""
        from faqsvc_embed.cli.atomic import write_readable

        if self.document.revision is None or revision is None:
            return
        path = Path(self.file)
        text = path.read_bytes().decode("utf-8", "replace")
        stated = _REVISION.sub(rf"\g<1>{revision}", text, count=1)
        if stated != text and "\ufffd" not in text:
            write_readable({path: stated})

    def fields(self) -> PublishFields:
        """Return the arguments of `FAQClient.publish_faq`."""
        document = self.document
        return PublishFields(
            website_url=document.website_url,
            website_name=document.website_name,
            items=document.items,
            slug=document.slug,
            title=document.title,
            introduction=document.introduction,
            lang=document.lang,
            answer_format=None if document.answer_format == "text" else document.answer_format,
            page_url=document.page_url,
            draft=document.draft or False,
            revision=UNSET if document.slug is None else document.revision,
        )

    def body(self) -> dict[str, Any]:
        """Return the body of the request; raises a failure that names the file if it is not valid.

        An FAQ with a slug may lack its website: the service may know it.
        """
        try:
            return publish_body(**self.fields())
        except PublishRejected as error:
            problems = [with_option(self.document.locate(problem)) for problem in error.problems]
            raise failure(f"{self.file}: {summary(problems, MAX_PROBLEMS)}") from None


def read_publications(
    targets: Sequence[str], options: dict[str, Any], *, new_slug: bool = False
) -> list[Publication]:
    """Return the publications of files and folders, in the order in which they are sent.

    `options` are fields that override those of every file. With `new_slug`, the service chooses the slugs.
    The translations of an FAQ share its website.
    """
    given = {name: value for name, value in options.items() if value is not None}
    if new_slug:
        given["slug"] = None
    read = [
        Publication(file, _overridden(document, given))
        for target in targets
        for file, document in _files_of(target)
    ]
    _check_duplicates(read)
    read.sort(key=_order_of(read))
    publications = [_with_website_of(publication, read) for publication in read]
    for publication in publications:
        items = publication.body()["items"]
        for message in publication.document.all_notes()[:MAX_PROBLEMS]:
            warn(publication, message)
        record = {"slug": "check", "answerFormat": publication.document.answer_format, "items": items}
        faq = FAQ.from_dict(record)
        for problem in (*not_shown(publication.document, faq), *as_typed(publication.document, faq)):
            warn(publication, problem)
        if publication.document.cta is not None:
            warn(publication, "cta is not published: the service keeps that of its FAQ")
    return publications


def _overridden(document: "Document", given: dict[str, Any]) -> "Document":
    """Return a document with the fields of options; its revision is not one of another FAQ or language."""
    changed = replace(document, **given)
    is_other = (changed.slug, changed.lang) != (document.slug, document.lang)
    return replace(changed, revision=None) if is_other else changed


def not_shown(document: "Document", faq: FAQ) -> list[str]:
    """Return the parts of answers that no page would show, each with its place in the file."""
    from faqsvc_embed.rendering.answers import USUAL

    return [f"{document.place(index, dropped.line)}: {dropped}" for index, dropped in USUAL.problems(faq)]


def as_typed(document: "Document", faq: FAQ) -> list[str]:
    """Return the markup in answers that a reader would see as typed, each with its place in the file."""
    from faqsvc_embed.rendering.answers import USUAL

    return [f"{document.place(index, found.line)}: {found}" for index, found in USUAL.leftovers(faq)]


def warn(publication: Publication, message: str) -> None:
    """Print a warning about a file on standard error, in one line."""
    note(f"Warning: {publication.file}: {message}")


def _files_of(target: str) -> Iterator[tuple[str, "Document"]]:
    if Path(target).is_dir():
        yield from _read_folder(target)
    else:
        yield target, _read(target)


def _read(file: str) -> "Document":
    """Return the document of one file. Without a slug in it, its name has the slug, as in `pricing.de.md`."""
    from faqsvc_embed.files import read_file
    from faqsvc_embed.files.folder import name_of

    try:
        document = read_file(file)
    except OSError as error:
        raise failure(f"{file}: {error.strerror}") from error
    slug, lang = name_of(Path(file))
    if lang is not None and document.lang not in (None, lang):
        message = f"lang is {quoted(document.lang)}, but the name says {lang!r}: change one of them"
        raise failure(f"{file}: {message}")
    slug = slug if document.slug is None else document.slug
    return replace(document, slug=slug, lang=document.lang or lang)


def _read_folder(directory: str) -> Iterator[tuple[str, "Document"]]:
    """Yield the files of a folder, named after their slugs. An FAQ comes before its translations."""
    from faqsvc_embed.files.folder import Folder

    try:
        folder = Folder(directory)
    except OSError as error:
        raise failure(f"{directory}: {error.strerror}") from error
    if problems := folder.problems:
        raise failure(summary([str(problem) for problem in problems], MAX_PROBLEMS))
    if not folder.files:
        raise failure(f"{directory}: there is no FAQ file in this folder")
    for file in sorted(folder.files, key=lambda file: (file.slug, _rank(file.lang))):
        if file.document is not None:
            yield str(file.path), replace(file.document, slug=file.slug)


def _order_of(publications: Sequence[Publication]) -> Callable[[Publication], tuple[int, int]]:
    """Return a sort key: files stay in their order, but an FAQ comes before its translations.

    The first language of a new FAQ becomes its default. A shell lists `a.de.md` before `a.md`.
    """
    places = dict[Any, int]()
    for place, publication in enumerate(publications):
        places.setdefault(publication.slug or publication.file, place)
    return lambda one: (places[one.slug or one.file], _rank(one.document.lang))


def _rank(lang: str | None) -> int:
    return -1 if lang is None else LANGUAGES.index(lang)


def _check_duplicates(publications: Sequence[Publication]) -> None:
    first = dict[tuple[Any, Any], str]()
    for publication in publications:
        document = publication.document
        if document.slug is not None:
            other = first.setdefault((str(document.slug), document.lang), publication.file)
            if other is not publication.file:
                language = f"in {document.lang}" if document.lang else "without a language"
                message = f"is the FAQ {quoted(document.slug)} {language}, and so is {other}"
                raise failure(f"{publication.file}: {message}: publish one of them, or state the lang")


def _with_website_of(publication: Publication, others: Sequence[Publication]) -> Publication:
    """Return a publication with the website that another file of the same FAQ states."""
    document = publication.document
    for other in others:
        if document.slug is not None and other.document.slug == document.slug:
            document = replace(
                document,
                website_url=document.website_url or other.document.website_url,
                website_name=document.website_name or other.document.website_name,
            )
    return replace(publication, document=document)


def with_option(problem: str) -> str:
    return f"{problem}: use {_OPTIONS[problem]}, or put it into the file" if problem in _OPTIONS else problem
