"""Certificates and proxies: what the environment of a host may do to requests."""

import asyncio
from pathlib import Path

import pytest

from faqsvc_embed import FAQClient, FAQEmbed, FAQError, FAQUnavailable
from faqsvc_embed.api.requests import Request
from faqsvc_embed.api.transport import MAX_REQUESTS, open_stream
from tests.api.support import SECRET, TEA
from tests.support.clock import Clock
from tests.support.embeds import LONG, MakeEmbed, failure, warnings_of
from tests.support.faults import behaviours
from tests.support.faulty import FaultyServer
from tests.support.tls import SecureServer, trust_authority
from tests.support.waiting import settle

SCHEMES = ["https", "HTTPS"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_certificates_are_checked_however_the_scheme_is_written(scheme: str) -> None:
    with SecureServer() as impostor:
        base_url = f"{scheme}://{impostor.host}:{impostor.port}"
        with FAQEmbed(base_url) as embed:
            assert isinstance(failure(embed), FAQUnavailable)
        with FAQClient(base_url, SECRET) as client, pytest.raises(FAQError):
            client.publish_faq(**TEA)
        assert impostor.log == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_trusted_certificate_is_accepted(
    scheme: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    trust_authority(monkeypatch, tmp_path)
    with SecureServer() as service, FAQEmbed(f"{scheme}://{service.host}:{service.port}") as embed:
        assert embed.get_faq("pricing").slug == "pricing"


@pytest.mark.parametrize("scheme", ["http", "HTTP"])
def test_plain_http_needs_no_certificates(
    scheme: str, make_embed: MakeEmbed, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere")
    assert make_embed(base_url=faulty.base_url.replace("http", scheme)).get_faq("pricing")


def test_handshakes_that_hang_behind_a_proxy_use_up_no_connections(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", faulty.base_url)
    faulty.behave(behaviours.raw(b"HTTP/1.1 200 Connection established\r\n\r\n", then="hang"))
    embed = make_embed(base_url="https://faq.example", timeout=0.5)
    for number in range(2 * MAX_REQUESTS):
        embed.use_faq(f"faq-{number}", wait=0)
    settle(embed)
    assert faulty.wait_for_disconnects()
    faulty.forget_log()
    clock.advance(LONG)
    embed.use_faq("another", wait=0)
    faulty.wait_for_requests(1)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1"),  # needs a package that is not installed
        ("HTTPS_PROXY", "ftp://127.0.0.1:1"),
        ("HTTPS_PROXY", "http://127.0.0.1:1"),
        ("SSL_CERT_FILE", "/nowhere/ca.pem"),
        ("SSL_CERT_FILE", __file__),
    ],
)
def test_an_unusable_environment_is_one_line_in_the_log_and_a_page_without_the_faq(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv(variable, value)
    with FAQEmbed("https://127.0.0.1:1") as embed:
        embed.reader.cache.random = lambda: 0.0  # no back-off
        for _ in range(3):
            assert embed.render("pricing") == ""
        assert isinstance(failure(embed), FAQUnavailable)
    assert len(warnings_of(caplog)) == 1
    assert caplog.text == ""


def test_an_error_says_that_the_request_took_the_proxy_of_the_environment(
    make_embed: MakeEmbed, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:1")
    message = str(failure(make_embed(base_url="https://faq.invalid")))
    assert message.startswith("https://faq.invalid cannot be reached through the proxy of the environment: ")
    monkeypatch.setenv("NO_PROXY", "faq.invalid")
    assert "proxy" not in str(failure(make_embed(base_url="https://faq.invalid")))


def test_a_proxy_does_not_receive_requests_to_this_machine(
    make_embed: MakeEmbed, faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:1")
    assert make_embed().get_faq("pricing").slug == "pricing"


def test_a_name_that_does_not_resolve_is_a_failure(make_embed: MakeEmbed) -> None:
    embed = make_embed(base_url="http://a..b")  # not a host name: no resolver is asked
    assert isinstance(failure(embed), FAQUnavailable)


def test_a_feed_without_certificates_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", "/nowhere/ca.pem")

    async def follow() -> None:
        async with open_stream(Request("https://127.0.0.1:1", {}), 1, 45):
            pass

    with pytest.raises(FAQUnavailable, match=r"SSL_CERT_FILE.*/nowhere/ca.pem"):
        asyncio.run(follow())
