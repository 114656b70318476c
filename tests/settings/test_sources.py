"""Where settings come from: keywords, a host's configuration, and the environment."""

from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from faqsvc_embed import ConfigurationError, FAQEmbed, Settings, Theme
from faqsvc_embed.settings import NAMES

SECRET = "fs_live_5ecret5ecret5ecret"

WRITTEN: dict[str, tuple[str, Any]] = {
    "base_url": ("https://faq.example.com", "https://faq.example.com"),
    "api_key": (SECRET, SECRET),
    "insecure_hosts": ("faqs,other", ("faqs", "other")),
    "lang": ("ko", "ko"),
    "theme": ('{"accentColor": "red"}', Theme("#ff0000")),
    "show_title": ("false", False),
    "heading_level": ("3", 3),
    "styles": ("none", "none"),
    "variant": ("disclosure", "disclosure"),
    "look": ("cards", "cards"),
    "exclusive": ("true", True),
    "schema": ("no", False),
    "cache_overrides": ("yes", True),
    "wait": ("2", 2.0),
    "timeout": ("3", 3.0),
    "fresh_for": ("4", 4.0),
    "keep_for": ("none", None),
    "max_fresh": ("5", 5.0),
    "push": ("false", False),
    "preview": ("false", False),
    "not_found_for": ("6", 6.0),
    "max_entries": ("7", 7),
    "max_bytes": ("8", 8),
    "store": ("file:x", "file:x"),
    "degraded_max_age": ("9", 9),
    "cache_tags": ("on", True),
    "directory": ("faqs", "faqs"),
    "source": ("none", None),
    "reload": ("1", True),
    "offline": ("1", True),
    "strict": ("1", True),
}
"""Every setting as text, and its value."""


def values(settings: Settings) -> dict[str, Any]:
    assert settings.api_key is not None
    return {**vars(settings), "api_key": settings.api_key.reveal()}


def test_every_setting_is_a_key_of_a_mapping_and_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "faqs").mkdir()
    monkeypatch.chdir(tmp_path)
    assert tuple(WRITTEN) == NAMES
    named = {f"FAQSVC_{name.upper()}": text for name, (text, _) in WRITTEN.items()}
    expected = {name: value for name, (_, value) in WRITTEN.items()}
    assert values(Settings.from_env(named)) == expected
    assert values(Settings.from_mapping(named)) == expected
    for name, text in named.items():
        monkeypatch.setenv(name, text)
    assert values(Settings.from_env()) == values(Settings.from_mapping({})) == expected
    embed = FAQEmbed()
    assert vars(embed.settings) == {**expected, "api_key": None}


def test_none_is_a_value() -> None:
    environ = {"FAQSVC_LANG": "ko", "FAQSVC_KEEP_FOR": "60"}
    assert Settings.from_env(environ, lang=None, keep_for=None).lang is None


def test_an_empty_variable_counts_as_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_LANG", "ko")
    assert Settings.from_mapping({"FAQSVC_LANG": ""}).lang == "ko"
    assert Settings.from_env({"FAQSVC_LANG": "", "FAQSVC_WAIT": ""}) == Settings()


def test_a_mapping_may_have_keys_of_the_host_of_any_kind() -> None:
    config: Any = MappingProxyType({"SECRET_KEY": "x", 5: 6, "FAQSVC_LANG": "fr", "faqsvc_wait": "no"})
    assert Settings.from_mapping(config).lang == "fr"


@pytest.mark.parametrize("make", [Settings.from_env, Settings.from_mapping])
def test_an_invalid_variable_is_an_error_that_names_the_setting(make: Any) -> None:
    with pytest.raises(ConfigurationError, match=r"^wait is 'soon'"):
        make({"FAQSVC_WAIT": "soon"})


def test_an_unknown_key_of_a_mapping_is_logged_once_and_an_unknown_variable_is_not(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FAQSVC_OF_ANOTHER_PROGRAM", "1")
    for _ in range(2):
        Settings.from_env()
        Settings.from_mapping({"FAQSVC_Wait": 1, "FAQSVC_PLUGH": 1, "FAQSVC": 1, "WIAT": 1})
    assert len(caplog.messages) == 2
    assert "FAQSVC_Wait" in caplog.text
    assert "FAQSVC_PLUGH" in caplog.text


def test_an_api_key_under_a_wrong_name_is_not_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    Settings.from_mapping({"FAQSVC_APIKEY": SECRET})
    assert "5ecret" not in caplog.text


def test_a_store_without_its_package_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("faqsvc_embed.settings.validators.find_spec", lambda name: None)
    with pytest.raises(ConfigurationError, match=r"faqsvc-embed\[redis\]") as caught:
        Settings(store="redis://:5ecret@cache.example.com/0")
    assert "5ecret" not in str(caught.value)
