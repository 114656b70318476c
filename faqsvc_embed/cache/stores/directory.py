"""A directory of JSON files, one a slug and language: for one machine, its restarts, and bundles in git."""

import asyncio
import contextlib
import errno
import hashlib
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path
from typing import Final

from faqsvc_embed.cache.entries import Key
from faqsvc_embed.cache.stored import Copy
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.runtime.steps import SHORT, Steps, finished, in_short_steps

if sys.platform != "win32":
    import fcntl

POLL: Final = 0.02
"""Seconds between two looks at a lease that another process holds."""
OF_ONE_FILE: Final = (errno.EACCES, errno.EPERM, errno.ELOOP, errno.ENXIO, errno.ENAMETOOLONG)
"""What is wrong with one file says nothing of the others."""
ABANDONED: Final = 3600
"""Seconds after which a file that was being written has lost its writer."""

_PLAIN = re.compile(r"[a-z0-9][a-z0-9_-]{0,59}", re.ASCII)
_UNREADABLE = re.compile(r"[^A-Za-z0-9_-]+", re.ASCII)


class DirectoryStore:
    """Keeps each copy in a file of its own, written whole or not at all, readable by its owner only."""

    is_shared = False

    def __init__(self, directory: str | os.PathLike[str], base_url: str, max_bytes: int) -> None:
        self.directory = Path(directory).expanduser().absolute()
        self._base_url = base_url
        self._service = _digest(base_url)
        self._longest = 4 * max_bytes + 65_536  # indented for review, a record takes more room
        self._leases = set[int]()
        self._swept = False

    def path(self, key: Key) -> Path:
        """Return the file of a copy, such as `pricing.ko.5d41402abc4b.json`; the digest is the service's."""
        name = key.slug
        if _PLAIN.fullmatch(name) is None:  # too long, or one that some file systems take for another's
            name = f"{_UNREADABLE.sub('-', name)[:40]}~{_digest(name)}"
        return self.directory / ".".join(filter(None, (name, key.lang, self._service, "json")))

    def prepare(self) -> None:
        """Nothing to import."""

    async def load(self, key: Key) -> Copy | None:
        """Read a copy as `read` does, in short steps."""
        return await in_short_steps(self._read_steps(key), pause=SHORT)

    def read(self, key: Key) -> Copy | None:
        """Read a copy; None if there is none.

        Raises:
            OSError: the file cannot be read.
            InvalidFAQ: it is damaged, edited, or another's.
        """
        return finished(self._read_steps(key))

    def _read_steps(self, key: Key) -> Steps[Copy | None]:
        path = self.path(key)
        text = self._content(path)
        if text is None:
            return None
        try:
            return (yield from Copy.from_json_steps(text, self._base_url, *key))
        except InvalidFAQ as error:
            raise InvalidFAQ(f"{str(path)!r}: {error}") from None

    def _content(self, path: Path) -> bytes | None:
        try:
            # Without blocking: where a pipe was put in the file's place, an open would wait for its writer.
            descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        except OSError as error:
            if error.errno in OF_ONE_FILE:
                raise InvalidFAQ(f"{str(path)!r}: {error.strerror}") from None
            raise
        try:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise InvalidFAQ(f"{str(path)!r}: no regular file")
            with open(descriptor, "rb", closefd=False) as file:
                text = file.read(self._longest + 1)
        finally:
            os.close(descriptor)
        if len(text) > self._longest:
            raise InvalidFAQ(f"{str(path)!r}: larger than {self._longest} bytes")
        return text

    async def save(self, key: Key, copy: Copy) -> None:
        """Write a copy in the place of the one before."""
        text = await in_short_steps(copy.to_json_steps(self._base_url), pause=SHORT)
        self._write({self.path(key): text})

    def write(self, copies: Mapping[Key, Copy]) -> list[Path]:
        """Write copies in the place of those before, and return their files; a reader sees old or new.

        Raises:
            OSError: one cannot be written; then none is.
        """
        texts = {self.path(key): copy.to_json(self._base_url) for key, copy in copies.items()}
        self._write(texts)
        return list(texts)

    def _write(self, texts: Mapping[Path, str]) -> None:
        self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._sweep()
        for path in texts:
            if path.is_dir():
                raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        written = list[tuple[str, Path]]()
        try:
            for path, text in texts.items():
                descriptor, name = tempfile.mkstemp(dir=self.directory, prefix=".", suffix=".tmp")  # 0600
                written.append((name, path))
                with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
                    file.write(text)
            for name, path in written:
                os.replace(name, path)
        except BaseException:
            for name, _ in written:
                with contextlib.suppress(OSError):
                    os.unlink(name)
            raise

    def _sweep(self) -> None:
        """Remove what writers left behind that were killed."""
        if self._swept:
            return
        self._swept = True
        for path in self.directory.glob(".*.tmp"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > ABANDONED:
                    path.unlink()

    async def drop(self, key: Key) -> None:
        """Remove one copy."""
        self.path(key).unlink(missing_ok=True)

    async def forget(self, slug: str | None) -> None:
        """Remove the copies of `slug` in all languages, or of every FAQ of this service."""
        if slug is not None:
            paths = [self.path(Key(slug, lang)) for lang in (None, *LANGUAGES)]
        else:
            paths = list(self.directory.glob(f"[!.]*.{self._service}.json"))
        for path in paths:
            path.unlink(missing_ok=True)

    @contextlib.asynccontextmanager
    async def lease(self, key: Key, patience: float) -> AsyncIterator[None]:
        """Be the only one of this machine to refresh `key`; after `patience` seconds, go without.

        The lock is the kernel's: it ends with the process, however that ends.
        """
        path = self.path(key).with_suffix(".lock")
        path = path.with_name(f".{path.name}")
        until = time.monotonic() + (0 if sys.platform == "win32" else patience)
        descriptor = self._lock(path)
        while descriptor is None and time.monotonic() < until:
            await asyncio.sleep(POLL)
            descriptor = self._lock(path)
        try:
            yield
        finally:
            if descriptor is not None:
                self._leases.discard(descriptor)
                with contextlib.suppress(OSError):
                    os.unlink(path)  # while it is locked: whoever locks it next sees that it is gone
                os.close(descriptor)

    def _lock(self, path: Path) -> int | None:
        """Return the descriptor that holds the lock; None if another does, or its file is just gone."""
        if sys.platform == "win32":
            return None  # without such locks, each process refreshes by itself
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except FileNotFoundError:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            return None
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink > 0:
                self._leases.add(descriptor)
                return descriptor
        except BlockingIOError:
            pass
        os.close(descriptor)
        return None

    def forked(self) -> None:
        """In a forked child: close the parent's leases here, or they would not end with the parent."""
        for descriptor in self._leases:
            with contextlib.suppress(OSError):
                os.close(descriptor)
        self._leases.clear()

    async def watch(self, forget: Callable[[str | None], None], missed: Callable[[], None]) -> None:
        """Nobody tells: on one machine, the others see a change when their copies expire."""

    async def aclose(self) -> None:
        """Nothing is open between calls."""


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]
