"""A record of the service, its state on a page, and the interface of a source of records."""

import json
from collections.abc import Awaitable, Iterable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime
from operator import attrgetter
from typing import Any, Final, Literal, Protocol, Self, get_args

import msgspec
from msgspec.structs import force_setattr

from faqsvc_embed.errors import ConfigurationError, FAQError, InvalidFAQ, quoted
from faqsvc_embed.languages import is_language_tag
from faqsvc_embed.models import wire
from faqsvc_embed.models.items import Item, Origin, checked_text
from faqsvc_embed.models.parts import Part, Shown, may_link
from faqsvc_embed.text import clean_text

AnswerFormat = Literal["text", "markdown"]
ANSWER_FORMATS: Final[tuple[AnswerFormat, ...]] = get_args(AnswerFormat)
StateSource = Literal["memory", "store", "network", "none"]


class FAQ(msgspec.Struct, frozen=True, weakref=True, dict=True):
    """A published FAQ, as the read endpoint returns it.

    `items` are sorted by position. A `lang` that is not a language tag becomes None. A missing title or
    website name is empty. `cta` is any JSON value, for the host's own templates, copied when the record is
    made. Do not change it; `to_dict()` returns a copy. `answer_format` says how the answers are written:
    `text`, or `markdown` (CommonMark with tables). `website_url` is the website to which links such as
    `/contact` lead, and `page_url` is its page with the FAQ; a value that is not a URL becomes None.
    `introduction` is the text between the title and the first question, written as the answers are.

    Raises:
        InvalidFAQ: a value is of another type than stated here, `cta` is not a JSON value, or
            `answer_format` is neither of the two.
    """

    slug: str
    title: str = ""
    website_name: str = ""
    lang: str | None = None
    items: tuple[Item, ...] = ()
    cta: Any = None
    answer_format: AnswerFormat = "text"
    introduction: str | None = None
    website_url: str | None = None
    page_url: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.items, Iterable):
            raise InvalidFAQ(f"items is {quoted(self.items)}: Items are accepted", path="items")
        for index, item in enumerate(items := tuple(self.items)):
            if not isinstance(item, Item):
                raise InvalidFAQ(
                    f"items[{index}] is {type(item).__name__}, not Item; FAQ.from_dict() reads mappings",
                    path=f"items[{index}]",
                )
        force_setattr(self, "items", tuple(sorted(map(copy, items), key=attrgetter("position"))))
        for name in ("slug", "title", "website_name"):
            force_setattr(self, name, checked_text(name, getattr(self, name)))
        force_setattr(self, "lang", clean_text(self.lang or "") if is_language_tag(self.lang) else None)
        force_setattr(self, "website_url", wire.web_address(self.website_url))
        force_setattr(self, "page_url", wire.web_address(self.page_url))
        force_setattr(self, "introduction", checked_text("introduction", self.introduction or "") or None)
        force_setattr(self, "cta", wire.copied(self.cta))
        if self.answer_format not in ANSWER_FORMATS:
            found = quoted(self.answer_format)
            raise InvalidFAQ(f"answer_format is {found}: text or markdown is accepted", path="answerFormat")
        for item in self.items:
            force_setattr(item, "_origin", origin(self))

    @classmethod
    def from_dict(cls, record: Mapping[str, Any]) -> Self:
        """Read a record from a mapping with the wire's camelCase keys; unknown keys are ignored.

        Raises:
            InvalidFAQ: it is not an FAQ record; `path` names the invalid part.
        """
        return cls._from_wire(*wire.convert(record))

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Read a record from JSON, in UTF-8 if it is bytes; unknown keys are ignored.

        Raises:
            InvalidFAQ: it is not JSON, or not an FAQ record; `path` names the invalid part.
        """
        return cls._from_wire(*wire.decode(text))

    @classmethod
    def _from_wire(cls, record: wire.WireFAQ, cta: object) -> Self:
        items = tuple(
            Item(
                index if item.position is None else item.position,
                item.question,
                item.answer,
                wire.short_text(item.section, wire.MAX_SECTION),
                wire.item_id(item),
            )
            for index, item in enumerate(record.items)
        )
        answer_format = wire.short_text(record.answer_format, wire.MAX_SHORT)
        return cls(
            slug=record.slug,
            title=record.title or "",
            website_name=record.website_name or "",
            lang=wire.short_text(record.lang, wire.MAX_SHORT),
            items=items,
            cta=cta,
            answer_format="markdown" if answer_format == "markdown" else "text",
            website_url=wire.short_text(record.website_url, wire.MAX_URL),
            page_url=wire.short_text(record.page_url, wire.MAX_URL),
            introduction=wire.short_text(record.introduction, wire.MAX_INTRODUCTION),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the record with the wire's camelCase keys.

        A field that is None is left out, and so is `answerFormat` if it is `text`.
        """
        record: dict[str, Any] = {"slug": self.slug, "title": self.title, "websiteName": self.website_name}
        urls = {"websiteUrl": self.website_url, "pageUrl": self.page_url}
        optional = {"lang": self.lang, **urls, "introduction": self.introduction}
        record |= {name: value for name, value in optional.items() if value is not None}
        if self.answer_format != "text":
            record["answerFormat"] = self.answer_format
        record["items"] = [{"position": item.position, **item.to_fields()} for item in self.items]
        record["cta"] = wire.copied(self.cta)
        return record

    def to_json(self) -> str:
        """Return the record as JSON, with the wire's camelCase keys."""
        return json.dumps(self.to_dict(), ensure_ascii=False, separators=(",", ":"))

    def part(self, section: str | None = None, questions: Sequence[str] | None = None) -> "FAQ":
        """Return the questions of a section, whose title the part has, or those with these ids or texts, in
        that order; with both, those of the section. All keep the ids that they have in the whole FAQ.

        Raises:
            LookupError: there is no such section or question; the message says what is similar.
        """
        part, problems = part_of(self, Part.of(section, questions))
        if problems:
            raise LookupError(f"FAQ {quoted(self.slug)}: {'; '.join(problems)}")
        return part


