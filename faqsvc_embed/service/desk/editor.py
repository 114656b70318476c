"""The page on which editors create, edit, preview, save and publish an FAQ."""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from starlette.responses import Response

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.api.fields import MAX_ANSWER, MAX_ITEMS, MAX_QUESTION, Lang
from faqsvc_embed.errors import FAQError, FAQNotFound, quoted
from faqsvc_embed.files.html import html_to_markdown
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.service.desk.differences import Change, Piece, aligned, changes
from faqsvc_embed.service.desk.draft import Draft, DraftItem, Problems
from faqsvc_embed.service.desk.forms import Form, number_of
from faqsvc_embed.service.desk.visit import HEADERS, Visit, path_of, redirect, render
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.pages.hosted import image_source
from faqsvc_embed.service.storage.errors import (
    Gone,
    IdempotencyKeyReused,
    NotYourSite,
    QuotaExceeded,
    ReservedSlug,
    RevisionConflict,
)
from faqsvc_embed.service.storage.overview import FAQInfo
from faqsvc_embed.service.storage.values import IdempotencyKey, Preconditions, Revision, Write

FEW: Final = 6
"""Up to this many questions are all open; if there are more, one is open at a time."""
DELETED: Final = "This FAQ was deleted while you were writing. Save again to create it again."
MAX_PASTED: Final = 250_000
"""Maximum characters of pasted HTML, of which about a tenth is text."""
UNTRANSLATED: Final = (
    "This question is not translated, but questions below it are. Translate it, or press Copy. Without it,"
    " the translations below would belong to the wrong questions."
)
UNPUBLISHED: Final = (
    "This FAQ was unpublished, and a new translation would make it public again. Save the translation as a"
    " draft, or publish the FAQ again first."
)
TAKEN: Final = "An FAQ with this slug already exists. Choose another slug, or leave it empty."


@dataclass(frozen=True)
class Source:
    """The text from which a translation is made: the newest one in the default language."""

    text: Draft
    number: int
    made_from: Draft
    """The text when the translation was made."""
    changes: list[Change]
    """The changes of the text since then."""

    @property
    def changed_items(self) -> dict[DraftItem, list[Piece]]:
        """The questions that have changed since then, with their new words marked."""
        changed = ((one.new, one.after) for one in self.changes if one.kind == "changed")
        return {self.text.items[new]: after for new, after in changed if new is not None}


@dataclass(frozen=True, kw_only=True)
class Editor:
    """The page with the form and its messages.

    `version` is that of the translation when the editor began (`Revision.version`); empty for a new
    one. After a conflict, `theirs` says what has happened, and `changes` compares both texts. After a button
    of an item, `focused` names the button, and `focus` is the index of the item.
    """

    draft: Draft
    version: str = ""
    faq: FAQInfo | None = None
    problems: Problems = field(default_factory=dict)
    theirs: str = ""
    changes: list[Change] = field(default_factory=list)
    focus: int | None = None
    focused: str = ""
    is_unsaved: bool = False
    source: Source | None = None
    draft_changes: list[Change] = field(default_factory=list)
    """The changes that publishing the saved draft would make."""

    @property
    def readable(self) -> Draft:
        """The draft as readers get it: a translation without a title has that of its source."""
        title = self.draft.title or (self.source.text.title if self.source else "")
        return replace(self.draft, title=title)

    @property
    def gaps(self) -> list[int]:
        """The untranslated questions because of which others would later be beside the wrong source."""
        if self.source is None:
            return []
        next_time = aligned(self.draft.filled_items, self.source.made_from, self.source.text)
        pairs = zip(self.draft.items, next_time, strict=False)
        return self.draft.gaps(self.source.text) if any(one[:2] != other[:2] for one, other in pairs) else []

    def page(self, visit: Visit, status: int = 200) -> Response:
        """Return the page."""
        faq, lang, is_many = self.faq, self.draft.lang, len(self.draft.items) > FEW
        known = visit.storage.overview.published_languages(visit.access.site) if faq else []
        fields = (name.removeprefix("items[") for name in self.problems if name.startswith("items["))
        flawed = [int(name.partition("]")[0]) for name in fields]
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
            preview=self.readable.preview(),
            not_shown=self.draft.not_shown(),
            missing=[code for code in known if faq and code != lang and not faq.translation(code)],
            is_many=is_many,
            flawed=frozenset(flawed),
            opened=next(iter(flawed), self.focus if self.focused else 0),
            max_items=MAX_ITEMS,
            max_question=MAX_QUESTION,
            max_answer=MAX_ANSWER,
        )


