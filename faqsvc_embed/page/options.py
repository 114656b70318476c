"""The options of one call, such as `faq("pricing", lang="ko")`, resolved once into one value.

Templates are written once and rendered for years: an invalid option falls back to the setting and is logged
once. With `strict` it raises.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, TypedDict

import msgspec
from msgspec.structs import replace

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
from faqsvc_embed.settings import VALIDATORS, Settings, suggestion
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
CHECKED: Final = {*Style.__struct_fields__, "schema", "wait"} - {"theme"}
"""The options that are checked like the settings with their names."""


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


class Problems(list[str]):
    """What is wrong with the options of one call, for the developer who wrote it."""

    def __init__(self, log: LogOnce | None, subject: object, caller: Caller) -> None:
        """Without a log, the first problem is raised, as the setting `strict` demands."""
        super().__init__()
        self._log = log
        self._caller = caller
        slug = subject.slug if isinstance(subject, FAQ) else subject
        what = "the page" if isinstance(slug, str) and not slug else f"FAQ {quoted(slug)}"
        self._prefix = what + (f" in template {caller.name!r}" if caller.name else "")

    def add(self, option: str, problem: str) -> None:
        """Report a problem: raise it if strict, else log it once for each template."""
        message = f"{self._prefix}: {problem}"
        if self._log is None:
            raise ConfigurationError(message)
        # A visitor may choose the slug, and so fill the log: it is no part of the key.
        self._log.warning(f"{option} {self._caller.name}", "%s", message)
        self.append(message)

    def refuse(self, option: str, value: object, accepted: str) -> None:
        """Report the value of an option, which then counts as left out."""
        self.add(option, f"{option} is {quoted(value)}: {accepted}")

    def known(self, given: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
        """Return the options that a function has; report the others."""
        known = dict[str, Any]()
        for name, value in given.items():
            if (usual := CAMEL_CASE.get(name, name)) in names:
                known[usual] = value
                continue
            self.add(name, f"unknown option {quoted(name)}; {suggestion(name, names)}")
        return known


class OptionResolver:
    """Resolves the options of calls against the settings and the page."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self.style: Style = Style.of(settings)
        """The usual style."""
        self._passes: Passing = Exception if settings.strict else ()
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
        settings = self._settings
        if not given and slug_or_faq and isinstance(slug_or_faq, str):  # as most calls are
            lang, elements = settings.lang, self._plain_elements
            is_request = type(page) is not Page  # only a request can choose the language and the nonce
            if is_request:
                lang = self._language_of(page)
            if is_request or caller.nonce:
                elements = self.elements(page, None, caller)
            key = Key(slug_or_faq, lang) if slug_or_faq.isascii() else _key(slug_or_faq, lang)
            return Call(key, None, self.style, settings.schema, elements, settings.wait)
        problems = self.problems(slug_or_faq, caller)
        given = problems.known(given, names)
        values = self._validated(given, problems)
        schema, wait = values.pop("schema", settings.schema), values.pop("wait", settings.wait)
        lang = _language(given.get("lang"), problems) or self._language_of(page)
        faq = slug_or_faq if isinstance(slug_or_faq, FAQ) and names is NAMES else None
        slug = slug_or_faq if faq is None else faq.slug
        if faq is None and not (isinstance(slug, str) and slug):
            raise invalid_slug(slug, caller.name or "")
        state, style = None if faq is None else FAQState(data=faq), replace(self.style, **values)
        elements, part = self.elements(page, given.get("nonce"), caller), _part(given, problems)
        return Call(
            _key(slug, lang), state, style, schema, elements, wait, part, caller.name, tuple(problems)
        )

    def problems(self, subject: object, caller: Caller) -> Problems:
        """Return an empty list for the problems of a call."""
        return Problems(None if self._settings.strict else self.log, subject, caller)

    def part_for(self, faq: FAQ, call: Call) -> tuple[FAQ, Call]:
        """Return the part of a record that a call shows, and the call with its unknown names as problems."""
        if call.part is None:
            return faq, call
        found = self._parts.get(faq, call.part)
        if found is None:
            found = part_of(faq, call.part)
            self._parts.put(faq, call.part, found, 1000 + 500 * len(found[0].items))
        part, unknown = found
        problems = self.problems(faq, Caller(call.template))
        for one in unknown:
            problems.add(f"part {one}", one)
        return part, replace(call, problems=(*call.problems, *problems)) if problems else call

    def key(self, page: Page, slug: str, lang: object) -> Key:
        """Return the cache key for a slug. Raises FAQNotFound for a value that is not text."""
        if not isinstance(slug, str):
            raise invalid_slug(slug)
        return _key(slug, _language(lang, self.problems(slug, FROM_PYTHON)) or self._language_of(page))

    def elements(self, page: Page, nonce: object, caller: Caller = FROM_PYTHON) -> ElementOptions:
        """Return how elements are printed. The nonce comes from the call, the page or the template."""
        nonce = guarded(_nonce, page, nonce, caller, otherwise=None, passes=self._passes)
        if nonce and not isinstance(nonce, str):
            accepted = "text, or a function that returns text, is accepted"
            self.problems("", caller).refuse("nonce", nonce, accepted)
            nonce = None
        if not nonce and page.folder is None:
            return self._plain_elements
        return ElementOptions(self._settings.styles, str(nonce) if nonce else None, page.folder)

    def _language_of(self, page: Page) -> str | None:
        """Return the language of the page, else the setting (RFC 4647, 3.4)."""
        lang = self._settings.lang
        return guarded(page.language, lang, otherwise=None, passes=self._passes) or lang

    def _validated(self, given: Mapping[str, Any], problems: Problems) -> dict[str, Any]:
        """Return the values of `theme` and of the options in `CHECKED`."""
        values = dict[str, Any]()
        for name, value in given.items():
            if name == "theme" and value is not None:
                values["theme"], found = self.style.theme.merged(value)
                for problem in found:
                    problems.add("theme", problem)
            elif name in CHECKED and (value is not None or name == "heading_level"):
                try:
                    values[name] = _validate(name, value)
                except ValueError as error:
                    problems.refuse(name, value, str(error))
        return values


