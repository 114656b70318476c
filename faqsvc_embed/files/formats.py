"""The file formats, by ending: a reader turns text into a document, a writer turns a document into text."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from faqsvc_embed.errors import FAQError
from faqsvc_embed.files.data import read_csv, read_json, read_toml, read_yaml, write_json
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.markdown_reader import read_markdown
from faqsvc_embed.files.markdown_writer import write_markdown

Reader = Callable[[str], Document]
"""Takes text whose lines end in `\\n`; raises ValueError that says what is wrong and where."""
Writer = Callable[[Document], str]

READERS: Final[dict[str, Reader]] = {
    ".json": read_json,
    ".jsonld": read_json,
    ".yaml": read_yaml,
    ".yml": read_yaml,
    ".toml": read_toml,
    ".csv": read_csv,
    ".tsv": read_csv,
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".mdx": read_markdown,
}
WRITERS: Final[dict[str, Writer]] = {".json": write_json, ".md": write_markdown}

MAX_FILE: Final = 10_000_000
"""Maximum bytes of a file: ten times the largest body that may be published."""


class UnreadableFile(FAQError, ValueError):
    """A file is not in the format that its ending names."""


def read_file(path: str | Path, max_bytes: int = MAX_FILE) -> Document:
    """Return the FAQ in a file of at most `max_bytes`.

    Raises:
        UnreadableFile: the ending is unknown, or the content is not in that format.
        OSError: the file cannot be read.
    """
    ending = Path(path).suffix.lower()
    if ending not in READERS:
        hint = f"; `faqsvc extract {path}` prints HTML as Markdown" if ending in (".html", ".htm") else ""
        raise UnreadableFile(f"{path}: unknown file type; use one of {', '.join(READERS)}{hint}")
    with open(path, "rb") as file:
        content = file.read(max_bytes + 1)
    if len(content) > max_bytes:
        raise UnreadableFile(f"{path}: larger than the limit of {max_bytes} bytes")
    try:
        return READERS[ending](decode(content))
    except RecursionError:
        raise UnreadableFile(f"{path}: nested too deeply") from None
    except ValueError as error:
        raise UnreadableFile(f"{path}: {error}") from None


def decode(content: bytes) -> str:
    """Return the text of a file in UTF-8, or in UTF-16 with a byte order mark.

    Raises:
        ValueError: it is in another encoding.
    """
    try:
        # Spreadsheets save "Unicode text" as UTF-16 with a byte order mark.
        is_utf_16 = content[:2] in (b"\xff\xfe", b"\xfe\xff")
        text = content.decode("utf-16" if is_utf_16 else "utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise ValueError(f"line {line}: not UTF-8: save the file as UTF-8") from None
    return text.replace("\r\n", "\n").replace("\r", "\n")
