"""What headers say to caches."""

import pytest

from faqsvc_embed.page.headers import applied, may_be_shared, page_changes
from faqsvc_embed.page.page import Page

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
    headers = [("Vary", value) for value in present]
    changes = page_changes(Page(negotiated=True), headers)
    assert changes == ({} if expected is None else {"Vary": expected})
    assert not changes or applied(headers, changes) == [("Vary", expected)]


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


def limited(headers: list[tuple[str, str]]) -> dict[str, str]:
    """Return the headers of a page that caches may keep for 30 seconds."""
    changed = applied(headers, page_changes(Page(max_age=30), headers))
    assert len(dict(changed)) == len(changed)
    return dict(changed)


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
    assert limited([("Cache-Control", before)] if before else []) == {"Cache-Control": after}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            [("Expires", "Sat, 21 Nov 2126 08:00:00 GMT"), ("A", "b")],
            [("A", "b"), ("Cache-Control", "max-age=0")],
        ),
        (
            [("cache-control", "max-age=9"), ("Cdn-Cache-Control", "max-age=900"), ("Set-Cookie", "a=b")],
            [("Set-Cookie", "a=b"), ("Cache-Control", "max-age=9"), ("Cdn-Cache-Control", "max-age=30")],
        ),
        (
            [("Cache-Control", "no-cache"), ("Surrogate-Control", 'max-age=900, content="ESI/1.0"')],
            [("Cache-Control", "no-cache"), ("Surrogate-Control", 'max-age=30, content="ESI/1.0"')],
        ),
        ([("Cdn-Cache-Control", "max-age=5")], [("Cdn-Cache-Control", "max-age=5"),
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
    assert limited(before) == dict(after)
