"""Settings: one value from three places, a clear message for every mistake, and a key that nobody sees."""

import copy
import logging
import math
import os
import pickle
import traceback
from collections.abc import Callable
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import AuthenticationError, ConfigurationError, FAQClient, FAQEmbed, Settings, Theme
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.settings import NAMES, UNSET
from faqsvc_embed.settings.api_key import APIKey
from tests.support.strategies import any_text, odd_values

SECRET = "fs_live_5ecret5ecret5ecret"


def test_the_defaults_are_those_of_the_contract() -> None:
    settings = Settings()
    assert {name: getattr(settings, name) for name in NAMES} == {
        "base_url": "",
        "api_key": None,
        "lang": None,
        "theme": Theme(),
        "show_title": True,
        "heading_level": 2,
        "styles": "inline",
        "variant": "details",
        "exclusive": False,
        "answer_format": "text",
        "link_urls": False,
        "nofollow": False,
        "wait": 1.0,
        "timeout": 5.0,
        "fresh_for": 3600.0,
        "keep_for": 7 * 24 * 3600.0,
        "not_found_for": 60.0,
        "max_entries": 1000,
        "max_bytes": 1_048_576,
        "store": None,
        "degraded_max_age": None,
        "splice": False,
        "offline": False,
        "strict": False,
    }


GOOD: list[tuple[str, Any, Any]] = [
    ("base_url", "https://faq.example.com", "https://faq.example.com"),
    ("base_url", "https://faq.example.com/", "https://faq.example.com"),
    ("base_url", "https://faq.example.com/sub/", "https://faq.example.com/sub"),
    ("base_url", "http://127.0.0.1:8700", "http://127.0.0.1:8700"),
    ("base_url", "https://gateway.example/api/v1/faqsvc", "https://gateway.example/api/v1/faqsvc"),
    ("base_url", "http://[::1]:8700", "http://[::1]:8700"),
    ("base_url", "", ""),
    ("base_url", None, ""),
    ("degraded_max_age", None, None),
    ("degraded_max_age", "none", None),
    ("degraded_max_age", 0, 0),
    ("degraded_max_age", "30", 30),
    *(("lang", language, language) for language in (*LANGUAGES, None)),
    ("theme", None, Theme()),
    ("theme", Theme("red"), Theme("red")),
    ("theme", {"accentColor": "red", "questionSize": 20}, Theme("red", 20)),
    ("theme", '{"accentColor": "red", "questionSize": 20}', Theme("red", 20)),
    *(("show_title", yes, True) for yes in (True, 1, "1", "true", "TRUE", " yes ", "on")),
    *(("show_title", no, False) for no in (False, 0, "0", "false", "No", "off")),
    ("heading_level", 6, 6),
    ("heading_level", "3", 3),
    ("heading_level", 3.0, 3),
    ("heading_level", None, None),
    ("heading_level", "none", None),
    ("styles", "linked", "linked"),
    ("styles", "none", "none"),
    ("wait", 0, 0.0),
    ("wait", "0.25", 0.25),
    ("timeout", 2, 2.0),
    ("fresh_for", "60", 60.0),
    ("keep_for", None, None),
    ("keep_for", "None", None),
    ("keep_for", 0, 0.0),
    ("not_found_for", 0, 0.0),
    ("max_entries", "1", 1),
    ("max_bytes", 5, 5),
    ("store", None, None),
    ("store", "file:/var/lib/faqs", "file:/var/lib/faqs"),
    ("store", "redis://localhost:6379/0", "redis://localhost:6379/0"),
    ("store", "rediss://cache.example.com", "rediss://cache.example.com"),
    ("offline", "true", True),
    ("strict", "no", False),
]

BAD_THEMES: list[Any] = [{"accentColor": "red;"}, {"questionSize": 5}, "{", "[]", "5", 5, [], "red"]
BAD_SECONDS: list[Any] = [
    *(-1, -0.001, math.nan, math.inf, -math.inf, 10**400),
    *("soon", "", "1s", True, []),
]

