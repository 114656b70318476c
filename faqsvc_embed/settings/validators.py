"""What each setting accepts. A validator returns the value in its final form, or raises ValueError."""

import contextlib
import ipaddress
import json
import math
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Literal, TypeVar, cast, get_args
from urllib.parse import urlsplit

from faqsvc_embed.errors import AuthenticationError
from faqsvc_embed.models import Source
from faqsvc_embed.settings.api_key import MALFORMED, APIKey
from faqsvc_embed.theme import Theme

T = TypeVar("T", bound=str)
V = TypeVar("V")

Styles = Literal["inline", "linked", "none"]
Variant = Literal["details", "disclosure", "open"]
VARIANTS: Final[tuple[Variant, ...]] = get_args(Variant)
Look = Literal["lines", "cards", "columns", "plain"]
LOOKS: Final[tuple[Look, ...]] = get_args(Look)

DAY: Final = 86_400.0
"""Seconds. No wait may be longer, because operating systems refuse to wait for centuries."""

_DIGITS: Final = "[0-9]{1,18}"
_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("0", "false", "no", "off")


def base_url(value: object) -> str:
    """Return an http or https URL without its last slash, with scheme and host in lower case."""
    if not value:
        return ""
    invalid = ValueError("a URL with http or https and a host, such as https://faq.example.com, is accepted")
    if not isinstance(value, str) or not value.isprintable() or re.search(r"[ \\]", value):
        raise invalid
    if re.search("[?#]|//[^/]*@", value):
        raise ValueError("a URL without user name, password, query or fragment is accepted")
    try:
        parts = urlsplit(value)
        _ = parts.port  # raises ValueError if it is invalid
    except ValueError:
        raise invalid from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise invalid
    return f"{parts.scheme}://{parts.netloc.lower()}{parts.path.rstrip('/')}"


def service_url(value: object) -> str:
    """Return the base URL of a service; refuse the address of one of its routes or pages."""
    url = base_url(value)
    if (found := re.search(r"/api/v1(?:/faq(?:/.*)?)?$|/faq/[^/]+$", url)) is not None:
        raise ValueError(f"the URL of the service, without {found[0]}, is accepted: {url[: found.start()]}")
    return url


def is_loopback_http(url: str) -> bool:
    """Return whether a URL is plain http to this machine."""
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


def sends_in_clear(url: str, insecure_hosts: Collection[str]) -> bool:
    """Return whether a key would be sent over http to another machine that is not in `insecure_hosts`."""
    parts = urlsplit(url)
    return parts.scheme == "http" and not is_loopback_http(url) and parts.hostname not in insecure_hosts


