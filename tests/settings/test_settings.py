"""Settings: what each accepts, and one clear error for everything else."""

import copy
import math
import pickle
import re
from typing import Any, get_type_hints

import pytest
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed import ConfigurationError, FAQEmbed, Settings, Theme
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.settings import NAMES, ClientOptions, EmbedOptions, SettingOptions
from tests.support.strategies import any_text, odd_values

DEFAULTS: dict[str, Any] = {
    "base_url": "",
    "api_key": None,
    "insecure_hosts": (),
    "lang": None,
    "theme": Theme(),
    "show_title": True,
    "heading_level": 2,
    "styles": "inline",
    "variant": "details",
    "look": "lines",
    "exclusive": False,
    "schema": True,
    "cache_overrides": False,
    "wait": 1.0,
    "timeout": 5.0,
    "fresh_for": 3600.0,
    "keep_for": 7 * 24 * 3600.0,
    "max_fresh": None,
    "push": True,
    "preview": True,
    "not_found_for": 60.0,
    "max_entries": 1000,
    "max_bytes": 1_048_576,
    "store": None,
    "degraded_max_age": None,
    "cache_tags": False,
    "directory": None,
    "source": None,
    "reload": False,
    "offline": False,
    "strict": False,
}


def test_the_defaults_are_those_of_the_contract() -> None:
    assert vars(Settings()) == DEFAULTS
    assert tuple(DEFAULTS) == NAMES


GOOD: list[tuple[str, Any, Any]] = [
    ("base_url", "https://faq.example.com", "https://faq.example.com"),
    ("base_url", "https://faq.example.com/", "https://faq.example.com"),
    ("base_url", "https://faq.example.com//", "https://faq.example.com"),
    ("base_url", "https://faq.example.com/Sub/", "https://faq.example.com/Sub"),
    ("base_url", "HTTPS://FAQ.Example.com", "https://faq.example.com"),
    ("base_url", "Http://127.0.0.1:8700", "http://127.0.0.1:8700"),
    ("base_url", "https://gateway.example/api/v1/faqsvc", "https://gateway.example/api/v1/faqsvc"),
    ("base_url", "https://faq.example.com/faq", "https://faq.example.com/faq"),
    ("base_url", "https://faq.example.com/@team", "https://faq.example.com/@team"),
    ("base_url", "http://[::1]:8700", "http://[::1]:8700"),
    ("base_url", "", ""),
    ("base_url", None, ""),
    ("insecure_hosts", ("faqs", "FAQ.internal"), ("faqs", "faq.internal")),
    ("insecure_hosts", "faqs, faq.internal,", ("faqs", "faq.internal")),
    ("insecure_hosts", "", ()),
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
    ("heading_level", 2, 2),
    ("heading_level", 6, 6),
    ("heading_level", "3", 3),
    ("heading_level", 3.0, 3),
    ("heading_level", None, None),
    ("heading_level", "none", None),
    *(("styles", styles, styles) for styles in ("inline", "linked", "none")),
    *(("variant", variant, variant) for variant in ("details", "disclosure", "open")),
    *(("look", look, look) for look in ("lines", "cards", "columns", "plain")),
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
    ("source", None, None),
    ("store", None, None),
    ("store", "file:/var/lib/faqs", "file:/var/lib/faqs"),
    ("store", "redis://localhost:6379/0", "redis://localhost:6379/0"),
    ("store", "rediss://cache.example.com", "rediss://cache.example.com"),
    ("store", "unix:///run/redis.sock", "unix:///run/redis.sock"),
    *((name, "yes", True) for name in ("offline", "strict", "exclusive")),
    ("cache_overrides", "on", True),
]


def test_a_value_is_converted_to_one_form() -> None:
    for name, value, expected in GOOD:
        kept = getattr(Settings(**{name: value}), name)
        assert (name, kept, type(kept)) == (name, expected, type(expected))
        assert getattr(Settings(**{name: kept}), name) == kept


