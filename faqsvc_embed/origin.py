"""What an item knows of its record: the format of the answers, and what renders them."""

from collections.abc import Sequence
from importlib import import_module
from typing import Any, Final, Protocol

from markupsafe import Markup
from msgspec.structs import force_setattr


class AnswerRenderer(Protocol):
    """Renders answers as HTML, with the settings of an embed."""

    def html(self, answer: str, section: str | None, origin: "Origin") -> Markup:
        """Return an answer as an FAQ prints it; `section` is the heading above its question."""


class Origin:
    """The record of an item. All origins are equal, so that items are compared by their content."""

    __slots__ = ("_html", "_renderer", "answers", "is_markdown", "slug", "website_url")

    def __init__(self, slug: str = "", *, is_markdown: bool = False, website_url: str | None = None) -> None:
        self.slug: str = slug
        self.website_url: str | None = website_url
        self.answers: tuple[str, ...] = ()
        self.is_markdown: bool = is_markdown
        self._renderer: AnswerRenderer | None = None
        self._html: dict[tuple[str, str | None], Markup] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        return 0

    def adopt(self, items: Sequence[Any]) -> None:
        """Become the origin of items."""
        for item in items:
            force_setattr(item, "_origin", self)
        self.answers = tuple([item.answer for item in items])

    def use(self, renderer: AnswerRenderer) -> None:
        """Render answers with the renderer of an embed from now on."""
        if self._renderer is not renderer:
            self._renderer, self._html = renderer, {}

    def html(self, answer: str, section: str | None) -> Markup:
        """Return an answer as HTML; it is rendered once."""
        if self is UNKNOWN:  # it would cache every answer for ever
            return _usual_renderer().html(answer, section, self)
        made, key = self._html, (answer, section)
        found = made.get(key)
        if found is None:
            renderer = self._renderer or _usual_renderer()
            found = made[key] = renderer.html(answer, section, self)
        return found


UNKNOWN: Final = Origin()
"""The origin of an item that belongs to no record."""


def _usual_renderer() -> AnswerRenderer:
    """Return the renderer for a record that no embed has read. It is imported here: few programs need it."""
    renderer: AnswerRenderer = import_module("faqsvc_embed.rendering.answers").USUAL
    return renderer
