"""The settings of an embed: one frozen value, from keywords, a host's configuration or the environment.

Keywords take precedence over the mapping, then come the environment and the defaults. All are read once, when
the value is created.
"""

import difflib
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Final, Self, TypedDict, TypeVar, Unpack

from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import Source
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.settings import validators as accept
from faqsvc_embed.settings.api_key import PREFIX as KEY_PREFIX
from faqsvc_embed.settings.api_key import APIKey
from faqsvc_embed.theme import Theme

T = TypeVar("T")
Options = TypeVar("Options", bound=Mapping[str, object])

PREFIX: Final = "FAQSVC_"
_MAY_HAVE_PASSWORD: Final = {"base_url": "[@?#]", "store": "[@?#]|//"}

_log: Final = LogOnce()


class ClientOptions(TypedDict, total=False):
    """The keywords of a client, except `base_url` and `api_key`; `Settings` describes them."""

    lang: str | None
    timeout: float
    max_bytes: int
    insecure_hosts: Iterable[str] | str
    offline: bool
    strict: bool


class EmbedOptions(ClientOptions, total=False):
    """Every setting except `base_url` as a keyword; `Settings` describes them."""

    api_key: str | APIKey | None
    theme: Theme | Mapping[str, Any] | str | None
    show_title: bool
    heading_level: int | None
    styles: accept.Styles
    variant: accept.Variant
    look: accept.Look
    exclusive: bool
    schema: bool
    cache_overrides: bool
    wait: float
    fresh_for: float
    keep_for: float | None
    max_fresh: float | None
    push: bool
    preview: bool
    not_found_for: float
    max_entries: int
    store: str | None
    directory: str | os.PathLike[str] | None
    source: Source | str | None
    reload: bool
    degraded_max_age: int | None
    cache_tags: bool


class SettingOptions(EmbedOptions, total=False):
    """Every setting as a keyword; `Settings` describes them."""

    base_url: str


def setting(validate: Callable[[object], T], default: Any, *, is_secret: bool = False) -> T:
    """Declare a setting. Its values have the type that `validate` returns; a repr leaves out a secret."""
    declared: T = field(default=default, repr=not is_secret, metadata={"validate": validate})
    return declared


