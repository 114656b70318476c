"""One question with its answer, and the values of its record that the HTML of the answer depends on."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Final

import msgspec
from markupsafe import Markup
from msgspec.structs import force_setattr

from faqsvc_embed.errors import InvalidFAQ, quoted
from faqsvc_embed.models import wire
from faqsvc_embed.text import clean_text

AnswerRenderer = Callable[[str, str | None, "Origin"], Markup]
"""Returns the HTML of an answer. The arguments are its text, its section and its origin."""


class Origin(msgspec.Struct, eq=False):
    """The values of an item's record that the HTML of its answer depends on.

    All origins are equal, so that items with the same content are equal in all records.
    """

    render: ClassVar[AnswerRenderer]
    """Renders an answer, and never raises. This module must not import a renderer: `page.border` sets it."""

    slug: str = ""
    texts: Sequence[str] = ()
    """All answers of the record, and its introduction."""
    is_markdown: bool = False
    website_url: str | None = None
    links: Mapping[str, str] = {}
    """The addresses of the questions on a page, if a text may have a link to one."""
    is_parsable: bool | None = None
    """Whether the Markdown of all texts renders quickly enough; None until this is estimated."""
    rendered: dict[tuple[str, str | None], Markup] = {}
    """The HTML of answers, by their text and their section."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Origin)

    def __hash__(self) -> int:
        return 0

    def __reduce__(self) -> tuple[Any, ...]:
        # Without the HTML, which another version would render differently.
        return Origin, (self.slug, self.texts, self.is_markdown, self.website_url, self.links)

    def html(self, answer: str, section: str | None) -> Markup:
        """Return an answer as HTML; an answer of a record is rendered once."""
        html = self.rendered.get((answer, section))
        return Origin.render(answer, section, self) if html is None else html


_WITHOUT_RECORD: Final = Origin()  # the origin of an item that belongs to no record


class Item(msgspec.Struct, frozen=True, gc=False):
    """One question and its answer; `position` is the zero-based place in the FAQ.

    `section` is the heading that it shares with other questions, at most 200 characters. `id` names its
    element on a page, `faq-SLUG--ID`, so that an edited question keeps its address; it has up to 100 ASCII
    letters, digits, `.`, `_` and `-`, and begins with a letter or digit.

    Raises:
        InvalidFAQ: the position is not an integer, the question, the answer or the section is not text, or
            the section or the id is not of this form.
    """

    position: int
    question: str
    answer: str
    section: str | None = None
    id: str | None = None
    _origin: Origin = msgspec.field(default_factory=lambda: _WITHOUT_RECORD)

    def __post_init__(self) -> None:
        if type(self.position) is not int:
            raise InvalidFAQ(f"position is {quoted(self.position)}: an integer is accepted", path="position")
        force_setattr(self, "question", checked_text("question", self.question))
        force_setattr(self, "answer", checked_text("answer", self.answer))
        if self.section is not None:
            force_setattr(self, "section", checked_text("section", self.section).strip() or None)
            if (found := len(self.section or "")) > wire.MAX_SECTION:
                message = f"section has {found} characters: at most {wire.MAX_SECTION} are accepted"
                raise InvalidFAQ(message, path="section")
        if self.id is not None and not wire.is_item_id(self.id):
            raise InvalidFAQ(f"id is {quoted(self.id)}: {wire.ITEM_ID_FORM} is accepted", path="id")

    @property
    def html(self) -> Markup:
        """The answer as an FAQ prints it, for markup of your own: text, or Markdown if its record says so.

        Headings in it have the levels 4 to 6.
        """
        return self._origin.html(self.answer, self.section)

    def __repr__(self) -> str:
        names = [name for name in self.__struct_fields__ if name != "_origin"]
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in names)})"

    def to_fields(self) -> dict[str, str]:
        """Return the fields that are not None, by their names on the wire, without the position."""
        fields = {"question": self.question, "answer": self.answer, "section": self.section, "id": self.id}
        return {name: value for name, value in fields.items() if value is not None}


def checked_text(name: str, text: str) -> str:
    """Return a text without lone surrogates; raise InvalidFAQ for any other value."""
    try:
        return clean_text(text)
    except TypeError:
        raise InvalidFAQ(f"{name} is {quoted(text)}: text is accepted", path=name) from None
