"""Signing in to the desk, and what ends a session."""

import re
from html import unescape
from http.cookies import SimpleCookie
from urllib.parse import parse_qs, quote, urlsplit

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from faqsvc_embed import FAQ
from faqsvc_embed.cli import main
from faqsvc_embed.service import create_app
from faqsvc_embed.service.desk.visit import COOKIE
from faqsvc_embed.service.storage import Storage
from tests.service.desk.conftest import ORIGIN, Editor
from tests.service.storage.writes import put
from tests.support.clock import Clock

DAY = 24 * 3600


def link_for(storage: Storage) -> str:
    """Return the token of a sign-in link for the first admin."""
    return storage.sign_ins.create_link(storage.people.admin())


def is_signed_in(editor: Editor) -> bool:
    return not editor.get("").url.path.endswith("/sign-in")


def test_without_a_session_every_page_leads_to_the_sign_in(stranger: Editor) -> None:
    for path in ("", "/", "/new", "/faqs/pricing", "/faqs/pricing/history", "/site", "/import"):
        assert stranger.get(path).url.path == "/desk/sign-in"


def test_the_cookie_is_out_of_reach_of_scripts_and_not_in_the_database(
    stranger: Editor, storage: Storage
) -> None:
    link = link_for(storage)
    response = stranger.client.post(
        "/desk/sign-in", data={"link": link}, headers={"origin": ORIGIN}, follow_redirects=False
    )
    cookie = SimpleCookie(response.headers["set-cookie"])[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "lax"
    assert cookie["path"] == "/desk"
    with storage.database.reading() as connection:
        rows = connection.exec_driver_sql("SELECT * FROM sessions").all()
    assert len(rows) == 1
    assert cookie.value not in str(rows)
    assert link not in response.headers["set-cookie"]


def test_the_cookie_is_secure_where_the_service_is(storage: Storage) -> None:
    link = link_for(storage)
    app = create_app(storage, base_url="https://faq.example/base")
    with TestClient(app, base_url="http://faq.example", follow_redirects=False) as client:
        response = client.post(
            "/desk/sign-in", data={"link": link}, headers={"origin": "https://faq.example"}
        )
    cookie = SimpleCookie(response.headers["set-cookie"])[COOKIE]
    assert cookie["secure"]
    assert cookie["path"] == "/base/desk"
    assert response.headers["location"] == "/base/desk"


def test_who_is_signed_in_is_led_on_by_the_sign_in_page(editor: Editor, storage: Storage) -> None:
    assert editor.get("/sign-in?next=/people").url.path == "/desk/people"
    assert editor.get("/sign-in?next=//evil.example").url.path.startswith("/desk")
    storage.people.add("Tom", role="editor")
    assert "Tom" in editor.use_link(storage.sign_ins.create_link(storage.people.admin("Tom"))).text


@pytest.mark.parametrize("slug", ["요금 안내", "100% wool?", "#1"])
def test_signing_in_leads_to_the_requested_page(editor: Editor, storage: Storage, slug: str) -> None:
    put(storage, FAQ(slug, "Prices", lang="en"))
    path = f"/desk/faqs/{quote(slug, safe='')}/history"
    editor.client.cookies.clear()
    asked = editor.client.get(f"{path}?lang=en", follow_redirects=False).headers["location"]
    found = editor.sign_in(storage, next=parse_qs(urlsplit(asked).query)["next"][0])
    assert (found.status_code, found.url.raw_path.decode()) == (200, f"{path}?lang=en")


def test_the_desk_works_below_a_path_such_as_desktop(storage: Storage) -> None:
    with TestClient(create_app(storage), root_path="/desktop") as client:
        link = link_for(storage)
        client.post("/desktop/desk/sign-in", data={"link": link}, headers={"origin": "http://testserver"})
        page = client.get("/desktop/desk/site").text
        [token] = set(re.findall('name="token" value="([^"]+)"', page))
        [version] = re.findall('name="version" value="([^"]*)"', page)
        form = {"token": token, "name": "Heron", "version": unescape(version)}
        saved = client.post("/desktop/desk/site", data=form, headers={"origin": "http://testserver"})
    assert (saved.status_code, saved.url.path) == (200, "/desktop/desk/site")


def test_a_key_does_not_sign_in(stranger: Editor, storage: Storage) -> None:
    assert stranger.use_link(storage.keys.create("Mia")).status_code == 403
    assert not is_signed_in(stranger)


def test_a_session_ends_when_its_person_is_removed(editor: Editor, storage: Storage) -> None:
    storage.people.add("Tom", role="admin")
    assert is_signed_in(editor)
    storage.people.remove(storage.people.admin("Mia").id)
    assert not is_signed_in(editor)


def test_a_role_changes_in_sessions_that_are_open(editor: Editor, storage: Storage) -> None:
    storage.people.add("Tom", role="admin")
    assert editor.get("/people").status_code == 200
    storage.people.change(storage.people.admin("Mia").id, role="editor")
    assert editor.get("/people").status_code == 403
    assert is_signed_in(editor)


def test_a_session_lasts_thirty_days_after_its_last_use(editor: Editor, clock: Clock) -> None:
    for _ in range(5):
        clock.advance(29 * DAY)
        assert is_signed_in(editor)
    clock.advance(30 * DAY + 60)
    assert not is_signed_in(editor)


def test_a_session_is_extended_once_a_day(editor: Editor, storage: Storage, clock: Clock) -> None:
    def ends() -> str:
        with storage.database.reading() as connection:
            return str(connection.exec_driver_sql("SELECT expires_at FROM sessions").scalar())

    first = ends()
    clock.advance(DAY - 60)
    editor.get("")
    assert ends() == first
    clock.advance(120)
    editor.get("")
    assert ends() > first


def test_a_forged_cookie_is_no_session(editor: Editor, storage: Storage) -> None:
    value = editor.client.cookies[COOKIE]
    for forged in (value[:-4], f"{value}x", "", "a.b", "\x00.", "\ud800"):
        assert storage.sign_ins.person(forged) is None


def test_signing_out_ends_the_session(editor: Editor) -> None:
    editor.get("")
    assert editor.post("/sign-out").url.path == "/desk/sign-in"
    assert not is_signed_in(editor)


def test_a_form_of_another_origin_or_without_its_token_changes_nothing(
    editor: Editor, storage: Storage
) -> None:
    site = storage.sites.list()[0].name
    foreign = (
        "http://evil.example",
        "http://testserver.example",
        "null",
        "http://[",
        "testserver",
        "ftp://testserver",
    )
    for origin in foreign:
        assert editor.post("/site", origin=origin, action="save", name="x").status_code == 403
    older = editor.post("/site", token="x", action="save", name="x")
    assert (older.status_code, 'name="link"' in older.text) == (403, False)  # who is signed in needs no link
    assert storage.sites.list()[0].name == site


def test_the_page_after_sign_in_is_never_that_of_another_website(stranger: Editor, storage: Storage) -> None:
    for path in ("//evil.example", "https://evil.example", "/\\evil.example", "/sign-out"):
        response = stranger.sign_in(storage, next=path)
        assert response.url.host == "testserver"


def test_a_link_signs_in_once(stranger: Editor, storage: Storage) -> None:
    result = CliRunner().invoke(
        main, ["desk", "--name", "Mia", "--database", f"sqlite:///{storage.database.path}"]
    )
    assert result.exit_code == 0
    url = urlsplit(result.output.strip())
    assert url.query == ""  # servers and proxies log it
    link = url.fragment.removeprefix("link=")
    assert url.path == "/desk/sign-in"
    assert stranger.get("/sign-in").status_code == 200  # opening it does not use it up
    assert stranger.use_link(link).url.path == "/desk"
    assert is_signed_in(stranger)
    assert storage.keys.list() == []  # it makes no key
    stranger.post("/sign-out")
    assert stranger.use_link(link).status_code == 403


@pytest.mark.parametrize(
    "mail", ["{}", " {} ", "<{}>", "Mia, here you are: {}. It works once, within an hour."]
)
def test_a_link_can_be_pasted_with_the_words_of_a_mail_around_it(
    stranger: Editor, storage: Storage, mail: str
) -> None:
    link = f"https://faq.example/desk/sign-in#link={link_for(storage)}"
    assert stranger.use_link(mail.format(link)).url.path == "/desk"
    assert is_signed_in(stranger)


def test_who_is_signed_in_makes_a_link_for_another_device(editor: Editor, storage: Storage) -> None:
    page = editor.post("/you").text
    [link] = re.findall(r"http://testserver/desk/sign-in#link=[\w-]+", page)
    with TestClient(create_app(storage)) as client:
        other = Editor(client)
        assert other.use_link(link).url.path == "/desk"
        assert "Mia" in other.get("/you").text


def test_a_link_ends_after_an_hour(stranger: Editor, storage: Storage, clock: Clock) -> None:
    token = link_for(storage)
    clock.advance(3700)
    assert stranger.use_link(token).status_code == 403


def test_pages_are_neither_cached_nor_framed_nor_indexed(editor: Editor) -> None:
    headers = editor.get("").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-robots-tag"] == "noindex"
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_without_a_session_only_small_forms_are_read(stranger: Editor) -> None:
    assert stranger.use_link("x" * 20_000).status_code == 413


def test_the_fields_of_a_form_are_limited(editor: Editor) -> None:
    field = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    file = b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n1\r\n'
    forms = [
        ("multipart/form-data; boundary=x", field * 20_000 + b"--x--\r\n"),
        ("multipart/form-data; boundary=x", file * 20_000 + b"--x--\r\n"),
        ("application/x-www-form-urlencoded", b"a=1&" * 20_000),
    ]
    for media_type, body in forms:
        headers = {"origin": ORIGIN, "content-type": media_type}
        # The message to a stranger must not appear in the next response, which is for the editor.
        stranger = TestClient(editor.client.app)
        stranger.post("/desk/import", content=iter([b"&" * 16_000]), headers=headers)
        response = editor.client.post("/desk/import", content=body, headers=headers)
        assert (response.status_code, "not signed in" in response.text) == (413, False)
