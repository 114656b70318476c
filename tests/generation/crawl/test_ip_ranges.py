"""Which IP addresses are public."""

import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed.generation.crawl.ssrf import why_blocked

METADATA = "100.100.100.200 168.63.129.16 169.254.169.254 192.0.0.192 fd00:ec2::254"
"""Where Alibaba, Azure, most other clouds, Oracle and AWS tell a machine its secrets."""
BLOCKED = f"""
{METADATA}
0.0.0.0 0.1.2.3 10.0.0.1 10.255.255.255 100.64.0.1 100.127.255.255 127.0.0.1 127.255.255.254
169.254.0.1 172.16.0.1 172.31.255.255 192.0.2.1 192.52.193.1 192.88.99.1 192.168.1.1 198.18.0.1
198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255
:: ::1 ::7f00:1 ::ffff:127.0.0.1 ::ffff:8.8.8.8 ::ffff:0:127.0.0.1 64:ff9b::7f00:1 64:ff9b::808:808
64:ff9b:1::1 100::1 2001::1 2001:0:4136:e378:8000:63bf:3fff:fdd2 2001:10::1 2001:db8::1
2002:7f00:1::1 2002:808:808::1 3ffe::1 3fff::1 4000::1 5f00::1 fc00::1 fe80::1 fe80::1%eth0
2606:4700::1111%eth0 fec0::1 ff02::1
"""


def test_an_address_that_is_not_public_is_blocked() -> None:
    assert [address for address in BLOCKED.split() if not why_blocked(address)] == []


PUBLIC = """
1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
172.15.255.255 172.32.0.0 192.167.255.255 192.169.0.0 223.255.255.255 2001:4860:4860::8888
2606:4700::1111 2a00:1450:4001::1 2003::1
"""


def test_a_public_address_is_not_blocked() -> None:
    assert [address for address in PUBLIC.split() if why_blocked(address)] == []


@given(st.ip_addresses())
@example(ipaddress.ip_address("192.0.0.9"))
@example(ipaddress.ip_address("2001:1::1"))
def test_every_special_address_of_the_standard_library_is_blocked(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:
    if why_blocked(str(address)) is None:
        assert address.is_global
        assert not address.is_multicast


@pytest.mark.parametrize(
    "text", ["", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "localhost", "1.2.3"]
)
def test_only_the_usual_form_of_an_address_is_accepted(text: str) -> None:
    with pytest.raises(ValueError, match="address"):
        why_blocked(text)