BAD: list[tuple[str, Any]] = [
    *(
        ("base_url", url)
        for url in (
            "faq.example.com",
            "//faq.example.com",
            "/path",
            "ftp://faq.example.com",
            "file:///etc/passwd",
            "https://",
            "https:///path",
            "https://:80",
            "https://faq.example.com?x=1",
            "https://faq.example.com?",
            "https://faq.example.com#x",
            "https://faq.example.com#",
            "https://faq.example.com:port",
            "https://faq.example.com:99999",
            "https://[::1",
            "https://faq example.com",
            " https://faq.example.com",
            "https://faq.example.com\n",
            "https://faq.example.com\r\nX-Evil: 1",
            "https://faq.example.com\x00",
            "https://faq.example.com/\u2028",
            "javascript:alert(1)",
            5,
            b"https://faq.example.com",
        )
    ),
    *(("lang", lang) for lang in ("", "xx", "EN", "en-GB", "zh-Hant", "*", 5, ["en"], True)),
    *(("base_url", f"https://faq.example.com{path}") for path in ("/api/v1", "/sub/api/v1/faq/pricing/")),
    *(("theme", theme) for theme in BAD_THEMES),
    *(("show_title", value) for value in ("maybe", 2, None, "", "yess")),
    *(("heading_level", value) for value in (1, 7, 0, -2, "1", "h2", 2.5, True, "2.0")),
    *(("styles", value) for value in ("Inline", "", None, 5, True, ["none"], "external")),
    *(
        (name, value)
        for name in ("wait", "timeout", "fresh_for", "keep_for", "not_found_for")
        for value in BAD_SECONDS
    ),
    *((name, None) for name in ("wait", "timeout", "fresh_for", "not_found_for")),
    ("timeout", 0),
    *(
        (name, value)
        for name in ("max_entries", "max_bytes")
        for value in (0, -1, 1.5, "x", None, True, "1e3")
    ),
    *(("store", value) for value in ("", "file:", "/var/lib", "memcached://x", "redis:x", 5, True)),
    *((name, "perhaps") for name in ("offline", "strict")),
]


def test_a_store_without_its_package_is_told_how_to_have_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqsvc_embed.settings.validators.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError) as caught:
        Settings(store="redis://:5ecret@cache.example.com/0")
    assert str(caught.value) == (
        "store (not shown here, for it may hold a password): "
        "it is accepted with: pip install 'faqsvc-embed[redis]'"
    )


def test_a_store_that_can_hold_no_password_is_shown() -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings(store="/var/cache")
    assert str(caught.value) == (
        'store is \'/var/cache\': None, "file:DIRECTORY" or "redis://HOST:PORT/DB" is accepted'
    )


@pytest.mark.parametrize(("name", "value", "expected"), GOOD)
def test_a_setting_takes_what_it_accepts(name: str, value: Any, expected: Any) -> None:
    taken = getattr(Settings(**{name: value}), name)
    assert taken == expected
    assert type(taken) is type(expected)


@pytest.mark.parametrize(("name", "value"), BAD, ids=lambda part: repr(part)[:40])
def test_a_bad_value_is_one_message_that_names_the_setting(name: str, value: Any) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name}") as caught:
        Settings(**{name: value})
    message = str(caught.value)
    assert message.isprintable()
    assert len(message) < 500
    assert caught.value.__cause__ is None


@given(st.sampled_from(NAMES), st.one_of(odd_values, any_text))
def test_any_value_is_a_setting_or_a_configuration_error(name: str, value: Any) -> None:
    try:
        Settings(**{name: value})
    except ConfigurationError as error:
        assert str(error).startswith(name)  # noqa: PT017 - most values raise, some do not


def test_settings_do_not_change() -> None:
    settings = Settings(wait=2.0)
    with pytest.raises(AttributeError, match="with_"):
        settings.wait = 5.0  # type: ignore[misc]
    with pytest.raises(AttributeError):
        del settings.wait
    assert settings.wait == 2.0


def test_settings_are_a_value() -> None:
    one, other = Settings(wait=2.0), Settings(wait="2")  # type: ignore[arg-type]
    assert (one == other, one == Settings(), one == vars(one)) == (True, False, False)
    assert {one: "found"}[other] == "found"
    assert [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))] == [one] * 3
    shown = repr(one).removeprefix("Settings(").removesuffix(")")
    assert shown == ", ".join(f"{k}={v!r}" for k, v in vars(one).items() if k not in ("api_key", "store"))


