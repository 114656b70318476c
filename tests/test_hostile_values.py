"""What a hostile service or a careless hand gives: each ends as a clean value or as an error of ours."""

import json
import traceback
from typing import Any

import pytest

from faqsvc_embed import FAQ, ConfigurationError, InvalidFAQ, Settings, Theme
from faqsvc_embed.api.reading import cache_policy, retry_after
from faqsvc_embed.languages import negotiate
from tests.support.clock import EPOCH as NOW

SECRET = "fs_live_5ecret5ecret5ecret"


def shown_with_locals(error: BaseException) -> str:
    told = traceback.TracebackException.from_exception(error, capture_locals=True)
    del told.stack[0]
    return "".join(told.format())


# Records
@pytest.mark.parametrize("cta", ['"\\ud800"', '{"\\ud800": 1}', '["a", {"b": "\\udfff"}]'])
def test_a_call_to_action_with_surrogates_can_be_written(cta: str) -> None:  # D4, E4
    FAQ.from_json('{"slug":"p","items":[],"cta":' + cta + "}").to_json().encode()


def test_a_slug_with_surrogates_is_refused_or_cleaned() -> None:  # D4
    try:
        faq = FAQ.from_json('{"slug":"\\ud800","items":[]}')
    except InvalidFAQ:
        return
    faq.to_json().encode()


@pytest.mark.parametrize("number", [float("nan"), float("inf")])
def test_a_call_to_action_that_is_no_json_is_refused_or_never_written(number: float) -> None:  # D4
    try:
        text = FAQ.from_dict({"slug": "p", "items": [], "cta": [number]}).to_json()
    except InvalidFAQ:
        return
    FAQ.from_json(text)


def test_a_lenient_path_does_not_let_infinity_in() -> None:  # D4: a lone surrogate switches to json.loads
    try:
        faq = FAQ.from_json('{"slug":"p","title":"\\ud800","items":[],"cta":1e999}')
    except InvalidFAQ:
        return
    FAQ.from_json(faq.to_json())


@pytest.mark.parametrize("depth", [500, 900, 960])
def test_what_could_be_read_can_be_written_from_a_deeper_stack(depth: int) -> None:  # D4
    def read() -> FAQ | None:
        try:
            return FAQ.from_json('{"slug":"p","items":[],"cta":' + "[" * depth + "]" * depth + "}")
        except InvalidFAQ:
            return None

    faq = read()

    def deeper(levels: int) -> None:
        if levels:
            deeper(levels - 1)
        elif faq is not None:
            faq.to_json()

    deeper(200)


def test_a_position_that_overflows_the_digit_limit_is_no_position() -> None:
    with pytest.raises(InvalidFAQ) as caught:
        FAQ.from_dict({"slug": "p", "items": [{"question": "q", "answer": "a", "position": 10**5000}]})
    assert caught.value.path == "items[0].position"


def test_a_mapping_with_keys_of_another_kind_names_a_path() -> None:
    with pytest.raises(InvalidFAQ) as caught:
        FAQ.from_dict({"slug": "p", "items": [], 5: 1})  # type: ignore[dict-item]
    assert caught.value.path == ""


# Themes
@pytest.mark.parametrize("size", [10**5000, -(10**5000)], ids=["+", "-"])
def test_a_huge_size_is_a_message_too(size: int) -> None:  # T3
    with pytest.raises(ConfigurationError):
        Theme(question_size=size)
    assert len(Theme().merged({"questionSize": size})[1]) == 1


@pytest.mark.parametrize(
    "text", ["oklch(0.5 1e300 20)", "lab(50 1e200 -1e200)", "color(srgb-linear 1e300 0 0)"]
)
def test_a_colour_that_is_taken_is_taken_again(text: str) -> None:  # T2
    try:
        theme = Theme(text)
    except ConfigurationError:
        return
    assert Theme(theme.accent_color) == theme
    assert theme.merged({"questionSize": 20})[1] == []


class _BadRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no repr")


def test_no_wish_raises_whatever_it_is() -> None:
    Theme().merged({"accentColor": _BadRepr()})


# Settings, and the secrets in them
@pytest.mark.parametrize(
    "make",
    [
        lambda: Settings(api_key="5ecret"),  # type: ignore[arg-type]
        lambda: Settings(api_key=SECRET + "\n"),  # type: ignore[arg-type]
        lambda: Settings(api_key=SECRET, wait="x"),  # type: ignore[arg-type]
        lambda: Settings(api_key=SECRET, base_url="http://faq.example.com"),  # type: ignore[arg-type]
        lambda: Settings(api_key=SECRET, wiat=1),  # type: ignore[arg-type, call-arg]
        lambda: Settings().with_(api_key=SECRET, wiat=1),
        lambda: Settings(api_key=SECRET).with_(api_key=SECRET, wait="x"),  # type: ignore[arg-type]
        lambda: Settings.from_env({"FAQSVC_API_KEY": SECRET, "FAQSVC_WAIT": "x"}),
        lambda: Settings.from_mapping({"FAQSVC_API_KEY": SECRET, "FAQSVC_WAIT": "x"}),
        lambda: Settings.from_env({"FAQSVC_API_KEY": SECRET}, wiat=1),
        lambda: Settings.from_env({}, api_key=SECRET, wiat=1),
    ],
)
def test_a_clear_key_is_in_no_frame_of_ours(make: Any) -> None:  # D6, W1
    with pytest.raises(ConfigurationError) as caught:
        make()
    told = traceback.TracebackException.from_exception(caught.value, capture_locals=True)
    ours = [frame for frame in told.stack if "test_" not in frame.filename]
    assert "5ecret" not in "".join(repr(frame.locals) for frame in ours)


