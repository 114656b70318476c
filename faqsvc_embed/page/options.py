"""The options of one call, such as `faq("pricing", lang="ko")`, resolved once into one value.

Templates are written once and rendered for years: an invalid option falls back to the setting and is logged
once. With `strict` it raises.
"""

import difflib
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

import msgspec
from msgspec.structs import asdict, replace

from faqsvc_embed.api.fields import invalid_slug
from faqsvc_embed.cache.entry import Key
from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.models import FAQ, FAQState, part_of
from faqsvc_embed.models.parts import Part
from faqsvc_embed.page.border import Passing, guarded
from faqsvc_embed.page.page import Page
from faqsvc_embed.rendering.elements import ElementOptions
from faqsvc_embed.rendering.record_cache import RecordCache
from faqsvc_embed.rendering.style import Style
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.settings import Setting, Settings
from faqsvc_embed.settings.validators import Look, Variant
from faqsvc_embed.text import normalized
from faqsvc_embed.theme import Theme


class RenderOptions(TypedDict, total=False):
    """The options of `render()` and `faq()`; the defaults are the settings."""

    lang: str | None
    theme: Theme | Mapping[str, Any] | None
    show_title: bool | None
    heading_level: int | None
    schema: bool
    nonce: str | None
    variant: Variant | None
    look: Look | None
    exclusive: bool | None
    section: str | None
    questions: Sequence[str] | None
    showTitle: bool | None
    headingLevel: int | None


CAMEL_CASE: Final = {"showTitle": "show_title", "headingLevel": "heading_level"}
"""The options as the JavaScript component names them."""
NAMES: Final = tuple(name for name in RenderOptions.__annotations__ if name not in CAMEL_CASE)


class UseOptions(TypedDict, total=False):
    """The options of `use_faq()`."""

    lang: str | None
    wait: float | None
    section: str | None
    questions: Sequence[str] | None


USE_NAMES: Final = tuple(UseOptions.__annotations__)


class Caller(msgspec.Struct, frozen=True):
    """The template that makes a call."""

    name: str | None = None
    """Its name, for messages."""
    nonce: object = None
    """The value of its variable `csp_nonce`, which may be the nonce of the page."""


FROM_PYTHON: Final = Caller()


class Call(msgspec.Struct, frozen=True, gc=False):
    """A call with everything that its HTML depends on."""

    key: Key
    given: FAQState | None
    """The state of a record that the host has passed instead of a slug."""
    style: Style
    schema: bool
    """Whether its JSON-LD is printed with it."""
    elements: ElementOptions
    wait: float
    """For how many seconds the page may wait, for all its FAQs together."""
    part: Part | None = None
    """The part of the FAQ that is shown; None for all of it."""
    template: str | None = None
    problems: tuple[str, ...] = ()
    """The errors in the options of the call, for developers."""


