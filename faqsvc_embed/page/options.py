"""What a call may ask for, set against what there is: a bad wish gives the default and one warning.

Templates are written once and rendered for years; with `strict` a bad wish raises, for development.
"""

import difflib
import logging
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final

from faqsvc_embed.errors import ConfigurationError, quoted
from faqsvc_embed.languages import LANGUAGES, lookup
from faqsvc_embed.page.context import Page
from faqsvc_embed.rendering.renderer import Look
from faqsvc_embed.settings import UNSET, Settings
from faqsvc_embed.settings.validators import Variant, boolean
from faqsvc_embed.settings.validators import heading_level as checked_level
from faqsvc_embed.settings.validators import variant as checked_variant
from faqsvc_embed.theme import Theme

logger = logging.getLogger("faqsvc_embed")

MOST_WARNINGS = 1000
OPTIONS: Final = (
    "lang",
    "theme",
    "show_title",
    "heading_level",
    "schema",
    "nonce",
    "variant",
    "exclusive",
)
"""What `faq()` can be told beside the slug."""
Asked = tuple[Any, bool | None, Any, Any, bool | None]
"""The arguments of `Wishes.look` as they came: a key of what was rendered for them."""
PLAIN: Final[Asked] = (None, None, UNSET, None, None)
"""What a call asks that names nothing but a slug."""
NO_NAMES: Final = MappingProxyType[str, Any]({})


def as_asked(
    theme: Any, show_title: bool | None, heading_level: Any, variant: Any, exclusive: bool | None
) -> Asked:
    """Return what a call asks; a theme that is a mapping, new with each call of a template, as its items."""
    theme = tuple(theme.items()) if type(theme) is dict else theme
    return (theme, show_title, heading_level, variant, exclusive)


def numbered(asked: Asked, ordinal: int) -> tuple[Any, ...]:
    """Return the key of the `ordinal`th block of an FAQ on its page, which has ids of its own."""
    return asked if ordinal == 1 else (*asked, ordinal)


class Wishes:
    """Reads the arguments of calls in the light of the settings."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._warned: set[str] = set()

    def known(
        self, options: dict[str, Any], call: str = "faq", names: Sequence[str] = OPTIONS
    ) -> dict[str, Any]:
        """Return those of the options of a call in a template that it has."""
        for name in [name for name in options if name not in names]:
            del options[name]
            about = f"{call}({name})"
            if self._settings.strict or about not in self._warned:
                near = difflib.get_close_matches(name, names, 1)
                hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(names)}"
                self._refuse(f"{call}() has no option {quoted(name)}; {hint}", about)
        return options

    def language(self, lang: str | None, page: Page | None = None) -> str | None:
        """Return the language to ask for: the argument, else the page's, else the setting; RFC 4647, 3.4."""
        if lang is None or (isinstance(lang, str) and not lang):
            return (self._preferred(page) if page is not None else None) or self._settings.lang
        language = lookup(lang) if isinstance(lang, str) else None
        if language is None:
            self._refuse(f"lang is {quoted(lang)}: one of {', '.join(LANGUAGES)} is accepted")
            return self._settings.lang
        return language

    def _preferred(self, page: Page) -> str | None:
        try:
            return page.language(self._settings.lang)
        except Exception as error:  # the host's own choice, made by code of the host's
            self._excuse("the language", error)
            return None

    def nonce(
        self, nonce: object, page: Page | None = None, names: Mapping[str, Any] = NO_NAMES
    ) -> str | None:
        """Return the nonce to print: the argument, else the page's, else what `csp_nonce` names.

        Text is a nonce, and a function that returns text.
        """
        try:
            if nonce is None and page is not None:
                nonce = page.nonce()
            if nonce is None:
                nonce = names.get("csp_nonce")
            if nonce and callable(nonce):
                nonce = nonce()
            if not nonce:
                return None
            if isinstance(nonce, str):
                return str(nonce)
        except Exception as error:
            self._excuse("the nonce", error)
            return None
        problem = f"nonce is {quoted(nonce)}: text, or a function that returns text, is accepted"
        self._refuse(problem, about="what is no nonce")
        return None

    def look(
        self,
        theme: Any,
        show_title: bool | None,
        heading_level: Any,
        variant: Any = None,
        exclusive: bool | None = None,
    ) -> Look:
        """Return the look that these arguments ask for; None and UNSET stand for the settings.

        A theme may also come as the items of a mapping.
        """
        settings = self._settings
        return Look(
            settings.theme if theme is None else self._theme(theme),
            self.truth("show_title", show_title, settings.show_title),
            settings.heading_level if heading_level is UNSET else self._level(heading_level),
            settings.variant if variant is None else self._variant(variant),
            self.truth("exclusive", exclusive, settings.exclusive),
        )

    def truth(self, name: str, value: object, default: bool) -> bool:
        """Return whether a value is true; a text is read as in a setting, for to Python each is true."""
        if value is None:
            return default
        try:
            return boolean(value) if isinstance(value, str) and value else bool(value)
        except ValueError as error:
            self._refuse(f"{name} is {quoted(value)}: {error}")
            return default

    def _theme(self, wish: object) -> Theme:
        theme, problems = self._settings.theme.merged(dict(wish) if isinstance(wish, tuple) else wish)
        for problem in problems:
            self._refuse(problem)
        return theme

    def _level(self, level: object) -> int | None:
        try:
            checked: int | None = checked_level(level)
        except ValueError as error:
            self._refuse(f"heading_level is {quoted(level)}: {error}")
            return self._settings.heading_level
        return checked

    def _variant(self, variant: object) -> Variant:
        try:
            checked: Variant = checked_variant(variant)
        except ValueError as error:
            self._refuse(f"variant is {quoted(variant)}: {error}")
            return self._settings.variant
        return checked

    def _excuse(self, what: str, error: Exception) -> None:
        """Do without what the host was asked for, and could not tell."""
        if self._settings.strict:
            raise error
        problem = (
            f"{what} of a page could not be told by the host, so it has none of its own: {quoted(error)}"
        )
        self.warn(problem, about=f"{what} of the host", error=error)

    def _refuse(self, problem: str, about: str | None = None) -> None:
        if self._settings.strict:
            raise ConfigurationError(problem)
        self.warn(problem, about)

    def warn(self, problem: str, about: str | None = None, error: Exception | None = None) -> None:
        """Say a mistake once, not once a page; of several problems `about` the same, only the first."""
        about = about or problem
        if about not in self._warned and len(self._warned) < MOST_WARNINGS:
            self._warned.add(about)
            logger.warning("%s", problem, exc_info=error)
