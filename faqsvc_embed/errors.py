"""The exceptions of faqsvc-embed.

FAQError
├── ConfigurationError     a mistake of the developer's, told where it was made
├── FAQNotFound            the service says that there is no such FAQ, or the slug can be none
├── FAQUnavailable         the service could not be asked, or had no usable answer
│   ├── RateLimited        it asked us to come back later (429)
│   └── Unanswered         a write was sent, and whether it was done is not known
├── InvalidFAQ             it answered with something that is no FAQ record
├── AuthenticationError    it refused the API key (401, 403)
└── PublishRejected        the items were refused, here or there, with every problem named

Reading raises `FAQNotFound`, `FAQUnavailable` or `InvalidFAQ`; writing adds the last two.
"""

import re
import reprlib
from collections.abc import Sequence

BODY_KEPT = 500
"""Characters of an answer's body that an error keeps: enough to see what answered."""

MASKED = "fs_live_***"
"""What stands in the place of an API key."""
QUOTED: int = 80
# A list of lists may have a repr of any length; a text is cut behind what is quoted of it.
_CONTAINERS = reprlib.Repr()
_CONTAINERS.maxlevel, _CONTAINERS.maxstring = 3, 4 * QUOTED
_CONTAINERS.maxlist = _CONTAINERS.maxtuple = _CONTAINERS.maxdict = 20
# With what base64 has, and the dots where a repr left out the middle of a key; not the stop of a sentence.
_KEY = r"fs_live_(?!\*\*\*)(?:[A-Za-z0-9_+/=~%.-]*[A-Za-z0-9_+/=~-])?"
_USER_INFO = (
    r"//(?:[^/?#]*@"  # within the authority (RFC 3986), or else what is meant as a password with / ? # in it:
    r"|(?!\[|[^/?#:]+:\d{1,5}[/?#])[^/?#:]*:.*@)"  # from the colon on, unless a port follows it
)


def without_keys(text: str) -> str:
    """Return text with everything replaced that begins like an API key; for one may have been cut."""
    return re.sub(_KEY, MASKED, text)


def masked(text: str) -> str:
    """Return text that somebody else wrote without API keys, and without the passwords of addresses in it."""
    text = without_keys(text)
    return re.sub(r"\S+", _without_user_info, text) if "@" in text else text


def _without_user_info(word: re.Match[str]) -> str:
    before, at, behind = word[0].rpartition("@")  # so every search for an @ ends at once
    return re.sub(_USER_INFO, "//***@", before + at) + behind


def quoted(value: object) -> str:
    """Return how a message quotes a value: its repr, 80 characters of it, without keys and passwords."""
    try:
        shown = _CONTAINERS.repr(value) if isinstance(value, list | tuple | dict) else repr(value)
        text = masked(shown)
    except Exception:  # a repr of somebody's, or an integer of 5,000 digits
        return f"a value of type {type(value).__name__}"
    return text if len(text) <= QUOTED else text[:QUOTED] + "…"


class FAQError(Exception):
    """The root of everything that this package raises on purpose.

    `status` is the HTTP status that led to it, or None if there was no answer; `body` is the beginning of
    that answer's body, at most 500 characters. `retry_after` is the number of seconds after which it is
    worth trying again, or None if nobody said.
    """

    def __init__(
        self,
        message: str,
        *,
        status: int | None = None,
        body: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.body = body[:BODY_KEPT]
        self.retry_after = retry_after

    def fresh(self) -> "FAQError":
        """Return an equal error without traceback.

        A held error is raised again for every caller; raising one and the same object would chain their
        tracebacks, and keep the frames of all of them alive.
        """
        copy = type(self).__new__(type(self), *self.args)
        copy.args = self.args
        copy.__dict__.update(self.__dict__)
        return copy


class ConfigurationError(FAQError, ValueError):
    """A setting, theme or argument has a value that it cannot have; the message says what it can have."""


class FAQNotFound(FAQError, LookupError):
    """The service knows no FAQ of this slug (404, 410), or the slug has a form that no FAQ can have."""


class FAQUnavailable(FAQError):
    """No usable answer: refused, timed out, a server error, offline, or still backing off."""


class RateLimited(FAQUnavailable):
    """The service answered 429; `retry_after` says in how many seconds to try again."""


class Unanswered(FAQUnavailable):
    """A write was sent, or part of it, and no whole answer came: whether it was done is not known."""


class InvalidFAQ(FAQError, ValueError):
    """What arrived is no FAQ record; `path` names the part that is wrong, such as `items[2].answer`."""

    def __init__(
        self,
        message: str,
        *,
        path: str = "",
        status: int | None = None,
        body: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, status=status, body=body, retry_after=retry_after)
        self.path = path


class AuthenticationError(FAQError):
    """The API key is missing, malformed, or not accepted (401, 403). The key itself is never quoted."""


class PublishRejected(FAQError, ValueError):
    """What was to be published cannot be; `problems` lists every reason, each with the item's number."""

    def __init__(
        self,
        message: str,
        *,
        problems: Sequence[str] = (),
        status: int | None = None,
        body: str = "",
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message, status=status, body=body, retry_after=retry_after)
        self.problems = tuple(problems)
