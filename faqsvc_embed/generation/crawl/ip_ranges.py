"""IP addresses that are not on the public internet.

Users choose the websites that are crawled, and so the addresses that this machine connects to. These are
blocked: the special-purpose addresses of the IANA registries (RFC 6890), IPv6 addresses that contain an IPv4
address, and the metadata services of clouds. The tables have all of them, because `is_global` of `ipaddress`
differs between Python versions.
"""

import ipaddress
from typing import Final

BLOCKED_IPV4: Final = {
    "0.0.0.0/8": "this host (RFC 1122)",
    "10.0.0.0/8": "private (RFC 1918)",
    "100.64.0.0/10": "carrier-grade NAT (RFC 6598)",
    "127.0.0.0/8": "loopback (RFC 1122)",
    "168.63.129.16/32": "cloud metadata",
    "169.254.0.0/16": "link-local and cloud metadata (RFC 3927)",
    "172.16.0.0/12": "private (RFC 1918)",
    "192.0.0.0/24": "protocol assignments (RFC 6890)",
    "192.0.2.0/24": "documentation (RFC 5737)",
    "192.52.193.0/24": "AMT relays (RFC 7450)",
    "192.88.99.0/24": "6to4 relays (RFC 7526)",
    "192.168.0.0/16": "private (RFC 1918)",
    "198.18.0.0/15": "benchmarking (RFC 2544)",
    "198.51.100.0/24": "documentation (RFC 5737)",
    "203.0.113.0/24": "documentation (RFC 5737)",
    "224.0.0.0/4": "multicast (RFC 5771)",
    "240.0.0.0/4": "reserved (RFC 1112)",
}

PUBLIC_IPV6: Final = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 that is allocated for the internet (RFC 4291, 2.4)."""

BLOCKED_IPV6: Final = {
    # Outside of 2000::/3, and so never public; they are listed for the error message.
    "::/128": "unspecified (RFC 4291)",
    "::1/128": "loopback (RFC 4291)",
    "::ffff:0:0/96": "IPv4-mapped IPv6 (RFC 4291)",
    "::ffff:0:0:0/96": "IPv4-translated IPv6 (RFC 2765)",
    "::/96": "IPv4-compatible IPv6 (RFC 4291)",
    "64:ff9b::/96": "NAT64 (RFC 6052)",
    "64:ff9b:1::/48": "NAT64 (RFC 8215)",
    "100::/64": "discard-only (RFC 6666)",
    "fc00::/7": "private and cloud metadata (RFC 4193)",
    "fe80::/10": "link-local (RFC 4291)",
    "fec0::/10": "site-local (RFC 3879)",
    "ff00::/8": "multicast (RFC 4291)",
    # Inside 2000::/3.
    "2001::/32": "Teredo, which contains IPv4 (RFC 4380)",
    "2001::/23": "protocol assignments (RFC 2928)",
    "2001:db8::/32": "documentation (RFC 3849)",
    "2002::/16": "6to4, which contains IPv4 (RFC 3056)",
    "3ffe::/16": "returned 6bone range (RFC 3701)",
    "3fff::/20": "documentation (RFC 9637)",
}

_IPV4 = [(ipaddress.IPv4Network(network), reason) for network, reason in BLOCKED_IPV4.items()]
_IPV6 = [(ipaddress.IPv6Network(network), reason) for network, reason in BLOCKED_IPV6.items()]


def why_blocked(address: str) -> str | None:
    """Return why an IP address is not public, or None for a public one.

    Raises:
        ValueError: it is not an IP address in its usual form: four decimal numbers, or IPv6.
    """
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv4Address):
        return next((reason for network, reason in _IPV4 if ip in network), None)
    if ip.scope_id is not None:
        return "limited to one network interface (RFC 4007)"
    reason = next((reason for network, reason in _IPV6 if ip in network), None)
    return reason or (None if ip in PUBLIC_IPV6 else "not allocated for the internet (RFC 4291)")
