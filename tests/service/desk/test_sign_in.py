"""Signing in to the desk, and what ends a session."""

from datetime import timedelta
from http.cookies import SimpleCookie
from urllib.parse import urlsplit

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from faqsvc_embed.cli import main
from faqsvc_embed.service import create_app
from faqsvc_embed.service.desk.session import COOKIE, Sessions
from faqsvc_embed.service.storage import Storage
from tests.service.desk.conftest import ORIGIN, Editor
from tests.support.clock import Clock


def is_signed_in(editor: Editor) -> bool:
    return not editor.get("").url.path.endswith("/sign-in")


def test_without_a_session_every_page_leads_to_the_sign_in(stranger: Editor) -> None:
    for path in ("", "/new", "/faqs/pricing", "/faqs/pricing/history", "/site", "/import"):
        assert stranger.get(path).url.path == "/desk/sign-in"


def test_the_cookie_has_the_id_of_the_key_and_is_out_of_reach_of_scripts(
    stranger: Editor, storage: Storage
) -> None:
    key = storage.keys.create("Mia")
    response = stranger.client.post(
        "/desk/sign-in", data={"key": key}, headers={"origin": ORIGIN}, follow_redirects=False
    )
    cookie = SimpleCookie(response.headers["set-cookie"])[COOKIE]
    assert cookie["httponly"]
    assert cookie["samesite"] == "strict"
    assert cookie["path"] == "/desk"
    assert cookie.value.startswith(storage.keys.list()[0].id)
    assert key not in response.headers["set-cookie"]


def test_the_cookie_is_secure_where_the_service_is(storage: Storage) -> None:
    key = storage.keys.create("Mia")
    app = create_app(storage, base_url="https://faq.example/base")
    with TestClient(app, base_url="http://faq.example", follow_redirects=False) as client:
        response = client.post("/desk/sign-in", data={"key": key}, headers={"origin": "https://faq.example"})
    cookie = SimpleCookie(response.headers["set-cookie"])[COOKIE]
    assert cookie["secure"]
    assert cookie["path"] == "/base/desk"
    assert response.headers["location"] == "/base/desk"


def test_a_wrong_key_does_not_sign_in_and_the_eleventh_in_a_minute_is_not_looked_up(
    stranger: Editor, storage: Storage
) -> None:
    assert [stranger.sign_in("fs_live_wrong").status_code for _ in range(10)] == [403] * 10
    response = stranger.sign_in(storage.keys.create("Mia"))
    assert response.status_code == 429
    assert int(response.headers["retry-after"]) > 0


def test_a_session_ends_when_its_key_is_revoked(editor: Editor, storage: Storage) -> None:
    assert is_signed_in(editor)
    storage.keys.revoke(storage.keys.list()[0].id)
    assert not is_signed_in(editor)


def test_a_session_ends_after_twelve_hours(editor: Editor, clock: Clock) -> None:
    clock.advance(12 * 3600 - 60)
    assert is_signed_in(editor)
    clock.advance(120)
    assert not is_signed_in(editor)


def test_a_forged_cookie_is_no_session(editor: Editor, storage: Storage) -> None:
    storage.keys.create("another")
    value = editor.client.cookies[COOKIE]
    own, other = sorted((key.id for key in storage.keys.list()), key=value.startswith, reverse=True)
    for forged in (value.replace(own, other), value[:-4], "", "a.b", f"{own}.x", "\x00."):
        assert Sessions(storage.keys, storage.clock).find(forged) is None


def test_signing_out_ends_the_session(editor: Editor) -> None:
    editor.get("")
    assert editor.post("/sign-out").url.path == "/desk/sign-in"
    assert not is_signed_in(editor)


def test_a_form_of_another_origin_or_without_its_token_changes_nothing(
    editor: Editor, storage: Storage
) -> None:
    site = storage.sites.list()[0].name
    assert editor.post("/site", origin="http://evil.example", action="save", name="x").status_code == 403
    assert editor.post("/site", origin="null", action="save", name="x").status_code == 403
    assert editor.post("/site", token="x", action="save", name="x").status_code == 403
    assert storage.sites.list()[0].name == site