def _validate(name: str, value: object) -> Any:
    """Check an option like the setting with its name; of a boolean option, only the truth value counts."""
    if isinstance(getattr(Settings, name), bool) and not (isinstance(value, str) and value):
        return bool(value)
    return VALIDATORS[name](value)


def _part(given: Mapping[str, Any], problems: Problems) -> Part | None:
    """Return the part of an FAQ that a call names, or None."""
    section, questions = given.get("section"), given.get("questions")
    try:
        part = Part.of(section, questions)
    except TypeError:
        problems.refuse("questions", questions, "a list of ids or questions is accepted")
        part = Part.of(section, None)
    return part if part != Part() else None


def _language(lang: object, problems: Problems) -> str | None:
    """Return the supported language that is nearest to one, or None."""
    language = lookup(lang) if isinstance(lang, str) else None
    if lang and language is None:
        problems.refuse("lang", lang, f"one of {', '.join(LANGUAGES)} is accepted")
    return language


def _key(slug: str, lang: str | None) -> Key:
    """Return the key of a slug in NFC: editors and file systems write `é` as one character or as two."""
    return Key(normalized("NFC", slug), lang)


def _nonce(page: Page, nonce: object, caller: Caller) -> object:
    """Return the nonce of a call, else of its page or of a variable of its template."""
    try:
        # Flask-Talisman's function returns an empty text if the policy has no nonce.
        for one in (nonce, nonce or page.nonce(), caller.nonce):
            if found := one() if callable(one) else one:
                return found
    except RuntimeError:  # Flask-Talisman's function needs a request; an email without one has no policy
        if type(page) is not Page:
            raise
    return None


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


def check_schema_argument(function: str, faq: object) -> None:
    """Raise ConfigurationError for what has no FAQPage."""
    if faq is not None and not isinstance(faq, FAQ | FAQState):
        accepted = "an FAQ, the result of use_faq(), or nothing is accepted"
        raise ConfigurationError(f"{function} got {quoted(faq)}: {accepted}")