def show_new(visit: Visit) -> Response:
    """GET /desk/new: an empty FAQ."""
    return Editor(draft=new_draft(visit), focus=0, focused="add").page(visit)


def new_draft(visit: Visit) -> Draft:
    """Return an FAQ with one empty question, and the website of the site or of its last FAQ."""
    draft, site = Draft(items=(DraftItem(),), answer_format="markdown"), visit.site
    if site.website_url:
        return replace(draft, website_name=site.given_name, website_url=site.website_url)
    for last in visit.storage.overview.page(visit.access.site, limit=1)[0]:
        earlier = visit.draft(last.slug, last.translations[0].lang)
        draft = replace(draft, website_name=earlier.website_name, website_url=earlier.website_url)
    return draft


def show(visit: Visit) -> Response:
    """GET /desk/faqs/{slug}: the newest revision in a language, or an empty translation."""
    faq = visit.faq
    lang = visit.query("lang") if visit.query("lang") in LANGUAGES else faq.lang
    translation = faq.translation(lang)
    if translation is None:
        original = visit.draft(faq.slug, faq.lang)
        draft = replace(original, lang=lang, title="", items=())
        return _with_source(visit, Editor(draft=draft, faq=faq)).page(visit)
    draft = visit.draft(faq.slug, lang)
    editor = Editor(draft=draft, version=translation.version, faq=faq)
    if translation.is_draft and translation.published is not None:
        public = visit.draft(faq.slug, lang, translation.published)
        editor = replace(editor, draft_changes=changes(public, draft))
    return _with_source(visit, editor).page(visit)


def _with_source(visit: Visit, editor: Editor) -> Editor:
    """Return the editor of a translation with its source text."""
    faq, draft = editor.faq, editor.draft
    if faq is None or draft.lang == faq.lang or (default := _newest(visit, faq.slug, faq.lang)) is None:
        return editor
    made_from = text = Draft.of_revision(default)
    translation = faq.translation(draft.lang)
    with suppress(FAQNotFound):
        if number := translation and translation.translated_from:
            made_from = visit.draft(faq.slug, faq.lang, number)
    if not editor.is_unsaved:
        draft = replace(draft, items=aligned(draft.items, made_from, text))
    source = Source(text, default.number, made_from, changes(made_from, text))
    return replace(editor, draft=draft, source=source)


def submit(visit: Visit) -> Response:
    """POST: run the action of the pressed button, from moving a question to publishing."""
    if visit.form.get("part") == "pasted":
        return _convert_pasted(visit.form)
    editor, action = _editor_of_form(visit), visit.form.get("action", "preview")
    if visit.form.get("part") == "preview":  # the script replaces only the preview
        html = editor.readable.preview()
        headers = {**HEADERS, "x-slug": editor.draft.proposed}
        return Response(html.encode("utf-8", "replace"), 200, headers, "text/html")
    name = action.partition(":")[0]
    if name in ("up", "down", "remove", "add", "copy"):
        source = editor.source.text if editor.source else None
        draft, focus = editor.draft.edited(action, source)
        return replace(editor, draft=draft, focus=focus, focused=name).page(visit)
    if name in ("discard", "right") and editor.faq is not None:
        visit.require("draft")
        try:
            return _discard(visit, editor, editor.faq) if name == "discard" else _confirm(visit, editor)
        except RevisionConflict:
            return _conflict(visit, editor)
    if action not in ("draft", "publish"):
        return editor.page(visit)
    visit.require(cast("Any", action))
    if problems := _problems(visit, editor):
        return replace(editor, problems=problems).page(visit, 422)
    return _save(visit, editor, is_draft=action == "draft")


