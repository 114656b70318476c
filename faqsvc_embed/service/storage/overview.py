"""Reads for the desk: the FAQs of a site by search, language and state, and the translations of one."""

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, cast

from sqlalchemy import Select, select

from faqsvc_embed.api.contract import State
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.errors import FAQNotFound, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.storage.database import Database
from faqsvc_embed.service.storage.revisions import NEWEST, seen_of
from faqsvc_embed.service.storage.schema import faqs, revisions, translations
from faqsvc_embed.service.storage.values import HIDDEN, Access, NotYourSite, default_first, folded


class TranslationInfo(NamedTuple):
    """A translation of an FAQ; `published` is the number of the published revision, if there is one.

    `seen` changes whenever it is written, published or unpublished (`Preconditions`).
    """

    lang: Lang
    newest: int
    published: int | None
    changed_at: datetime
    title: str
    seen: str

    @property
    def has_draft(self) -> bool:
        """Whether the newest revision is not the published one."""
        return self.newest != self.published


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

    def translation(self, lang: str) -> TranslationInfo | None:
        """Return the translation in a language, or None."""
        return next((translation for translation in self.translations if translation.lang == lang), None)

    def is_outdated(self, translation: TranslationInfo) -> bool:
        """Return whether a translation is older than the newest revision in the default language."""
        return translation.changed_at < self.translations[0].changed_at

    @property
    def has_outdated(self) -> bool:
        """Whether there is a translation older than the default language."""
        return any(map(self.is_outdated, self.translations))


@dataclass(frozen=True, slots=True, kw_only=True)
class Filter:
    """The FAQs to list. All words of `search` must be in one newest revision; an empty field means any."""

    search: str = ""
    lang: str = ""
    state: str = ""


class Overview:
    """The FAQs of sites, as the desk lists them."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def faqs(self, site: str, wanted: Filter, *, limit: int, offset: int = 0) -> list[FAQInfo]:
        """Return up to `limit` FAQs of a site after the first `offset`, the last changed first."""
        query = select(faqs).where(faqs.c.site == site, faqs.c.state.not_in(HIDDEN))
        if wanted.state:
            query = query.where(faqs.c.state == wanted.state)
        if wanted.lang or wanted.search:
            query = query.where(faqs.c.slug.in_(_matching(site, wanted)))
        order = (faqs.c.updated_at.desc(), faqs.c.slug.desc())
        return self._with_translations(query.order_by(*order).limit(limit).offset(offset))

    def faq(self, access: Access, slug: str) -> FAQInfo:
        """Return an FAQ of the site.

        Raises:
            FAQNotFound: the site has none with this slug.
            NotYourSite: it is published and belongs to another site.
        """
        with self._database.reading() as connection:
            row = connection.execute(select(faqs.c.site, faqs.c.state).where(faqs.c.slug == slug)).first()
        if row is not None and row.site != access.site and row.state == "published":
            raise NotYourSite(f"The FAQ {quoted(slug)} belongs to another site")
        found = self._with_translations(
            select(faqs).where(faqs.c.slug == slug, faqs.c.site == access.site, faqs.c.state.not_in(HIDDEN))
        )
        if not found:
            raise FAQNotFound(f"No FAQ has the slug {quoted(slug)}")
        return found[0]

    def _with_translations(self, query: Select[tuple[object, ...]]) -> list[FAQInfo]:
        keys = (translations.c.slug, translations.c.lang, translations.c.newest, translations.c.published)
        columns = (*keys, revisions.c.created_at, revisions.c.title, revisions.c.digest)
        found = dict[str, dict[Lang, TranslationInfo]]()
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
            slugs = [row.slug for row in rows]
            for row in connection.execute(
                select(*columns)
                .join(revisions, NEWEST)
                .where(translations.c.slug.in_(slugs), translations.c.binned_at.is_(None))
            ):
                fields = (row.lang, row.newest, row.published, row.created_at, row.title)
                found.setdefault(row.slug, {})[row.lang] = TranslationInfo(*fields, seen_of(row))
        return [
            FAQInfo(
                row.slug,
                row.lang,
                row.state,
                row.updated_at,
                tuple(found[row.slug][lang] for lang in default_first(found[row.slug], row.lang)),
            )
            for row in rows
            if row.lang in found.get(row.slug, {})
        ]


def _matching(site: str, wanted: Filter) -> Select[tuple[str]]:
    query = select(translations.c.slug).join(faqs, faqs.c.slug == translations.c.slug)
    query = query.where(faqs.c.site == site)
    if wanted.lang in LANGUAGES:
        query = query.where(translations.c.lang == cast("Lang", wanted.lang))
    for word in folded(wanted.search).split():
        query = query.where(translations.c.search_text.contains(word, autoescape=True))
    return query
