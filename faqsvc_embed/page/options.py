"""The options of one call, such as `faq("pricing", lang="ko")`, resolved once into one value.

Templates are written once and rendered for years: an invalid option falls back to the setting and is logged
once. With `strict` it raises.
"""

import re
from collections.abc import Callable, Mapping, Sequence
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
from faqsvc_embed.page.document import Document
from faqsvc_embed.page.page import Page
from faqsvc_embed.rendering.fragments import ElementOptions, Style
from faqsvc_embed.rendering.record_cache import RecordCache
from faqsvc_embed.runtime.bounded_log import LogOnce
from faqsvc_embed.settings import VALIDATORS, Settings, suggestion
from faqsvc_embed.settings.validators import Look, Variant
from faqsvc_embed.text import normalized
from faqsvc_embed.theme import Theme

Options = Mapping[str, Any]  # of one call, by name


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
    document: Document | None = None
    """The document that it belongs to; by default, the one that is being rendered."""


FROM_PYTHON: Final = Caller()
_NONCE: Final = "[A-Za-z0-9+/_-]+={0,2}"
"""The nonces of a Content-Security-Policy (CSP 3, 2.3.1)."""


class Problems(list[str]):
    """What is wrong with the options of one call, for the developer who wrote it."""

    def __init__(self, log: LogOnce | None, subject: object, caller: Caller) -> None:
        """Without a log, the first problem is raised, as the setting `strict` demands."""
        super().__init__()
        self._log = log
        self._template = caller.name
        slug = subject.slug if isinstance(subject, FAQ) else subject
        what = "the page" if isinstance(slug, str) and not slug else f"FAQ {quoted(slug)}"
        self._prefix = what + (f" in template {caller.name!r}" if caller.name else "")

    def add(self, option: str, problem: str) -> None:
        """Report a problem: raise it if strict, else log it once for each template."""
        message = f"{self._prefix}: {problem}"
        if self._log is None:
            raise ConfigurationError(message)
        # A visitor may choose the slug, and so fill the log: it is no part of the key.
        self._log.warning(f"{option} {self._template}", "%s", message)
        if message not in self:
            self.append(message)

    def refuse(self, option: str, value: object, accepted: object) -> None:
        """Report the value of an option, which then counts as left out."""
        self.add(option, f"{option} is {quoted(value)}: {accepted}")