def _convert_pasted(form: Form) -> Response:
    """Return Markdown for pasted HTML, of an answer or a whole FAQ; the script inserts it."""
    html, is_whole = form.get("html"), form.get("field") == "text"
    if len(html) > MAX_PASTED:  # the script then pastes the plain text
        raise Problem(413, "body-too-large", "This is too long to convert")
    return Response(html_to_markdown(html, is_whole=is_whole), 200, HEADERS, "text/plain")


def _editor_of_form(visit: Visit) -> Editor:
    """Return the editor with what the form contains."""
    draft, faq = Draft.of_form(visit.form), None
    if "slug" in visit.request.path_params:
        faq = _known(visit, visit.slug)
        draft = replace(draft, slug=visit.slug, lang=draft.lang or (faq.lang if faq else ""))
    version = visit.form.get("version")
    return _with_source(visit, Editor(draft=draft, version=version, faq=faq, is_unsaved=True))


def _problems(visit: Visit, editor: Editor) -> Problems:
    """Return all problems that prevent saving, by field."""
    problems = editor.draft.problems(is_new="slug" not in visit.request.path_params)
    if (lang := visit.form.get("lang")) != editor.draft.lang:
        problems["lang"] = (
            f"The language {quoted(lang)} is not one of {', '.join(LANGUAGES)}."
            " Check the language on this page, and save again."
        )
    return problems | {f"items[{index}].question": UNTRANSLATED for index in editor.gaps}


def _save(visit: Visit, editor: Editor, *, is_draft: bool) -> Response:
    draft = editor.readable
    newest = _newest(visit, draft.slug, draft.lang) if editor.faq else None
    is_same = newest is not None and draft.is_same(newest)
    made_from = number_of(visit.form.get("source"))
    if editor.source is not None and newest is not None and draft.gaps(editor.source.text):
        made_from = newest.translated_from  # the questions are in the order of that revision
    is_new = editor.faq is None
    digest = digest_of(ascii((draft, is_draft)))
    write = Write(
        # What only the form has changed, such as line ends, makes no new revision.
        faq=newest.content if newest and is_same else draft.content(),
        slug=draft.slug or None,
        must_be_new=is_new and not editor.version,
        lang=cast("Lang | None", draft.lang or None),
        is_draft=is_draft,
        preconditions=_unchanged(editor) if editor.version else Preconditions(is_create_only=True),
        translated_from=made_from,
        # Sending the form of a new FAQ twice creates one FAQ.
        idempotency_key=IdempotencyKey(visit.once, digest) if is_new and visit.once else None,
    )
    try:
        written, _ = visit.storage.writer.write(visit.access, write)
    except RevisionConflict:
        if newest is None or not is_same or not (is_draft or newest.state == "published"):
            return _conflict(visit, editor)
        written = newest  # a form that is sent twice, for example
    except IdempotencyKeyReused as error:  # its response was lost, and the text was changed since
        draft = replace(draft, slug=error.slug, lang=error.lang)
        return _conflict(visit, replace(editor, draft=draft, faq=_known(visit, error.slug)))
    except (FAQNotFound, NotYourSite):  # another site has the slug; the form for a new FAQ can change it
        return replace(editor, faq=None, version="", problems={"slug": TAKEN}).page(visit, 409)
    except (ReservedSlug, Gone, QuotaExceeded) as error:
        return _refused(visit, editor, error)
    done = "draft" if written.state == "draft" else "published"
    if newest is not None and written.version == newest.version:
        done = "right" if editor.source and newest.translated_from != made_from else "same"
    return redirect(visit, f"{path_of(written.slug)}?lang={written.lang}&done={done}")


