"""The exceptions of faqsvc-embed.

FAQError
├── ConfigurationError     a setting, theme or argument has an invalid value
├── FAQNotFound            there is no such FAQ, or the slug is invalid
│   └── FAQGone            the FAQ was unpublished (410)
├── FAQUnavailable         there is no usable response from the source
│   ├── FAQTimeout         the source did not respond within `timeout`
│   ├── RateLimited        the service asks to try again later (429)
│   └── OutcomeUnknown     a write was sent, and may or may not have been done
├── InvalidFAQ             the response is not an FAQ record
├── AuthenticationError    the API key is missing, malformed or not accepted, or may not do this (401, 403)
└── PublishRejected        the FAQ cannot be published; lists every problem
    └── RevisionConflict   somebody else has changed the FAQ meanwhile (412)

Reading raises `FAQNotFound`, `FAQUnavailable` or `InvalidFAQ`. Writing adds `OutcomeUnknown` and the last
three.
"""

import re
import reprlib
from collections.abc import Sequence
from typing import Any, Final, Self, TypedDict, Unpack

MAX_BODY: Final = 500
"""Characters of a response's body that an error keeps."""
MAX_QUOTED: Final = 80

MASK: Final = "fs_live_***"

_CONTAINERS = reprlib.Repr()  # the repr of a list of lists may be of any length
_CONTAINERS.maxlevel, _CONTAINERS.maxstring = 3, 4 * MAX_QUOTED
_CONTAINERS.maxlist = _CONTAINERS.maxtuple = _CONTAINERS.maxdict = 20
# The characters of base64, and the dots of a shortened repr, but not the full stop of a sentence.
_KEY = r"fs_live_(?!\*\*\*)(?:[A-Za-z0-9_+/=~%.-]*[A-Za-z0-9_+/=~-])?"
_USER_INFO = (
    r"//(?:[^/?#]*@"  # within the authority (RFC 3986); or in a URL whose password contains / ? or #:
    r"|(?!\[|[^/?#:]+:\d{1,5}[/?#])[^/?#:]*:.*@)"  # from the colon on, unless a port follows it
)


class Details(TypedDict, total=False):
    """The values of a response that its error has."""

    status: int | None
    code: str | None
    body: str
    retry_after: float | None


class FAQError(Exception):
    """The base of every exception that this package raises on purpose.

    `status` is the HTTP status that led to it, or None. `code` is what the service calls the problem, such as
    `not-your-site`, or None. `body` is the beginning of that response's body, at most 500 characters.
    `retry_after` is the number of seconds after which to try again, or None.
    """

    def __init__(self, message: str = "", **details: Unpack[Details]) -> None:
        super().__init__(message)
        self.status: int | None = details.get("status")
        self.code: str | None = details.get("code")
        self.body: str = details.get("body", "")[:MAX_BODY]
        self.retry_after: float | None = details.get("retry_after")

    def without_traceback(self) -> Self:
        """Return an equal error without traceback.

        A cached error is raised for many callers. Raising one object again would chain their tracebacks,
        and keep all their frames alive.
        """
        copy = type(self).__new__(type(self), *self.args)
        copy.args = self.args
        copy.__dict__.update(self.__dict__)
        return copy


class ConfigurationError(FAQError, ValueError):
    """A setting, theme or argument has an invalid value; the message says what is accepted."""


class FAQNotFound(FAQError, LookupError):
    """The source has no FAQ with this slug (404, 410), or no FAQ can have such a slug."""


class FAQGone(FAQNotFound):
    """The FAQ was unpublished (410): its record leaves every cache and store."""


class FAQUnavailable(FAQError):
    """There is no usable response: connection refused, server error, offline, or backing off."""


class FAQTimeout(FAQUnavailable):
    """The source did not respond within `timeout`."""


class RateLimited(FAQUnavailable):
    """The service returned 429; `retry_after` says in how many seconds to try again."""


class OutcomeUnknown(FAQUnavailable):
    """A write was sent, at least in part, without a complete response: it may or may not have been done."""


class InvalidFAQ(FAQError, ValueError):
    """The response is not an FAQ record; `path` names the invalid part, such as `items[2].answer`."""

    def __init__(self, message: str, *, path: str = "", **details: Unpack[Details]) -> None:
        super().__init__(message, **details)
        self.path = path


class AuthenticationError(FAQError):
    """The API key is missing, malformed or not accepted, or may not do this (401, 403).

    `code` tells `unknown-key`, `missing-scope` and `not-your-site` apart. No message contains the key.
    """


class PublishRejected(FAQError, ValueError):
    """The FAQ cannot be published; `problems` lists every problem, with the number of its item.

    `closest` are the questions that an unknown one may mean, if a change names one.
    """

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[str] = (),
        closest: Sequence[str] = (),
        **details: Unpack[Details],
    ) -> None:
        super().__init__(message, **details)
        self.problems: tuple[str, ...] = tuple(problems)
        self.closest: tuple[str, ...] = tuple(closest)


class RevisionConflict(PublishRejected):
    """The FAQ is not at the revision that `if_match` names (412); nothing was written.

    `revision` is the number of the newest revision, 0 if there is none, or None if the service does not say.
    `current` is that revision with its `etag`, `state`, `key` and `items`, or None if the service does not
    send it.
    """

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[str] = (),
        revision: int | None = None,
        current: Any = None,
        **details: Unpack[Details],
    ) -> None:
        super().__init__(message, problems=problems, **details)
        self.revision = revision
        self.current = current


def quoted(value: object) -> str:
    """Return a value as a message quotes it: its repr, at most 80 characters, without keys and passwords."""
    try:
        text = _CONTAINERS.repr(value) if isinstance(value, list | tuple | dict) else repr(value)
        text = masked(text)
    except Exception:  # a repr that raises, or an integer of 5,000 digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= MAX_QUOTED else text[:MAX_QUOTED] + "…"


def masked(text: str) -> str:
    """Return text without API keys, and without the passwords of URLs."""
    text = without_keys(text)
    return re.sub(r"\S+", _without_user_info, text) if "@" in text else text


def without_keys(text: str) -> str:
    """Return text in which everything that begins like an API key is masked, even if it was cut."""
    return re.sub(_KEY, MASK, text)


def _without_user_info(word: re.Match[str]) -> str:
    before, at, after = word[0].rpartition("@")  # so that every search for an @ ends at once
    return re.sub(_USER_INFO, "//***@", before + at) + after
