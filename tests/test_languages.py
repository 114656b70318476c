"""The seven languages of the service, language tags, and `Accept-Language`."""

import itertools

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed.languages import LANGUAGES, MAX_HEADER, is_language_tag, lookup, negotiate
from tests.support.growth import grows_linearly
from tests.support.strategies import any_text

ranges = st.one_of(
    st.sampled_from([*LANGUAGES, "*", "en-GB", "zh-Hant-TW", "de-CH-1996", "fr-x-private", "nl", "pt-BR"]),
    st.from_regex(r"[a-z]{1,8}(-[a-z0-9]{1,8}){0,3}", fullmatch=True),
)
qualities = st.sampled_from(["", ";q=1", ";q=0", ";q=0.5", "; q=0.123", ";q=1.000", ";Q=0.9"])
headers = st.lists(st.tuples(ranges, qualities).map("".join), max_size=8).map(", ".join)


def test_the_languages_are_those_of_the_specification() -> None:
    assert LANGUAGES == ("en", "ko", "ja", "zh", "es", "fr", "de")


RANGES = [
    *((language, language) for language in LANGUAGES),
    ("zh-Hant-TW", "zh"),
    ("de-CH", "de"),
    ("en-GB", "en"),
    ("EN", "en"),
    ("Fr-fr", "fr"),
    ("ko_KR", "ko"),
    ("zh_Hans_CN", "zh"),
    (" ja ", "ja"),
    ("de-x-wiki", "de"),
    ("es-419", "es"),
    ("en-a-bbb-x-a-ccc", "en"),
    ("fr-*", "fr"),
    ("*", None),
    ("nl", None),
    ("pt-BR", None),
    ("eng", None),
    ("x-en", None),
    ("", None),
    ("-en", None),
    ("en-", None),
    ("en--GB", None),
    ("e n", None),
    ("en;q=1", None),
    ("en\n-GB", None),
    ("еn", None),  # a Cyrillic letter
    ("en-" + "a" * 200, None),
]


def test_a_range_is_matched_by_its_primary_subtag() -> None:
    for language_range, language in RANGES:
        assert (language_range, lookup(language_range)) == (language_range, language)


@given(any_text)
def test_any_text_gives_a_language_or_none(text: str) -> None:
    assert lookup(text) in (*LANGUAGES, None)


HEADERS = [
    ("ko", "ko"),
    ("ko, en", "ko"),
    ("en;q=0.8, ko", "ko"),
    ("en;q=0.8, ko;q=0.9", "ko"),
    ("en;q=0.800, ko;q=0.801", "ko"),
    ("en;q=0.5, ko;q=0.5", "en"),  # equals keep their order
    ("nl, pt;q=0.9, fr;q=0.1", "fr"),
    ("zh-Hant-TW,zh;q=0.9", "zh"),
    ("de-CH;q=1.000", "de"),
    ("DE-ch ; q=0.3", "de"),
    ("en;Q=0.3, fr;q=0.2", "en"),
    ("fr;q=0", None),
    ("fr;q=0.000, de;q=0.001", "de"),
    ("fr;q=0, fr-CH, de;q=0.1", "de"),
    ("fr-CH;q=0, fr", "fr"),  # excludes Swiss French alone
    ("nl", None),
    ("", None),
    (",,, ,", None),
    ("*", None),
    ("*;q=0", None),
    # malformed parts are skipped
    ("en;q=2, ko;q=0.1", "ko"),
    ("en;q=0.1234, ko;q=0.1", "ko"),
    ("en;q=-1, ko;q=0.1", "ko"),
    ("en;q=nan, ko;q=0.1", "ko"),
    ("en;q=1e0, ko;q=0.1", "ko"),
    ("en;q=, ko;q=0.1", "ko"),
    ("en;, ko;q=0.1", "ko"),
    ("en GB, ko;q=0.1", "ko"),
    ("en;q=１, ko;q=0.1", "ko"),  # a full-width digit
    ('"en", ko;q=0.1', "ko"),
    ("english-language, ko;q=0.1", "ko"),
]


def test_a_header_is_weighed_by_its_qualities() -> None:
    for header, language in HEADERS:
        assert (header, negotiate(header)) == (header, language)


