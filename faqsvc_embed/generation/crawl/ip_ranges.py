"""IP addresses that are not on the public internet.

Users choose the websites that are crawled, and so the addresses that this machine connects to. These are
blocked: the special-purpose addresses of the IANA registries (RFC 6890), IPv6 addresses that contain an IPv4
address, and the metadata services of clouds. `networks.toml` has all of them, because `is_global` of
`ipaddress` differs between Python versions.
"""

import ipaddress
from typing import Final

from faqsvc_embed.generation.data import load

PUBLIC_IPV6: Final = ipaddress.IPv6Network("2000::/3")
"""The only part of IPv6 that is allocated for the internet (RFC 4291, 2.4)."""

_BLOCKED: Final = [
    (ipaddress.ip_network(key), reason) for key, reason in load("networks", dict[str, str]).items()
]


def why_blocked(address: str) -> str | None:
    """Return why an IP address is not public, or None for a public one.

    Raises:
        ValueError: it is not an IP address in its usual form: four decimal numbers, or IPv6.
    """
    ip = ipaddress.ip_address(address)
    if isinstance(ip, ipaddress.IPv6Address) and ip.scope_id is not None:
        return "limited to one network interface (RFC 4007)"
    reason = next((reason for network, reason in _BLOCKED if ip in network), None)
    is_allocated = ip.version == 4 or ip in PUBLIC_IPV6
    return reason or (None if is_allocated else "not allocated for the internet (RFC 4291)")
