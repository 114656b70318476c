"""A directory of JSON files, one for each slug and language, for the processes of one machine."""

import asyncio
import contextlib
import errno
import hashlib
import os
import re
import stat
import time
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import StoredFAQ, is_forgotten, max_document
from faqsvc_embed.cache.stores.atomic import TEMPORARY, write_atomically
from faqsvc_embed.cache.stores.base import OnGap, OnInvalidate
from faqsvc_embed.cache.stores.journal import Journal
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.languages import LANGUAGES

JOURNAL_POLL: Final = 1.0
"""Seconds between two checks of what other processes have invalidated."""
FAULTS_OF_ONE_FILE: Final = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG)
"""Errors that concern one file only."""
ABANDONED_AFTER: Final = 3600
"""Seconds after which the writer of a temporary file is assumed to be dead."""

_PLAIN_NAME: Final = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}", re.ASCII)
_NOT_IN_NAME: Final = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)


class DirectoryStore:
    """Keeps each record in a file of its own, written atomically and readable by its owner only."""

    is_shared = False

    def __init__(self, directory: str | os.PathLike[str], base_url: str, max_bytes: int) -> None:
        self.directory: Path = Path(directory).expanduser().absolute()
        self._base_url = base_url
        self._service = _digest(base_url)
        self._max_file = max_document(max_bytes)
        self._is_swept = False
        self._journal = Journal(self.directory / f".forgotten.{self._service}")

    def path(self, key: Key) -> Path:
        """Return the file of a record, such as `pricing.ko.5d41402abc4b.json` with a digest of the source."""
        return self._file(key.slug, key.lang, "json")

    def _tombstone(self, slug: str) -> Path:
        return self._file(slug, "gone")

    def _mark(self, slug: str | None) -> Path:
        """Return the file with the time when `slug`, or everything, was last forgotten."""
        return (
            self.directory / f".{self._service}.forgotten" if slug is None else self._file(slug, "forgotten")
        )

    def _file(self, slug: str, lang: str | None, suffix: str | None = None) -> Path:
        if _PLAIN_NAME.fullmatch(slug) is None:  # too long, or the same as another on some file systems
            slug = f"{_NOT_IN_NAME.sub('-', slug)[:40]}~{_digest(slug)}"
        return self.directory / ".".join(filter(None, (slug, lang, self._service, suffix)))

    def prepare(self) -> None:
        """Do nothing: there is nothing to import."""

    async def load(self, key: Key) -> StoredFAQ | None:
        """Read a record, as `read` does, in a thread: a network file system may hang."""
        return await asyncio.to_thread(self.read, key)

    def read(self, key: Key) -> StoredFAQ | None:
        """Return a record, or None if there is none.

        Raises:
            OSError: the file cannot be read.
            InvalidFAQ: it is damaged, edited, or belongs to another FAQ.
        """
        path = self.path(key)
        text = self._content(path)
        if text is None:
            return None
        try:
            stored = StoredFAQ.from_json(text, self._base_url, key)
        except InvalidFAQ as error:
            raise InvalidFAQ(f"{str(path)!r}: {error}") from None
        return None if self._is_forgotten(key, stored) else stored

    def _is_forgotten(self, key: Key, stored: StoredFAQ) -> bool:
        return is_forgotten(stored, (self._content(self._mark(slug)) for slug in (key.slug, None)))

    def _content(self, path: Path) -> bytes | None:
        try:
            # Without blocking: opening a pipe would wait for its writer.
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in FAULTS_OF_ONE_FILE:
                raise InvalidFAQ(f"{str(path)!r}: {error.strerror}") from None
            raise
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidFAQ(f"{str(path)!r}: not a regular file")
            with open(descriptor, "rb", closefd=False) as file:
                text = file.read(self._max_file + 1)
        finally:
            os.close(descriptor)
        if len(text) > self._max_file:
            raise InvalidFAQ(f"{str(path)!r}: larger than {self._max_file} bytes")
        return text

    async def save(self, key: Key, stored: StoredFAQ) -> None:
        """Replace a record, in a thread."""
        await asyncio.to_thread(self._save, key, stored)

    def _save(self, key: Key, stored: StoredFAQ) -> None:
        self._write({self.path(key): stored.to_json(self._base_url)})
        if self._is_forgotten(key, stored):  # by a process that removed the earlier file meanwhile
            self._unlink([self.path(key)])
        else:  # the FAQ may have been published again
            self._unlink([self._tombstone(key.slug)])

    def _write(self, texts: Mapping[Path, str], mode: int = 0o600) -> None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sweep()
        write_atomically(texts, mode)

    def _sweep(self) -> None:
        """Remove temporary files of writers that were killed."""
        if self._is_swept:
            return
        self._is_swept = True
        for path in self.directory.glob(f"{TEMPORARY}*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > ABANDONED_AFTER:
                    path.unlink()

    async def delete(self, key: Key) -> None:
        """Remove one record."""
        await asyncio.to_thread(self._unlink, [self.path(key)])

    async def invalidate(self, slug: str | None, at: datetime) -> None:
        """Remove the records of `slug` in all languages, or all of this service; tell other processes."""
        await asyncio.to_thread(self._remove, slug, at)
        await asyncio.to_thread(self._journal.append, slug)

    def _remove(self, slug: str | None, at: datetime) -> None:
        # Readable, because `faqsvc forget` may run as another user than the application.
        self._write({self._mark(slug): at.isoformat()}, mode=0o644)
        if slug is not None:
            self._unlink(self.path(Key(slug, lang)) for lang in (None, *LANGUAGES))
        else:
            self._unlink(self.directory.glob(f"[!.]*.{self._service}.json"))

    def _unlink(self, paths: Iterable[Path]) -> None:
        for path in list(paths):
            path.unlink(missing_ok=True)

    async def bury(self, slug: str, tombstone: str) -> None:
        """Store a tombstone, in a thread."""
        await asyncio.to_thread(self._write, {self._tombstone(slug): tombstone})

    async def tombstone(self, slug: str) -> bytes | None:
        """Return the tombstone, if there is one, in a thread."""
        return await asyncio.to_thread(self._content, self._tombstone(slug))

    async def subscribe(self, on_invalidate: OnInvalidate, on_connected: OnGap) -> None:
        """Pass on what other processes of this machine invalidate, within a second."""
        await asyncio.to_thread(self._journal.read)  # skip earlier invalidations
        on_connected()
        while True:
            await asyncio.sleep(JOURNAL_POLL)
            for slug in await asyncio.to_thread(self._journal.read):
                on_invalidate(slug)

    def after_fork(self) -> None:
        """In a forked child, treat the parent as another process."""
        self._journal.after_fork()


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
