"""The list of the FAQs of a site, by search, language and state, and the translations of one."""

from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final, NamedTuple, Self

from sqlalchemy import (
    ColumnElement,
    Connection,
    Row,
    Select,
    and_,
    false,
    func,
    literal_column,
    select,
    tuple_,
)

from faqsvc_embed.api.contract import State
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.storage.database import StoragePart, paged
from faqsvc_embed.service.storage.errors import InvalidCursor
from faqsvc_embed.service.storage.reading import HAS_REVISIONS, NEWEST, select_revisions
from faqsvc_embed.service.storage.schema import faqs, sites, translations
from faqsvc_embed.service.storage.trigrams import find_with_trigrams
from faqsvc_embed.service.storage.values import HIDDEN, Access, Revision, check_present, folded, storable

MAX_READ: Final = 1000
"""Maximum number of FAQs that are read to find the languages of a site."""
MAX_SEARCH: Final = 200
"""Characters of a search that are used."""
_PLACE: Final = (faqs.c.updated_at, faqs.c.slug)
_ORDER: Final = tuple(column.desc() for column in _PLACE)
_LATE: Final = (faqs.c.slug,)
"""The order of the FAQs that were changed since a reader has begun with the list."""


class FAQInfo(NamedTuple):
    """An FAQ with the newest revisions of its translations, the default language first."""

    slug: str
    lang: Lang
    state: State
    updated_at: datetime
    translations: tuple[Revision, ...]

    @property
    def title(self) -> str:
        """The title of the newest revision in the default language."""
        return self.translations[0].title

    @property
    def languages(self) -> list[Lang]:
        """The languages without unpublished translations, unless all are unpublished."""
        kept = [one for one in self.translations if one.is_draft or one.translation_state != "unpublished"]
        return [one.lang for one in kept or self.translations]

    @property
    def changed_by(self) -> str | None:
        """The author of the latest revision of the FAQ; None for the operator."""
        return max(self.translations, key=lambda translation: translation.created_at).author

    @property
    def has_draft(self) -> bool:
        """Whether the newest revision of a translation is a draft."""
        return any(translation.is_draft for translation in self.translations)

    def translation(self, lang: str) -> Revision | None:
        """Return the newest revision in a language, or None."""
        return next((translation for translation in self.translations if translation.lang == lang), None)

    @property
    def unpublished_last(self) -> list[Lang]:
        """The languages that were unpublished last, in one step; they can be restored."""
        times = [one.withdrawn_at for one in self.translations if one.withdrawn_at is not None]
        return [one.lang for one in self.translations if times and one.withdrawn_at == max(times)]

    def is_outdated(self, translation: Revision) -> bool:
        """Return whether the default language has changed since a translation was made from it."""
        default = self.translations[0]
        if translation.translated_from is None or translation.lang == default.lang:
            return translation.created_at < default.created_at
        return translation.translated_from < default.newest


