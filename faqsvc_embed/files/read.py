"""The files that people have their FAQs in: JSON, YAML, CSV and Markdown, told by the ending.

Each becomes the fields of a publication, unchecked: what is wrong with them is told by who publishes.
"""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

from faqsvc_embed.errors import FAQError, quoted
from faqsvc_embed.files.faq_pages import as_shown, faq_page_of, is_faq_page, site_of
from faqsvc_embed.files.from_markdown import read_markdown
from faqsvc_embed.files.html_text import text_if_html
from faqsvc_embed.languages import lookup
from faqsvc_embed.rendering.json_ld import serialise

LARGEST_FILE: Final = 10_000_000
"""Bytes: ten times what may be published."""
DEEPEST: Final = 100
"""Levels of lists and mappings of YAML; an FAQ has five."""

_NAMES: Final = {
    "websiteurl": "website_url",
    "url": "website_url",
    "websitename": "website_name",
    "website": "website_name",
    "name": "website_name",
    "title": "title",
    "lang": "lang",
    "language": "lang",
    "inlanguage": "lang",
    "slug": "slug",
    "items": "items",
    "faq": "items",
    "faqs": "items",
    "questions": "items",
    "mainentity": "items",
}
_QUESTION: Final = ("question", "questions", "q", "name")
_ANSWER: Final = ("answer", "answers", "a", "text", "acceptedanswer")
# How a column is called in English, Korean, Japanese, Chinese, Spanish, French and German.
_QUESTION_COLUMNS: Final = (
    *("question", "questions", "q", "faq", "frage", "fragen", "f", "pregunta", "preguntas", "p"),
    *("질문", "문의", "質問", "问题", "問題", "问", "問"),
)
_ANSWER_COLUMNS: Final = (
    *(
        "answer",
        "answers",
        "a",
        "antwort",
        "antworten",
        "respuesta",
        "respuestas",
        "r",
        "réponse",
        "réponses",
    ),
    *("reponse", "답변", "답", "대답", "回答", "答え", "答案", "答"),
)


class UnreadableFile(FAQError, ValueError):
    """A file is not in the form that its ending says."""


@dataclass(frozen=True, slots=True)
class Submission:
    """What a file says of a publication; what it does not say is None."""

    website_url: Any = None
    website_name: Any = None
    title: Any = None
    lang: Any = None
    slug: Any = None
    items: Any = field(default=None)

    def completed(self, *, website_url: str | None, website_name: str | None) -> "Submission":
        """Return this with what was said on the command line, which wins."""
        return replace(
            self,
            website_url=website_url or self.website_url,
            website_name=website_name or self.website_name,
        )


def read_file(path: str) -> Submission:
    """Read what a file wants to publish.

    Raises:
        UnreadableFile: its ending is none of ours, or it is not in the form that its ending says.
        OSError: it cannot be read.
    """
    read = _READERS.get(Path(path).suffix.lower())
    if read is None:
        raise UnreadableFile(f"{path}: a file that ends in {', '.join(_READERS)} is accepted")
    with open(path, "rb") as file:
        data = file.read(LARGEST_FILE + 1)
    if len(data) > LARGEST_FILE:
        raise UnreadableFile(f"{path}: it has more than {LARGEST_FILE} bytes")
    try:
        return read(_text(data))
    except RecursionError:
        raise UnreadableFile(f"{path}: it is nested too deeply") from None
    except (ValueError, csv.Error) as error:
        raise UnreadableFile(f"{path}: {error}") from None


def _text(data: bytes) -> str:
    try:
        # What a spreadsheet calls Unicode text is UTF-16, with a byte order mark.
        return data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"it is not UTF-8 at byte {error.start}; save it as UTF-8") from None


def _read_json(text: str) -> Submission:
    try:
        value = json.loads(text)
        # As we write it (`faqsvc get --format jsonld`): there, nothing is HTML.
        ours = is_faq_page(value) and serialise(value) == text.strip()
        return _submission(value, ours=ours)
    except json.JSONDecodeError as error:
        raise ValueError(f"not JSON: {error}") from None


