"""Which IP addresses are public: an own table, so that it says the same on every version of Python.

Reading a website that a stranger names means connecting where a stranger says. What is not certainly out on
the internet is refused: the IANA registries of special addresses (RFC 6890), forms of IPv6 that carry an
IPv4 address inside, and addresses at which clouds serve their secrets.
"""

import ipaddress
from typing import Final

IPV4_REFUSED: Final = {
    "0.0.0.0/8": "this host (RFC 1122)",
    "10.0.0.0/8": "private (RFC 1918)",
    "100.64.0.0/10": "behind a carrier's NAT (RFC 6598)",
    "127.0.0.0/8": "loopback (RFC 1122)",
    "168.63.129.16/32": "metadata of a cloud",
    "169.254.0.0/16": "link-local, where clouds serve metadata (RFC 3927)",
    "172.16.0.0/12": "private (RFC 1918)",
    "192.0.0.0/24": "for protocols (RFC 6890)",
    "192.0.2.0/24": "documentation (RFC 5737)",
    "192.52.193.0/24": "multicast tunnels (RFC 7450)",
    "192.88.99.0/24": "6to4 relays (RFC 7526)",
    "192.168.0.0/16": "private (RFC 1918)",
    "198.18.0.0/15": "benchmarks (RFC 2544)",
    "198.51.100.0/24": "documentation (RFC 5737)",
    "203.0.113.0/24": "documentation (RFC 5737)",
    "224.0.0.0/4": "multicast (RFC 5771)",
    "240.0.0.0/4": "reserved (RFC 1112)",
}

IPV6_PUBLIC: Final = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 that is given out for the internet (RFC 4291, 2.4)."""

IPV6_REFUSED: Final = {
    # Outside of 2000::/3, so refused anyway: named for the message.
    "::/128": "unspecified (RFC 4291)",
    "::1/128": "loopback (RFC 4291)",
    "::ffff:0:0/96": "IPv4 mapped into IPv6 (RFC 4291)",
    "::ffff:0:0:0/96": "IPv4 translated into IPv6 (RFC 2765)",
    "::/96": "IPv4 inside IPv6 (RFC 4291)",
    "64:ff9b::/96": "NAT64 (RFC 6052)",
    "64:ff9b:1::/48": "NAT64 (RFC 8215)",
    "100::/64": "discarded (RFC 6666)",
    "fc00::/7": "private, where clouds serve metadata (RFC 4193)",
    "fe80::/10": "link-local (RFC 4291)",
    "fec0::/10": "site-local (RFC 3879)",
    "ff00::/8": "multicast (RFC 4291)",
    # Inside of it.
    "2001::/32": "Teredo, IPv4 inside IPv6 (RFC 4380)",
    "2001::/23": "for protocols (RFC 2928)",
    "2001:db8::/32": "documentation (RFC 3849)",
    "2002::/16": "6to4, IPv4 inside IPv6 (RFC 3056)",
    "3ffe::/16": "given back (RFC 3701)",
    "3fff::/20": "documentation (RFC 9637)",
}

_IPV4 = [(ipaddress.IPv4Network(network), reason) for network, reason in IPV4_REFUSED.items()]
_IPV6 = [(ipaddress.IPv6Network(network), reason) for network, reason in IPV6_REFUSED.items()]


def why_refused(address: str) -> str | None:
    """Return what an IP address is if it is not public, or None if it is.

    Raises:
        ValueError: this is no IP address, as `ipaddress` reads them: four decimal numbers, or IPv6.
    """
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        return next((reason for network, reason in _IPV4 if ip in network), None)
    if ip.scope_id is not None:
        return "of one network interface only (RFC 4007)"
    reason = next((reason for network, reason in _IPV6 if ip in network), None)
    return reason or (None if ip in IPV6_PUBLIC else "not given out for the internet (RFC 4291)")
