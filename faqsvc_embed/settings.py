"""One frozen value that says how to embed: from arguments, a host's configuration, or the environment.

An explicit argument beats the mapping, which beats the environment, which beats the default. All are
read once, when the value is made.
"""

import difflib
import ipaddress
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final, Literal, Self
from urllib.parse import urlsplit

from faqsvc_embed.errors import AuthenticationError, ConfigurationError
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.theme import Theme

PREFIX: Final = "FAQSVC_"
DAY: Final = 86_400.0

Styles = Literal["inline", "linked", "none"]

_KEY = re.compile(r"fs_live_[!-~]+", re.ASCII)
_TRUE: Final = ("1", "true", "yes", "on")
_FALSE: Final = ("0", "false", "no", "off")


class APIKey:
    """An API key that shows itself to nobody but `reveal()`: not in repr, str, format or pickles."""

    __slots__ = ("_secret",)

    def __init__(self, secret: str) -> None:
        """Check the form `fs_live_…` (specification, Authentication); an error never quotes the key."""
        if not isinstance(secret, str) or _KEY.fullmatch(secret) is None:
            raise AuthenticationError(
                "the API key has not the form fs_live_ and a secret; "
                "keys are made in the service's dashboard, or by `faqsvc keys create`"
            )
        self._secret = secret

    def reveal(self) -> str:
        """Return the secret itself, for the X-Plugin-Key header and nothing else."""
        return self._secret

    def mask(self, text: str) -> str:
        """Return `text` with every occurrence of the key replaced."""
        return text.replace(self._secret, "fs_live_***")

    def __repr__(self) -> str:
        return "APIKey('fs_live_***')"

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("an APIKey cannot be pickled: read it from the environment where it is needed")


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
                raise ConfigurationError(f"{name} is {_quoted(name, getattr(self, name))}: {error}") from None
        if self.api_key is not None and self.base_url:
            refuse_plain_http(self.base_url)

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], **overrides: Any) -> Self:
        """Read the `FAQSVC_…` keys of a mapping, such as Flask's config; the environment fills the rest.

        Raises:
            ConfigurationError: a value cannot be, or an override is no setting.
        """
        return cls.from_env({**os.environ, **_ours(mapping)}, **overrides)

    @classmethod
    def from_env(cls, environ: Mapping[str, Any] | None = None, **overrides: Any) -> Self:
        """Read the `FAQSVC_…` variables of the environment, or of the mapping given in its place.

        Raises:
            ConfigurationError: a value cannot be, or an override is no setting.
        """
        found = _ours(os.environ if environ is None else environ)
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
    return overrides


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final[Any] = _Unset()
"""Stands for "not given" where None is a value of its own."""


def _ours(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Pick our keys; a variable that is set to nothing counts as not set."""
    return {key: value for key, value in mapping.items() if str(key).startswith(PREFIX) and value != ""}


def base_url(value: object) -> str:
    """Return the address of a service without its last slash; raise ValueError if it is none."""
    if not value:
        return ""
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        raise ValueError("an address such as https://faq.example.com is accepted")
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError(
            "an address with http or https and a host, such as https://faq.example.com, is accepted"
        )
    if parts.username is not None or parts.password is not None:
        raise ValueError("an address without user name and password is accepted")
    if parts.query or parts.fragment or value.endswith(("?", "#")):
        raise ValueError("an address without query and fragment is accepted")
    _ = parts.port  # raises ValueError if it is no port
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
    return APIKey(value)  # type: ignore[arg-type]  # which checks the type, without quoting it


def _lang(value: object) -> str | None:
    if value is None or (isinstance(value, str) and value in LANGUAGES):
        return value
    raise ValueError(f"{', '.join(LANGUAGES)}, or None, is accepted")


def _theme(value: object) -> Theme:
    if isinstance(value, str):
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
    text = str(value).strip().lower()
    if text in (*_TRUE, *_FALSE):
        return text in _TRUE
    raise ValueError("true or false is accepted")


def _seconds(*, positive: bool = False, forever: bool = False) -> Any:
    accepted = (
        f"a number of seconds{', above 0' if positive else ''}{', or None for ever,' if forever else ''}"
    )

    def check(value: object) -> float | None:
        if forever and (value is None or str(value).strip().lower() == "none"):
            return None
        try:
            seconds = float(value) if not isinstance(value, bool) else -1.0  # type: ignore[arg-type]
        except (TypeError, ValueError, OverflowError):
            seconds = -1.0
        if not 0 <= seconds < float("inf") or (positive and seconds == 0):
            raise ValueError(f"{accepted} is accepted")
        return seconds

    return check


def _whole(lowest: int, highest: int | None = None, *, none: bool = False) -> Any:
    span = f"a whole number from {lowest}{f' to {highest}' if highest else ''}{', or None,' if none else ''}"

    def check(value: object) -> int | None:
        if none and (value is None or str(value).strip().lower() == "none"):
            return None
        number = int(value) if isinstance(value, str) and value.strip().isdecimal() else value
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
    "offline": _boolean,
    "strict": _boolean,
}


def _quoted(name: str, value: object) -> str:
    text = repr(value)
    if name == "base_url" and "@" in text:
        return "an address with a user name or password"  # which may be a secret
    return text if len(text) <= 120 else text[:120] + "…"
