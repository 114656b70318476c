"""One frozen value that says how to embed: from arguments, a host's configuration, or the environment.

An explicit argument beats the mapping, which beats the environment, which beats the default. All are
read once, when the value is made.
"""

import difflib
import logging
import os
import re
from collections.abc import Mapping
from typing import Any, Final, Self, dataclass_transform

from faqsvc_embed.errors import AuthenticationError, ConfigurationError, quoted
from faqsvc_embed.settings.api_key import PREFIX, APIKey, sealed
from faqsvc_embed.settings.validators import CHECKS, AnswerFormat, Styles, Variant, refuse_plain_http
from faqsvc_embed.theme import Theme

DAY: Final = 86_400.0
OF_THE_SERVICE: Final = (f"{PREFIX}DATABASE_", f"{PREFIX}LLM_", f"{PREFIX}GENERATE_")
"""Variables that the service reads, which may run in the same environment."""
_OF_KUBERNETES: Final = (
    r"(?a)FAQSVC_(?:\w+_)?"
    r"(?:SERVICE_(?:HOST|PORT(?:_\w+)?)|PORT(?:_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?)?)"
)
"""Variables that Kubernetes sets in every pod beside a Service named `faqsvc` or `faqsvc-…`."""
MOST_TOLD: Final = 100
NAMES: Final = tuple(CHECKS)
NOT_SHOWN: Final = ("api_key", "store")
"""The address of a store may hold a password."""
_SECRETIVE: Final = {"base_url": "[@?#]", "store": "[@?#]|//"}
"""What in the address of a service or a store may belong to a password."""

logger = logging.getLogger("faqsvc_embed")


@dataclass_transform(kw_only_default=True, frozen_default=True)
class _Checked:
    """Named values, each checked as it is taken; no local variable here keeps a clear key, or a refused one.

    Written by hand: the `__init__` of a dataclass would have the key among its arguments, where tracebacks
    show it, and takes an import 2 ms to make.
    """

    def __init__(self, **values: Any) -> None:
        values = sealed(values)
        values, kept = _known(values), vars(self)
        for name, check in CHECKS.items():
            value = values.get(name, getattr(type(self), name))
            try:
                kept[name] = check(value)
            except AuthenticationError as error:  # without its cause: that frame holds the key
                raise ConfigurationError(f"api_key: {error}") from None
            except (ValueError, TypeError) as error:
                message = f"{name} {_told_as(name, value)}: {error}"
                del kept, value, values
                raise ConfigurationError(message) from None
        if kept["api_key"] is not None and kept["base_url"]:
            refuse_plain_http(kept["base_url"])

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} cannot be set: settings are frozen, and with_() returns others")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{name} cannot be deleted: settings are frozen")

    def __eq__(self, other: object) -> bool:
        return vars(self) == vars(other) if type(other) is type(self) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(vars(self).values()))

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in CHECKS if name not in NOT_SHOWN)
        return f"{type(self).__qualname__}({', '.join(shown)})"


class Settings(_Checked):
    """How to reach the service, how long to wait and to keep, and how an FAQ looks.

    Durations are in seconds. The README describes every setting; each is a keyword here, `FAQSVC_NAME` in
    a mapping such as Flask's config, and the same in the environment.

    Raises:
        ConfigurationError: a value cannot be; the message names the setting, the value, and what can.
    """

    base_url: str = ""
    """The address of the service, such as https://faq.example.com; required to read from it."""
    api_key: APIKey | None = None
    """For writing only, never sent with a read. A str is taken and wrapped."""
    lang: str | None = None
    """The language asked for where a call names none; None asks for the FAQ's own."""
    theme: Theme = Theme()
    show_title: bool = True
    heading_level: int | None = 2
    """2 to 6 for the title, one more for the questions; None prints no headings."""
    styles: Styles = "inline"
    variant: Variant = "details"
    """`details`, which needs no script; `disclosure`, headings with buttons; `open`, nothing to open."""
    exclusive: bool = False
    """Opening an answer closes the one that was open."""
    answer_format: AnswerFormat = "text"
    """`markdown` takes the extra of that name."""
    link_urls: bool = False
    """Make links of the addresses in answers that are text."""
    nofollow: bool = False
    """Say `rel="nofollow"` on the links in answers."""
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
    store: str | None = None
    degraded_max_age: int | None = None
    """Seconds for which a cache may keep a page that lacks an FAQ, or shows one that could not be refreshed,
    and never beyond the next attempt; None leaves the page's own Cache-Control alone."""
    splice: bool = False
    """Put a held FAQ into responses as bytes, encoded once and not for each page: what templates render to
    is of a subclass of `str`, and nothing that is done with it may insist on `str` itself."""
    offline: bool = False
    """Make no network call at all."""
    strict: bool = False
    """Raise where a page would otherwise go without: for development and tests."""

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], **overrides: Any) -> Self:
        """Read the `FAQSVC_…` keys of a mapping, such as Flask's config; the environment fills the rest.

        Raises:
            ConfigurationError: a value cannot be, or an override is no setting.
        """
        own = _ours(mapping)
        overrides = sealed(overrides)
        del mapping
        _tell_unknown(own)
        found = {**_ours(os.environ), **own}
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
        _tell_unknown(found, only_near=True)  # others may have set names like ours
        values = {name: found[key] for name in NAMES if (key := PREFIX + name.upper()) in found}
        return cls(**{**values, **_known(overrides)})

    def with_(self, **overrides: Any) -> Self:
        """Return these settings with some changed; raises ConfigurationError as the constructor does."""
        overrides = sealed(overrides)
        return type(self)(**{**vars(self), **_known(overrides)})


def _known(values: Mapping[str, Any]) -> dict[str, Any]:
    for name in values:
        if name not in NAMES:
            near = difflib.get_close_matches(name, NAMES, 1)
            hint = f"; did you mean {near[0]!r}?" if near else f"; there are {', '.join(NAMES)}"
            raise ConfigurationError(f"{name!r} is no setting{hint}")
    return {name: value for name, value in values.items() if value is not UNSET}


def _tell_unknown(found: Mapping[str, Any], *, only_near: bool = False) -> None:
    """Warn, once each, of keys that are ours by their names, but that nothing reads."""
    for key in found:
        name = key.removeprefix(PREFIX).lower()
        if key in _told or len(_told) >= MOST_TOLD or (name in NAMES and key == PREFIX + name.upper()):
            continue
        if key.startswith(OF_THE_SERVICE) or re.fullmatch(_OF_KUBERNETES, key):
            continue
        near = difflib.get_close_matches(name, NAMES, 1)
        if near or not only_near:
            _told.add(key)
            hint = (
                f"did you mean {PREFIX}{near[0].upper()}?" if near else "faqsvc_embed.Settings has them all"
            )
            logger.warning("%s is ignored, for it is no setting; %s", quoted(key), hint)


_told: Final[set[str]] = set()


class _Unset:
    def __repr__(self) -> str:
        return "UNSET"


UNSET: Final[Any] = _Unset()
"""Stands for "not given" where None is a value of its own."""


def _ours(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Pick our keys; a variable that is set to nothing counts as not set."""
    ours = {key: value for key, value in mapping.items() if isinstance(key, str) and key.startswith(PREFIX)}
    return sealed({key: value for key, value in ours.items() if not (isinstance(value, str) and value == "")})


def _told_as(name: str, value: object) -> str:
    if name in ("base_url", "store") and re.search(_SECRETIVE[name], str(value)[:1000]):
        return "(not shown here, for it may hold a password)"
    return f"is {quoted(value)}"
