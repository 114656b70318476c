"""A copy of an FAQ as it outlives the process: one JSON document, checked when it is read."""

import hashlib
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Final

import msgspec

from faqsvc_embed.api.reading import Validators
from faqsvc_embed.errors import InvalidFAQ
from faqsvc_embed.models import FAQ
from faqsvc_embed.runtime.steps import Steps, finished

FORM: Final = "faqsvc-copy/1"
DIGEST: Final = '  "digest": '
"""What the last line begins with; it vouches for all lines before it."""


class Copy(msgspec.Struct, frozen=True):
    """A record, what the service said of its reuse, and when the service last confirmed it."""

    faq: FAQ
    lang: str | None
    """The language that was asked for, which may differ from the record's."""
    confirmed_at: datetime
    """In UTC, by the clock of the machine that asked."""
    fresh_for: float
    """Seconds after `confirmed_at` in which nobody needs to ask again."""
    validators: Validators = Validators()
    must_revalidate: bool = False
    lifetime: float | None = None
    """Seconds that the service said; what it says nothing of in confirming the copy again, holds on."""

    def to_json(self, base_url: str) -> str:
        """Return the document, in lines that can be reviewed; `base_url` names the service it came from."""
        return finished(self.to_json_steps(base_url))

    def to_json_steps(self, base_url: str) -> Steps[str]:
        """Write as `to_json` does, an item at a time."""
        lines = list[str]()
        for line in self._lines(base_url):
            lines.append(line)
            yield
        text = "".join(lines)
        return f'{text}{DIGEST}"{_digest(text.encode())}"\n}}\n'

    def _lines(self, base_url: str) -> Iterator[str]:
        faq = self.faq
        yield "{\n"
        yield f'  "form": {_json(FORM)},\n'
        yield f'  "baseUrl": {_json(base_url)},\n'
        yield f'  "slug": {_json(faq.slug)},\n'
        yield f'  "lang": {_json(self.lang)},\n'
        yield f'  "confirmedAt": {_json(self.confirmed_at.isoformat())},\n'
        yield f'  "freshFor": {_json(self.fresh_for)},\n'
        yield f'  "mustRevalidate": {_json(self.must_revalidate)},\n'
        yield f'  "lifetime": {_json(self.lifetime)},\n'
        yield f'  "etag": {_json(self.validators.etag)},\n'
        yield f'  "lastModified": {_json(self.validators.last_modified)},\n'
        yield '  "faq": {\n'
        yield f'    "slug": {_json(faq.slug)},\n'
        yield f'    "title": {_json(faq.title)},\n'
        yield f'    "websiteName": {_json(faq.website_name)},\n'
        yield f'    "lang": {_json(faq.lang)},\n'
        yield f'    "cta": {_encodable(_json(faq.cta))},\n'
        yield '    "items": ['
        comma = ""
        for item in faq.items:
            yield f'{comma}\n      {{"position": {item.position},\n'
            yield f'       "question": {_json(item.question)},\n'
            yield f'       "answer": {_json(item.answer)}}}'
            comma = ","
        yield "\n    ]\n  },\n"

    @classmethod
    def from_json(cls, text: bytes, base_url: str, slug: str, lang: str | None) -> "Copy":
        """Read the document of one FAQ.

        Raises:
            InvalidFAQ: it is cut off, was changed by hand, or is another's; the message says which.
        """
        return finished(cls.from_json_steps(text, base_url, slug, lang))

    @classmethod
    def from_json_steps(cls, text: bytes, base_url: str, slug: str, lang: str | None) -> Steps["Copy"]:
        """Read as `from_json` does, an item at a time."""
        try:
            document = msgspec.json.decode(text, type=_Document)
        except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
            raise InvalidFAQ(f"no document of the form {FORM!r}: {error}") from None
        if document.form != FORM:
            raise InvalidFAQ(f"its form is {document.form[:40]!r}, not {FORM!r}")
        # Git may have given it other line ends; inside its texts there are none.
        signed = text.replace(b"\r\n", b"\n").rpartition(DIGEST.encode())[0]
        if document.digest != _digest(signed):
            raise InvalidFAQ("it was changed by hand, or damaged: its digest does not fit")
        whose = (document.base_url, document.slug, document.lang)
        if whose != (base_url, slug, lang):
            raise InvalidFAQ(f"it is the copy of another FAQ: {whose!r}")
        yield
        faq = yield from FAQ.json_steps(bytes(document.faq))
        if faq.slug != slug:
            raise InvalidFAQ(f"it holds the record of {faq.slug!r}")
        return cls(
            faq,
            lang,
            document.confirmed_at.astimezone(UTC),
            document.fresh_for,
            Validators(document.etag, document.last_modified),
            document.must_revalidate,
            document.lifetime,
        )


class _Document(msgspec.Struct, rename="camel"):
    form: str
    base_url: str
    slug: str
    lang: str | None
    confirmed_at: datetime
    fresh_for: float
    must_revalidate: bool
    etag: str | None
    last_modified: str | None
    faq: msgspec.Raw
    digest: str
    lifetime: float | None = None


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _encodable(text: str) -> str:
    """Replace lone surrogates with U+FFFD, as a record does with all but its `cta`."""
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _digest(text: bytes) -> str:
    return f"sha256:{hashlib.sha256(text).hexdigest()}"
