"""The list of the FAQs of a site, by search, language and state, and the translations of one."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, NamedTuple

from sqlalchemy import Select, func, select

from faqsvc_embed.api.contract import State
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.faq_cursor import FAQCursor
from faqsvc_embed.service.storage.revisions import (
    AUTHOR,
    HAS_REVISIONS,
    NEWEST,
    STATE_COLUMNS,
    is_draft,
    seen_of,
    tag_of,
    translation_state,
    with_author,
)
from faqsvc_embed.service.storage.schema import faqs, revisions, translations
from faqsvc_embed.service.storage.values import HIDDEN, Access, check_owner, default_first, folded

_ORDER: Final = (faqs.c.updated_at.desc(), faqs.c.slug.desc())


class TranslationInfo(NamedTuple):
    """A translation of an FAQ, with the number, title and entity tag of its newest revision.

    `published` is the number of the published revision, if there is one. `seen` changes whenever it is
    written, published or unpublished (`Preconditions`).
    """

    lang: Lang
    newest: int
    published: int | None
    changed_at: datetime
    title: str
    state: State
    has_draft: bool
    tag: str
    seen: str
    withdrawn_at: datetime | None
    binned_at: datetime | None
    translated_from: int | None
    author: str | None


class FAQInfo(NamedTuple):
    """An FAQ with its translations, the default language first."""

    slug: str
    lang: Lang
    state: State
    updated_at: datetime
    translations: tuple[TranslationInfo, ...]

    @property
    def title(self) -> str:
        """The title of the newest revision in the default language."""
        return self.translations[0].title

    @property
    def languages(self) -> list[Lang]:
        """The languages without unpublished translations, unless all are unpublished."""
        every = [one.lang for one in self.translations]
        return [one.lang for one in self.translations if one.state != "unpublished" or one.has_draft] or every

    @property
    def changed_by(self) -> str | None:
        """The author of the latest revision of the FAQ; None for the operator."""
        return max(self.translations, key=lambda translation: translation.changed_at).author

    @property
    def has_draft(self) -> bool:
        """Whether the newest revision of a translation is a draft."""
        return any(translation.has_draft for translation in self.translations)

    def translation(self, lang: str) -> TranslationInfo | None:
        """Return the translation in a language, or None."""
        return next((translation for translation in self.translations if translation.lang == lang), None)

    @property
    def unpublished_last(self) -> list[Lang]:
        """The languages that were unpublished last, in one step; they can be restored."""
        times = [one.withdrawn_at for one in self.translations if one.withdrawn_at is not None]
        return [one.lang for one in self.translations if times and one.withdrawn_at == max(times)]

    def is_outdated(self, translation: TranslationInfo) -> bool:
        """Return whether the default language has changed since a translation was made from it."""
        default = self.translations[0]
        if translation.translated_from is None or translation.lang == default.lang:
            return translation.changed_at < default.changed_at
        return translation.translated_from < default.newest


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The FAQs to list. All words of `search` must be in one newest revision; None and "" mean any.

    The state `draft` selects every FAQ with a draft, published or not. `binned` selects FAQs with a
    translation in the bin, and lists only those translations.
    """

    search: str = ""
    lang: Lang | None = None
    state: State | None = None

    @property
    def is_bin(self) -> bool:
        """Whether translations in the bin are listed."""
        return self.state == "binned"