def test_the_page_after_sign_in_is_never_that_of_another_website(stranger: Editor, storage: Storage) -> None:
    key = storage.keys.create("Mia")
    for path in ("//evil.example", "https://evil.example", "/\\evil.example", "/sign-out"):
        response = stranger.sign_in(key, next=path)
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
    token = Sessions(storage.keys, storage.clock).create_link(storage.keys.list()[0].id) or ""
    assert link.split(".")[0] == token.split(".")[0]
    assert stranger.get("/sign-in").status_code == 200  # opening it does not use it up
    assert stranger.sign_in("", link=token).url.path == "/desk"
    assert is_signed_in(stranger)
    stranger.post("/sign-out")
    assert stranger.sign_in("", link=token).status_code == 403


def test_a_link_can_be_pasted_where_scripts_do_not_run(stranger: Editor, storage: Storage) -> None:
    storage.keys.create("Mia")
    token = Sessions(storage.keys, storage.clock).create_link(storage.keys.list()[0].id)
    assert stranger.sign_in(f"https://faq.example/desk/sign-in#link={token} ").url.path == "/desk"
    assert is_signed_in(stranger)


@pytest.mark.parametrize("seconds", [-240, 240])
def test_the_clocks_of_two_machines_may_be_apart(
    stranger: Editor, storage: Storage, clock: Clock, seconds: float
) -> None:
    storage.keys.create("Mia")
    token = Sessions(storage.keys, storage.clock).create_link(storage.keys.list()[0].id) or ""
    clock.set_wall(clock.wall() + timedelta(seconds=seconds))
    assert stranger.sign_in("", link=token).url.path == "/desk"
    clock.set_wall(clock.wall() + timedelta(seconds=seconds / 8))
    assert is_signed_in(stranger)


def test_a_link_ends_after_an_hour(stranger: Editor, storage: Storage, clock: Clock) -> None:
    storage.keys.create("Mia")
    token = Sessions(storage.keys, storage.clock).create_link(storage.keys.list()[0].id) or ""
    clock.advance(3700)
    assert stranger.sign_in("", link=token).status_code == 403


def test_pages_are_neither_cached_nor_framed_nor_indexed(editor: Editor) -> None:
    headers = editor.get("").headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-robots-tag"] == "noindex"
    policy = headers["content-security-policy"]
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy


def test_the_sign_in_leads_to_the_page_that_was_opened(stranger: Editor, storage: Storage) -> None:
    page = stranger.get("/import?a=b&c=d")
    assert page.url.path == "/desk/sign-in"
    response = stranger.sign_in(storage.keys.create("Mia"), next=page.url.params["next"])
    assert str(response.url) == f"{ORIGIN}/desk/import?a=b&c=d"
    assert stranger.get("/").url.path == "/desk"


@pytest.mark.parametrize(
    "origin", ["http://[", "http://testserver.example", "testserver", "null", "ftp://testserver"]
)
def test_a_foreign_or_malformed_origin_is_refused(editor: Editor, origin: str) -> None:
    assert editor.post("/sign-out", origin=origin).status_code == 403
    assert is_signed_in(editor)


def test_without_a_session_only_small_forms_are_read(stranger: Editor) -> None:
    assert stranger.sign_in("x" * 20_000).status_code == 413


def test_the_fields_of_a_form_are_limited(editor: Editor) -> None:
    field = b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n'
    file = b'--x\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n1\r\n'
    forms = [
        ("multipart/form-data; boundary=x", field * 20_000 + b"--x--\r\n"),
        ("multipart/form-data; boundary=x", file * 100 + b"--x--\r\n"),
        ("application/x-www-form-urlencoded", b"a=1&" * 20_000),
    ]
    for media_type, body in forms:
        headers = {"origin": ORIGIN, "content-type": media_type}
        assert editor.client.post("/desk/import", content=body, headers=headers).status_code == 413
