"""Which responses can be changed."""

import pytest

from faqsvc_embed.page.response_head import ResponseHead

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
