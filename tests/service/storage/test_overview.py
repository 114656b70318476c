"""What the desk reads, over each kind of database."""

from typing import Any

import pytest

from faqsvc_embed import FAQ
from faqsvc_embed.service.storage import Storage, UnknownSite, trigrams
from faqsvc_embed.service.storage.errors import Gone
from faqsvc_embed.service.storage.overview import Filter
from faqsvc_embed.service.storage.values import Access, Preconditions
from tests.service.storage.writes import access, put, write
from tests.support.clock import Clock
from tests.support.samples import record


@pytest.fixture(params=["texts", "index"])
def by_index(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Search the texts of the site, as in a small one, or the index first, as in a large one."""
    if request.param == "index":
        monkeypatch.setattr(trigrams, "SMALL", 0)


def publish(storage: Storage, slug: str, lang: str, question: str) -> None:
    put(storage, FAQ.from_dict(record(slug, (question, "An answer, 100% sure."), lang=lang)))


def found(storage: Storage, site: str, **wanted: Any) -> list[str]:
    """Return the slugs that a filter lets through."""
    return [faq.slug for faq in storage.overview.page(site, Filter(**wanted), limit=10)[0]]


@pytest.mark.usefixtures("by_index")
def test_faqs_are_found_by_words_language_and_state(storage: Storage, clock: Clock) -> None:
    access = storage.keys.verify(storage.keys.create("tests"))
    assert access is not None
    publish(storage, "pricing", "en", "What does it COST?")
    clock.advance(1)
    publish(storage, "pricing", "de", "Was kostet es?")
    clock.advance(1)
    publish(storage, "shipping", "en", "How long?")
    site = access.site

    assert found(storage, site) == ["shipping", "pricing"]
    assert found(storage, site, search="cost kost") == []
    assert found(storage, site, search="cost") == ["pricing"]
    assert found(storage, site, search="kostet") == ["pricing"]
    assert found(storage, site, search="100%") == ["shipping", "pricing"]
    assert found(storage, site, search="%") != []
    assert found(storage, site, search="1_0") == []
    assert found(storage, site, lang="de") == ["pricing"]
    assert found(storage, site, state="draft") == []
    assert found(storage, "another") == []


@pytest.mark.usefixtures("by_index")
def test_a_search_reads_the_text_of_the_newest_revision_in_every_script(storage: Storage) -> None:
    access = storage.keys.verify(storage.keys.create("tests"))
    assert access is not None
    publish(storage, "hours", "de", 'Wann sind Sie "da"? ÄRGER GRÜSST')
    for word in ("question", "position", "answer_format", "websiteName", "{"):
        assert found(storage, access.site, search=word) == []  # these are in the record, not in its text
    for word in ("ärger", "ÄRGER", "grüßt", '"da"', "ｈｏｕｒｓ"):
        assert found(storage, access.site, search=word) == ["hours"]
    publish(storage, "hours", "de", "Wann haben Sie offen?")
    assert found(storage, access.site, search="ärger") == []


@pytest.mark.usefixtures("by_index")
def test_a_search_follows_an_faq_through_its_life(storage: Storage, clock: Clock) -> None:
    mine, other = access(storage), access(storage, "other")
    for who, slug in ((mine, "tea"), (other, "milk")):
        write(storage, who, slug, title="Heron & Sons")

    def found_by(word: str) -> list[str]:
        return found(storage, mine.site, search=word)

    assert found_by("heron") == found_by("ero") == ["tea"]
    write(storage, mine, title="Egret", is_draft=True)
    assert (found_by("heron"), found_by("egret")) == ([], ["tea"])
    tea = storage.overview.faq(mine, "tea").translations[0]
    storage.writer.discard(mine, "tea", "en", Preconditions(versions={"en": tea.version}))
    assert (found_by("heron"), found_by("egret")) == (["tea"], [])
    storage.removal.bin(mine, "tea", None, Preconditions())
    assert found_by("heron") == []
    storage.removal.restore(mine, "tea")
    assert found_by("heron") == ["tea"]
    storage.removal.purge(mine, "tea", None, Preconditions())
    assert found_by("heron") == []
    storage.removal.unblock("tea")
    write(storage, mine, title="Heron again")
    assert found_by("heron again") == ["tea"]


def test_an_faq_has_its_translations_with_the_default_language_first(storage: Storage, clock: Clock) -> None:
    access = storage.keys.verify(storage.keys.create("tests"))
    assert access is not None
    publish(storage, "pricing", "ko", "얼마인가요?")
    clock.advance(1)
    publish(storage, "pricing", "en", "How much?")
    faq = storage.overview.faq(access, "pricing")
    assert [translation.lang for translation in faq.translations] == ["ko", "en"]
    assert not faq.is_outdated(faq.translations[1])
    clock.advance(1)
    publish(storage, "pricing", "ko", "얼마예요?")
    faq = storage.overview.faq(access, "pricing")
    assert faq.is_outdated(faq.translations[1])
    storage.removal.unpublish(access, "pricing", None, Preconditions())
    assert storage.overview.faq(access, "pricing").state == "unpublished"
    storage.removal.bin(access, "pricing", None, Preconditions())
    with pytest.raises(Gone, match="in the bin"):
        storage.overview.faq(access, "pricing")


def test_a_site_is_renamed(storage: Storage) -> None:
    site = storage.sites.create("old")
    assert storage.sites.get(site).website_url == ""
    access = Access(None, site)
    storage.sites.update(access, name="new", listed=True, website_url="https://h.example")
    found = storage.sites.get(site)
    assert (found.name, found.is_listed) == ("new", True)
    assert found.website_url == "https://h.example"
    with pytest.raises(UnknownSite):
        storage.sites.get("missing")
