"""One frozen value that says how to embed: from arguments, a host's configuration, or the environment.

An explicit argument beats the mapping, which beats the environment, which beats the default. All are
read once, when the value is made.
"""

import contextlib
import difflib
import functools
import ipaddress
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from faqsvc_embed.apikey import PREFIX, APIKey, malformed_key, sealed
from faqsvc_embed.errors import AuthenticationError, ConfigurationError, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.theme import Theme

DAY: Final = 86_400.0

Styles = Literal["inline", "linked", "none"]

_WHOLE = re.compile(r"[0-9]{1,18}", re.ASCII)
_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("0", "false", "no", "off")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """How to reach the service, how long to wait and to keep, and how an FAQ looks.

    Durations are in seconds. The README describes every setting; each is a keyword here, `FAQSVC_NAME` in
    a mapping such as Flask's config, and the same in the environment.

    Raises:
        ConfigurationError: a value cannot be; the message names the setting, the value, and what can.
    """

    base_url: str = ""
    """The address of the service, such as https://faq.example.com; required to read from it."""
    api_key: APIKey | None = field(default=None, repr=False)
    """For writing only, never sent with a read. A str is taken and wrapped."""
    lang: str | None = None
    """The language asked for where a call names none; None asks for the FAQ's own."""
    theme: Theme = field(default_factory=Theme)
    show_title: bool = True
    heading_level: int | None = 2
    """2 to 6 for the title, one more for the questions; None prints no headings."""
    styles: Styles = "inline"
    wait: float = 1.0
    """What one page may wait for all the FAQs that are not held yet, together."""
    timeout: float = 5.0
    """What one request to the service may take, from connecting to its last byte."""
    fresh_for: float = 3600.0
    """How long a copy is fresh if the service does not say."""
    keep_for: float | None = 7 * DAY
    """How long a copy may be shown after it stopped being fresh; None for ever."""
    not_found_for: float = 60.0
    """How long "there is no such FAQ" is believed."""
    max_entries: int = 1000
    max_bytes: int = 1_048_576
    """The size of one record, unpacked, in bytes."""
    store: str | None = field(default=None, repr=False)  # its address may hold a password
    degraded_max_age: int | None = None
    """Seconds for which a cache may keep a page that lacks an FAQ, or shows one that could not be refreshed,
    and never beyond the next attempt; None leaves the page's own Cache-Control alone."""
    offline: bool = False
    """Make no network call at all."""
    strict: bool = False
    """Raise where a page would otherwise go without: for development and tests."""

    def __post_init__(self) -> None:
        for name, check in _CHECKS.items():
            try:
                object.__setattr__(self, name, check(getattr(self, name)))
            except AuthenticationError as error:  # without its cause: that frame holds the key
                raise ConfigurationError(f"api_key: {error}") from None
            except (ValueError, TypeError) as error:
                message = f"{name} is {_quoted(name, getattr(self, name))}: {error}"
                object.__setattr__(self, name, None)  # what is refused may hold a password
                raise ConfigurationError(message) from None
        if self.api_key is not None and self.base_url:
            refuse_plain_http(self.base_url)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], **overrides: Any) -> Self:
        """Read the `FAQSVC_…` keys of a mapping, such as Flask's config; the environment fills the rest.

        Raises:
            ConfigurationError: a value cannot be, or an override is no setting.
        """
        found = {**_ours(os.environ), **_ours(mapping)}
        overrides = sealed(overrides)
        del mapping
        return cls.from_env(found, **overrides)

    @classmethod
    def from_env(cls, environ: Mapping[str, Any] | None = None, **overrides: Any) -> Self:
        """Read the `FAQSVC_…` variables of the environment, or of the mapping given in its place.

        Raises:
            ConfigurationError: a value cannot be, or an override is no setting.
        """
        found = _ours(os.environ if environ is None else environ)
        overrides = sealed(overrides)
        del environ
        names = [f.name for f in fields(cls)]
        values = {name: found[key] for name in names if (key := PREFIX + name.upper()) in found}
        return cls(**{**values, **_known(overrides, names)})

    def with_(self, **overrides: Any) -> Self:
        """Return these settings with some changed; raises ConfigurationError as the constructor does."""
        return replace(self, **_known(overrides, [f.name for f in fields(self)]))