class FAQCursor(NamedTuple):
    """The place after an FAQ in a list; `began` is the time of the newest change when the list began.

    An FAQ that changes between two pages moves to the beginning of the list, where a reader may be past it.
    So the list ends with the FAQs that were changed since `began`, by slug; their cursors have no
    `updated_at`. An FAQ may therefore appear twice, but not more often.
    """

    began: datetime
    slug: str
    updated_at: datetime | None = None

    @classmethod
    def decode(cls, cursor: str) -> Self:
        """Read a cursor. Raises InvalidCursor."""
        try:
            began, updated_at, slug = urlsafe_b64decode(cursor.encode()).decode().split(" ", 2)
            return cls(_time(began), storable(slug), _time(updated_at) if updated_at else None)
        except ValueError:
            raise InvalidCursor from None

    def follows(self) -> ColumnElement[bool]:
        """Match the FAQs after this place."""
        if self.updated_at is None:
            return and_(faqs.c.updated_at > self.began, faqs.c.slug > self.slug)
        return and_(faqs.c.updated_at <= self.began, tuple_(*_PLACE) < (self.updated_at, self.slug))

    def __str__(self) -> str:
        changed = "" if self.updated_at is None else self.updated_at.isoformat()
        return urlsafe_b64encode(f"{self.began.isoformat()} {changed} {self.slug}".encode()).decode()


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The FAQs to list. All words of `search` must be in one newest revision; None and "" mean any.

    The state `draft` selects every FAQ with a draft, published or not. `binned` selects FAQs with a
    translation in the bin, and lists only those translations.
    """

    search: str = ""
    lang: Lang | None = None
    state: State | None = None


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


class Overview(StoragePart):
    """The FAQs of sites, for their owners."""

    def published_languages(self, site: str) -> list[Lang]:
        """Return the languages of the published FAQs of a site, of those that changed last."""
        published = select(faqs.c.slug).where(faqs.c.site == site, faqs.c.state == "published")
        last = published.order_by(*_ORDER).limit(MAX_READ).subquery()
        query = select(translations.c.lang).join(last, last.c.slug == translations.c.slug)
        query = query.where(translations.c.published.is_not(None)).distinct()
        return sorted((row.lang for row in self._rows(query)), key=LANGUAGES.index)

    def page(
        self, site: str, wanted: Filter = Filter(), *, limit: int, after: str | None = None
    ) -> tuple[list[FAQInfo], str | None]:
        """Return FAQs after a cursor, and the cursor of the next page; None at the end.

        The last changed come first. FAQs that were changed since the first page come at the end.
        """
        cursor = None if after is None else FAQCursor.decode(after)
        is_late = cursor is not None and cursor.updated_at is None
        with self._database.reading() as connection:
            query = self._select(connection, site, wanted)
            page = query if cursor is None else query.where(cursor.follows())
            order = _LATE if is_late else _ORDER
            rows = list(connection.execute(page.order_by(*order).limit(limit + 1)))
            ends_late = is_late or len(rows) < limit
            if cursor is not None and not is_late and len(rows) <= limit:
                changed = query.where(FAQCursor(cursor.began, "").follows()).order_by(*_LATE)
                rows += connection.execute(changed.limit(limit + 1 - len(rows)))
            found = _with_translations(connection, rows[:limit], binned=wanted.state == "binned")

        def place(row: Row[Any]) -> FAQCursor:
            # If a wrong clock has written a later time, the changes that follow have earlier ones.
            began = min(rows[0].updated_at, self._clock()) if cursor is None else cursor.began
            return FAQCursor(began, row.slug, None if ends_late else row.updated_at)

        return found, paged(rows, limit, place)[1]

    def faq(self, access: Access, slug: str) -> FAQInfo:
        """Return an FAQ of the site. Raises what `check_present` raises."""
        with self._database.reading() as connection:
            row = connection.execute(select(faqs).where(faqs.c.slug == slug)).first()
            found = _with_translations(connection, [check_present(row, access, slug)], binned=False)
        if not found:
            raise FAQNotFound(f"No FAQ has the slug {quoted(slug)}")
        return found[0]

    def binned(self, access: Access, slug: str) -> FAQInfo | None:
        """Return the translations of an FAQ of the site that are in the bin; None if there are none."""
        query = select(faqs).where(faqs.c.slug == slug, faqs.c.site == access.site)
        with self._database.reading() as connection:
            found = _with_translations(connection, connection.execute(query).all(), binned=True)
        return found[0] if found else None

    def blocked(self, site: str, limit: int) -> list[tuple[str, Lang | None]]:
        """Return up to `limit` FAQs and translations that were deleted for ever; an FAQ has no language."""
        whole = select(faqs.c.slug).where(faqs.c.site == site, faqs.c.state == "purged", faqs.c.sealed)
        parts = select(translations.c.slug, translations.c.lang).join(
            faqs, faqs.c.slug == translations.c.slug
        )
        # All sites together have few purged FAQs. With `coalesce`, the index of sites is not used.
        of_site = func.coalesce(faqs.c.site, "") == site
        parts = parts.where(of_site, translations.c.search_text == literal_column("''"))
        with self._database.reading() as connection:
            slugs = connection.scalars(whole.order_by(faqs.c.slug).limit(limit))
            found: list[tuple[str, Lang | None]] = [(slug, None) for slug in slugs]
            rows = connection.execute(parts.order_by(translations.c.slug).limit(limit))
            return sorted([*found, *((row.slug, row.lang) for row in rows)], key=str)[:limit]

    def _select(self, connection: Connection, site: str, wanted: Filter) -> Select[Any]:
        """Select the rows of the FAQs that match a filter."""
        query = select(faqs).where(faqs.c.site == site)
        if wanted.state in ("published", "unpublished"):
            query = query.where(faqs.c.state == wanted.state)
        elif wanted.state != "binned":
            query = query.where(faqs.c.state.not_in(HIDDEN))
        if wanted.state in ("draft", "binned") or wanted.lang or wanted.search:
            matching = self._matching(wanted)
            if wanted.state == "binned" and self._is_smaller(connection, site):
                query = query.where(faqs.c.slug.in_(matching))
            else:
                query = query.where(matching.where(translations.c.slug == faqs.c.slug).exists())
        if (found := find_with_trigrams(connection, site, _words(wanted))) is not None:
            # For an empty list, the database would read all FAQs of the site; for `false()`, it reads none.
            query = query.where(faqs.c.slug.in_(found) if found else false())
        return query

    def _is_smaller(self, connection: Connection, site: str) -> bool:
        """Return whether the bin of all sites is smaller than a site, and so read instead of it.

        PostgreSQL finds out by itself.
        """
        size = select(func.coalesce(func.max(sites.c.faq_count), 0)).where(sites.c.id == site)
        binned = select(translations.c.slug).where(translations.c.binned_at.is_not(None))
        some = binned.limit(size.scalar_subquery()).subquery()
        smaller = select(func.count() < size.scalar_subquery()).select_from(some)
        return self._database.is_sqlite and bool(connection.scalar(smaller))

    def _matching(self, wanted: Filter) -> Select[Any]:
        """Select the slugs of the translations that a filter wants."""
        columns = translations.c
        conditions: list[ColumnElement[bool]] = []
        if wanted.state == "binned":
            conditions += [columns.binned_at.is_not(None), HAS_REVISIONS]
        else:
            conditions.append(columns.binned_at.is_(None))
        if wanted.state == "draft":
            conditions.append(columns.newest != func.coalesce(columns.published, columns.withdrawn, 0))
        if wanted.lang:
            conditions.append(columns.lang == wanted.lang)
        # Several times as fast as LIKE, for which PostgreSQL would use the index of trigrams of all sites.
        find = func.instr if self._database.is_sqlite else func.strpos
        conditions += [find(columns.search_text, word) > 0 for word in _words(wanted)]
        return select(columns.slug).where(*conditions)


def _with_translations(connection: Connection, rows: Sequence[Row[Any]], *, binned: bool) -> list[FAQInfo]:
    """Return the FAQs in some rows with their translations: those in the bin, or the others."""
    if not rows:
        return []
    in_bin = translations.c.binned_at.is_not(None) if binned else translations.c.binned_at.is_(None)
    mine = translations.c.slug.in_([row.slug for row in rows])
    found = dict[str, dict[str, Revision]]()
    for row in connection.execute(select_revisions(mine, in_bin, NEWEST, has_record=False)):
        found.setdefault(row.slug, {})[row.lang] = Revision(*row)
    infos = list[FAQInfo]()
    for faq in rows:
        every = found.get(faq.slug, {})
        if faq.lang in every or (binned and every):  # otherwise it was purged in this moment
            ordered = [every[lang] for lang in dict.fromkeys((faq.lang, *LANGUAGES)) if lang in every]
            infos.append(FAQInfo(faq.slug, faq.lang, faq.state, faq.updated_at, tuple(ordered)))
    return infos


def _words(wanted: Filter) -> list[str]:
    return list(dict.fromkeys(folded(wanted.search[:MAX_SEARCH]).split()))
