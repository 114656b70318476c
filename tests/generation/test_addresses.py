"""The own table of refused addresses (D11)."""

import ipaddress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from faqsvc_embed.generation.addresses import why_refused

REFUSED = {
    "0.0.0.0": "this host",
    "0.1.2.3": "this host",
    "10.0.0.1": "private",
    "10.255.255.255": "private",
    "100.64.0.1": "carrier",
    "100.100.100.200": "carrier",  # metadata of Alibaba
    "100.127.255.255": "carrier",
    "127.0.0.1": "loopback",
    "127.255.255.254": "loopback",
    "168.63.129.16": "metadata",  # Azure
    "169.254.0.1": "link-local",
    "169.254.169.254": "link-local",  # metadata of most clouds
    "172.16.0.1": "private",
    "172.31.255.255": "private",
    "192.0.0.192": "protocols",  # metadata of Oracle
    "192.0.2.1": "documentation",
    "192.88.99.1": "6to4",
    "192.168.1.1": "private",
    "198.18.0.1": "benchmarks",
    "198.19.255.255": "benchmarks",
    "198.51.100.7": "documentation",
    "203.0.113.7": "documentation",
    "224.0.0.1": "multicast",
    "239.255.255.255": "multicast",
    "240.0.0.1": "reserved",
    "255.255.255.255": "reserved",
    "::": "unspecified",
    "::1": "loopback",
    "::7f00:1": "IPv4 inside",
    "::ffff:127.0.0.1": "mapped",
    "::ffff:8.8.8.8": "mapped",
    "::ffff:0:127.0.0.1": "translated",
    "64:ff9b::7f00:1": "NAT64",
    "64:ff9b::808:808": "NAT64",
    "64:ff9b:1::1": "NAT64",
    "100::1": "discarded",
    "2001::1": "Teredo",
    "2001:0:4136:e378:8000:63bf:3fff:fdd2": "Teredo",
    "2001:10::1": "protocols",
    "2001:db8::1": "documentation",
    "2002:7f00:1::1": "6to4",
    "2002:808:808::1": "6to4",
    "3fff::1": "documentation",
    "4000::1": "not given out",
    "5f00::1": "not given out",
    "fc00::1": "private",
    "fd00:ec2::254": "private",  # metadata of AWS
    "fe80::1": "link-local",
    "fe80::1%eth0": "one network interface",
    "fec0::1": "site-local",
    "ff02::1": "multicast",
}


@pytest.mark.parametrize(("address", "reason"), REFUSED.items())
def test_what_is_not_on_the_public_internet_is_refused(address: str, reason: str) -> None:  # D11
    assert reason in str(why_refused(address))


@pytest.mark.parametrize(
    "address",
    [
        "1.1.1.1",
        "8.8.8.8",
        "9.255.255.255",
        "11.0.0.0",
        "100.63.255.255",
        "100.128.0.0",
        "126.255.255.255",
        "128.0.0.0",
        "172.15.255.255",
        "172.32.0.0",
        "192.167.255.255",
        "192.169.0.0",
        "223.255.255.255",
        "2001:4860:4860::8888",
        "2606:4700::1111",
        "2a00:1450:4001::1",
        "2003::1",
    ],
)
def test_what_is_public_is_not_refused(address: str) -> None:
    assert why_refused(address) is None


@given(st.ip_addresses())
@example(ipaddress.ip_address("192.0.0.9"))
@example(ipaddress.ip_address("2001:1::1"))
def test_nothing_passes_that_the_standard_library_knows_to_be_special(
    address: ipaddress.IPv4Address | ipaddress.IPv6Address,
) -> None:  # D11
    if why_refused(str(address)) is None:
        assert address.is_global
        assert not address.is_multicast


@pytest.mark.parametrize(
    "text", ["", "127.1", "2130706433", "0x7f.0.0.1", "0177.0.0.1", "localhost", "1.2.3"]
)
def test_what_is_no_address_in_its_usual_form_is_none(text: str) -> None:
    with pytest.raises(ValueError, match="does not appear to be an IPv4 or IPv6 address"):
        why_refused(text)
