"""What is sent to the service, and over which connection. Redirects are not followed."""

import asyncio
import gzip
import sys
import time
from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed import FAQClient, FAQNotFound, FAQUnavailable, InvalidFAQ, __version__
from faqsvc_embed.api.requests import Request
from faqsvc_embed.api.transport import Transport, open_stream
from faqsvc_embed.errors import FAQTimeout
from faqsvc_embed.runtime.background_loop import BackgroundLoop
from tests.api.support import SECRET, TEA, created
from tests.support import faulty as behaviours
from tests.support import samples
from tests.support.clock import Clock
from tests.support.embeds import LONG, MakeEmbed, failure, refreshed
from tests.support.faulty import Behaviour, Exchange, FaultyServer
from tests.support.tls import SecureServer, hang_in_handshake

PATH: Final = "/api/v1/faq/pricing"
CLOSED: Final = [behaviours.hang_up, behaviours.reset, behaviours.truncated]

# Requests


def test_a_read_carries_no_key_no_cookie_and_no_credentials(
    make_embed: MakeEmbed, faulty: FaultyServer, clock: Clock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    netrc = tmp_path / ".netrc"
    netrc.write_text("default login somebody password secret\n")
    netrc.chmod(0o600)
    monkeypatch.setenv("NETRC", str(netrc))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("FAQSVC_API_KEY", "fs_live_secretsecretsecretsecret")
    faulty.serve(
        samples.pricing(), {"Set-Cookie": "session=1; Path=/", "Cache-Control": "max-age=60", "ETag": ""}
    )
    embed = make_embed()
    for _ in range(3):
        refreshed(embed)
        clock.advance(LONG)
    assert len(faulty.log) == 3
    for request in faulty.log:
        assert set(request.headers) == {"host", "connection", "accept", "accept-encoding", "user-agent"}
        assert (request.method, request.headers["accept"], request.body) == ("GET", "application/json", b"")
        assert request.headers["user-agent"] == f"faqsvc-embed/{__version__}"
        assert "secret" not in str(request)


def test_more_faqs_than_connections_all_arrive(make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    slugs = [f"faq-{number}" for number in range(40)]
    for slug in slugs:
        faulty.serve(samples.record(slug))
    embed = make_embed(wait=10)
    embed.prefetch(*slugs)
    assert [health["freshness"] for health in embed.health()] == ["fresh"] * 40
    assert len(faulty.log) == 40


def test_a_read_during_which_the_process_is_suspended_is_repeated_once(
    faulty: FaultyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    running, requests = time.monotonic, list[float]()
    monkeypatch.setattr(time, "monotonic", lambda: running() + sum(requests[:4]))

    def stand_still(exchange: Exchange) -> None:
        requests.append(3600.0)
        exchange.hang()

    faulty.behave(stand_still)
    sent = Transport(max_bytes=1000).send(Request(f"{faulty.base_url}{PATH}", {}), 0.2)
    assert isinstance(asyncio.run(sent), FAQTimeout)
    assert len(requests) == 2


# Connections


@pytest.mark.parametrize("closed", CLOSED, ids=["closed", "reset", "broken off"])
def test_a_connection_that_is_closed_is_a_failure(
    make_embed: MakeEmbed, faulty: FaultyServer, closed: Behaviour
) -> None:
    faulty.then(closed)
    assert isinstance(failure(make_embed()), FAQUnavailable)
    assert len(faulty.log) == 1


def test_a_record_of_another_faq_is_a_failure(make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    faulty.behave(behaviours.altered(slug="other"))
    assert isinstance(failure(make_embed()), InvalidFAQ)
    assert len(faulty.log) == 1


def test_no_response_can_belong_to_an_earlier_request(make_embed: MakeEmbed, faulty: FaultyServer) -> None:
    faulty.serve(samples.record("other"))
    embed = make_embed()
    assert [embed.get_faq(slug).slug for slug in ("pricing", "other")] == ["pricing", "other"]
    assert [request.connection for request in faulty.log] == [1, 2]
    assert faulty.wait_for_disconnects()


def test_a_write_after_the_service_has_closed_its_connections_arrives(faulty: FaultyServer) -> None:
    faulty.behave(created)
    with FAQClient(faulty.base_url, SECRET) as client:
        for _ in range(3):
            assert client.publish_faq(**TEA).slug == "tea"
            faulty.drop_connections()
            assert faulty.wait_for_disconnects()
    assert len(faulty.log) == 3


def test_a_stream_whose_handshake_hangs_leaves_no_connection_open() -> None:
    async def follow(url: str) -> None:
        async with open_stream(Request(url, {}), 0.2, 45):
            pass

    with SecureServer() as service:
        service.secure = hang_in_handshake
        with pytest.raises(FAQUnavailable):
            asyncio.run(follow(service.base_url))
        assert service.connections == 1
        assert service.wait_for_disconnects()


# Redirects


@pytest.mark.parametrize("code", [301, 307])
@pytest.mark.parametrize("target", ["/elsewhere", "http://localhost:1/", "//us:s3cret@127.0.0.1/", None])
def test_a_redirect_is_not_followed_and_the_error_names_the_remedy(
    make_embed: MakeEmbed, faulty: FaultyServer, code: int, target: str | None
) -> None:
    faulty.behave(behaviours.status(code) if target is None else behaviours.redirect(target, code))
    error = failure(make_embed())
    assert (type(error), error.status) == (FAQUnavailable, code)
    assert "base_url" in str(error)
    assert "s3cret" not in str(error)
    assert (len(faulty.log), faulty.connections) == (1, 1)


# Errors


def test_a_404_in_json_may_be_compressed(
    make_embed: MakeEmbed, faulty: FaultyServer
) -> None:  # as nginx does
    headers = {"Content-Type": "application/problem+json", "Content-Encoding": "gzip"}
    faulty.behave(behaviours.body(gzip.compress(b'{"status": 404}'), headers, status=404))
    error = failure(make_embed())
    assert isinstance(error, FAQNotFound)
    assert error.body == '{"status": 404}'


@pytest.mark.parametrize("status", [200, 500])
def test_the_iterator_of_a_body_that_is_not_read_to_its_end_is_closed(
    faulty: FaultyServer, status: int
) -> None:
    """Otherwise garbage collection closes it in a task of its own, while the connection is being closed."""
    faulty.behave(behaviours.body(b"x" * 200_000, status=status))
    transport, background, left = Transport(max_bytes=1000), BackgroundLoop(), list[str]()

    async def send() -> None:
        sys.set_asyncgen_hooks(finalizer=lambda generator: left.append(str(generator)))
        await transport.send(Request(f"{faulty.base_url}{PATH}", {}), 5)

    try:
        background.submit(send()).result(60)
    finally:
        background.close()
    assert "Response.aiter_" not in str(left)
