"""A file in which each process of a machine records which FAQs it has forgotten."""

import contextlib
import json
import os
import secrets
from pathlib import Path
from typing import Final

MAX_SIZE: Final = 65_536
"""Bytes after which a journal is replaced by a new one."""


class Journal:
    """Lines of JSON, each with a process and the slug that it forgot; null stands for all slugs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._former = path.with_name(f"{path.name}.old")
        self._file = 0
        self._position = 0
        self.after_fork()

    def after_fork(self) -> None:
        """In a forked child, treat the parent as another process."""
        self._process = secrets.token_hex(8)

    def append(self, slug: str | None) -> None:
        """Record that this process has forgotten a slug.

        Raises:
            OSError: the file cannot be written.
        """
        line = json.dumps({"from": self._process, "slug": slug}) + "\n"
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        # `faqsvc forget` may have run as another user, who then owns the file.
        if self._path.exists() and (
            self._path.stat().st_size > MAX_SIZE or not os.access(self._path, os.W_OK)
        ):
            with contextlib.suppress(FileNotFoundError):  # another process was faster
                self._path.replace(self._former)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        with open(descriptor, "wb") as file:
            file.write(line.encode())  # one write: lines of two processes do not mix

    def read(self) -> set[str | None]:
        """Return what other processes have forgotten since the last call."""
        try:
            with open(self._path, "rb") as file:
                status = os.fstat(file.fileno())
                lines = list[bytes]()
                if status.st_ino != self._file:
                    lines += self._rest_of_former()
                    self._file, self._position = status.st_ino, 0
                file.seek(self._position)
                lines += file.read().splitlines()
                self._position = file.tell()
        except OSError:  # other processes cannot use it either
            return set()
        return set[str | None]().union(*(self._slugs(line) for line in lines))

    def _rest_of_former(self) -> list[bytes]:
        """Return the lines that were added between the last `read` and the replacement of the journal."""
        try:
            with open(self._former, "rb") as file:
                if os.fstat(file.fileno()).st_ino != self._file:
                    return []
                file.seek(self._position)
                return file.read().splitlines()
        except OSError:
            return []

    def _slugs(self, line: bytes) -> set[str | None]:
        try:
            note = json.loads(line)
            process, slug = note["from"], note["slug"]
        except (ValueError, TypeError, KeyError):
            return set()
        return {slug} if process != self._process and (slug is None or isinstance(slug, str)) else set()