def host_names(value: object) -> tuple[str, ...]:
    """Return host names in lower case, from a sequence or from text with commas."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, Iterable) or not all(isinstance(name, str) for name in names):
        raise ValueError("host names are accepted, in a sequence or separated by commas")
    found = tuple(name.strip().lower() for name in names if name.strip())
    if any(re.search(r"[/:\s@?#]", name) for name in found):
        raise ValueError("host names are accepted, such as faq.internal, without scheme and port")
    return found


def api_key(value: object) -> APIKey | None:
    """Return a wrapped key. A malformed one is an error only where it is used: in a client."""
    if value is None or isinstance(value, APIKey):
        return value
    try:
        return APIKey(value)
    except AuthenticationError:
        return MALFORMED


def theme(value: object) -> Theme:
    """Return a theme, also from a mapping or a JSON object."""
    if isinstance(value, str):
        with contextlib.suppress(ValueError, RecursionError):
            value = json.loads(value)
    if value is None:
        return Theme()
    if isinstance(value, Theme):
        return value
    if isinstance(value, Mapping):
        return Theme.from_mapping(value, strict=True)
    raise ValueError("a Theme, or a mapping or JSON object with accentColor and questionSize, is accepted")


def boolean(value: object) -> bool:
    """Return a boolean, also from 1 and 0 and from words such as "yes" and "off"."""
    if isinstance(value, bool):
        return value
    text = str(value).strip().lower() if isinstance(value, str) or value in (0, 1) else ""
    if text in (*_TRUE, *_FALSE):
        return text in _TRUE
    raise ValueError("true or false is accepted")


def seconds(low: float = 0.0, high: float = math.inf) -> Callable[[object], float]:
    """Return a validator that accepts a finite number of seconds within limits."""
    limits = f"{low:g} or more" if high == math.inf else f"from {low:g} to {high:.0f}"

    def validate(value: object) -> float:
        try:
            number = float(value) if not isinstance(value, bool) else math.nan  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            number = math.nan
        if not math.isfinite(number) or not low <= number <= high:
            raise ValueError(f"a finite number of seconds, {limits}, is accepted")
        return number

    return validate


timeout: Final = seconds(0.001, DAY)
"""Accepts how long a request may take."""


def whole(low: int, high: int | None = None) -> Callable[[object], int]:
    """Return a validator that accepts a whole number within limits, also as text."""
    limits = f"{low} or more" if high is None else f"from {low} to {high}"

    def validate(value: object) -> int:
        is_text = isinstance(value, str) and re.fullmatch(_DIGITS, value.strip()) is not None
        if is_text or (isinstance(value, float) and value.is_integer()):  # such as `6 / 2` in a template
            value = int(cast(Any, value))
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= (high or value):
            raise ValueError(f"a whole number, {limits}, is accepted")
        return value

    return validate


def or_none(validate: Callable[[object], V]) -> Callable[[object], V | None]:
    """Return a validator that accepts None too, also as text."""

    def validate_optional(value: object) -> V | None:
        if value is None or (isinstance(value, str) and value.strip().lower() == "none"):
            return None
        try:
            return validate(value)
        except ValueError as error:
            raise ValueError(f"None or {error}") from error.__cause__

    return validate_optional


def one_of(*accepted: T) -> Callable[[object], T]:
    """Return a validator that accepts these texts."""

    def validate(value: object) -> T:
        for text in accepted:
            if value == text:
                return text
        raise ValueError(f"one of {', '.join(accepted)} is accepted")

    return validate


def directory(value: object) -> str:
    """Return the path of a folder."""
    if isinstance(value, str | os.PathLike):
        path = os.fspath(value)
        if isinstance(path, str) and "\0" not in path:
            return path
    raise ValueError("the path of a folder is accepted")


def source(value: object) -> Source:
    """Return a source, also from a dotted path to one, or to a class that takes no arguments."""
    if isinstance(value, str):
        value = _imported(value)
    if isinstance(value, type):
        value = value()
    if callable(getattr(value, "get", None)) and not isinstance(value, Mapping):
        return cast(Source, value)
    raise ValueError("an object with a method get(slug, lang), or the dotted path to one, is accepted")


def _imported(path: str) -> object:
    """Return the object at a dotted path."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise ValueError(
            f"a dotted path such as shop.faqs.ShopFAQs is accepted, but importing it failed: {error}"
        ) from error


def store(value: object) -> str:
    """Return the address of a store."""
    if isinstance(value, str) and value.startswith("file:") and len(value) > len("file:"):
        return value
    if isinstance(value, str) and value.startswith(("redis://", "rediss://", "unix://")):
        return _redis_url(value)
    raise ValueError('"file:DIRECTORY" or "redis://HOST:PORT/DB" is accepted')


def _redis_url(url: str) -> str:
    """Return the URL of a Redis store, if it is valid and the package is installed."""
    parts = urlsplit(url)
    database = parts.path.strip("/") if parts.scheme != "unix" else ""
    is_valid = False
    with contextlib.suppress(ValueError):  # a `/` or `#` in a password turns a part of it into the port
        is_number = re.fullmatch(f"(?:{_DIGITS})?", database) is not None
        is_valid = is_number and not parts.fragment and parts.port != 0
    if not is_valid:
        raise ValueError(
            "redis://HOST:PORT/DB, with special characters of a password percent-encoded, is accepted"
        )
    if find_spec("redis") is None:
        raise ValueError("a Redis is accepted if its package is installed: pip install 'faqsvc-embed[redis]'")
    return url
