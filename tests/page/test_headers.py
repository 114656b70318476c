"""Which responses can be changed, and what their headers say to caches."""

import pytest

from faqsvc_embed.page.headers import ResponseHead, limit_max_age, may_be_shared, vary_by_language

HTML = "text/html; charset=utf-8"


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html", "utf-8"),
        (" Text/HTML ;charset=UTF-8", "utf-8"),
        ('text/html; charset="Shift_JIS"', "shift_jis"),
        ("text/html; boundary=x; charset='euc-kr'; x=y", "euc_kr"),
        ("text/html; charset=utf-16", "utf-16"),
        ("text/html; charset=klingon", None),
        ("text/html; charset=base64", None),  # codecs of Python that are no charsets
        ("text/html; charset=rot13", None),
        ("text/html; charset=utf-7", "utf-7"),
        ("text/html; charset=cp037", "cp037"),
        ("text/html; charset=" + "x" * 10_000, None),
        ("text/html-x", None),
        ("application/xhtml+xml", None),
        ("text/plain; x=text/html", None),
        ("", None),
    ],
)
def test_a_page_is_html_in_a_charset_that_python_knows(content_type: str, charset: str | None) -> None:
    assert ResponseHead(200, content_type).charset == charset


@pytest.mark.parametrize("status", [200, 201, 203, 404, 418, 500])
def test_pages_of_any_status_can_be_changed(status: int) -> None:
    assert ResponseHead(status, HTML).charset == "utf-8"


@pytest.mark.parametrize(
    "head",
    [
        *(ResponseHead(status, HTML) for status in (100, 103, 199, 204, 205, 206, 304)),
        ResponseHead(200, HTML, "gzip"),
        ResponseHead(200, HTML, " BR "),
        ResponseHead(200, HTML, content_range="bytes 0-9/10"),
    ],
)
def test_parts_and_compressed_responses_and_those_without_body_cannot(head: ResponseHead) -> None:
    assert head.charset is None


@pytest.mark.parametrize(("encoding", "is_compressed"), [("", False), (" Identity", False), ("gzip", True)])
def test_identity_is_no_compression(encoding: str, is_compressed: bool) -> None:
    head = ResponseHead(200, HTML, encoding)
    assert (head.is_compressed, head.charset is None) == (is_compressed, is_compressed)


# Vary


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        ([], "Accept-Language"),
        ([""], "Accept-Language"),
        (["Cookie"], "Cookie, Accept-Language"),
        (["Cookie", "Accept-Encoding, Origin"], "Cookie, Accept-Encoding, Origin, Accept-Language"),
        (["Accept-Language-Extra"], "Accept-Language-Extra, Accept-Language"),
        (["accept-language"], None),
        (["Cookie, ACCEPT-LANGUAGE"], None),
        (["*"], None),
        (["Cookie", " * "], None),
    ],
)
def test_vary_is_merged_and_never_doubled(present: list[str], expected: str | None) -> None:
    assert vary_by_language(present) == expected


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        ({"ETag": '"1"'}, True),
        ({"Last-Modified": "Sat, 21 Nov 2026 10:00:00 GMT"}, True),
        ({"Expires": "Sat, 21 Nov 2026 10:00:00 GMT"}, True),
        ({"Cache-Control": "max-age=60"}, True),
        ({"CDN-Cache-Control": "max-age=60"}, True),
        ({"Surrogate-Control": "max-age=60"}, True),
        ({"ETag": '"1"', "Vary": "Cookie"}, True),
        ({}, False),
        ({"X": "y"}, False),
        ({"Cache-Control": "Private, max-age=60"}, False),
        ({"Cache-Control": "no-store", "ETag": '"1"'}, False),
        ({"CDN-Cache-Control": "no-store", "ETag": '"1"'}, False),
        ({"ETag": '"1"', "Vary": "Cookie, accept-language"}, False),
        ({"ETag": '"1"', "Vary": "*"}, False),
    ],
)
def test_a_response_that_caches_may_keep_for_all_languages(headers: dict[str, str], expected: bool) -> None:
    assert may_be_shared(headers.items()) is expected


# Cache-Control


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "max-age=0"),
        ("max-age=5", "max-age=5"),
        ("max-age=30", "max-age=30"),
        ("private, max-age=600", "private, max-age=30"),
        ("no-store", "no-store"),
        ("private, no-cache", "private, no-cache"),
        ("no-store, max-age=0", "no-store, max-age=0"),
        ("public", "public, max-age=0"),
        ("Max-Age=600", "max-age=30"),
        ('max-age=x, S-MaxAge="90"', "max-age=0, s-maxage=30"),
        (f"max-age={'9' * 5_001}", "max-age=0"),
        ("max-age=٣", "max-age=0"),
        ("s-maxage=90", "s-maxage=30, max-age=0"),
        ("public,, ,max-age = 90", "public, max-age=30"),
        (
            "max-age=9, stale-while-revalidate=86400, stale-if-error=5, immutable",
            "max-age=9, stale-while-revalidate=30, stale-if-error=5",
        ),
    ],
)
def test_lifetimes_are_shortened_and_never_lengthened(before: str, after: str) -> None:
    assert limit_max_age([("Cache-Control", before)] if before else [], 30) == [("Cache-Control", after)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            [("Expires", "Sat, 21 Nov 2126 08:00:00 GMT"), ("A", "b")],
            [("A", "b"), ("Cache-Control", "max-age=0")],
        ),
        (
            [("cache-control", "max-age=9"), ("CDN-Cache-Control", "max-age=900"), ("Set-Cookie", "a=b")],
            [("Set-Cookie", "a=b"), ("cache-control", "max-age=9"), ("CDN-Cache-Control", "max-age=30")],
        ),
        (
            [("Cache-Control", "no-cache"), ("Surrogate-Control", 'max-age=900, content="ESI/1.0"')],
            [("Cache-Control", "no-cache"), ("Surrogate-Control", 'max-age=30, content="ESI/1.0"')],
        ),
        ([("CDN-Cache-Control", "max-age=5")], [("CDN-Cache-Control", "max-age=5"),
                                               ("Cache-Control", "max-age=0")]),
        (
            [("Cache-Control", "public"), ("cache-control", "max-age=600")],
            [("Cache-Control", "public, max-age=30")],
        ),
    ],
)  # fmt: skip
def test_headers_for_caches_and_cdns_are_limited_and_others_stay(
    before: list[tuple[str, str]], after: list[tuple[str, str]]
) -> None:
    assert limit_max_age(before, 30) == after