class Call(msgspec.Struct, frozen=True):
    """A call with everything that its HTML depends on."""

    document: Document
    page: Page
    key: Key
    """Its slug is in NFC: editors and file systems write `é` as one character or as two."""
    elements: ElementOptions
    style: Style
    schema: bool
    """Whether its JSON-LD is printed with it."""
    wait: float
    """For how many seconds the page may wait, for all its FAQs together."""
    known: FAQState | None = None
    """The state of a record that the host has passed instead of a slug, so that nothing is looked up."""
    part: Part | None = None
    """The part of the FAQ that is shown; None for all of it."""
    problems: Problems | None = None
    """What is wrong with its options; None for a call without options."""


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
        document: Document,
        subject: Any,
        options: Options,
        caller: Caller = FROM_PYTHON,
        names: Sequence[str] = NAMES,
    ) -> Call:
        """Return the call for a slug or a record, which accepts the options `names`."""
        settings, page = self._settings, document.page
        values, part, problems = dict[str, Any](), None, None
        if options:
            problems = self._new_problems(subject, caller)
            values = self._checked(options, names, problems)
            if "section" in values or "questions" in values:
                part = Part.of(values.pop("section", None), values.pop("questions", None))
        faq = subject if isinstance(subject, FAQ) and names is NAMES else None  # use_faq() takes no record
        slug = subject if faq is None else faq.slug
        if faq is None and not (isinstance(slug, str) and slug):
            raise invalid_slug(slug, caller.name or "")
        is_request = type(page) is not Page  # only a request chooses a language and has a nonce
        lang, nonce = values.pop("lang", None), values.pop("nonce", None)
        if lang is None:
            lang = self._language_of(page) if is_request else settings.lang
        has_nonce = is_request or nonce is not None or caller.nonce is not None
        return Call(
            document,
            page,
            Key(slug if slug.isascii() else normalized("NFC", slug), lang),
            self.elements(page, nonce, caller) if has_nonce else self._plain_elements,
            schema=values.pop("schema", settings.schema),
            wait=values.pop("wait", settings.wait),
            style=replace(self.style, **values) if values else self.style,
            known=None if faq is None else FAQState(data=faq),
            part=part,
            problems=problems,
        )

    def _new_problems(self, subject: object, caller: Caller) -> Problems:
        """Return an empty list for the problems of a call."""
        return Problems(None if self._settings.strict else self.log, subject, caller)

    def part(self, faq: FAQ, call: Call) -> FAQ:
        """Return the part of a record that a call shows. Names that are not in the record are problems."""
        if call.part is None or call.problems is None:
            return faq
        found = self._parts.get(faq, call.part)
        if found is None:
            found = part_of(faq, call.part)
            self._parts.put(faq, call.part, found, 1000 + 500 * len(found[0].items))
        part, unknown = found
        for one in unknown:
            call.problems.add(f"part {one}", one)
        return part

    def key(self, page: Page, slug: str, lang: object) -> Key:
        """Return the cache key for a slug. Raises FAQNotFound for a value that is not text."""
        if not isinstance(slug, str):
            raise invalid_slug(slug)
        values = self._checked({"lang": lang}, USE_NAMES, self._new_problems(slug, FROM_PYTHON))
        return Key(normalized("NFC", slug), values.get("lang") or self._language_of(page))

    def schema_elements(self, page: Page, options: Options, caller: Caller) -> ElementOptions:
        """Return how `faq_schema()` prints its script; its only option is the nonce."""
        values = self._checked(options, ("nonce",), self._new_problems("", caller))
        return self.elements(page, values.get("nonce"), caller)

    def elements(self, page: Page, nonce: object, caller: Caller = FROM_PYTHON) -> ElementOptions:
        """Return how elements are printed. The nonce comes from the call, the page or the template."""
        nonce = guarded(_nonce, page, nonce, caller, otherwise=None, passes=self._passes)
        # `str`, because Django's text is lazy.
        if nonce and not (isinstance(nonce, str) and re.fullmatch(_NONCE, str(nonce))):
            accepted = "base64 text, or a function that returns it, is accepted"
            self._new_problems("", caller).refuse("nonce", nonce, accepted)
            nonce = None
        if not nonce and page.folder is None:
            return self._plain_elements
        return ElementOptions(self._settings.styles, str(nonce) if nonce else None, page.folder)

    def _language_of(self, page: Page) -> str | None:
        """Return the language of the page, else the setting (RFC 4647, 3.4)."""
        lang = self._settings.lang
        return guarded(page.language, lang, otherwise=None, passes=self._passes) or lang

    def _checked(self, options: Options, names: Sequence[str], problems: Problems) -> dict[str, Any]:
        """Return the valid options, and report the others.

        None counts as left out, except for `heading_level`, where it means that there are no headings.
        """
        values = dict[str, Any]()
        for written, value in options.items():
            name = CAMEL_CASE.get(written, written)
            if name not in names:
                problems.add(written, f"unknown option {quoted(written)}; {suggestion(written, names)}")
            elif name == "theme" and value is not None:
                values[name], found = self.style.theme.merged(value)
                for problem in found:
                    problems.add(name, problem)
            elif value is not None or name == "heading_level":
                try:
                    values[name] = _CHECKS[name](value)
                except ValueError as error:
                    problems.refuse(name, value, error)
        return values


def _like_setting(name: str) -> Callable[[Any], Any]:
    """Return the validator of a setting, for the option of the same name.

    A boolean option accepts any value, but a text must say true or false.
    """
    validate: Callable[[Any], Any] = VALIDATORS[name]
    if not isinstance(getattr(Settings, name), bool):
        return validate
    return lambda value: validate(value) if isinstance(value, str) and value else bool(value)


def _language(lang: object) -> str | None:
    """Return the supported language that is nearest to `lang`; None if `lang` is empty."""
    language = lookup(lang) if isinstance(lang, str) else None
    if lang and language is None:
        raise ValueError(f"one of {', '.join(LANGUAGES)} is accepted")
    return language


def _questions(names: object) -> tuple[str, ...] | None:
    try:
        return Part.of(None, names).questions
    except TypeError:
        raise ValueError("a list of ids or questions is accepted") from None


_CHECKS: Final[dict[str, Callable[[Any], Any]]] = {
    **{name: _like_setting(name) for name in (*Style.__struct_fields__, "schema", "wait")},
    "lang": _language,
    "section": str,
    "questions": _questions,
    "nonce": lambda nonce: nonce,  # `elements` checks it, as it checks the nonces of pages and templates
}


def _nonce(page: Page, nonce: object, caller: Caller) -> object:
    """Return the nonce of a call, else of its page or of a variable of its template."""
    try:
        # Flask-Talisman's function returns an empty text if the policy has no nonce.
        for one in (nonce or page.nonce(), caller.nonce):
            if found := one() if callable(one) else one:
                return found
    except RuntimeError:  # Flask-Talisman's function needs a request; an email without one has no policy
        if type(page) is not Page:
            raise
    return None


def split_arguments(
    arguments: Sequence[Any], options: dict[str, Any], names: Sequence[str]
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
