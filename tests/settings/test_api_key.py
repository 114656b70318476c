"""The API key: only `reveal()` shows it, and no URL, message, repr or traceback contains a secret."""

import copy
import logging
import pickle
import traceback
from typing import Any

import pytest
from hypothesis import given

from faqsvc_embed import (
    AuthenticationError,
    ConfigurationError,
    FAQClient,
    FAQEmbed,
    Settings,
)
from faqsvc_embed.errors import without_keys
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.settings.api_key import APIKey
from faqsvc_embed.starlette import FAQMiddleware as ASGIMiddleware
from faqsvc_embed.testing import fake_embed
from faqsvc_embed.wsgi import FAQMiddleware as WSGIMiddleware
from tests.support.strategies import any_text

SECRET = "fs_live_5ecret5ecret5ecret"
MIDDLEWARES: list[Any] = [ASGIMiddleware, WSGIMiddleware]

BAD_KEYS: list[Any] = [
    *("fs_live_", "fs_test_abc", "live_abc", "", " ", "FS_LIVE_abc", "fs_live_a\x00b", "fs_live_a\r\nX: 1"),
    *(f"{SECRET}\n", f" {SECRET}", f"{SECRET} x", f"{SECRET}é", SECRET.encode()),
    *(5, ["fs_live_x"], True),
]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_malformed_key_is_refused_and_never_quoted(key: Any) -> None:
    with pytest.raises(AuthenticationError) as direct:
        APIKey(key)
    with pytest.raises(ConfigurationError, match=r"^api_key") as caught:
        FAQClient("https://faq.example.com", key)
    for error in (direct.value, caught.value):
        assert "fs_live_" in str(error)
        assert "5ecret" not in str(error)
        assert without_keys(str(error)) == str(error)  # so that masking does not change what it says


@pytest.mark.parametrize("around", ["{}\n", "{}\r\n", " {}", "\t{} "])
def test_white_space_around_a_variable_is_left_out(around: str) -> None:
    variables = {"FAQSVC_API_KEY": SECRET, "FAQSVC_BASE_URL": "https://faq.example.com"}
    settings = Settings.from_env({name: around.format(value) for name, value in variables.items()})
    assert settings == Settings(base_url="https://faq.example.com", api_key=SECRET)


@given(any_text)
def test_a_key_is_text_that_a_header_can_carry(text: str) -> None:
    for key in (text, f"fs_live_{text}"):
        try:
            secret = APIKey(key).reveal()
        except AuthenticationError:
            continue
        assert secret.startswith("fs_live_")
        assert secret.isascii()
        assert secret.isprintable()
        assert " " not in secret


def test_a_key_is_in_no_repr_and_in_no_log(caplog: pytest.LogCaptureFixture) -> None:
    settings = Settings(base_url="https://faq.example.com", api_key=SECRET, store="redis://:5ecret@h/0")
    key = settings.api_key
    assert isinstance(key, APIKey)
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").debug("%s %r %s", settings, key, [key])
    reprs = [repr(settings), str(settings), repr(key), str(key), f"{key}", f"{key!r:>50}", f"{settings}"]
    assert "5ecret" not in "".join([*reprs, *caplog.messages])
    assert key.reveal() == SECRET


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_key_cannot_be_pickled(protocol: int) -> None:
    for value in (APIKey(SECRET), [APIKey(SECRET)], Settings(api_key=APIKey(SECRET))):
        with pytest.raises(TypeError, match="environment"):
            pickle.dumps(value, protocol)


def test_keys_are_compared_by_value_and_copied_as_they_are() -> None:
    key = APIKey(SECRET)
    assert key == APIKey(SECRET) == copy.deepcopy(key)
    assert key != APIKey(f"{SECRET}x")
    assert key != SECRET
    assert {key: 1}[APIKey(SECRET)] == 1
    assert Settings(api_key=SECRET) == Settings(api_key=key) != Settings()


@pytest.mark.parametrize(
    ("key", "text", "masked"),
    [
        (SECRET, f"bad key {SECRET}, {SECRET}!", "bad key fs_live_***, fs_live_***!"),
        (SECRET, SECRET.removeprefix("fs_live_"), "***"),
        ("fs_live_tea", "a tea, fs_live_tea", "a tea, fs_live_***"),
        (SECRET, "bad key fs_live_ab+cdefghij/klm=, fs_liv", "bad key fs_live_***, fs_liv"),
        ('fs_live_5ecret"5ecret<', r'{"key": "5ecret\"5ecret<"}', '{"key": "***"}'),
        ('fs_live_5ecret"5ecret<', "5ecret&quot;5ecret&lt;", "***"),
        ('fs_live_5ecret"5ecret<', "?key=5ecret%225ecret%3C", "?key=***"),
    ],
)
def test_a_key_is_masked_however_it_is_written(key: str, text: str, masked: str) -> None:
    assert APIKey(key).mask(text) == masked