@dataclass(init=False, frozen=True)
class Settings:
    """Where FAQs come from, how long to wait and to keep records, and how an FAQ looks.

    Durations are in seconds. Each setting is a keyword here, `FAQSVC_NAME` in a mapping such as Flask's
    config, and `FAQSVC_NAME` in the environment.

    Raises:
        ConfigurationError: here and in the methods, a value is invalid, or a name is not a setting. The
            message names the setting, the value and what is accepted.
    """

    base_url: str = setting(accept.service_url, "")
    """The URL of the service, such as https://faq.example.com."""
    api_key: APIKey | None = setting(accept.api_key, None, is_secret=True)
    """The key for writing, and for reading drafts and history, with `FAQClient`. An embed never sends it."""
    insecure_hosts: tuple[str, ...] = setting(accept.host_names, ())
    """Hosts to which a client sends its key over plain http, besides this machine."""
    lang: str | None = setting(accept.or_none(accept.one_of(*LANGUAGES)), None)
    """The language of the site, unless it chooses one for a request; None asks for the visitor's language."""
    theme: Theme = setting(accept.theme, Theme())
    """Accent colour and question size."""
    show_title: bool = setting(accept.boolean, True)
    """Print the title of the FAQ."""
    heading_level: int | None = setting(accept.or_none(accept.whole(2, 6)), 2)
    """Level of the title's heading, 2 to 6; questions are one below. None prints no headings."""
    styles: accept.Styles = setting(accept.one_of("inline", "linked", "none"), "inline")
    """`inline`: a style element in the page. `linked`: a stylesheet that the host serves. `none`: no CSS."""
    variant: accept.Variant = setting(accept.one_of(*accept.VARIANTS), "details")
    """`details`: details elements. `disclosure`: headings with buttons. `open`: all answers are visible."""
    look: accept.Look = setting(accept.one_of(*accept.LOOKS), "lines")
    """`lines`: a line between two questions. `cards`: each question in a box. `columns`: the title beside the
    questions. `plain`: no lines."""
    exclusive: bool = setting(accept.boolean, False)
    """Opening an answer closes the one that was open."""
    schema: bool = setting(accept.boolean, True)
    """Print the JSON-LD of each FAQ with the FAQ. If False, `faq_schema()` prints the JSON-LD of all FAQs."""
    cache_overrides: bool = setting(accept.boolean, False)
    """Cache FAQs rendered from the host's `faqsvc/*.html`. Set it if these use only documented variables."""
    wait: float = setting(accept.seconds(0, accept.DAY), 1.0)
    """How long one page may wait for all its uncached FAQs together."""
    timeout: float = setting(accept.timeout, 5.0)
    """How long one request to the source may take, from connecting to the last byte."""
    fresh_for: float = setting(accept.seconds(), 3600.0)
    """Freshness lifetime of a response that states none (RFC 9111, 4.2)."""
    keep_for: float | None = setting(accept.or_none(accept.seconds()), 7 * accept.DAY)
    """How long a stale record may be shown while the source fails; None for no limit (RFC 5861, 4)."""
    max_fresh: float | None = setting(accept.or_none(accept.seconds()), None)
    """Upper limit of all freshness lifetimes and of `not_found_for`; None for no limit."""
    push: bool = setting(accept.boolean, True)
    """Follow the service's change feed, if it has one: edits arrive within seconds."""
    preview: bool = setting(accept.boolean, True)
    """Show a draft on a page whose address has a preview token of the service."""
    not_found_for: float = setting(accept.seconds(), 60.0)
    """How long a 404 is cached (negative caching)."""
    max_entries: int = setting(accept.whole(1), 1000)
    """How many FAQs are cached in memory; the least recently used are evicted."""
    max_bytes: int = setting(accept.whole(1), 1_048_576)
    """The largest record in bytes, decompressed."""
    store: str | None = setting(accept.or_none(accept.store), None, is_secret=True)
    """A cache that outlives the process: None, `file:DIRECTORY` or `redis://HOST:PORT/DB`."""
    degraded_max_age: int | None = setting(accept.or_none(accept.whole(0)), None)
    """Upper limit in seconds of the Cache-Control lifetimes of a page that lacks an FAQ or shows a stale one.

    A page without Cache-Control gets `max-age=0`. None leaves the headers of the page alone.
    """
    cache_tags: bool = setting(accept.boolean, False)
    """Name the FAQs of a page in its headers, for caches in front: Cache-Groups (RFC 9875), Surrogate-Key
    and Cache-Tag."""
    directory: str | None = setting(accept.or_none(accept.directory), None)
    """A folder of FAQ files, such as `pricing.md`, shown instead of a service or until it has responded."""
    source: Source | None = setting(accept.or_none(accept.source), None, is_secret=True)
    """FAQs that the host stores itself: a `Source`, or the dotted path to one or to its class."""
    reload: bool = setting(accept.boolean, False)
    """Show edited files of the folder at once, and the errors in them, as a host in debug mode does."""
    offline: bool = setting(accept.boolean, False)
    """Make no network request; FAQs come from the folder."""
    strict: bool = setting(accept.boolean, False)
    """Raise an error where a page would lack an FAQ: for tests and development."""

    def __init__(self, **options: Unpack[SettingOptions]) -> None:
        values: Mapping[str, Any] = with_hidden_keys(options)
        del options  # tracebacks show local variables
        if unknown := next((name for name in values if name not in NAMES), None):
            hint = suggestion(unknown.removeprefix(PREFIX))
            raise ConfigurationError(f"{unknown!r} is not a setting; {hint}")
        for one in fields(self):
            value = values.get(one.name, one.default)
            try:
                vars(self)[one.name] = one.metadata["validate"](value)  # attributes are frozen
            except (ValueError, TypeError) as error:
                message = f"{one.name} {_described(one.name, value)}: {error}"
                raise ConfigurationError(message) from error.__cause__  # the error of importing a source

    @classmethod
    def from_mapping(cls, mapping: Mapping[str, Any], **overrides: Unpack[SettingOptions]) -> Self:
        """Read the `FAQSVC_…` keys of a mapping such as Flask's config; the environment fills the rest."""
        found, overrides = _prefixed(mapping), with_hidden_keys(overrides)
        del mapping  # tracebacks show local variables
        for key in unknown_keys(found):
            _log.warning(key, "%s is ignored, because it is not a setting; %s", quoted(key), suggestion(key))
        return cls.from_env(**_merged(_values(found), overrides))

    @classmethod
    def from_env(cls, environ: Mapping[str, str] | None = None, **overrides: Unpack[SettingOptions]) -> Self:
        """Read the `FAQSVC_…` variables of the environment; other programs may use the prefix too."""
        found = _prefixed(os.environ if environ is None else environ)
        overrides = with_hidden_keys(overrides)
        del environ
        return cls(**_merged(_values(found), overrides))

    def replace(self, **overrides: Unpack[SettingOptions]) -> Self:
        """Return a copy with some settings changed."""
        overrides = with_hidden_keys(overrides)
        return type(self)(**_merged(vars(self), overrides))