BAD_SECONDS: list[Any] = [
    *(-1, -0.001, math.nan, math.inf, -math.inf, 10**400, 10**5000),
    *("soon", "", "1s", True, []),
]
BAD_URLS: list[Any] = [
    *("faq.example.com", "//faq.example.com", "/path", "ftp://faq.example.com", "file:///etc/passwd"),
    *("https://", "https:///path", "https://:80", "https://faq.example.com?x=1", "https://h?", "https://h#"),
    *("https://h:port", "https://h:99999", "https://[::1", "https://faq example.com", " https://h"),
    *("https://h\n", "https://h\r\nX-Evil: 1", "https://h\x00", "https://h/\u2028", "javascript:alert(1)"),
    *("https://h\\evil.example", "https://h\\@evil.example", 5, b"https://faq.example.com"),
    *("https://h/api/v1", "https://h/sub/api/v1/faq/pricing/", "https://h/faq/pricing"),
]
BAD: list[tuple[str, Any]] = [
    *(("base_url", url) for url in BAD_URLS),
    *(("insecure_hosts", hosts) for hosts in (5, [5], "http://faqs", "faqs:80", ["a b"], "a/b")),
    *(("lang", lang) for lang in ("", "xx", "EN", "en-GB", "zh-Hant", "*", 5, ["en"], True)),
    *(("theme", {"accentColor": colour}) for colour in ("red;", 5)),
    ("theme", {"questionSize": 5}),
    *(("theme", theme) for theme in ("{", "[]", "5", "red", "[" * 100_000)),
    *(("theme", theme) for theme in (5, b"{}", ("red",))),
    ("theme", {"accent": "red"}),
    *(("show_title", value) for value in ("maybe", 2, None, "", "yess")),
    *(("heading_level", value) for value in (1, 7, 0, -2, "1", "h2", 2.5, True, "2.0", math.nan, math.inf)),
    *(("styles", value) for value in ("Inline", "", None, 5, True, ["none"], "external")),
    *(
        (name, value)
        for name in ("wait", "timeout", "fresh_for", "keep_for", "not_found_for")
        for value in BAD_SECONDS
    ),
    *((name, None) for name in ("wait", "timeout", "fresh_for", "not_found_for")),
    ("timeout", 0),
    *((name, seconds) for name in ("wait", "timeout") for seconds in (1e10, 86_401)),
    *(
        (name, value)
        for name in ("max_entries", "max_bytes")
        for value in (0, -1, 1.5, "x", None, True, "1e3", "9" * 5000, -(10**5000))
    ),
    *(("degraded_max_age", value) for value in (-1, "-1", 1.5, True)),
    *(("store", value) for value in ("", "file:", "/var/lib", "memcached://x", "redis:x", 5, True)),
    *(("store", f"redis://h{rest}") for rest in ("/x", ":0", ":port", "/0#x")),
    *((name, "perhaps") for name in ("offline", "strict", "cache_overrides")),
]


def name_of(part: object) -> str:
    return ascii(part)[:40] if not isinstance(part, int) or abs(part) < 10**400 else "huge"


@pytest.mark.parametrize(("name", "value"), BAD, ids=name_of)
def test_a_bad_value_is_one_message_that_names_the_setting_and_what_is_accepted(
    name: str, value: Any
) -> None:
    with pytest.raises(ConfigurationError, match=f"^{name}.*accepted") as caught:
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
        assert str(error).startswith(name)  # noqa: PT017  # most values raise, some do not


@pytest.mark.parametrize("url", ["https://h/api/v1", "https://h/sub/api/v1/faq/p", "https://h/faq/pricing"])
def test_the_address_of_a_route_is_refused_and_that_of_the_service_named(url: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Settings(base_url=url)
    assert re.search(r"https://h(/sub)?$", str(caught.value))


@pytest.mark.parametrize(("url", "named"), [("https://u:5@h", "password"), ("https://h?x=1", "query")])
def test_the_part_that_a_base_url_may_not_have_is_named(url: str, named: str) -> None:
    with pytest.raises(ConfigurationError, match=f"without .*{named}"):
        Settings(base_url=url)


@pytest.mark.parametrize("make", [Settings, Settings().replace, FAQEmbed, Settings.from_env])
def test_an_unknown_name_is_refused_and_the_nearest_named(make: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"'wiat'.*'wait'"):
        make(wiat=1)
    with pytest.raises(ConfigurationError, match=r"'dir'.*'directory'"):
        make(dir="faqs")
    with pytest.raises(ConfigurationError, match="'FAQSVC_LANG' is not a setting; did you mean 'lang'"):
        make(FAQSVC_LANG="de")
    with pytest.raises(ConfigurationError, match=r"'xyzzy'.*base_url.*strict"):
        make(xyzzy=1)


def test_settings_are_frozen() -> None:
    settings = Settings(wait=2.0)
    with pytest.raises(AttributeError):
        settings.wait = 5.0  # type: ignore[misc]
    assert settings.replace(wait=5.0).wait == 5.0
    assert settings.wait == 2.0


def test_settings_are_a_value() -> None:
    one, other = Settings(wait=2.0), Settings(wait="2")  # type: ignore[arg-type]
    values: object = vars(one)
    assert (one == other, one == Settings(), one == values) == (True, False, False)
    assert {one: "found"}[other] == "found"
    assert [copy.copy(one), copy.deepcopy(one), pickle.loads(pickle.dumps(one))] == [one] * 3
    assert re.match(r"Settings\(base_url='', .*wait=2\.0, .*\)$", repr(one))


def test_the_typed_keywords_are_the_settings() -> None:
    assert set(get_type_hints(SettingOptions)) == set(NAMES)
    assert set(get_type_hints(EmbedOptions)) == set(NAMES) - {"base_url"}
    assert set(get_type_hints(ClientOptions)) < set(get_type_hints(EmbedOptions))