def test_every_setting_has_a_check_and_a_place_in_order() -> None:
    assert list(Settings.__annotations__) == list(NAMES)


# Where they come from


def test_every_setting_is_a_key_of_a_mapping_and_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    written = {
        "base_url": "https://faq.example.com",
        "api_key": SECRET,
        "lang": "ko",
        "theme": '{"accentColor": "red"}',
        "show_title": "false",
        "heading_level": "3",
        "styles": "none",
        "variant": "disclosure",
        "exclusive": "true",
        "answer_format": "markdown",
        "link_urls": "yes",
        "nofollow": "on",
        "wait": "2",
        "timeout": "3",
        "fresh_for": "4",
        "keep_for": "none",
        "not_found_for": "6",
        "max_entries": "7",
        "max_bytes": "8",
        "store": "file:x",
        "degraded_max_age": "9",
        "splice": "yes",
        "offline": "1",
        "strict": "1",
    }
    assert set(written) == set(NAMES)
    named = {f"FAQSVC_{name.upper()}": value for name, value in written.items()}
    from_mapping = Settings.from_mapping(named)
    for name, value in named.items():
        monkeypatch.setenv(name, value)
    from_env = Settings.from_env()
    for settings in (from_mapping, from_env, Settings.from_env(named)):
        assert settings.lang == "ko"
        assert settings.theme == Theme("#ff0000")
        assert (settings.heading_level, settings.keep_for, settings.max_bytes) == (3, None, 8)
        assert (settings.show_title, settings.offline, settings.strict) == (False, True, True)
        assert (settings.variant, settings.answer_format) == ("disclosure", "markdown")
        assert (settings.exclusive, settings.link_urls, settings.nofollow) == (True, True, True)
        assert settings.api_key is not None
        assert settings.api_key.reveal() == SECRET


def test_an_argument_beats_the_mapping_which_beats_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_LANG", "ko")
    monkeypatch.setenv("FAQSVC_WAIT", "2")
    monkeypatch.setenv("FAQSVC_TIMEOUT", "9")
    config = {"FAQSVC_LANG": "ja", "FAQSVC_WAIT": 3, "OTHER": 5}
    settings = Settings.from_mapping(config, lang="de")
    assert (settings.lang, settings.wait, settings.timeout, settings.fresh_for) == ("de", 3.0, 9.0, 3600.0)


def test_none_is_a_value_and_unset_is_not() -> None:
    environ = {"FAQSVC_LANG": "ko", "FAQSVC_KEEP_FOR": "60"}
    assert Settings.from_env(environ, lang=None, keep_for=None).lang is None
    assert Settings.from_env(environ, lang=UNSET, keep_for=UNSET).keep_for == 60.0
    assert repr(UNSET) == "UNSET"


def test_a_variable_that_is_set_to_nothing_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_LANG", "ko")
    assert Settings.from_mapping({"FAQSVC_LANG": ""}).lang == "ko"
    assert Settings.from_env({"FAQSVC_LANG": "", "FAQSVC_WAIT": ""}) == Settings()


def test_a_mapping_may_hold_the_hosts_own_keys_of_any_kind() -> None:
    config = MappingProxyType({"SECRET_KEY": "x", 5: 6, "FAQSVC_LANG": "fr", "faqsvc_wait": "no"})
    assert Settings.from_mapping(config).lang == "fr"  # type: ignore[arg-type]


def test_an_argument_that_is_no_setting_is_told_with_the_one_that_was_meant() -> None:
    with pytest.raises(ConfigurationError, match="'wiat' is no setting; did you mean 'wait'"):
        Settings.from_env({}, wiat=1)
    makers: list[Callable[..., object]] = [Settings, Settings().with_, FAQEmbed, FAQClient]
    for make in makers:
        with pytest.raises(ConfigurationError, match=r"^'wiat' is no setting; did you mean 'wait'\?$"):
            make(wiat=1)
    with pytest.raises(ConfigurationError, match=r"'xyzzy' is no setting; there are base_url, .*strict"):
        Settings.from_mapping({}, xyzzy=1)


