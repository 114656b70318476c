"""The FAQs of a folder, which an embed shows instead of a service, or until the service responds."""

from contextlib import suppress
from pathlib import Path
from typing import Final

from faqsvc_embed.cache.entry import Entry, Key
from faqsvc_embed.cache.report import Health
from faqsvc_embed.cache.source import BaseSource, Files
from faqsvc_embed.errors import ConfigurationError, FAQError, FAQGone, FAQNotFound, quoted
from faqsvc_embed.files.folder import FAQFile, Folder, name_of
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.runtime.bounded_log import logger
from faqsvc_embed.settings import Settings

MAX_PROBLEMS: Final = 20
"""Maximum number of problems in one message."""


class FolderSource(BaseSource):
    """The FAQs of a folder. All files are read when the source is created.

    Raises:
        ConfigurationError: the folder cannot be read, or a file in it is invalid.
    """

    is_local = True

    def __init__(self, settings: Settings, directory: str) -> None:
        self.files: Files = self
        try:
            self._folder = Folder(directory, lang=settings.lang, max_bytes=settings.max_bytes)
        except OSError as error:
            raise ConfigurationError(_unreadable(directory, error)) from None
        public = (file for file in self._folder.files if not file.is_draft)
        if problems := [problem for file in public for problem in file.problems]:
            more = [f"and {len(problems) - MAX_PROBLEMS} more"] if len(problems) > MAX_PROBLEMS else []
            message = "\n".join([*map(str, problems[:MAX_PROBLEMS]), *more])
            raise ConfigurationError(message)
        self._error: ConfigurationError | None = None
        self._suggests = settings.strict
        """Whether similar slugs are searched for, which takes time: in strict and in debug mode."""
        self._gone = set[str]()
        self._fetched = set[str]()
        """Slugs that have a file and were also fetched from the service."""

    def look_up(self, key: Key) -> FAQState:
        file = None if self._error is not None else self._find(key)
        if file is None or file.faq is None:
            return FAQState(error=self._missing(key, file), lang_requested=key.lang)
        return FAQState(data=file.faq, source="store", lang_requested=key.lang)

    def seed(self, key: Key, *, is_forgotten: bool) -> FAQ | FAQError | None:
        # After a record of the service was fetched and then forgotten, the file is older than that record.
        if key.slug in self._gone or (is_forgotten and key.slug in self._fetched):
            return None
        file = self._find(key)
        return None if file is None else file.faq or self._missing(key, file)

    def note(self, entry: Entry) -> None:
        """Note that an FAQ was fetched or unpublished. The file of an unpublished FAQ is no longer shown."""
        slug, file = entry.key.slug, self._find(entry.key)
        if file is not None and entry.error is None:
            self._fetched.add(slug)
        if file is not None and isinstance(entry.error, FAQGone) and slug not in self._gone:
            self._gone.add(slug)
            logger.warning(
                "FAQ %r was unpublished: delete %r, or use a `store`; otherwise pages show the file again "
                "if the service does not respond at the next start",
                slug,
                str(file.path),
            )

    def reload(self) -> None:
        self._suggests = True
        try:
            self._folder.refresh()
            self._error = None
        except OSError as error:
            self._error = ConfigurationError(_unreadable(str(self._folder.directory), error))

    def health(self) -> list[Health]:
        return [
            Health(
                slug=file.slug,
                lang=file.lang,
                freshness="fresh" if file.faq is not None else "failed",
                age=None,
                error="; ".join(map(str, file.problems)) or None,
                next_try_in=None,
            )
            for file in self._folder.files
        ]

    def _find(self, key: Key) -> FAQFile | None:
        return self._folder.find(key.slug, key.lang)

    def _missing(self, key: Key, file: FAQFile | None) -> FAQError:
        if self._error is not None:
            return self._error
        if file is not None:
            return ConfigurationError("\n".join(map(str, file.problems)))
        missing = f"FAQ {key.slug!r}: there is no file {self._folder.directory / key.slug}.md"
        if self._suggests:
            missing += self._folder.similar(key.slug)
        for other in self._folder.files:
            if other.is_draft and other.slug == key.slug:
                missing = f"FAQ {key.slug!r}: {other.path} is a draft, which is not shown"
            elif other.path.name.startswith(f"{key.slug}.") and name_of(other.path)[0] == key.slug:
                missing = f"FAQ {key.slug!r}: {other.path} states another slug, {quoted(other.slug)}"
        return FAQNotFound(missing)


def _unreadable(directory: str, error: OSError) -> str:
    path = Path(directory)
    with suppress(OSError):  # a release that was deleted takes the working directory with it
        path = path.absolute()
    return (
        f"directory is {directory!r}, which cannot be read: {error.strerror}: {path}; "
        "name a folder of FAQ files such as pricing.md"
    )