def _known(overrides: Mapping[str, Any], names: list[str]) -> Mapping[str, Any]:
    for name in overrides:
        if name not in names:
            near = difflib.get_close_matches(name, names, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(names)}"
            raise ConfigurationError(f"{name!r} is no setting{hint}")
    return {name: value for name, value in overrides.items() if value is not UNSET}


def _seal_arguments(generated: Any) -> Any:
    """Wrap the key before the dataclass's own `__init__` has it in a local variable."""

    @functools.wraps(generated)
    def __init__(self: Settings, **values: Any) -> None:  # noqa: N807
        values = sealed(values)
        generated(self, **values)

    return __init__


Settings.__init__ = _seal_arguments(Settings.__init__)  # type: ignore[method-assign]


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final[Any] = _Unset()
"""Stands for "not given" where None is a value of its own."""


def _ours(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Pick our keys; a variable that is set to nothing counts as not set."""
    ours = {key: value for key, value in mapping.items() if str(key).startswith(PREFIX)}
    return sealed({key: value for key, value in ours.items() if not (isinstance(value, str) and value == "")})


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


def refuse_plain_http(url: str) -> None:
    """Raise ConfigurationError if a key sent to this address could be read on the way."""
    parts = urlsplit(url)
    if parts.scheme == "http" and not _is_loopback(parts.hostname or ""):
        raise ConfigurationError(
            f"base_url is {url!r}: with an API key, https is accepted, or http to a loopback address"
        )


def _is_loopback(host: str) -> bool:
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


def _boolean(value: object) -> bool:
    if isinstance(value, bool):
        return value
    text = value.strip().lower() if isinstance(value, str) else value if value in (0, 1) else ""
    text = str(text)
    if text in (*_TRUE, *_FALSE):
        return text in _TRUE
    raise ValueError("true or false is accepted")


def _seconds(*, positive: bool = False, forever: bool = False) -> Any:
    accepted = (
        f"a number of seconds{', above 0' if positive else ''}{', or None for ever,' if forever else ''}"
    )

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
    span = f"a whole number from {lowest}{f' to {highest}' if highest else ''}{', or None,' if none else ''}"

    def check(value: object) -> int | None:
        if none and _is_none(value):
            return None
        number = int(value) if isinstance(value, str) and _WHOLE.fullmatch(value.strip()) else value
        if not isinstance(number, int) or isinstance(number, bool) or number < lowest:
            raise ValueError(f"{span} is accepted")
        if highest is not None and number > highest:
            raise ValueError(f"{span} is accepted")
        return number

    return check


def _styles(value: object) -> str:
    if value in ("inline", "linked", "none"):
        return str(value)
    raise ValueError('"inline", "linked" or "none" is accepted')


def _store(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, str) and value.startswith("file:") and len(value) > len("file:"):
        return value
    if isinstance(value, str) and value.startswith(("redis://", "rediss://", "unix://")):
        return value
    raise ValueError('None, "file:DIRECTORY" or "redis://HOST:PORT/DB" is accepted')


heading_level = _whole(2, 6, none=True)

_CHECKS: Final = {
    "base_url": base_url,
    "api_key": _api_key,
    "lang": _lang,
    "theme": _theme,
    "show_title": _boolean,
    "heading_level": heading_level,
    "styles": _styles,
    "wait": _seconds(),
    "timeout": _seconds(positive=True),
    "fresh_for": _seconds(),
    "keep_for": _seconds(forever=True),
    "not_found_for": _seconds(),
    "max_entries": _whole(1),
    "max_bytes": _whole(1),
    "store": _store,
    "degraded_max_age": _whole(0, none=True),
    "offline": _boolean,
    "strict": _boolean,
}


def _quoted(name: str, value: object) -> str:
    if name == "store" or (name == "base_url" and re.search("[@?#]", str(value)[:1000])):
        return "not shown, for it may hold a password"
    return quoted(value)