def test_a_key_that_nothing_reads_is_told_once_with_the_one_that_was_meant(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faqsvc_embed.settings._told", set())
    for name in ("FAQSVC_WAIT", "FAQSVC_DATABASE_URL", "FAQSVC_LLM_KEY", "FAQSVC_GENERATE_ALLOW"):
        monkeypatch.setenv(name, "1")
    monkeypatch.setenv("FAQSVC_TIMOUT", "1")
    monkeypatch.setenv("FAQSVC_OF_ANOTHER", "1")
    for _ in range(2):
        Settings.from_mapping({"FAQSVC_base_url": "x", "FAQSVC_XYZZY": 1, "FAQSVC": 1, "WIAT": 1})
        Settings.from_env()
    assert caplog.messages == [
        "'FAQSVC_base_url' is ignored, for it is no setting; did you mean FAQSVC_BASE_URL?",
        "'FAQSVC_XYZZY' is ignored, for it is no setting; faqsvc_embed.Settings has them all",
        "'FAQSVC_TIMOUT' is ignored, for it is no setting; did you mean FAQSVC_TIMEOUT?",
    ]


@pytest.mark.parametrize("service", ["FAQSVC", "FAQSVC_STORE", "FAQSVC_BASE_URL"])
def test_what_kubernetes_sets_for_a_service_of_our_name_is_not_told(
    service: str, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("faqsvc_embed.settings._told", set())
    of_the_port = [
        f"PORT_8700_{protocol}{part}" for protocol in ("TCP", "UDP") for part in ("", "_ADDR", "_PROTO")
    ]
    for name in (
        "SERVICE_HOST",
        "SERVICE_PORT",
        "SERVICE_PORT_HTTP",
        "PORT",
        "PORT_53_UDP_PORT",
        *of_the_port,
    ):
        monkeypatch.setenv(f"{service}_{name}", "tcp://10.0.0.1:8700")
    Settings.from_env()
    Settings.from_mapping(os.environ)
    assert caplog.messages == []


@pytest.mark.parametrize(
    ("name", "value", "accepted"),
    [
        ("wait", -1, "a finite number of seconds, 0 or more, is accepted"),
        ("timeout", 0, "a finite number of seconds, above 0, is accepted"),
        ("keep_for", -1, "a finite number of seconds, 0 or more, or None for ever, is accepted"),
        ("max_entries", 0, "a whole number, 1 or more, is accepted"),
        ("heading_level", 7, "a whole number, 2 to 6, or None, is accepted"),
        ("degraded_max_age", -1, "a whole number, 0 or more, or None, is accepted"),
    ],
)
def test_a_number_out_of_range_is_told_with_the_range(name: str, value: Any, accepted: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings(**{name: value})
    assert str(caught.value) == f"{name} is {value}: {accepted}"


# The key


BAD_KEYS: list[Any] = [
    *("fs_live_", "fs_test_abc", "live_abc", "", " ", "FS_LIVE_abc", "fs_live_a\x00b", "fs_live_a\r\nX: 1"),
    *(f"{SECRET}\n", f" {SECRET}", f"{SECRET} x", f"{SECRET}é", SECRET.encode()),
    *(5, ["fs_live_x"], True),
]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_a_key_of_another_form_is_refused_and_never_quoted(key: Any) -> None:  # W1, W2
    with pytest.raises(AuthenticationError) as direct:
        APIKey(key)
    with pytest.raises(ConfigurationError, match=r"^api_key: ") as caught:
        Settings(api_key=key)
    for error in (direct.value, caught.value):
        assert "fs_live_" in str(error)
        assert "5ecret" not in str(error)
        assert str(key) == "" or str(key).strip() in ("", "fs_live_") or str(key) not in str(error)


@given(any_text)
def test_any_text_is_a_key_that_a_header_can_carry_or_is_refused(text: str) -> None:  # W2
    for key in (text, f"fs_live_{text}"):
        try:
            secret = APIKey(key).reveal()
        except AuthenticationError:
            continue
        assert secret.startswith("fs_live_")
        assert secret.isascii()
        assert secret.isprintable()
        assert " " not in secret


def test_a_key_shows_itself_to_nobody(caplog: pytest.LogCaptureFixture) -> None:  # W1, D6
    settings = Settings(base_url="https://faq.example.com", api_key=SECRET, store="redis://:5ecret@h/0")  # type: ignore[arg-type]
    key = settings.api_key
    assert isinstance(key, APIKey)
    with caplog.at_level(logging.DEBUG):
        logging.getLogger("test").debug("%s %r %s", settings, key, [key])
    shown = [repr(settings), str(settings), repr(key), str(key), f"{key}", f"{key!r:>50}", f"{settings}"]
    for text in [*shown, *caplog.messages, str(vars(type(key)))]:
        assert "5ecret" not in text
    assert key.reveal() == SECRET


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_key_does_not_travel_in_a_pickle(protocol: int) -> None:  # D6
    for value in (APIKey(SECRET), [APIKey(SECRET)], Settings(api_key=APIKey(SECRET))):
        with pytest.raises(TypeError, match="environment"):
            pickle.dumps(value, protocol)


def test_a_secret_is_masked_without_its_beginning_too() -> None:  # W1, G7
    secret = SECRET.removeprefix("fs_live_")
    assert APIKey(SECRET).mask(f"{SECRET}; {secret}") == "fs_live_***; ***"
    assert APIKey("fs_live_tea").mask("a tea, fs_live_tea") == "a tea, fs_live_***"


def test_what_begins_like_a_key_is_masked_to_its_end() -> None:  # W8
    assert APIKey(SECRET).mask("bad key fs_live_ab+cdefghij/klm=, fs_liv") == "bad key fs_live_***, fs_liv"


def test_a_key_is_masked_in_text_that_somebody_sent_back() -> None:  # W8
    masked = APIKey(SECRET).mask(f"bad key {SECRET}, {SECRET}!")
    assert masked == "bad key fs_live_***, fs_live_***!"


def shown_with_locals(error: BaseException) -> str:
    """Return what a debugger or an error tracker shows of the frames below the caller's own."""
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    del told.stack[0]  # the test's frame, which holds the key on purpose
    return "".join(told.format())


def test_a_wrapped_key_is_in_no_traceback_even_with_locals() -> None:  # D6
    key = APIKey(SECRET)
    with pytest.raises(ConfigurationError) as caught:
        Settings(api_key=key, wait="soon")  # type: ignore[arg-type]
    assert "5ecret" not in shown_with_locals(caught.value)
    with pytest.raises(ConfigurationError) as caught:
        Settings(api_key=key, base_url="http://faq.example.com")
    assert "5ecret" not in shown_with_locals(caught.value)


@pytest.mark.parametrize(
    "url",
    [
        "http://faq.example.com",
        "http://10.0.0.1",
        "http://192.168.1.1:80",
        "http://0.0.0.0",
        "http://[::]",
        "http://[fe80::1]",
        "http://localhost.example.com",
        "http://127.0.0.1.example.com",
        "http://notlocalhost",
        "HTTP://faq.example.com",
    ],
)
def test_plain_http_is_refused_with_a_key(url: str) -> None:  # W3
    with pytest.raises(ConfigurationError, match="https is accepted"):
        Settings(base_url=url, api_key=APIKey(SECRET))
    assert Settings(base_url=url).base_url == url


@pytest.mark.parametrize(
    "url",
    [
        "https://faq.example.com",
        "http://127.0.0.1:8700",
        "http://127.9.9.9",
        "http://[::1]:8700",
        "http://localhost:8700",
        "http://LOCALHOST",
        "http://faq.localhost",
    ],
)
def test_https_and_loopback_may_carry_a_key(url: str) -> None:  # W3
    assert Settings(base_url=url, api_key=APIKey(SECRET)).api_key is not None


@pytest.mark.parametrize(
    "url", ["https://user:5ecret@faq.example.com", "https://5ecret@faq.example.com", "ftp://u:5ecret@h"]
)
def test_an_address_with_a_password_is_refused_and_not_quoted(url: str) -> None:
    with pytest.raises(ConfigurationError, match=r"^base_url") as caught:
        Settings(base_url=url)
    assert "5ecret" not in str(caught.value)
