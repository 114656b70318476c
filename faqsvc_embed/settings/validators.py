"""What each setting accepts: each check returns the value as it is kept, or raises with what can be."""

import contextlib
import ipaddress
import json
import re
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Any, Final, Literal, get_args
from urllib.parse import urlsplit

from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.settings.api_key import APIKey, malformed_key
from faqsvc_embed.theme import Theme

Styles = Literal["inline", "linked", "none"]
Variant = Literal["details", "disclosure", "open"]
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)
AnswerFormat = Literal["text", "markdown"]

_WHOLE: Final = "[0-9]{1,18}"
_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("0", "false", "no", "off")


def base_url(value: object) -> str:
    """Return the address of a service without its last slash; raise ValueError if it is none."""
    if not value:
        return ""
    if not isinstance(value, str) or not value.isprintable() or " " in value or "\\" in value:
        raise ValueError("an address such as https://faq.example.com is accepted")
    try:
        parts = urlsplit(value)
        _ = parts.port  # which is looked at only now
    except ValueError:
        raise ValueError("an address with a host and a port up to 65535 is accepted") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            "an address with http or https and a host, such as https://faq.example.com, is accepted"
        )
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address without user name and password is accepted")
    if parts.query or parts.fragment or value.endswith(("?", "#")):
        raise ValueError("an address without query and fragment is accepted")
    return value.rstrip("/")


def _service(value: object) -> str:
    address = base_url(value)
    if (found := re.search(r"/api/v1(?:/faq(?:/.*)?)?$", address)) is not None:
        raise ValueError(f"the address in front of /api/v1 is accepted: {address[: found.start()]}")
    return address


def refuse_plain_http(url: str) -> None:
    """Raise ConfigurationError if a key sent to this address could be read on the way."""
    if urlsplit(url).scheme == "http" and not stays_here(url):
        raise ConfigurationError(
            f"base_url is {url!r}: with an API key, https is accepted, or http to a loopback address"
        )


def stays_here(url: str) -> bool:
    """Tell whether an address is plain http to this machine; by a proxy, what is sent there would leave."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if parts.scheme != "http":
        return False
    if host == "localhost" or host.endswith(".localhost"):  # RFC 6761, 6.3
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _api_key(value: object) -> APIKey | None:
    if value is None or isinstance(value, APIKey):
        return value
    raise malformed_key()


def _lang(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value in LANGUAGES):
        return value
    raise ValueError(f"{', '.join(LANGUAGES)}, or None, is accepted")


def _theme(value: object) -> Theme:
    if isinstance(value, str):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value)
    if value is None:
        return Theme()
    if isinstance(value, Theme):
        return value
    if isinstance(value, Mapping):
        return Theme.from_mapping(value)
    raise ValueError("a Theme, a mapping or a JSON object with accentColor and questionSize is accepted")


def boolean(value: object) -> bool:
    """Return what is said by true and false, 1 and 0, or a word such as "yes" and "off"; else ValueError."""
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else value if value in (0, 1) else ""
    text = str(text)
    if text in (*_TRUE, *_FALSE):
        return text in _TRUE
    raise ValueError("true or false is accepted")


def _seconds(*, positive: bool = False, forever: bool = False) -> Any:
    bound = "above 0" if positive else "0 or more"
    accepted = f"a finite number of seconds, {bound}{', or None for ever,' if forever else ','}"

    def check(value: object) -> float | None:
        if forever and _is_none(value):
            return None
        try:
            seconds = float(value) if not isinstance(value, bool) else -1.0  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            seconds = -1.0
        if not 0 <= seconds < float("inf") or (positive and seconds == 0):
            raise ValueError(f"{accepted} is accepted")
        return seconds

    return check


def _is_none(value: object) -> bool:
    return value is None or (isinstance(value, str) and value.strip().lower() == "none")


def _whole(lowest: int, highest: int | None = None, *, none: bool = False) -> Any:
    bounds = f"{lowest} to {highest}" if highest is not None else f"{lowest} or more"
    span = f"a whole number, {bounds}{', or None,' if none else ','}"

    def check(value: object) -> int | None:
        if none and _is_none(value):
            return None
        is_text = isinstance(value, str) and re.fullmatch(_WHOLE, value.strip()) is not None
        is_whole = isinstance(value, float) and value.is_integer()  # as `6 / 2` is in a template
        number = int(value) if is_text or is_whole else value  # type: ignore[call-overload]
        if not isinstance(number, int) or isinstance(number, bool) or number < lowest:
            raise ValueError(f"{span} is accepted")
        if highest is not None and number > highest:
            raise ValueError(f"{span} is accepted")
        return number

    return check


def _one_of(*accepted: str) -> Any:
    listed = ", ".join(f'"{name}"' for name in accepted[:-1]) + f' or "{accepted[-1]}"'

    def check(value: object) -> str:
        if isinstance(value, str) and value in accepted:
            return value
        raise ValueError(f"{listed} is accepted")

    return check


def _answer_format(value: object) -> str:
    name: str = _one_of("text", "markdown")(value)
    if name == "markdown" and not all(map(find_spec, ("markdown_it", "nh3"))):
        raise ValueError('"text" is accepted, or "markdown" with: pip install \'faqsvc-embed[markdown]\'')
    return name


def _store(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and value.startswith("file:") and len(value) > len("file:"):
        return value
    if isinstance(value, str) and value.startswith(("redis://", "rediss://", "unix://")):
        return _redis(value)
    raise ValueError('None, "file:DIRECTORY" or "redis://HOST:PORT/DB" is accepted')


def _redis(url: str) -> str:
    parts = urlsplit(url)
    database = parts.path.strip("/") if parts.scheme != "unix" else ""
    is_address = False
    with contextlib.suppress(ValueError):  # where a password holds `/` or `#`, a part of it is the port
        is_number = database == "" or re.fullmatch(_WHOLE, database) is not None
        is_address = is_number and not parts.fragment and parts.port != 0
    if not is_address:
        raise ValueError(
            "redis://HOST:PORT/DB, with special characters of a password percent-encoded, is accepted"
        )
    if find_spec("redis") is None:
        raise ValueError("it is accepted with: pip install 'faqsvc-embed[redis]'")
    return url


heading_level = _whole(2, 6, none=True)
variant = _one_of(*VARIANTS)

CHECKS: Final = {
    "base_url": _service,
    "api_key": _api_key,
    "lang": _lang,
    "theme": _theme,
    "show_title": boolean,
    "heading_level": heading_level,
    "styles": _one_of("inline", "linked", "none"),
    "variant": variant,
    "exclusive": boolean,
    "answer_format": _answer_format,
    "link_urls": boolean,
    "nofollow": boolean,
    "wait": _seconds(),
    "timeout": _seconds(positive=True),
    "fresh_for": _seconds(),
    "keep_for": _seconds(forever=True),
    "not_found_for": _seconds(),
    "max_entries": _whole(1),
    "max_bytes": _whole(1),
    "store": _store,
    "degraded_max_age": _whole(0, none=True),
    "splice": boolean,
    "offline": boolean,
    "strict": boolean,
}