class Overview:
    """The FAQs of sites, for their owners."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def faqs(self, site: str, wanted: Filter = Filter(), *, limit: int, offset: int = 0) -> list[FAQInfo]:
        """Return up to `limit` FAQs of a site after the first `offset`, the last changed first."""
        query = _select(site, wanted).order_by(*_ORDER).limit(limit).offset(offset)
        return self._with_translations(query, binned=wanted.is_bin)[0]

    def count(self, site: str, wanted: Filter = Filter()) -> int:
        """Return how many FAQs of a site match a filter."""
        query = _select(site, wanted).with_only_columns(func.count())
        with self._database.reading() as connection:
            return connection.scalar(query) or 0

    def published_languages(self, site: str) -> list[Lang]:
        """Return the languages in which an FAQ of the site is published."""
        query = select(translations.c.lang).join(faqs, faqs.c.slug == translations.c.slug)
        query = query.where(faqs.c.site == site, translations.c.published.is_not(None)).distinct()
        with self._database.reading() as connection:
            return sorted(connection.scalars(query), key=LANGUAGES.index)

    def page(
        self, site: str, wanted: Filter = Filter(), *, limit: int, after: str | None = None
    ) -> tuple[list[FAQInfo], str | None]:
        """Return FAQs after a cursor, and the cursor of the next page; None at the end.

        The last changed come first. The FAQs that were changed meanwhile follow after the last page.

        Raises:
            InvalidCursor: `after` is not a cursor.
        """
        cursor = FAQCursor.decode(after)
        query = _select(site, wanted)
        page = query.where(*cursor.conditions()).order_by(*_ORDER).limit(limit + 1)
        found, rows = self._with_translations(page, binned=wanted.is_bin)
        cursor = cursor.on_first_page(rows[0].updated_at if rows else None)
        with self._database.reading() as connection:
            newest = connection.scalar(query.with_only_columns(func.max(faqs.c.updated_at)))
        if len(rows) > limit:
            last = rows[limit - 1]
            kept = {row.slug for row in rows[:limit]}
            return [faq for faq in found if faq.slug in kept], cursor.behind(
                last.updated_at, last.slug
            ).encode()
        if newest is not None and rows and newest > cursor.began:
            return found, cursor.again().encode()
        return found, None

    def faq(self, access: Access, slug: str) -> FAQInfo:
        """Return an FAQ of the site.

        Raises:
            FAQNotFound: the site has none with this slug.
            NotYourSite: it belongs to another site.
        """
        query = select(faqs).where(faqs.c.slug == slug)
        with self._database.reading() as connection:
            row = check_owner(connection.execute(query).first(), access, slug)
        found = [] if row.state in HIDDEN else self._with_translations(query, binned=False)[0]
        if not found:
            raise FAQNotFound(f"No FAQ has the slug {quoted(slug)}")
        return found[0]

    def binned(self, access: Access, slug: str) -> FAQInfo | None:
        """Return the translations of an FAQ of the site that are in the bin; None if there are none."""
        query = select(faqs).where(faqs.c.slug == slug, faqs.c.site == access.site)
        return next(iter(self._with_translations(query, binned=True)[0]), None)

    def sealed(self, site: str) -> list[tuple[str, Lang | None]]:
        """Return the slugs that were purged for ever, each with the language if only one translation was."""
        whole = select(faqs.c.slug).where(faqs.c.site == site, faqs.c.sealed)
        parts = select(translations.c.slug, translations.c.lang).join(
            faqs, faqs.c.slug == translations.c.slug
        )
        with self._database.reading() as connection:
            found: list[tuple[str, Lang | None]] = [(slug, None) for slug in connection.scalars(whole)]
            rows = connection.execute(parts.where(faqs.c.site == site, ~HAS_REVISIONS))
            return sorted([*found, *((row.slug, row.lang) for row in rows)], key=str)

    def _with_translations(self, query: Select[Any], *, binned: bool) -> tuple[list[FAQInfo], list[Any]]:
        """Return the FAQs of a query with their translations, and its rows."""
        of_translation = (translations.c.slug, translations.c.lang, translations.c.withdrawn_at)
        columns = (*of_translation, translations.c.translated_from, revisions.c.created_at, revisions.c.title)
        in_bin = translations.c.binned_at.is_not(None) if binned else translations.c.binned_at.is_(None)
        found = dict[str, dict[Lang, TranslationInfo]]()
        with self._database.reading() as connection:
            rows = list(connection.execute(query))
            slugs = [row.slug for row in rows]
            of_faqs = with_author(select(*columns, *STATE_COLUMNS, AUTHOR).join(revisions, NEWEST))
            for row in connection.execute(of_faqs.where(translations.c.slug.in_(slugs), in_bin)):
                found.setdefault(row.slug, {})[row.lang] = _translation(row)
        infos = [
            FAQInfo(
                row.slug,
                row.lang,
                row.state,
                row.updated_at,
                tuple(found[row.slug][lang] for lang in default_first(found[row.slug], row.lang)),
            )
            for row in rows
            if row.lang in found.get(row.slug, {}) or (binned and row.slug in found)  # not just purged
        ]
        return infos, rows


def _translation(row: Any) -> TranslationInfo:
    return TranslationInfo(
        lang=row.lang,
        newest=row.newest,
        published=row.published,
        changed_at=row.created_at,
        title=row.title,
        state=translation_state(row),
        has_draft=is_draft(row),
        tag=tag_of(row),
        seen=seen_of(row),
        withdrawn_at=row.withdrawn_at,
        binned_at=row.binned_at,
        translated_from=row.translated_from,
        author=row.author,
    )


def _select(site: str, wanted: Filter) -> Select[Any]:
    """Select the rows of the FAQs that match a filter."""
    query = select(faqs).where(faqs.c.site == site)
    if not wanted.is_bin:
        query = query.where(faqs.c.state.not_in(HIDDEN))
    if wanted.state in ("published", "unpublished"):
        query = query.where(faqs.c.state == wanted.state)
    if wanted.state in ("draft", "binned") or wanted.lang or wanted.search:
        query = query.where(faqs.c.slug.in_(_matching(site, wanted)))
    return query


def _matching(site: str, wanted: Filter) -> Select[tuple[str]]:
    query = select(translations.c.slug).join(faqs, faqs.c.slug == translations.c.slug)
    query = query.where(faqs.c.site == site)
    if wanted.is_bin:
        query = query.where(translations.c.binned_at.is_not(None), HAS_REVISIONS)
    else:
        query = query.where(translations.c.binned_at.is_(None))
    if wanted.state == "draft":
        query = query.join(revisions, NEWEST).where(revisions.c.published_at.is_(None))
    if wanted.lang:
        query = query.where(translations.c.lang == wanted.lang)
    for word in folded(wanted.search).split():
        query = query.where(translations.c.search_text.contains(word, autoescape=True))
    return query