def _read_yaml(text: str) -> Submission:
    import yaml

    try:
        depth = 0
        for event in yaml.parse(text, Loader=yaml.BaseLoader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > DEEPEST:  # its parser looks at every open bracket for every token
                raise ValueError("it is nested too deeply")
            if isinstance(event, yaml.AliasEvent):
                raise ValueError("aliases (*name) are not accepted: write out what they stand for")
        # With this loader every scalar is the text that stands there: `answer: yes` is no boolean.
        return _submission(yaml.load(text, Loader=yaml.BaseLoader))  # noqa: S506  # it makes no objects
    except yaml.YAMLError as error:
        raise ValueError(f"not YAML: {' '.join(str(error).split())}") from None


def _read_csv(text: str) -> Submission:
    whole = text.replace("\r\n", "\n").replace("\r", "\n")  # as old spreadsheets end lines
    text = whole.lstrip("\n")
    head, _, rest = text.partition("\n")
    if head.strip().lower().startswith("sep="):  # how Excel notes it
        separator, text = head.strip()[4:5], rest
    else:
        separator = max(";\t,", key=head.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=separator or ",", strict=True)
    columns = {_plain(name): name for name in rows.fieldnames or () if name}
    question, answer = _column(columns, _QUESTION_COLUMNS), _column(columns, _ANSWER_COLUMNS)
    if question is None or answer is None:
        raise ValueError(
            f"the first row is to name the columns question and answer, not {quoted(head.strip())}"
        )
    items = ({"question": row[question] or "", "answer": row[answer] or ""} for row in rows)
    try:
        return Submission(items=[item for item in items if any(text.strip() for text in item.values())])
    except csv.Error as error:
        line = whole.count("\n") - text.count("\n") + rows.line_num + 1
        raise ValueError(f"not CSV at line {line}: {error}") from None


def _column(columns: Mapping[str, str], names: tuple[str, ...]) -> str | None:
    return next((columns[name] for name in names if name in columns), None)


def _read_markdown(text: str) -> Submission:
    fields, items = read_markdown(text)
    if not items:
        raise ValueError(
            "no question was found: a heading for each, Q: and A:, or a bold line each is accepted"
        )
    return replace(_submission(fields), items=items)


def _submission(value: object, *, ours: bool = False) -> Submission:
    """Read the body of a publication, a record, schema.org's FAQPage, or just the list of items."""
    value = faq_page_of(value)
    if isinstance(value, list):
        return Submission(items=[_listed_item(entry) for entry in value])
    if not isinstance(value, Mapping):
        raise ValueError(f"an object with items, or a list of them, is accepted, not {quoted(value)}")
    fields, is_page = dict(_fields(value)), is_faq_page(value)
    if not fields and value and all(isinstance(answer, str) for answer in value.values()):
        fields["items"] = dict(value)
    items = fields.get("items")
    if isinstance(items, Mapping) and not _is_item(items):  # question: answer
        items = [{"question": question, "answer": answer} for question, answer in items.items()]
    elif isinstance(items, Mapping):
        items = [items]
    if isinstance(items, list):
        fields["items"] = [_item(entry, str if is_page else text_if_html) for entry in items]
    if is_page:
        fields |= {"lang": lookup(str(fields.get("lang", ""))), "website_url": site_of(value)}
    return Submission(**(as_shown(fields) if is_page and not ours else fields))


def _fields(value: Mapping[Any, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the fields that we know; a schema.org page has a `name` and `url` of its own."""
    for key, inner in value.items():
        name = _NAMES.get(_plain(str(key)))
        if name == "website_name" and "mainEntity" in value:
            name = "title"
        if name is not None and inner not in (None, ""):
            yield name, inner


def _item(entry: object, shown: Callable[[str], str] = text_if_html) -> object:
    if not isinstance(entry, Mapping):
        return entry
    named = {_plain(str(key)): value for key, value in entry.items()}
    question = next((named[name] for name in _QUESTION if name in named), None)
    answer = next((named[name] for name in _ANSWER if name in named), None)
    if isinstance(answer, list) and answer:  # schema.org allows several: the accepted one is the first
        answer = answer[0]
    if isinstance(answer, Mapping):  # schema.org's Answer, whose text may be HTML
        answer = answer.get("text")
        answer = shown(answer) if isinstance(answer, str) else answer
    return {"question": question, "answer": answer}


def _listed_item(entry: object) -> object:
    """Read an item of a list that is the file; `question: answer` is one, too."""
    if isinstance(entry, Mapping) and len(entry) == 1 and not _is_item(entry):
        ((question, answer),) = entry.items()
        return {"question": question, "answer": answer}
    return _item(entry)


def _is_item(value: Mapping[Any, Any]) -> bool:
    return any(_plain(str(key)) in _QUESTION for key in value)


def _plain(name: str) -> str:
    return "".join(c for c in name.lower() if c not in " _-*:@")


_READERS: Final[dict[str, Callable[[str], Submission]]] = {
    ".json": _read_json,
    ".jsonld": _read_json,
    ".yaml": _read_yaml,
    ".yml": _read_yaml,
    ".csv": _read_csv,
    ".tsv": _read_csv,
    ".md": _read_markdown,
    ".markdown": _read_markdown,
}