def _unchanged(editor: Editor) -> Preconditions:
    return Preconditions(versions={cast("Lang", editor.draft.lang): editor.version})


def _refused(visit: Visit, editor: Editor, error: FAQError) -> Response:
    """Show why the storage refuses the FAQ, beside the questions or the slug."""
    place = "items" if editor.faq or isinstance(error, QuotaExceeded) else "slug"
    is_restorable = visit.storage.overview.binned(visit.access, editor.draft.slug) is not None
    version = editor.version if editor.faq or is_restorable else ""
    return replace(editor, version=version, problems={place: f"{error}."}).page(visit, 409)


def _confirm(visit: Visit, editor: Editor) -> Response:
    """Mark a translation as up to date; the text in the form is not saved."""
    slug, lang = editor.draft.slug, cast("Lang", editor.draft.lang)
    seen = number_of(visit.form.get("source")) or (editor.source.number if editor.source else 0)
    visit.storage.writer.confirm_translation(visit.access, slug, lang, seen, _unchanged(editor))
    return redirect(visit, f"{path_of(slug)}?lang={lang}&done=right")


def _discard(visit: Visit, editor: Editor, faq: FAQInfo) -> Response:
    """Discard the draft, and the text in the form; one that was never public goes to the bin."""
    slug, lang, unchanged = faq.slug, cast("Lang", editor.draft.lang), _unchanged(editor)
    if visit.storage.writer.discard(visit.access, slug, lang, unchanged):
        return redirect(visit, f"{path_of(slug)}?lang={lang}&done=discarded")
    is_whole = len(faq.translations) == 1
    visit.storage.removal.bin(visit.access, slug, None if is_whole else lang, unchanged)
    # An FAQ in the bin has no page, so the list of FAQs is shown.
    return redirect(visit, f"{'' if is_whole else path_of(slug)}?done=bin")


def _conflict(visit: Visit, editor: Editor) -> Response:
    """Show both versions. The typed text stays in the form; saving again replaces the other version."""
    draft, version = editor.draft, editor.version
    faq = _known(visit, draft.slug)
    if faq is not None and editor.faq is None and not version:
        return replace(editor, problems={"slug": TAKEN}).page(visit, 409)
    theirs = _newest(visit, draft.slug, draft.lang)
    if theirs is None:
        problem = {"items": DELETED if version else UNPUBLISHED} if faq else {"slug": DELETED}
        return replace(editor, faq=faq, version="", problems=problem).page(visit, 409)
    who = _what_happened(version, theirs)
    found = changes(Draft.of_revision(theirs), draft)
    editor = replace(editor, faq=faq, version=theirs.version, theirs=who, changes=found)
    return editor.page(visit, 409)


def _what_happened(before: str, now: Revision) -> str:
    """Return what has happened to a translation since the version `before`."""
    newest_before, published_before, _ = f"{before}..".split(".", 2)  # empty if there was no version
    if (now.is_unpublished and not before.endswith("-unpublished")) or (
        now.published is None and number_of(published_before)
    ):
        return "it was unpublished"
    if newest_before == str(now.newest):
        return f"revision {now.published} was published" if now.published else "somebody changed it"
    if now.newest < (number_of(newest_before) or 0):
        return "the draft was discarded"
    verb = "published" if now.newest == now.published else "saved"
    return f"{now.author or 'somebody'} {verb} revision {now.newest}"


def _known(visit: Visit, slug: str) -> FAQInfo | None:
    """Return the FAQ; None if it was deleted, or if another site now has its slug."""
    try:
        return visit.storage.overview.faq(visit.access, slug)
    except (FAQNotFound, NotYourSite, Gone):
        return None


def _newest(visit: Visit, slug: str, lang: str) -> Revision | None:
    try:
        return visit.revision(slug, lang)
    except (FAQNotFound, Gone):
        return None