def shown(faq: FAQ) -> Shown:
    """Return what an FAQ shows: its items in their order, with their anchors."""
    if "shown" not in vars(faq):  # no cached_property: that of Python 3.11 has a lock, which a child inherits
        vars(faq)["shown"] = Shown.of(faq.items)
    found: Shown = vars(faq)["shown"]
    return found


def origin(faq: FAQ) -> Origin:
    """Return the values that the HTML of all texts of an FAQ depends on."""
    if "origin" not in vars(faq):
        texts = [*(item.answer for item in faq.items), *filter(None, [faq.introduction])]
        links = shown(faq).links(faq.slug) if may_link(texts) else {}
        is_markdown = faq.answer_format == "markdown"
        vars(faq)["origin"] = Origin(faq.slug, texts, is_markdown, faq.website_url, links)
    found: Origin = vars(faq)["origin"]
    return found


def part_of(faq: FAQ, part: Part) -> tuple[FAQ, list[str]]:
    """Return a part of a record, and a problem for each section or question that the record lacks."""
    rows, problems = shown(faq).choose(part)
    items = tuple(Item(n, row.item.question, row.item.answer, id=row.name) for n, row in enumerate(rows))
    title = rows[0].item.section if part.section is not None and rows else None
    found = msgspec.structs.replace(faq, title=title or faq.title, items=items, introduction=None)
    vars(found)["shown"] = Shown.of(found.items)._replace(keys=tuple(row.key for row in rows))
    return found, problems


class FAQState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an FAQ at one moment: what `use_faq()` returns, as `useFAQ` does in JavaScript.

    It is a snapshot: a refresh that ends while a page is rendered changes nothing on that page. If `data` is
    None, there is nothing to render. `error` says why the last fetch failed; if there is also `data`,
    `is_degraded` is true.

    Raises:
        ConfigurationError: the values contradict each other.
    """

    data: FAQ | None = None
    error: FAQError | None = None
    is_fetching: bool = False
    """A fetch of this FAQ is running."""
    is_stale: bool = False
    """`data` is older than the source allows, or is a translation shown instead of the requested one."""
    is_degraded: bool = False
    """`data` is shown although the last fetch failed."""
    source: StateSource = "none"
    """Where `data` came from for this call; `network` only if this call waited for the response."""
    updated_at: datetime | None = None
    """When the source last confirmed `data`, in UTC."""
    lang_requested: str | None = None
    """The requested language; None requests the FAQ's own."""

    def __post_init__(self) -> None:
        if problem := self._contradiction():
            raise ConfigurationError(f"FAQState: {problem}")

    def _contradiction(self) -> str:
        if self.error is not None and self.is_fetching:
            return "error must be None while is_fetching is true"
        if self.updated_at is not None and self.updated_at.tzinfo is None:
            return "updated_at has no time zone; UTC is accepted"
        if self.data is not None:
            if self.is_degraded != (self.error is not None) and not self.is_fetching:
                return "with data, is_degraded must be true if there is an error, and false otherwise"
            is_fresh = not self.is_stale
            return "if is_degraded is true, is_stale must be true" if self.is_degraded and is_fresh else ""
        if self.error is None and not self.is_fetching:
            return "without data, set error, or set is_fetching to True"
        if self.is_stale or self.is_degraded or self.source != "none" or self.updated_at is not None:
            return "without data, is_stale and is_degraded must be false, source 'none' and updated_at None"
        return ""

    @property
    def is_loading(self) -> bool:
        """There is no data yet, and a fetch is running."""
        return self.data is None and self.is_fetching

    @property
    def lang_served(self) -> str | None:
        """The language of `data`, which may differ from the requested one."""
        return self.data.lang if self.data is not None else None

    @property
    def status(self) -> Literal["pending", "success", "error"]:
        """`success` if there is data, even if its refresh failed; else `error` or `pending`."""
        if self.data is not None:
            return "success"
        return "error" if self.error is not None else "pending"

    @property
    def is_refetch_error(self) -> bool:
        """There is data, and the last attempt to refresh it failed."""
        return self.data is not None and self.error is not None

    @property
    def age(self) -> float | None:
        """Seconds since the source last confirmed `data`, never negative."""
        since = self.updated_at
        return None if since is None else max(0.0, (datetime.now(UTC) - since).total_seconds())


class Source(Protocol):
    """The interface of a source, for a host that stores FAQs itself: in its database, or in a CMS.

    Caching, single flight, the last known good record, time budgets and languages work as with a service.
    The attribute `name`, by default the name of the class, separates its records in a store from others.
    """

    def get(self, slug: str, lang: str | None) -> FAQ | Awaitable[FAQ | None] | None:
        """Return an FAQ, or None if there is none; `lang` is None for its default language.

        It may be a coroutine function. A function is called in a thread of its own, and a coroutine runs in
        the package's event loop, never in the thread of a page. If the result for a language is None, the
        default language is requested. Each FAQ has one call at a time, which ends after `timeout` seconds.

        Raises:
            FAQGone: it was unpublished in all languages. Its record is no longer shown, as after None.
            FAQUnavailable: it cannot be read now. A cached record stays. Any other exception means the same.
        """
