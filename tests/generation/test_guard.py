"""Where a visit may go, by the text of a URL and by the addresses behind its name (D11)."""

import asyncio
from collections.abc import Iterable, Sequence

import httpcore2
import pytest

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.generation.guard import Guard, Refused, check_url, parse_allowed

PUBLIC = "93.184.215.14"


@pytest.mark.parametrize(
    ("url", "visited"),
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
def test_addresses_of_websites_pass(url: str, visited: str) -> None:
    parsed = check_url(url)
    assert f"{parsed.scheme}://{parsed.netloc.decode()}{parsed.raw_path.decode()}" == visited


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("", "http or https"),
        ("shop.example", "http or https"),
        ("//shop.example", "http or https"),
        ("ftp://shop.example", "http or https"),
        ("file:///etc/passwd", "http or https"),
        ("gopher://shop.example:70/", "http or https"),
        ("javascript:alert(1)", "http or https"),
        ("http:///faq", "no host"),
        ("http://user@shop.example/", "user name"),
        ("http://user:secret@shop.example/", "user name"),
        ("http://shop.example\\@evil.example/", "user name"),
        ("http://:@shop.example/", "user name"),
        ("http://shop.example:8080/", "port 8080"),
        ("http://shop.example:22/", "port 22"),
        ("http://shop.example:99999/", "port 99999"),
        ("http://shop.example:x/", "no address"),
        ("http://shop example/", "no host"),
        ("http://shop%2eexample/", "no host"),
        ("http://shop.example\r\nHost: x/", "no address"),
        ("http://[::1", "no address"),
        ("http://[fe80::1%25eth0]/", "no host"),
        ("http://127.1/", "no host"),
        ("http://127.0.1/", "no host"),
        ("http://2130706433/", "no host"),
        ("http://0x7f000001/", "no host"),
        ("http://0x7f.0.0.1/", "no host"),
        ("http://0177.0.0.1/", "no address"),
        ("http://127.0.0.0x1/", "no host"),
        ("http://127.0.0.1./", "no host"),
        ("http://1.2.3.4.5/", "no host"),
        ("http://①②⑦.⓪.⓪.①/", "no address"),
        ("http://１２７.０.０.１/", "no address"),
    ],
)
def test_other_addresses_are_refused_by_their_text_alone(url: str, reason: str) -> None:  # D11
    with pytest.raises(Refused, match=reason):
        check_url(url)


def test_a_user_name_that_is_empty_is_one_too() -> None:
    assert check_url("http://@shop.example/").host == "shop.example"  # which is the same as none


@pytest.mark.parametrize("url", ["http://127。0。0。1/", "http://[0:0:0:0:0:ffff:7f00:1]/", "http://[::1]/"])
def test_an_address_that_is_read_as_one_is_refused_as_that(url: str) -> None:  # D11
    network = Network()
    host = check_url(url).raw_host.decode()

    with pytest.raises(Refused, match=r"loopback|mapped"):
        connect(Guard(network=network), host, 80)

    assert network.asked == []


def test_a_port_is_allowed_for_its_host_only() -> None:
    allowed = parse_allowed("127.0.0.1:8080, [::1]:8081,Intranet.Example:8082")

    assert allowed == {("127.0.0.1", 8080), ("::1", 8081), ("intranet.example", 8082)}
    assert check_url("http://127.0.0.1:8080/", allowed).port == 8080
    assert check_url("http://INTRANET.example:8082/", allowed).port == 8082
    with pytest.raises(Refused, match="port 8081"):
        check_url("http://127.0.0.1:8081/", allowed)


@pytest.mark.parametrize("value", ["127.0.0.1", ":80", "host:", "host:x", "host:70000", "host:80:x"])
def test_what_is_no_endpoint_is_a_mistake_of_the_operators(value: str) -> None:
    with pytest.raises(ConfigurationError, match=r"generate_allow has .* host:port"):
        parse_allowed(f"ok.example:80,{value}")


