"""Imports an FAQ from a text, a file or a website. Editors see the result before anything is saved."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import PurePath
from typing import Any, Final, NamedTuple

from starlette.responses import Response

from faqsvc_embed.api.contract import GenerateBody
from faqsvc_embed.api.fields import MAX_ITEMS, MAX_QUESTION
from faqsvc_embed.api.validation import problems_of
from faqsvc_embed.errors import PublishRejected
from faqsvc_embed.files.asking import asks
from faqsvc_embed.files.data import refuse_keys
from faqsvc_embed.files.detection import detect_language
from faqsvc_embed.files.document import Document
from faqsvc_embed.files.formats import READERS, decode
from faqsvc_embed.files.html import html_to_markdown
from faqsvc_embed.files.markup import as_one_format
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import ANSWER_FORMATS, Item
from faqsvc_embed.service.desk.draft import Draft, DraftItem, too_many
from faqsvc_embed.service.desk.editor import MAX_PASTED, Editor, new_draft
from faqsvc_embed.service.desk.forms import Form, completed
from faqsvc_embed.service.desk.visit import Refused, Visit, render
from faqsvc_embed.service.http.responses import Problem
from faqsvc_embed.service.http.threads import run_blocking
from faqsvc_embed.service.pages.hosted import MESSAGES

MAX_IMPORT: Final = 1_000_000
"""Maximum bytes of a text or file, as many as may be published."""
MAX_LINES: Final = 10_000
"""Maximum lines of a text or file: ten for each question. More would slow down garbage collections."""
BY_MARKS: Final = "marks"
BY_LINES: Final = "lines"
"""The two ways to read a text: by headings, bold lines and labels, or by lines with a question mark."""
_JSON: Final = re.compile(r'\s*(?:\{\s*"|\[\s*\{)')
_YAML: Final = re.compile(
    r"(?:[^\S\n]*(?:#[^\n]*)?\n|---[^\S\n]*\n)*[^\S\n]*(?:-\s+)*[A-Za-z_][\w.-]*[^\S\n]*:(?=\s)"
)
"""The beginning of YAML: empty lines and comments, then the name of a field."""
MAX_PAGE: Final = 500_000
"""Maximum characters of a pasted page. One that is only tags takes a few seconds to read."""
_PAGES: Final = ("<!doctype html", "<html")
"""The beginnings of whole pages."""
_MARKS: Final = re.compile(r"(?:#{1,6}(?=\s)|[-*+](?=\s)|\d{1,3}[.)](?=\s))?\s*(?:\*\*)?")
_WRAPPED: Final = re.compile(r"[^\W\d_a-z].{35,}[^.!?:;,]")
"""A line that goes on in the next one."""
_ENDS: Final = (".", "!", "。")
MAX_HEADING: Final = 60
_HEADING: Final = re.compile(r"[^\W\d_a-z][^\n.,;:!]*")
MAX_NOTES: Final = 20
"""Notes that are shown about what was left out."""
MAX_LINE: Final = 50_000
"""Maximum characters of a line of Markdown: twice the longest answer, which patterns read in milliseconds."""
ENCODING: Final = (
    "The file is not in UTF-8, so some characters may be wrong. Save it as UTF-8 (in Excel: “CSV UTF-8”), or"
    " paste its text instead."
)
NO_QUESTION: Final = (
    "No question was recognised. End each question with a question mark, on a line of its own, and write its"
    " answer below it."
)
PERHAPS: Final = "{} lines end with a question mark. Perhaps some of them, now in answers, are questions."
INSTEAD: Final = (
    "Each line that ends with a question mark is now a question."
    " By headings, bold lines and labels, there would be {}."
)
HTML: Final = "the text is HTML: embedded pages, forms and scripts are left out"
KIND: Final = (
    "This type of file cannot be read. Save it as CSV, Markdown, JSON, YAML or TOML, or paste its text."
)


class Reading(NamedTuple):
    """Another way to read a pasted text, and how many questions it finds."""

    name: str
    questions: int
    text: str
    source: str


def show(visit: Visit) -> Response:
    """GET /desk/import: the form."""
    return render(visit, "import.html", endings=",".join((*READERS, ".txt")))


def submit(visit: Visit) -> Response:
    """POST /desk/import: read the text or file, and show it as a new FAQ that is not saved."""
    form = visit.form
    if form.get("action") == "keep":
        return _keep(visit)
    content = form.upload.content if form.upload else form.get("text").encode("utf-8", "replace")
    if not content.strip():
        raise Refused(422, {"text": "Paste a text, or choose a file."})
    if len(content) > MAX_IMPORT:
        problem = f"The text is larger than {MAX_IMPORT:,} bytes, the limit for one FAQ."
        raise Refused(413, {"text": problem})
    try:
        document, other = _best(form, content)
        draft = draft_of(refuse_keys(document), new_draft(visit))
        if not draft.items or len(draft.items) > MAX_ITEMS:
            raise ValueError(too_many(len(draft.items)) if draft.items else NO_QUESTION)
    except ValueError as error:
        raise Refused(422, {"text": str(error)}) from None
    count = len(draft.items)
    done = f"{count:,} {'question was' if count == 1 else 'questions were'} recognised."
    if draft.lang:  # it cannot be changed after the first save
        done += f" Language: {MESSAGES[draft.lang].language}."
    done += " Nothing is saved yet."
    shown = visit.showing(done=done, notes=_notes(document, draft), other_reading=other)
    return Editor(draft=draft, is_unsaved=True).page(shown)


def _notes(document: Document, draft: Draft) -> list[str]:
    """Return what was left out, and what an editor should look at."""
    notes = [f"{note[:1].upper()}{note[1:]}." for note in (*document.all_notes(), *_problems(document))]
    notes += [
        f"“{line}” now ends an answer. If it is a heading, move it to “Section” of the questions below."
        for line in _headings(draft)
    ]
    if draft.introduction:
        notes.append(f"The text above the first question is the introduction: “{draft.introduction[:60]}”.")
    if len(notes) > MAX_NOTES:
        notes[MAX_NOTES:] = [f"And {len(notes) - MAX_NOTES} more."]
    return notes


def _keep(visit: Visit) -> Response:
    """Show the selected questions of a website as a new FAQ that is not saved."""
    names, selected = ("question", "answer", "section"), set(visit.form.all("keep"))
    rows = [dict(zip(names, row, strict=True)) for row in visit.form.rows(*names)]
    kept = [row for index, row in enumerate(rows) if str(index) in selected]
    document = Document(website_url=visit.form.get("website_url"), items=kept)
    draft = draft_of(as_one_format(document), new_draft(visit))
    if not draft.items:
        raise Refused(422, {"text": "Select at least one question."})
    return Editor(draft=draft, is_unsaved=True).page(visit.showing(done="Nothing is saved yet."))


def draft_of(document: Document, empty: Draft) -> Draft:
    """Return a document as a draft, with the values of `empty` for missing fields."""
    found = document.items if isinstance(document.items, list) else []
    items = tuple(
        DraftItem(*(_text(item.get(name)) for name in DraftItem._fields))
        for item in found
        if isinstance(item, dict)
    )
    lang = _text(document.lang)
    if lang not in LANGUAGES:
        lang = detect_language([Item(index, *item[:2]) for index, item in enumerate(items[:MAX_ITEMS])]) or ""
    names = ("slug", "title", "website_name", "website_url", "page_url", "introduction")
    given: dict[str, Any] = {name: text for name in names if (text := _text(getattr(document, name)))}
    given["answer_format"] = document.answer_format if document.answer_format in ANSWER_FORMATS else "text"
    return replace(empty, lang=lang, items=items, **given)


def _best(form: Form, content: bytes) -> tuple[Document, Reading | None]:
    """Return a text in its better reading, or in the one that the form names; and the other reading.

    A line of an answer may end with a question mark, too. So reading by question marks is better only in
    pasted text, and only if it finds at least one and a half times as many questions.
    """
    ending, text = _opened(form, content)
    if ending not in ("", ".md", ".txt"):
        return _read(ending, text), None
    for read in () if ending else (_html, _records):
        if (document := read(text)).items:
            return document, None
    table = Document(items=[]) if ending else _table(text)
    lines = _tried(".md", _marked(text))
    try:
        marked = _read(".md", text)
    except ValueError as error:
        if not lines.items and not table.items:
            raise ValueError(NO_QUESTION if "no question found" in str(error) else error) from None
        # One line that asks is no FAQ in a file, but here the editor wants one.
        only = _tried(".md", f"# FAQ\n\n{text}")
        is_only = len(only.items) == len(lines.items) == 1
        marked = replace(only, title=None) if is_only else Document(items=[])
    less, more = len(marked.items), len(lines.items)
    if len(table.items) > max(less, more):
        return table, None
    if more <= less:
        return marked, None
    is_clear = not ending and 2 * (more - less) >= less
    if form.get("reading", BY_LINES if is_clear else BY_MARKS) == BY_MARKS and less:
        return marked, Reading(BY_LINES, more, PERHAPS.format(more), text)
    return lines, Reading(BY_MARKS, less, INSTEAD.format(less), text) if less else None


def _opened(form: Form, content: bytes) -> tuple[str, str]:
    """Return the ending of the file, which is empty for pasted text that is not JSON, and the text."""
    ending = PurePath(form.upload.name).suffix.lower() if form.upload else ""
    if ending and ending not in READERS and ending != ".txt":
        raise ValueError(KIND)
    try:
        text = decode(content)
    except ValueError:
        raise ValueError(ENCODING) from None
    return (".json" if not ending and _JSON.match(text) else ending), text


def _html(text: str) -> Document:
    """Return pasted HTML, or JSON-LD in its element, as a document.

    It has no items if the text is something else, or if it is Markdown that has more questions.
    """
    text = text.strip()
    is_page = len(text) <= MAX_PAGE and text[:20].lower().startswith(_PAGES)
    if is_page and (page := _page(text)).items:
        return page
    if not (text.startswith("<") and text.endswith(">")) or len(text) > MAX_PASTED:
        return Document(items=[])
    if text[:7].lower() == "<script":
        return _tried(".json", text.partition(">")[2].rpartition("</")[0])
    document = _tried(".md", html_to_markdown(text, is_whole=True))
    if len(document.items) < len(_tried(".md", text).items):
        return Document(items=[])
    return replace(document, notes=[*document.notes, HTML])


def _page(text: str) -> Document:
    """Return a whole web page as `faqsvc extract` reads it, if what that needs is installed."""
    with suppress(ImportError):
        from faqsvc_embed.generation.crawl.fetcher import Response
        from faqsvc_embed.generation.crawl.page import read_page

        pairs = read_page(Response("", 200, "text/html", None, text.encode())).pairs
        items = [{"question": one.question, "answer": one.markdown, "section": one.section} for one in pairs]
        return Document(items=items, answer_format="markdown", notes=[HTML])
    return Document(items=[])


def _records(text: str) -> Document:
    """Return pasted YAML or TOML as a document, without items if the text is something else."""
    return _tried(".yaml" if _YAML.match(text) else ".toml", text)


def _table(text: str) -> Document:
    """Return pasted rows of a spreadsheet as a document, without items if the text is something else.

    Rows that are copied from a spreadsheet have tabs between their cells, and often no names of columns.
    """
    document = _tried(".csv", text)
    # If the first question is of dashes, it is the line below the names of columns: a table in Markdown.
    if any({"-"} <= set(item["question"]) <= set("-: ") for item in document.items[:1]):
        return Document(items=[])
    if not document.items and "\t" in text.lstrip("\n").partition("\n")[0]:
        rows = _tried(".csv", f"question\tanswer\n{text}")
        if 2 * sum(asks(item["question"]) for item in rows.items) > len(rows.items):
            return rows
    return document


def _tried(ending: str, text: str) -> Document:
    """Return a text as a document, without items if it cannot be read."""
    try:
        return _read(ending, text)
    except ValueError:
        return Document(items=[])


def _marked(text: str) -> str:
    """Return a text in which every line that ends with a question mark is a heading."""
    lines = text.split("\n")
    for place, line in enumerate(lines):
        bare = _MARKS.sub("", line.strip(), count=1).strip().removesuffix("**").strip()
        if bare.endswith(("?", "？")) and len(bare) <= MAX_QUESTION:
            before, above = ["", "", *lines[max(place - 2, 0) : place]][-2:]
            # Text of a PDF has a question on two lines. The first is not the answer to the question above.
            is_apart = not before.strip() or before.rstrip().endswith(_ENDS)
            if bare[0].islower() and is_apart and _WRAPPED.fullmatch(above):
                lines[place - 1], bare = "", f"{above.strip()} {bare}"
            lines[place] = f"\n### {bare}"
        elif line.startswith("## "):
            lines[place] = f"\n{line}"
    return "\n".join(lines)


def _problems(document: Document) -> list[str]:
    """Return the problems that `faqsvc check` reports. A draft keeps only texts, so other values are lost."""
    try:
        document.to_faq(document.slug or "faq")
    except PublishRejected as error:
        return [document.locate(problem) for problem in error.problems]
    return []


def _headings(draft: Draft) -> Iterator[str]:
    """Yield the short lines at the ends of answers, above another question, that may be headings."""
    for item in draft.items[:-1]:
        rest, _, last = item.answer.rpartition("\n")
        is_apart = rest.strip() and rest.endswith(("\n", *_ENDS))
        if is_apart and len(last) <= MAX_HEADING and _HEADING.fullmatch(last):
            yield last


def _read(ending: str, text: str) -> Document:
    """Read a text as a folder and `faqsvc publish` do. Raises ValueError, whose message is for the editor."""
    if text.count("\n") > MAX_LINES:
        raise ValueError(f"The text has more than {MAX_LINES:,} lines, too many for one FAQ. Split it.")
    if ending == ".md" and max(map(len, text.split("\n"))) > MAX_LINE:
        raise ValueError(f"A line has more than {MAX_LINE:,} characters, too many for an answer. Split it.")
    try:
        return READERS[ending](text)
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else error
        raise ValueError(f"The text cannot be read: {reason}.") from None


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


async def read_website(visit: Visit) -> Response:
    """POST /desk/website: show the questions of a website. Nothing is saved."""
    url = completed(visit.form.get("website_url").strip())
    try:
        generator = visit.service.installed_generator()
        if problems := problems_of({"websiteUrl": url}, GenerateBody):
            raise Problem.invalid(*problems)
        found = await generator.run(GenerateBody(website_url=url), visit.access.site, visit.service)
    except Problem as problem:
        detail = problem.detail.replace("websiteUrl:", "The address:").replace("websiteUrl", "The address")
        refused = Refused(problem.status, {"website_url": f"{detail}."})
        return await run_blocking(show, replace(visit, status=refused.status, shown=refused.shown))
    return await run_blocking(partial(render, visit, "website.html", url=url, found=found))
