"""Which URLs and addresses are requested."""

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

import httpcore2
import pytest

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.generation.crawl.ssrf import BlockedURL, SSRFGuard, check_url, parse_allowed

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    ("url", "requested"),
    [
        ("https://shop.example", "https://shop.example/"),
        ("http://shop.example:80/faq?a=b#c", "http://shop.example/faq?a=b"),
        ("https://shop.example:80/", "https://shop.example:80/"),
        ("HTTPS://Shop.Example./", "https://shop.example./"),
        ("https://bücher.example/häufig", "https://xn--bcher-kva.example/h%C3%A4ufig"),
        ("https://例え.example", "https://xn--r8jz45g.example/"),
        ("https://8.8.8.8/", "https://8.8.8.8/"),
        ("https://[2606:4700::1111]/", "https://[2606:4700::1111]/"),
    ],
)
def test_a_url_of_a_website_is_accepted(url: str, requested: str) -> None:
    parsed = check_url(url)
    assert f"{parsed.scheme}://{parsed.netloc.decode()}{parsed.raw_path.decode()}" == requested


@pytest.mark.parametrize(
    "url",
    [
        "",
        "shop.example",
        "//shop.example",
        "file:///etc/passwd",
        "gopher://shop.example:70/",
        "http:///faq",
        "http://user:secret@shop.example/",
        "http://shop.example\\@evil.example/",
        "http://shop.example:8080/",
        "http://shop.example:99999/",
        "http://shop.example:x/",
        "http://shop example/",
        "http://shop%2eexample/",
        "http://shop.example\r\nHost: x/",
        "http://[::1",
        "http://[fe80::1%25eth0]/",
        "http://127.1/",
        "http://2130706433/",
        "http://0x7f.0.0.1/",
        "http://0177.0.0.1/",
        "http://127.0.0.1./",
        "http://1.2.3.4.5/",
        "http://①②⑦.⓪.⓪.①/",
        "http://１２７.０.０.１/",
    ],
)
def test_another_url_is_blocked_by_its_text(url: str) -> None:
    with pytest.raises(BlockedURL):
        check_url(url)


@pytest.mark.parametrize("url", ["http://127。0。0。1/", "http://[0:0:0:0:0:ffff:7f00:1]/", "http://[::1]/"])
def test_an_address_in_the_url_is_blocked_before_connecting(url: str) -> None:
    network = Network()
    host = check_url(url).raw_host.decode()

    with pytest.raises(BlockedURL):
        connect(SSRFGuard(network=network), host, 80)

    assert network.connected == []


def test_a_port_is_allowed_for_its_host_only() -> None:
    allowed = parse_allowed("127.0.0.1:8080, [::1]:8081,Intranet.Example:8082")

    assert allowed == {("127.0.0.1", 8080), ("::1", 8081), ("intranet.example", 8082)}
    assert check_url("http://127.0.0.1:8080/", allowed).port == 8080
    assert check_url("http://INTRANET.example:8082/", allowed).port == 8082
    with pytest.raises(BlockedURL):
        check_url("http://127.0.0.1:8081/", allowed)


@pytest.mark.parametrize("value", ["127.0.0.1", ":80", "host:", "host:x", "host:70000", "host:80:x"])
def test_an_invalid_endpoint_is_a_configuration_error(value: str) -> None:
    with pytest.raises(ConfigurationError, match="generate_allow"):
        parse_allowed(f"ok.example:80,{value}")


class Network(httpcore2.AsyncMockBackend):
    """Records the addresses that it connects to."""

    def __init__(self, dead: Iterable[str] = ()) -> None:
        super().__init__([])
        self.dead = set(dead)
        self.connected: list[tuple[str, int]] = []

    async def connect_tcp(
        self, host: str, port: int, *options: Any, **named: Any
    ) -> httpcore2.AsyncNetworkStream:
        self.connected.append((host, port))
        if host in self.dead:
            raise httpcore2.ConnectError("connection refused")
        return await super().connect_tcp(host, port, *options, **named)