class OptionResolver:
    """Resolves the options of calls against the settings and the page."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.style: Style = Style.of(settings)
        """The usual style."""
        self._passes: Passing = Exception if settings.strict else ()
        self._schema = settings.schema
        self._plain_elements = ElementOptions(settings.styles)
        self._parts = RecordCache[tuple[FAQ, list[str]]]()
        self.log: LogOnce = LogOnce()

    def resolve(
        self,
        page: Page,
        slug_or_faq: Any,
        given: Mapping[str, Any],
        caller: Caller = FROM_PYTHON,
        names: Sequence[str] = NAMES,
    ) -> Call:
        """Return the call with all that its result depends on; `names` are the options that it accepts."""
        if not given and slug_or_faq and isinstance(slug_or_faq, str):
            lang, elements = self._settings.lang, self._plain_elements
            is_request = type(page) is not Page  # only a request can choose the language and the nonce
            if is_request:
                lang = self._language_of(page)
            if is_request or caller.nonce:
                elements = self.elements(page, None, caller)
            wait = self._settings.wait
            key = Key(slug_or_faq, lang) if slug_or_faq.isascii() else _key(slug_or_faq, lang)
            return Call(key, None, self.style, self._schema, elements, wait)
        self.check_names(given, names, slug_or_faq, caller, problems := list[str]())
        given = {name: value for name, value in given.items() if CAMEL_CASE.get(name, name) in names}
        style, schema, wait = self._validated(given, slug_or_faq, caller, problems)
        lang = self._language(given.get("lang"), slug_or_faq, caller, problems)
        faq = slug_or_faq if isinstance(slug_or_faq, FAQ) and names is NAMES else None
        slug = slug_or_faq if faq is None else faq.slug
        if faq is None and not (isinstance(slug, str) and slug):
            raise invalid_slug(slug, caller.name or "")
        return Call(
            _key(slug, lang or self._language_of(page)),
            None if faq is None else FAQState(data=faq),
            style,
            schema,
            self.elements(page, given.get("nonce"), caller),
            wait,
            self._part(given, slug_or_faq, caller, problems),
            caller.name,
            tuple(problems),
        )

    def _part(
        self, given: Mapping[str, Any], subject: object, caller: Caller, problems: list[str]
    ) -> Part | None:
        """Return the part of an FAQ that a call names, or None."""
        section, questions = given.get("section"), given.get("questions")
        try:
            part = Part.of(section, questions)
        except TypeError:
            accepted = "a list of ids or questions is accepted"
            problems.append(self._reject("questions", questions, accepted, subject, caller))
            part = Part.of(section, None)
        return part if part != Part() else None

    def part_for(self, faq: FAQ, call: Call) -> tuple[FAQ, Call]:
        """Return the part of a record that a call shows, and the call with its unknown names as problems."""
        if call.part is None:
            return faq, call
        found = self._parts.get(faq, call.part)
        if found is None:
            found = part_of(faq, call.part)
            self._parts.put(faq, call.part, found, 1000 + 500 * len(found[0].items))
        part, unknown = found
        caller = Caller(call.template)
        problems = [self._problem(f"part {one}", one, faq, caller) for one in unknown]
        return part, replace(call, problems=(*call.problems, *problems)) if problems else call

    def key(self, page: Page, slug: str, lang: object) -> Key:
        """Return the cache key for a slug. Raises FAQNotFound for a value that is not text."""
        if not isinstance(slug, str):
            raise invalid_slug(slug)
        language = self._language(lang, slug, FROM_PYTHON, []) if lang else None
        return _key(slug, language or self._language_of(page))

    def elements(self, page: Page, nonce: object, caller: Caller = FROM_PYTHON) -> ElementOptions:
        """Return how elements are printed. The nonce comes from the call, the page or the template."""
        nonce = guarded(_nonce, page, nonce, caller, otherwise=None, passes=self._passes)
        if nonce and not isinstance(nonce, str):
            self._reject("nonce", nonce, "text, or a function that returns text, is accepted", "", caller)
            nonce = None
        if not nonce and page.folder is None:
            return self._plain_elements
        return ElementOptions(self._settings.styles, str(nonce) if nonce else None, page.folder)

    def check_names(
        self,
        given: Mapping[str, Any],
        names: Sequence[str],
        subject: object,
        caller: Caller,
        problems: list[str],
    ) -> None:
        """Report options that the called function does not have."""
        for name in given:
            if CAMEL_CASE.get(name, name) not in names:
                similar = difflib.get_close_matches(name, names, 1)
                hint = f"did you mean {similar[0]!r}?" if similar else f"the options are: {', '.join(names)}"
                problem = f"unknown option {quoted(name)}; {hint}"
                problems.append(self._problem(name, problem, subject, caller))

    def _language_of(self, page: Page) -> str | None:
        """Return the language of the page, else the setting (RFC 4647, 3.4)."""
        lang = self._settings.lang
        return guarded(page.language, lang, otherwise=None, passes=self._passes) or lang

    def _validated(
        self, given: Mapping[str, Any], subject: object, caller: Caller, problems: list[str]
    ) -> tuple[Style, bool, float]:
        """Return the style, whether JSON-LD is printed, and how long the call may wait.

        Add the errors in the options to `problems`.
        """
        options = {**asdict(self.style), "schema": self._schema, "wait": self._settings.wait}
        for given_name, value in given.items():
            name = CAMEL_CASE.get(given_name, given_name)
            if name == "theme" and value is not None:
                options["theme"], found = self.style.theme.merged(value)
                problems += (self._problem("theme", problem, subject, caller) for problem in found)
            elif name in options and (value is not None or name == "heading_level"):
                try:
                    options[name] = _validate(name, value)
                except ValueError as error:
                    problems.append(self._reject(name, value, str(error), subject, caller))
        schema, wait = options.pop("schema"), options.pop("wait")
        return Style(**options), schema, wait

    def _language(self, lang: object, subject: object, caller: Caller, problems: list[str]) -> str | None:
        if not lang:
            return None
        language = lookup(lang) if isinstance(lang, str) else None
        if language is None:
            accepted = f"one of {', '.join(LANGUAGES)} is accepted"
            problems.append(self._reject("lang", lang, accepted, subject, caller))
        return language

    def _reject(self, name: str, value: object, accepted: str, subject: object, caller: Caller) -> str:
        return self._problem(name, f"{name} is {quoted(value)}: {accepted}", subject, caller)

    def _problem(self, option: str, problem: str, subject: object, caller: Caller) -> str:
        """Report an invalid option: raise if strict, else log it once for each template."""
        slug = subject.slug if isinstance(subject, FAQ) else subject
        what = "the page" if isinstance(slug, str) and not slug else f"FAQ {quoted(slug)}"
        where = f" in template {caller.name!r}" if caller.name else ""
        message = f"{what}{where}: {problem}"
        if self._settings.strict:
            raise ConfigurationError(message)
        # The key has no slug, because a visitor may choose it.
        self.log.warning(f"{option} {caller.name}", "%s", message)
        return message


def _key(slug: str, lang: str | None) -> Key:
    """Return the key of a slug in NFC: editors and file systems write `é` as one character or as two."""
    return Key(normalized("NFC", slug), lang)


def _nonce(page: Page, nonce: object, caller: Caller) -> object:
    """Return the nonce of a call, else of its page or of a variable of its template."""
    nonce = nonce or page.nonce() or caller.nonce
    return nonce() if callable(nonce) else nonce


def split_arguments(
    arguments: Sequence[Any], options: dict[str, Any], names: Sequence[str] = ("slug", "lang")
) -> tuple[Any, dict[str, Any]]:
    """Return the first argument of a call in a template, and its options.

    `names` are those of the positional arguments. A surplus one becomes the option `argument 3`, which is
    reported like any other unknown option.
    """
    if not arguments:
        return options.pop(names[0], None), options
    for number, value in enumerate(arguments[1:], 2):
        is_named = number <= len(names) and names[number - 1] not in options
        options[names[number - 1] if is_named else f"argument {number}"] = value
    return arguments[0], options


def _validate(name: str, value: object) -> Any:
    """Check an option as the setting of its name; a boolean option takes any object as a truth value."""
    setting: Setting[Any] = getattr(Settings, name)
    if isinstance(setting.default, bool) and not (isinstance(value, str) and value):
        return bool(value)
    return setting.validate(value)


def check_schema_argument(function: str, faq: object) -> None:
    """Raise ConfigurationError for what has no FAQPage."""
    if faq is not None and not isinstance(faq, FAQ | FAQState):
        accepted = "an FAQ, the result of use_faq(), or nothing is accepted"
        raise ConfigurationError(f"{function} got {quoted(faq)}: {accepted}")