@pytest.mark.parametrize(
    ("header", "default", "language"),
    [
        ("*", "de", "de"),  # alone it gives the default
        ("nl, *;q=0.5", "de", "de"),
        ("*;q=0.5, ko", "de", "ko"),
        ("fr;q=0, *", "fr", "en"),  # never French while others exist
        ("fr;q=0, *", "de", "de"),
        ("fr;q=0, en;q=0, *", "fr", "ko"),
        (", ".join(f"{language};q=0" for language in LANGUAGES) + ", *", "fr", "fr"),  # no other exists
        ("nl", "de", "de"),
        ("", "de", "de"),
    ],
)
def test_a_star_stands_for_the_default_unless_that_is_excluded(
    header: str, default: str, language: str
) -> None:
    assert negotiate(header, default) == language


@given(st.one_of(any_text, headers, st.text("en-q=0.1;,* \t", max_size=200)), st.sampled_from(LANGUAGES))
@example("en;q=" + "0" * 10_000, "ko")
@example("," * 10_000, "ko")
@example("en-" * 5_000, "ko")
@example(" " * 10_000 + "fr", "ko")
def test_any_header_gives_one_of_the_seven_languages(header: str, default: str) -> None:
    assert negotiate(header, default) in LANGUAGES
    assert negotiate(header) in (*LANGUAGES, None)


@given(
    st.lists(st.sampled_from([*LANGUAGES, "*", "fr-CH", "nl"])),
    st.sampled_from(LANGUAGES),
    st.sampled_from(LANGUAGES),
)
def test_an_excluded_language_is_never_chosen_while_another_is_accepted(
    ranges: list[str], excluded: str, default: str
) -> None:
    assert negotiate(", ".join([*ranges, f"{excluded};q=0", "*;q=0.001"]), default) != excluded


@pytest.mark.parametrize(
    "tag", ["en", "zh-Hant-TW", "de-CH-1996", "es-419", "sl-rozaj-biske", "x-private", "en-a-bbb", "mas"]
)
def test_a_well_formed_tag_is_a_language_tag(tag: str) -> None:
    assert is_language_tag(tag)


NO_TAGS = [
    None,
    5,
    b"en",
    ["en"],
    "",
    "e",
    "en_US",
    "en ",
    "en\n",
    "en-",
    "-en",
    "a" * 9,
    "en-x",
    "en-a",
    "ｅｎ",
    "en-" + "-".join(["abcde"] * 50),
    "en\x00",
    "en\u2028",
    '"><script>',
]


def test_anything_else_is_not_a_language_tag() -> None:
    assert [tag for tag in NO_TAGS if is_language_tag(tag)] == []


@given(any_text)
def test_a_tag_is_plain_ascii_that_needs_no_escaping(text: str) -> None:
    if is_language_tag(text):
        assert text.isascii()
        assert text.replace("-", "").isalnum()


# Long headers


def test_only_the_beginning_of_a_long_header_is_read_and_no_part_of_a_range() -> None:
    start = "x," * ((MAX_HEADER - len("de;q=0")) // 2)
    header = f"{start}de;q=0.9"
    assert header[:MAX_HEADER].endswith(("de;q=0", "de;q=0."))
    assert negotiate(f"{header},*;q=0.1", "de") == "de"  # it does not exclude German
    assert negotiate(f"{'x,' * MAX_HEADER}ko", "de") == "de"
    assert negotiate(f"ko,{'x,' * MAX_HEADER}", "de") == "ko"


@pytest.mark.parametrize("piece", ["en;q=0.1,", ",", "a-", " ", ";", "*,", "en" + "-a" * 40 + ","])
def test_a_header_costs_no_more_than_its_length(piece: str) -> None:
    number = itertools.count()  # none is cached
    assert grows_linearly(negotiate, lambda count: piece * (count // len(piece)) + str(next(number)), 500)


def test_a_star_does_not_stand_for_a_language_that_is_listed() -> None:  # RFC 9110, 12.5.4
    assert negotiate("ko;q=0.1, *;q=0.8", "ko") == "en"
    assert negotiate("en;q=0.5, ko;q=0.1, *;q=0.8", "ko") == "ja"
    assert negotiate("KO;q=0.1, *;q=0.8", "ko") == "en"