class Resolver:
    """Returns its results one after the other, then the last one again."""

    def __init__(self, *results: Sequence[str] | OSError) -> None:
        self.results = list(results)
        self.calls = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.calls += 1
        result = self.results.pop(0) if len(self.results) > 1 else self.results[0]
        if isinstance(result, OSError):
            raise result
        return result


def connect(guard: SSRFGuard, host: str = "shop.example", port: int = 443) -> None:
    asyncio.run(_connect(guard, host, port))


async def _connect(guard: SSRFGuard, host: str, port: int) -> None:
    await guard.connect_tcp(host, port)


def test_the_connection_goes_to_the_checked_address() -> None:
    network, resolver = Network(), Resolver([PUBLIC])

    connect(SSRFGuard(resolve=resolver, network=network))

    assert (network.connected, resolver.calls) == ([(PUBLIC, 443)], 1)


def test_a_host_is_resolved_once_so_that_its_address_cannot_change() -> None:  # rebinding
    network, resolver = Network(), Resolver([PUBLIC], ["127.0.0.1"])
    guard = SSRFGuard(resolve=resolver, network=network)

    connect(guard)
    connect(guard)

    assert (network.connected, resolver.calls) == ([(PUBLIC, 443)] * 2, 1)


@pytest.mark.parametrize("bad", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00:ec2::254"])
@pytest.mark.parametrize("good", [[], [PUBLIC], [PUBLIC, "2606:4700::1111"]])
def test_one_private_address_among_public_ones_blocks_the_host(good: list[str], bad: str) -> None:
    network = Network()

    with pytest.raises(BlockedURL) as blocked:
        connect(SSRFGuard(resolve=Resolver([*good, bad]), network=network))

    assert network.connected == []
    assert bad not in str(blocked.value)  # which would reveal internal DNS


def test_at_most_three_addresses_of_a_host_are_tried() -> None:
    resolver = Resolver(["1.1.1.1", PUBLIC, "1.0.0.1", "9.9.9.9"])
    one_alive, all_dead = Network(dead=["1.1.1.1"]), Network(dead=["1.1.1.1", PUBLIC, "1.0.0.1", "9.9.9.9"])

    connect(SSRFGuard(resolve=resolver, network=one_alive))
    with pytest.raises(httpcore2.ConnectError):
        connect(SSRFGuard(resolve=resolver, network=all_dead))

    assert one_alive.connected == [("1.1.1.1", 443), (PUBLIC, 443)]
    assert all_dead.connected == [("1.1.1.1", 443), (PUBLIC, 443), ("1.0.0.1", 443)]


@pytest.mark.parametrize("result", [[], OSError("no such name")])
def test_a_host_without_addresses_cannot_be_connected_to(result: list[str] | OSError) -> None:
    with pytest.raises(httpcore2.ConnectError, match=r"shop\.example"):
        connect(SSRFGuard(resolve=Resolver(result), network=Network()))


def test_the_port_is_checked_when_connecting() -> None:
    network = Network()

    with pytest.raises(BlockedURL):
        connect(SSRFGuard(resolve=Resolver([PUBLIC]), network=network), port=6379)

    assert network.connected == []


def test_an_endpoint_is_allowed_by_name_or_by_address() -> None:
    allowed = parse_allowed("intranet.example:80,10.0.0.5:8080")
    network = Network()
    guard = SSRFGuard(allowed, resolve=Resolver(["10.0.0.5"]), network=network)

    connect(guard, "intranet.example", 80)
    connect(guard, "wiki.example", 8080)
    with pytest.raises(BlockedURL):
        connect(guard, "wiki.example", 80)

    assert network.connected == [("10.0.0.5", 80), ("10.0.0.5", 8080)]


def test_no_unix_socket_can_be_opened() -> None:
    with pytest.raises(NotImplementedError):
        asyncio.run(SSRFGuard().connect_unix_socket("/run/docker.sock"))
