"""The page on which an FAQ is written: its form, its messages and its preview."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from markupsafe import Markup
from starlette.responses import Response

from faqsvc_embed.api.fields import MAX_ANSWER, MAX_ITEMS, MAX_QUESTION
from faqsvc_embed.rendering.renderer import Renderer
from faqsvc_embed.rendering.style import Style
from faqsvc_embed.service.desk.differences import Change, Piece
from faqsvc_embed.service.desk.draft import Draft, DraftItem, Problems
from faqsvc_embed.service.desk.pages import render
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.pages.html import image_source
from faqsvc_embed.service.storage.overview import FAQInfo

FEW: Final = 6
"""Up to this many questions are all open; if there are more, one is open at a time."""
HEADING_LEVEL: Final = 3
"""The level of the preview's title, because the preview is below an h2."""


def preview_of(draft: Draft) -> Markup:
    """Return a draft as readers would see it; empty without questions."""
    # A new renderer, because a cache would serve only this one record.
    fragment = Renderer().fragment(draft.record(), Style(heading_level=HEADING_LEVEL))
    return Markup() if fragment is None else Markup(fragment.html)


class Reading(NamedTuple):
    """Another way to read an imported text, and how many questions it finds."""

    name: str
    questions: int
    text: str
    source: str


@dataclass(frozen=True, kw_only=True)
class Editor:
    """The page with the form and its messages.

    `version` is that of the translation when the editor began (`Revision.version`); empty for a new
    one. After a conflict, `theirs` says what has happened, and `changes` compares both texts. After a button
    of an item, `focused` names the button, and `focus` is the index of the item or the number of the change.
    """

    draft: Draft
    version: str = ""
    faq: FAQInfo | None = None
    problems: Problems = field(default_factory=dict)
    done: str = ""
    theirs: str = ""
    changes: list[Change] = field(default_factory=list)
    focus: int | None = None
    focused: str = ""
    is_unsaved: bool = False
    source: Draft | None = None
    """The source text of a translation."""
    source_changes: list[Change] = field(default_factory=list)
    """The changes of the source since the translation was made."""
    source_number: int = 0
    draft_changes: list[Change] = field(default_factory=list)
    """The changes that publishing the saved draft would make."""
    notes: Sequence[str] = ()
    """What an import left out."""
    other_reading: Reading | None = None

    @property
    def readable(self) -> Draft:
        """The draft as readers get it: a translation without a title has that of its source."""
        return replace(self.draft, title=self.draft.title or self.source.title) if self.source else self.draft

    @property
    def changed_sources(self) -> dict[DraftItem, list[Piece]]:
        """The sources that changed since the translation was made, with their new words marked."""
        return {
            self.source.items[change.new]: change.after
            for change in self.source_changes
            if self.source and change.new is not None and change.kind == "changed"
        }

    def page(self, visit: Visit, status: int = 200) -> Response:
        """Return the page."""
        faq, lang, is_many = self.faq, self.draft.lang, len(self.draft.items) > FEW
        known = visit.storage.overview.published_languages(visit.access.site) if faq else []
        with_problem = (
            int(name[6:].partition("]")[0]) for name in self.problems if name.startswith("items[")
        )
        return render(
            visit,
            "editor.html",
            status,
            images=image_source(self.draft.record()),
            editor=self,
            draft=self.draft,
            faq=faq,
            current=faq and faq.translation(lang),
            problems=self.problems,
            **({"done": self.done} if self.done else {}),
            preview=preview_of(self.readable),
            not_shown=self.draft.not_shown(),
            missing=[code for code in known if faq and code != lang and not faq.translation(code)],
            is_many=is_many,
            opened=next(with_problem, self.focus if self.focused not in ("", "theirs") else 0),
            max_items=MAX_ITEMS,
            max_question=MAX_QUESTION,
            max_answer=MAX_ANSWER,
        )
