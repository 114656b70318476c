"""What the items of one record share: the renderer of their answers, and what it has rendered."""

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Protocol

from markupsafe import Markup


class AnswerRenderer(Protocol):
    """Renders answers as HTML."""

    def html(self, answer: str, section: str | None, origin: "Origin") -> Markup:
        """Return an answer as an FAQ prints it; `section` is the heading above its question."""


class Origin:
    """The record of an item, as far as the HTML of its answer depends on it.

    It is no part of the value of an item: items with the same content are equal, in whatever record they
    are. So all origins are equal.
    """

    usual: ClassVar[AnswerRenderer]
    """Renders the answers of records that no embed has read. `rendering.answers`, which is above this module,
    sets it when the package is imported."""

    def __init__(
        self,
        slug: str = "",
        answers: Sequence[str] = (),
        is_markdown: bool = False,
        website_url: str | None = None,
        links: Mapping[str, str] | None = None,
    ) -> None:
        self.slug = slug
        self.answers = answers
        """All answers of the record."""
        self.is_markdown = is_markdown
        self.website_url = website_url
        self.links: Mapping[str, str] = links or {}
        """The addresses of the questions on a page, if an answer may have a link to one."""
        self.is_parsable: bool | None = None
        """Whether the Markdown of all answers takes little time; None if it was not estimated yet."""
        self._renderer: AnswerRenderer | None = None
        self._html: dict[tuple[str, str | None], Markup] = {}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> tuple[Any, ...]:
        return Origin, (self.slug, self.answers, self.is_markdown, self.website_url, self.links)

    def use(self, renderer: AnswerRenderer) -> None:
        """Render answers with the renderer of an embed from now on."""
        if self._renderer is not renderer:
            self._renderer, self._html = renderer, {}

    def html(self, answer: str, section: str | None) -> Markup:
        """Return an answer as HTML; that of a record is rendered once."""
        renderer, key = self._renderer or self.usual, (answer, section)
        if not self.answers:  # the item is of no record; what is rendered would be kept for ever
            return renderer.html(answer, section, self)
        if key not in self._html:
            self._html[key] = renderer.html(answer, section, self)
        return self._html[key]