VALIDATORS: Final = {one.name: one.metadata["validate"] for one in fields(Settings)}
NAMES: Final = tuple(VALIDATORS)
_KEYS: Final = {PREFIX + name.upper(): name for name in NAMES}


def with_hidden_keys(options: Options) -> Options:
    """Return options whose API keys, under whatever name, are wrapped: tracebacks show local variables."""
    hidden: Any = {
        name: accept.api_key(value)
        if name in ("api_key", f"{PREFIX}API_KEY")
        or (isinstance(value, str) and value.startswith(KEY_PREFIX))
        else value
        for name, value in options.items()
    }
    return hidden  # type: ignore[no-any-return]


def changed(settings: Settings | None, options: Mapping[str, Any]) -> Settings:
    """Return settings, or those of the environment, with some of them changed.

    Raises:
        ConfigurationError: a value is invalid, or `settings` is something else.
    """
    if settings is None:
        return Settings.from_env(**options)
    if not isinstance(settings, Settings):
        raise ConfigurationError(
            f"settings is a {type(settings).__name__}: pass Settings, or single settings as keywords"
        )
    return settings.replace(**options)


def _merged(lower: Mapping[str, Any], higher: Mapping[str, Any]) -> dict[str, Any]:
    """Merge two sets of settings. If the higher one names a source, all sources of the lower are dropped."""
    replaced = ("base_url", "directory") if higher.get("source") else ()
    if higher.get("base_url") or higher.get("directory"):
        replaced = (*replaced, "source")
    return {**{name: value for name, value in lower.items() if name not in replaced}, **higher}


def _prefixed(mapping: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keys with our prefix; an empty variable counts as not set.

    White space around a text, such as the line end of a file with a secret, is left out.
    """
    found = {
        key: value.strip() if isinstance(value, str) else value
        for key, value in mapping.items()
        if isinstance(key, str) and key.startswith(PREFIX)
    }
    return with_hidden_keys({key: value for key, value in found.items() if value != ""})


def _values(found: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of settings by name, from keys with our prefix."""
    return {name: found[key] for key, name in _KEYS.items() if key in found}


def unknown_keys(found: Iterable[str]) -> list[str]:
    """Return the keys that are not those of settings."""
    return [key for key in found if key not in _KEYS]


def suggestion(name: str, names: Sequence[str] = NAMES) -> str:
    """Return what to write instead of an unknown name: the most similar one, or any."""
    prefix = PREFIX if name.startswith(PREFIX) else ""
    bare = name.removeprefix(prefix).lower()
    begins = [one for one in names if len(bare) > 1 and one.startswith(bare)]
    similar = begins[:1] or difflib.get_close_matches(bare, names, 1)
    if not similar:
        return f"accepted are {', '.join(names)}"
    meant = similar[0].upper() if prefix else similar[0]
    return f"did you mean {prefix + meant!r}?"


def _described(name: str, value: object) -> str:
    """Return `is` and the value for a message, unless it may contain a password."""
    if name in _MAY_HAVE_PASSWORD and re.search(_MAY_HAVE_PASSWORD[name], str(value)[:1000]):
        return "(not shown, because it may contain a password)"
    return f"is {quoted(value)}"
