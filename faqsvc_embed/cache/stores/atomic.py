"""Writes files atomically: a reader sees the old or the new content, and never a part."""

import contextlib
import errno
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

TEMPORARY: Final = ".faqsvc-"
"""The prefix of the names of temporary files."""


def write_atomically(texts: Mapping[Path, str], mode: int = 0o600) -> None:
    """Write files atomically: a reader of each file sees the old or the new content.

    Raises:
        OSError: a file cannot be written; then none is changed.
    """
    for path in texts:
        if path.is_dir():
            raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    written = list[tuple[str, Path]]()
    try:
        for path, text in texts.items():
            descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=TEMPORARY)
            written.append((name, path))
            with open(descriptor, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
            os.chmod(name, mode)
        for name, path in written:
            os.replace(name, path)
    except BaseException:
        for name, _ in written:
            with contextlib.suppress(OSError):
                os.unlink(name)
        raise


def write_readable(texts: Mapping[Path, str]) -> None:
    """Write files, as `write_atomically` does, with the permissions of the umask."""
    umask = os.umask(0)
    os.umask(umask)
    write_atomically(texts, mode=0o666 & ~umask)