def locals_of(error: BaseException) -> str:
    """Return the local variables of the frames of the package, as an error tracker collects them."""
    collected = traceback.TracebackException.from_exception(error, capture_locals=True)
    return "".join(repr(frame.locals) for frame in collected.stack if "/tests/" not in frame.filename)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Settings(api_key=SECRET, wait="x"),  # type: ignore[arg-type]
        lambda: Settings(api_key=SECRET + "\n", wait="x"),  # type: ignore[arg-type]
        lambda: Settings.from_env({"FAQSVC_API_KEY": SECRET, "FAQSVC_WAIT": "x"}),
        lambda: Settings.from_mapping({"FAQSVC_API_KEY": SECRET, "FAQSVC_WAIT": "x"}),
        lambda: FAQClient("https://faq.example.com", SECRET, wait="x"),  # type: ignore[call-arg]
        lambda: FAQClient("https://faq.example.com", SECRET + "\n"),
        lambda: FAQClient("https://faq.example.com").with_key(SECRET + "\n"),
        lambda: FAQClient("http://faq.example.com", api_key=SECRET),
        lambda: FAQClient(SECRET),
        lambda: FAQClient("https://faq.example.com", apikey=SECRET),  # type: ignore[call-arg]
        lambda: FAQEmbed("https://faq.example.com", api_key=SECRET, wait="x"),  # type: ignore[arg-type]
        lambda: FAQEmbed("https://faq.example.com", apikey=SECRET),  # type: ignore[call-arg]
        lambda: FAQEmbed(api_key=SECRET),
        lambda: FAQEmbed(SECRET),
        lambda: Settings(apikey=SECRET),  # type: ignore[call-arg]
        lambda: Settings().replace(api_key=SECRET, wait="x"),  # type: ignore[arg-type]
        lambda: Settings.from_mapping({"FAQSVC_APIKEY": SECRET, "FAQSVC_WAIT": "x"}),
        lambda: Settings.from_mapping({}, api_key=SECRET, wait="x"),  # type: ignore[arg-type]
        lambda: FAQExtension("app", api_key=SECRET),  # type: ignore[arg-type]
        lambda: FAQExtension(apikey=SECRET),  # type: ignore[call-arg]
        *(lambda make=make: make(None, apikey=SECRET) for make in MIDDLEWARES),
        *(lambda make=make: make(None, fake_embed({}), api_key=SECRET) for make in MIDDLEWARES),
    ],
)
def test_no_frame_of_the_package_has_a_key_in_clear(make: Any) -> None:
    with pytest.raises(ConfigurationError) as caught:
        make()
    assert "5ecret" not in locals_of(caught.value) + str(caught.value)


def test_no_frame_has_a_malformed_key_in_clear() -> None:
    with pytest.raises(AuthenticationError) as caught:
        APIKey(SECRET + "\n")
    assert "5ecret" not in locals_of(caught.value)


@pytest.mark.parametrize(
    "settings",
    [
        {"store": "postgres://u:5ecret@h/0"},
        {"store": "redis//:5ecret@h/0"},
        {"store": "redis://:5ecret/x@h/0"},
        {"base_url": "https://user:5ecret@faq.example.com"},
        {"base_url": "https://5ecret@faq.example.com"},
        {"base_url": "ftp://u:5ecret@h"},
        {"base_url": "https://u:5ecret/x@h"},
        {"base_url": f"https://h/?key={SECRET}"},
    ],
)
def test_no_message_quotes_a_secret(settings: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings(**settings)
    assert "5ecret" not in str(caught.value)


def test_a_store_that_contains_no_password_is_quoted() -> None:
    with pytest.raises(ConfigurationError, match=r"^store is '/var/cache'"):
        Settings(store="/var/cache")


# Where a key may go


IN_CLEAR = [
    *("http://faq.example.com", "http://10.0.0.1", "http://192.168.1.1:80", "http://0.0.0.0", "http://[::]"),
    *("http://[fe80::1]", "http://localhost.example.com", "http://127.0.0.1.example.com"),
    *("http://notlocalhost", "HTTP://faq.example.com"),
]
SAFE = [
    *("https://faq.example.com", "HTTPS://faq.example.com", "http://127.0.0.1:8700", "http://127.9.9.9"),
    *("http://[::1]:8700", "http://localhost:8700", "http://LOCALHOST", "http://faq.localhost"),
]


@pytest.mark.parametrize("url", IN_CLEAR)
def test_a_client_does_not_send_its_key_over_plain_http(url: str) -> None:
    with pytest.raises(ConfigurationError, match="https"):
        FAQClient(url, api_key=SECRET)
    with pytest.raises(ConfigurationError):
        FAQClient(url, api_key=SECRET, insecure_hosts=["other"])
    host = url.lower().removeprefix("http://").split(":80")[0]
    FAQClient(url, api_key=SECRET, insecure_hosts=[host.strip("[]")]) if "[" not in host else None


@pytest.mark.parametrize("url", SAFE)
def test_a_client_sends_its_key_over_https_and_to_this_machine(url: str) -> None:
    FAQClient(url, api_key=SECRET)


@pytest.mark.parametrize("key", [SECRET, "malformed", "", b"bytes"])
@pytest.mark.parametrize("url", [IN_CLEAR[0], SAFE[0]])
def test_a_key_never_stops_an_embed(url: str, key: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A compose file or `.env` is often shared with the command."""
    embed = FAQEmbed(url, api_key=key)
    assert embed.settings.api_key is None
    pickle.dumps(embed.settings)
    if isinstance(key, str):
        monkeypatch.setenv("FAQSVC_API_KEY", key)
    assert FAQEmbed(url).settings.api_key is None
