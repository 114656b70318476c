"""Writes files atomically: a reader sees the old or the new content, and never a part."""

import contextlib
import errno
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """Lend a temporary file, which replaces `path` when the block ends, or is deleted if the block fails.

    Raises:
        OSError: a file cannot be written; the error names `path`.
    """
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    temporary = path.with_name(f".faqsvc-{secrets.token_hex(8)}")
    try:
        temporary.touch(mode=0o600, exist_ok=False)
        yield temporary
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError) and error.filename in (None, str(temporary)):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise


def write_atomically(texts: Mapping[Path, str], mode: int = 0o600) -> None:
    """Write files atomically: a reader of each file sees the old or the new content.

    Raises:
        OSError: a file cannot be written; then none is changed.
    """
    with contextlib.ExitStack() as stack:
        for path, text in texts.items():
            temporary = stack.enter_context(replacing(path, mode))
            temporary.write_text(text, encoding="utf-8", newline="\n")


def write_readable(texts: Mapping[Path, str]) -> None:
    """Write files, as `write_atomically` does, with the permissions of the umask."""
    umask = os.umask(0)
    os.umask(umask)
    write_atomically(texts, mode=0o666 & ~umask)
