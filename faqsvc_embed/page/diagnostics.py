"""Response headers that show where the FAQs of a page came from, for operators of the host."""

from typing import TYPE_CHECKING, Final

from faqsvc_embed.errors import FAQNotFound
from faqsvc_embed.models import FAQState

if TYPE_CHECKING:
    from faqsvc_embed.cache.entries import Key
    from faqsvc_embed.cache.reader import Reader
    from faqsvc_embed.page.page import Page

NAME: Final = "faqsvc"
MAX_LISTED: Final = 10
"""Maximum number of FAQs in the header, because proxies limit the size of headers."""
MAX_KEY: Final = 100


def diagnostic_headers(page: "Page") -> list[tuple[str, str]]:
    """Return Cache-Status (RFC 9211) with a member for each FAQ, and Server-Timing with the time waited."""
    if not page.states:
        return []
    listed = list(page.states.items())[:MAX_LISTED]
    members = [_member(reader, key, state) for (reader, key), state in listed]
    waited = page.budget.spent * 1000
    return [
        ("Cache-Status", ", ".join(members)),
        ("Server-Timing", f'{NAME};dur={waited:.1f};desc="waiting for FAQs"'),
    ]


def _member(reader: "Reader", key: "Key", state: FAQState) -> str:
    """Return the list member of one FAQ (RFC 9211, 2)."""
    parameters = [NAME]
    if state.source == "network":
        parameters += ["fwd=miss", "stored"]
    elif state.data is not None:
        parameters.append("hit")
    else:
        parameters.append("fwd=miss")
        if state.error is not None and state.error.status is not None:
            parameters.append(f"fwd-status={state.error.status}")
    if state.data is not None and (ttl := reader.ttl(key)) is not None:
        parameters.append(f"ttl={ttl}")
    parameters.append(f"key={_string(key.slug if key.lang is None else f'{key.slug}?lang={key.lang}')}")
    if (detail := _detail(state)) is not None:
        parameters.append(f"detail={detail}")
    return "; ".join(parameters)


def _detail(state: FAQState) -> str | None:
    """Return the `detail` parameter: a token for what no other parameter states."""
    if state.is_loading:
        return "late"
    if state.data is None:
        return "not-found" if isinstance(state.error, FAQNotFound) else "unavailable"
    if state.lang_requested is not None and state.lang_served not in (None, state.lang_requested):
        return "translation"
    if state.is_degraded:
        return "stale-if-error"
    return "stale-while-revalidate" if state.is_stale else None


def _string(text: str) -> str:
    """Return a string of a structured field (RFC 9651, 3.3.3), with `?` for what is not ASCII."""
    printable = "".join(char if " " <= char <= "~" else "?" for char in text[:MAX_KEY])
    return '"' + printable.replace("\\", "\\\\").replace('"', '\\"') + '"'