@pytest.mark.parametrize(
    "settings",
    [
        {"store": "postgres://u:5ecret@h/0"},
        {"store": "redis//:5ecret@h/0"},
        {"base_url": "https://u:5ecret/x@h"},
        {"lang": SECRET},
        {"base_url": f"https://h/?key={SECRET}"},
    ],
)
def test_no_message_quotes_a_secret(settings: dict[str, Any]) -> None:  # W1, D6
    with pytest.raises(ConfigurationError) as caught:
        Settings(**settings)
    assert "5ecret" not in str(caught.value)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("theme", "{"),
        ("theme", "red"),
        ("base_url", "https://h:99999"),
        ("base_url", "https://h:port"),
        ("base_url", "https://[::1"),
        ("max_entries", "9" * 5000),
        ("wait", 10**5000),
        ("theme", "[" * 100_000),
        ("max_bytes", -(10**5000)),
    ],
    ids=lambda part: ascii(part)[:30] if isinstance(part, str) else "huge",
)
def test_a_message_says_what_is_accepted(name: str, value: Any) -> None:  # contract: Settings
    with pytest.raises(ConfigurationError, match=f"^{name} is .*accepted"):
        Settings(**{name: value})


@pytest.mark.parametrize(
    "url", ["https://h\\evil.example", "https://h\\@evil.example", "https://faq.example.com//"]
)
def test_an_address_is_refused_or_ends_without_slash(url: str) -> None:
    try:
        taken = Settings(base_url=url).base_url
    except ConfigurationError:
        return
    assert "\\" not in taken
    assert not taken.endswith("/")


def test_equal_settings_are_equal_with_a_key_too() -> None:
    assert Settings(api_key=SECRET) == Settings(api_key=SECRET)  # type: ignore[arg-type]


# Headers
def test_leading_zeros_do_not_hide_a_number() -> None:
    assert retry_after("0000000000000120", NOW) == 120.0
    assert cache_policy({"cache-control": "max-age=0000000000000060"}, NOW).lifetime == 60.0


@pytest.mark.parametrize("value", ["max-age=-1", "max-age=abc", "max-age", "max-age=1.5"])
def test_a_lifetime_that_is_no_number_counts_as_stale(value: str) -> None:  # RFC 9111, 4.2.1
    assert cache_policy({"cache-control": value}, NOW).lifetime == 0.0


def test_of_two_lifetimes_the_first_or_none_counts() -> None:  # RFC 9111, 4.2.1
    assert cache_policy({"cache-control": "max-age=10, max-age=20"}, NOW).lifetime in (10.0, 0.0)


@pytest.mark.parametrize("value", ["x_no-store, max-age=3", "1private, max-age=3", "x.max-age=5"])
def test_the_end_of_an_unknown_directive_is_no_directive(value: str) -> None:
    policy = cache_policy({"cache-control": value}, NOW)
    assert not policy.no_store
    assert not policy.private
    assert policy.lifetime in (3.0, None)


def test_a_long_header_is_not_cut_within_a_part() -> None:  # L2
    start = "xx," * 1362 + "yyy,"
    header = start + "de;q=0.9,ko;q=0.5"
    at = 4096 - len("de;q=0")
    header = ("x," * 3000)[: at - 1] + "," + "de;q=0.9"
    assert header[:4096].endswith("de;q=0")
    assert negotiate(header + ",*;q=0.1", "de") == "de"


def test_a_star_does_not_stand_for_a_language_that_is_named_apart() -> None:  # RFC 9110, 12.5.4
    assert negotiate("ko;q=0.1, *;q=0.8", "ko") != "ko"


# Keys that no encoder can write
@pytest.mark.parametrize(
    "text",
    [
        '{"slug":"p","items":[],"\\ud800":1}',
        '{"slug":"p","items":[{"question":"q","answer":"a","\\ud800":1}]}',
    ],
)
def test_a_key_with_a_surrogate_is_an_invalid_faq_or_ignored(text: str) -> None:  # D4
    try:
        FAQ.from_json(text)
        FAQ.from_dict(json.loads(text))
    except InvalidFAQ:
        pass