class Network(httpcore2.AsyncMockBackend):
    """Remembers where it was asked to connect."""

    def __init__(self, dead: Iterable[str] = ()) -> None:
        super().__init__([])
        self.dead = set(dead)
        self.asked: list[tuple[str, int]] = []

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        self.asked.append((host, port))
        if host in self.dead:
            raise httpcore2.ConnectError("nobody there")
        return await super().connect_tcp(host, port, timeout, local_address, socket_options)


class Names:
    """A resolver that gives its answers one after the other, then the last one for ever."""

    def __init__(self, *answers: Sequence[str] | OSError) -> None:
        self.answers = list(answers)
        self.asked = 0

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked += 1
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, OSError):
            raise answer
        return answer


def connect(guard: Guard, host: str = "shop.example", port: int = 443) -> None:
    asyncio.run(_connect(guard, host, port))


async def _connect(guard: Guard, host: str, port: int) -> None:
    await guard.connect_tcp(host, port)


def test_the_connection_goes_to_the_address_that_was_checked() -> None:  # D11
    network, names = Network(), Names([PUBLIC])

    connect(Guard(resolve=names, network=network))

    assert (network.asked, names.asked) == ([(PUBLIC, 443)], 1)


def test_a_name_is_resolved_once_so_that_it_cannot_change() -> None:  # D11: rebinding
    network, names = Network(), Names([PUBLIC], ["127.0.0.1"])
    guard = Guard(resolve=names, network=network)

    connect(guard)
    connect(guard)

    assert (network.asked, names.asked) == ([(PUBLIC, 443)] * 2, 1)


@pytest.mark.parametrize("bad", ["127.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1", "fd00:ec2::254"])
@pytest.mark.parametrize("good", [[], [PUBLIC], [PUBLIC, "2606:4700::1111"]])
def test_one_bad_address_among_good_ones_refuses_all(good: list[str], bad: str) -> None:  # D11
    network = Network()

    with pytest.raises(Refused, match="an address of it is "):
        connect(Guard(resolve=Names([*good, bad]), network=network))

    assert network.asked == []


def test_the_next_address_is_tried_when_one_is_dead_but_not_for_ever() -> None:
    names = Names(["1.1.1.1", PUBLIC, "1.0.0.1", "9.9.9.9"])
    one_lives, all_dead = Network(dead=["1.1.1.1"]), Network(dead=["1.1.1.1", PUBLIC, "1.0.0.1", "9.9.9.9"])

    connect(Guard(resolve=names, network=one_lives))
    with pytest.raises(httpcore2.ConnectError, match="nobody there"):
        connect(Guard(resolve=names, network=all_dead))

    assert one_lives.asked == [("1.1.1.1", 443), (PUBLIC, 443)]
    assert all_dead.asked == [("1.1.1.1", 443), (PUBLIC, 443), ("1.0.0.1", 443)]


@pytest.mark.parametrize("answer", [[], OSError("no such name")])
def test_a_name_without_addresses_is_unreachable(answer: list[str] | OSError) -> None:
    with pytest.raises(httpcore2.ConnectError, match=r"shop\.example"):
        connect(Guard(resolve=Names(answer), network=Network()))


def test_the_port_is_checked_where_the_connection_is_made() -> None:  # D11
    network = Network()

    with pytest.raises(Refused, match="port 6379"):
        connect(Guard(resolve=Names([PUBLIC]), network=network), port=6379)

    assert network.asked == []


def test_what_is_allowed_is_allowed_by_name_or_by_address_and_nothing_else() -> None:
    allowed = parse_allowed("intranet.example:80,10.0.0.5:8080")
    network = Network()
    guard = Guard(allowed, resolve=Names(["10.0.0.5"]), network=network)

    connect(guard, "intranet.example", 80)
    connect(guard, "wiki.example", 8080)
    with pytest.raises(Refused, match="private"):
        connect(guard, "wiki.example", 80)

    assert network.asked == [("10.0.0.5", 80), ("10.0.0.5", 8080)]


def test_no_website_is_on_a_unix_socket() -> None:
    with pytest.raises(Refused):
        asyncio.run(Guard().connect_unix_socket("/run/docker.sock"))
