"""Records in a wrong character encoding or a broken content coding."""

import gzip
import zlib
from collections.abc import Iterator
from typing import Final

from tests.support.faults.behaviours import rewritten
from tests.support.faults.exchange import Behaviour
from tests.support.faults.kinds import Fault

_GZIP: Final = {"Content-Encoding": "gzip"}


def _in_title(data: bytes) -> Behaviour:
    return rewritten(lambda record: record.replace(b'"title": "', b'"title": "' + data))


def _characters() -> Iterator[Fault]:
    yield Fault("invalid UTF-8", _in_title(b"\xff\xfe"))
    yield Fault("surrogate in UTF-8", _in_title(b"\xed\xa0\x80"))
    yield Fault("control character in a string", _in_title(b"\x01"))
    yield Fault("UTF-16", rewritten(lambda record: record.decode().encode("utf-16")))
    yield Fault("UTF-32", rewritten(lambda record: record.decode().encode("utf-32")))


def _codings() -> Iterator[Fault]:
    yield Fault("broken gzip", rewritten(lambda record: gzip.compress(record)[:-40], _GZIP))
    yield Fault("gzip without its end", rewritten(lambda record: gzip.compress(record)[:-4], _GZIP))
    yield Fault("gzip with a wrong checksum", rewritten(lambda r: gzip.compress(r)[:-8] + b"\0" * 8, _GZIP))
    yield Fault("gzip of nothing", rewritten(lambda record: gzip.compress(b""), _GZIP))
    yield Fault("gzip twice", rewritten(lambda record: gzip.compress(gzip.compress(record)), _GZIP))
    yield Fault("plain body labelled as gzip", rewritten(lambda record: record, _GZIP))
    yield Fault("gzip without Content-Encoding", rewritten(gzip.compress))
    yield Fault("deflate", rewritten(zlib.compress, {"Content-Encoding": "deflate"}))
    for coding in ("br", "zstd", "gzip, gzip", "x" * 5000):
        yield Fault(
            f"content coding {coding[:20]}",
            rewritten(lambda record: b"\x0b\x02\x80{}\x03" + record, {"Content-Encoding": coding}),
        )


ENCODINGS: Final = [*_characters(), *_codings()]
"""Records in a wrong or broken encoding."""
