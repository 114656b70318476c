"""People, their sign-in links and their sessions, over each kind of database."""

from datetime import timedelta
from typing import Any

import pytest

from faqsvc_embed import ConfigurationError
from faqsvc_embed.service.storage import Storage, UnknownSite
from faqsvc_embed.service.storage.people import LastAdmin, PersonExists, Role, UnknownPerson
from tests.service.storage.writes import at_once
from tests.support.clock import Clock

HOUR = 3600


@pytest.mark.parametrize(
    ("role", "drafts", "publishes", "administers"),
    [("editor", True, False, False), ("publisher", True, True, False), ("admin", True, True, True)],
)
def test_a_role_decides_what_a_person_may_do(
    storage: Storage, role: Role, drafts: bool, publishes: bool, administers: bool
) -> None:
    person = storage.people.add("Mia", email="Mia@Example.com", role=role)
    access = person.access
    assert (access.site, access.person_id, access.key_id) == (person.site, person.id, None)
    assert (access.may("draft"), access.may("publish"), access.is_admin) == (
        drafts,
        publishes,
        administers,
    )
    assert person.email == "mia@example.com"


def test_an_address_is_one_person_of_a_site(storage: Storage) -> None:
    mia = storage.people.add("Mia", email="mia@example.com", role="admin")
    with pytest.raises(PersonExists):
        storage.people.add("Other", email=" MIA@example.com", role="editor")
    tom = storage.people.add("Tom", role="editor")
    with pytest.raises(PersonExists):
        storage.people.change(tom.id, email="mia@example.com")
    elsewhere = storage.people.add(
        "Mia", email="mia@example.com", role="editor", site=storage.sites.create("other")
    )
    assert {person.id for person in storage.people.with_email("mia@example.com")} == {mia.id, elsewhere.id}
    with pytest.raises(UnknownPerson, match="--site"):
        storage.people.find("mia@example.com")
    assert storage.people.find("mia@example.com", site=mia.site) == mia
    with pytest.raises(UnknownSite):
        storage.people.add("Eve", role="editor")


def test_a_person_who_is_added_several_times_at_once_is_one_person(storage: Storage) -> None:
    assert at_once(storage.people.admin) == ["Person"] * 4
    added = at_once(lambda: storage.people.add("Mia", email="mia@example.com", role="editor"))
    assert added == ["Person"] + ["PersonExists"] * 3
    assert len(storage.people.list()) == 2


def test_who_comes_back_is_the_same_person(storage: Storage) -> None:
    storage.people.admin("Ada")
    mia = storage.people.add("Mia", email="mia@example.com", role="editor")
    storage.people.remove(mia.id)
    with pytest.raises(UnknownPerson):
        storage.people.find("mia@example.com")
    again = storage.people.add("Mia B.", email="mia@example.com", role="publisher")
    assert (again.id, again.name, again.role) == (mia.id, "Mia B.", "publisher")
    storage.people.remove(again.id)
    tom = storage.people.add("Tom", role="editor")
    assert storage.people.change(tom.id, email="mia@example.com").email == "mia@example.com"


def test_a_site_keeps_an_admin(storage: Storage) -> None:
    mia = storage.people.admin("Mia")
    tom = storage.people.add("Tom", role="publisher")
    with pytest.raises(LastAdmin):
        storage.people.remove(mia.id)
    with pytest.raises(LastAdmin):
        storage.people.change(mia.id, role="editor")
    storage.people.change(tom.id, role="admin")
    storage.people.remove(mia.id)
    assert [person.name for person in storage.people.list()] == ["Tom"]


def test_without_a_name_the_only_person_is_meant_or_the_first_is_made(storage: Storage) -> None:
    first = storage.people.admin()
    assert first.role == "admin"
    assert storage.people.admin() == first
    tom = storage.people.admin("Tom")
    assert storage.people.admin("Tom") == storage.people.admin(" Tom ") == tom
    with pytest.raises(UnknownPerson, match="Tom"):
        storage.people.admin()
    storage.people.add("Tom", role="editor")
    with pytest.raises(UnknownPerson, match=tom.id):
        storage.people.admin("Tom")


def test_an_invalid_name_address_or_role_is_refused(storage: Storage) -> None:
    names: list[tuple[str, str | None, Any]] = [(name, None, "editor") for name in ("", "a\nb", "x" * 101)]
    emails = ("mia", "mia@", "@example", "m a@b", "a@b@c", "a@b\x00", "x@" * 200)
    for name, email, role in (*names, ("Mia", None, "boss"), *(("Mia", one, "editor") for one in emails)):
        with pytest.raises(ConfigurationError):
            storage.people.add(name, email=email, role=role)
    assert storage.people.list() == []


def test_a_link_signs_in_once_within_an_hour(storage: Storage, clock: Clock) -> None:
    mia = storage.people.admin("Mia")
    used, late = storage.sign_ins.create_link(mia), storage.sign_ins.create_link(mia)
    cookie = storage.sign_ins.redeem_link(used)
    assert cookie is not None
    assert storage.sign_ins.person(cookie) == mia
    assert storage.sign_ins.redeem_link(used) is None
    clock.advance(HOUR)
    assert storage.sign_ins.redeem_link(late) is None
    for wrong in ("", "x", "\ud800", used.upper()):
        assert storage.sign_ins.redeem_link(wrong) is None


def test_links_and_sessions_end_with_their_person(storage: Storage) -> None:
    storage.people.admin("Ada")
    mia = storage.people.add("Mia", role="admin")
    cookie = storage.sign_ins.redeem_link(storage.sign_ins.create_link(mia))
    link = storage.sign_ins.create_link(mia)
    assert cookie is not None
    storage.people.remove(mia.id)
    assert storage.sign_ins.person(cookie) is None
    assert not storage.sign_ins.is_known(cookie)
    assert storage.sign_ins.redeem_link(link) is None


def test_a_session_that_ended_is_known_for_a_while(storage: Storage, clock: Clock) -> None:
    mia = storage.people.admin("Mia")
    cookies = [storage.sign_ins.redeem_link(storage.sign_ins.create_link(mia)) or "" for _ in range(2)]
    clock.advance(timedelta(days=31).total_seconds())
    storage.sign_ins.end(cookies[1])  # signed out
    assert [storage.sign_ins.person(cookie) for cookie in cookies] == [None, None]
    assert [storage.sign_ins.is_known(cookie) for cookie in cookies] == [True, True]
    clock.advance(timedelta(days=31).total_seconds())
    storage.sign_ins.redeem_link(storage.sign_ins.create_link(mia))
    assert [storage.sign_ins.is_known(cookie) for cookie in cookies] == [False, False]
