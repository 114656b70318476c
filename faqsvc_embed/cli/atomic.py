"""Writes files atomically: a reader sees the old or the new content, and never a part."""

import contextlib
import errno
import os
import secrets
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path


@contextlib.contextmanager
def replacing(path: Path, mode: int = 0o600) -> Iterator[Path]:
    """Lend a temporary file, which replaces `path` when the block ends, or is deleted if the block fails.

    Raises:
        OSError: a file cannot be written; the error names `path`.
    """
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "not a regular file", str(path))
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


def write_atomically(texts: Mapping[Path, str]) -> None:
    """Write files atomically: a reader of each file sees the old or the new content.

    A file that exists keeps its permissions, and symbolic links to it stay. A new file has the permissions
    of the umask.

    Raises:
        OSError: a file cannot be written; then none is changed.
    """
    umask = os.umask(0)
    os.umask(umask)
    with contextlib.ExitStack() as stack:
        for path, text in texts.items():
            target, mode = Path(os.path.realpath(path)), 0o666 & ~umask
            with contextlib.suppress(FileNotFoundError):
                mode = stat.S_IMODE(target.stat().st_mode)
            temporary = stack.enter_context(replacing(target, mode))
            temporary.write_text(text, encoding="utf-8", newline="\n")
