"""Questions in the data of a page: FAQPages (JSON-LD, microdata, RDFa), and JSON that scripts would show."""

import html
import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any, Final

import turbohtml

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.files.fields import find_columns, plain_name
from faqsvc_embed.files.markdown_text import escape
from faqsvc_embed.files.values import answer_text, faq_pages, local_name, objects_of
from faqsvc_embed.generation.extraction.candidates import shortened
from faqsvc_embed.generation.extraction.dom import StepBudget, build_tree
from faqsvc_embed.generation.extraction.questions import bare_question, is_question
from faqsvc_embed.generation.extraction.text import markdown_of, plain, text_of

MAX_ATTRIBUTES: Final = 200
"""Attributes with JSON that are read."""

MAX_ROWS: Final = 10_000
"""Rows of JSON, and texts, that are read from what React server components push."""
MAX_REFERENCES: Final = 50
"""References to texts that are replaced in one row."""
MAX_LEVELS: Final = 300
"""Levels of lists and objects in a row; deeper ones are not read."""

_WRAPPER = re.compile(r"^\s*(?:<!--|//\s*<!\[CDATA\[|<!\[CDATA\[)|(?:-->|//\s*\]\]>|\]\]>|;)\s*$")
_SLIP = re.compile(r'("(?:[^"\\]++|\\.)*+"?)|/\*.*?(?:\*/|\Z)|//[^\n]*|,(?=\s*[\]}])', re.DOTALL)
"""What people write in JSON-LD although no parser accepts it, or else a string, which is kept."""
_TAG = re.compile(r"<[a-zA-Z/!][^<>]*>")
_PROPERTIES: Final = {
    "name": "[itemprop~=name], [property$=name]",
    "acceptedAnswer": "[itemprop~=acceptedAnswer] [itemprop~=text],"
    " [property$=acceptedAnswer] [property$=text]",
}
"""The elements in a question that have its parts."""
_PUSH = re.compile(r"\s*self\.__next_f\.push\((?=\[)")
_REFERENCE = re.compile(r'"\$([0-9a-f]{1,6})"')
_ROW = re.compile(rb"([0-9a-f]{0,6}):(?:T([0-9a-f]{1,6}),)?")
_NOT_JSON = re.compile(r"^\s*(?:window\.|self\.|var |let |const )?[\w.$]{0,60}\s*=\s*(?=[{\[])")


def stated_pairs(document: turbohtml.Document, budget: StepBudget) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers of FAQPages in JSON-LD, or else in attributes; answers are mostly HTML.

    Raises:
        PageTooComplex: the budget is spent.
    """
    texts = (_SLIP.sub(r"\1", _WRAPPER.sub("", script.text)) for script in json_ld_scripts(document))
    pages = faq_pages([*map(load_json, texts)])
    for page in pages or marked_pages(document):
        for question in filter(lambda one: isinstance(one, dict), page["mainEntity"]):
            name, answer = question.get("name"), answer_text(question.get("acceptedAnswer"), None)
            if isinstance(name, str) and isinstance(answer, str):
                yield bare_question(plain(texts_of_value(name, budget, "")[0])), answer


def json_ld_scripts(document: turbohtml.Document) -> list[turbohtml.Element]:
    """Return the scripts of a page that are in JSON-LD."""
    types = ((script, script.attr("type") or "") for script in document.select("script"))
    return [script for script, kind in types if kind.split(";")[0].strip().lower() == "application/ld+json"]


def is_article(document: turbohtml.Document) -> bool:
    """Return whether a page says that it is an article: a blog post or news."""
    kinds = [meta.attr("content") or "" for meta in document.select('meta[property="og:type"]')]
    return any(kind.strip().lower() == "article" for kind in kinds)


def marked_pages(document: turbohtml.Document) -> list[dict[str, Any]]:
    """Return the FAQPages that attributes mark up as microdata or RDFa, like JSON-LD with HTML texts."""
    return [
        {
            "@type": "FAQPage",
            "@id": page.attr("itemid") or "",
            "mainEntity": [
                {name: _value(question, selector) for name, selector in _PROPERTIES.items()}
                for question in _items(page, "Question")
            ],
        }
        for page in _items(document, "FAQPage")
    ]


def _items(tree: turbohtml.Node, kind: str) -> Iterator[turbohtml.Element]:
    """Yield the elements to which attributes give a type, without those inside of others."""
    pending = [*reversed(tree.children)]
    while pending:
        node = pending.pop()
        if isinstance(node, turbohtml.Element):
            types = f"{node.attr('itemtype') or ''} {node.attr('typeof') or ''}".split()
            if kind in map(local_name, types):
                yield node
            else:
                pending += reversed(node.children)


def _value(question: turbohtml.Element, selector: str) -> str:
    """Return the value of a property as HTML."""
    element = question.select_one(selector)
    if element is None:
        return ""
    content = element.attr("content")
    return element.inner_html if content is None else html.escape(str(content))


def embedded_pairs(document: turbohtml.Document, budget: StepBudget) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers in JSON that a script of the page would show.

    These are objects with the fields `question` and `answer`, and objects with fields such as `title` and
    `content` if several titles of a script or an attribute are questions. Answers are unchanged, mostly HTML.

    Raises:
        PageTooComplex: the budget is spent.
    """
    for text in _json_texts(document):
        budget.spend_on_data(text)
        data = load_json(_NOT_JSON.sub("", text, count=1))
        asked: list[tuple[str, str]] = []
        titled: list[tuple[str, str]] = []
        for node in objects_of(data):
            if (names := find_columns(node)) is None:
                continue
            question, answer = node[names[0]], answer_text(node[names[1]], None)
            if not (question and isinstance(question, str) and answer and isinstance(answer, str)):
                continue
            if names[0] == "q" or plain_name(names[0]).startswith("question"):
                asked.append((question, answer))
            elif is_question(question):
                titled.append((question, answer))
        for question, answer in asked + (titled if len(titled) > 1 else []):
            yield plain(texts_of_value(question, budget, "")[0]), answer


def _json_texts(document: turbohtml.Document) -> Iterator[str]:
    """Yield the texts of a page that may be JSON: those of scripts, then those of attributes."""
    scripts = document.select("script")
    yield from _flight_rows(script.text for script in scripts)
    yield from (script.text for script in scripts)
    values = (value for element in document.select("*") for value in element.attrs.values())
    texts = (value for value in values if isinstance(value, str))
    yield from islice((text for text in texts if text[:40].lstrip().startswith(("[{", '{"'))), MAX_ATTRIBUTES)


def _flight_rows(scripts: Iterable[str]) -> Iterator[str]:
    """Yield the rows of JSON that React server components push, as Next.js writes them: `__next_f.push(…)`.

    Long texts replace the references to them.
    """
    payload = "".join(map(_pushed, scripts)).encode("utf-8", "replace")
    rows: list[str] = []
    texts: dict[str, str] = {}
    position = 0
    while len(rows) + len(texts) < MAX_ROWS and (match := _ROW.match(payload, position)):
        start = match.end()
        if match[2] is not None:
            position = start + int(match[2], 16)
            text = payload[start:position].decode("utf-8", "replace")[:MAX_ANSWER]
            texts[match[1].decode()] = json.dumps(text)
        else:
            line_end = payload.find(b"\n", start)
            position = len(payload) if line_end < 0 else line_end + 1
            rows.append(payload[start:position].decode("utf-8", "replace"))
    for row in rows:
        if row.startswith(("[", "{")):
            yield _REFERENCE.sub(lambda found: texts.get(found[1], found[0]), row, MAX_REFERENCES)


def pushed_markup(document: turbohtml.Document, budget: StepBudget) -> str:
    """Return the elements that React server components push, closed panels included, as HTML.

    Raises:
        PageTooComplex: the budget is spent.
    """
    parts: list[str] = []
    for row in _flight_rows(script.text for script in document.select("script")):
        budget.spend_on_data(row)
        parts.append(_markup(load_json(row)))
    return "".join(parts)


def _markup(node: Any, depth: int = 0, *, is_text: bool = False) -> str:
    """Return the elements in a value as HTML. Only the children of an element are text of the page."""
    if depth > MAX_LEVELS:
        return ""
    match node:
        case ["$", name, _, {**properties}]:
            tag = name if str(name).isalnum() else "div"
            names = {"class": properties.get("className"), "href": properties.get("href")}
            attrs = "".join(f' {key}="{html.escape(str(value))}"' for key, value in names.items() if value)
            parts = (
                _markup(value, depth + 1, is_text=key == "children") for key, value in properties.items()
            )
            return "<br>" if tag == "br" else f"<{tag}{attrs}>{''.join(parts)}</{tag}>"
        case list() | dict():
            values, is_text = (node, is_text) if isinstance(node, list) else (node.values(), False)
            return "".join(_markup(value, depth + 1, is_text=is_text) for value in values)
        case str() | int() | float() if is_text and not (isinstance(node, bool) or str(node).startswith("$")):
            return html.escape(str(node))
    return ""


def _pushed(script: str) -> str:
    """Return the text that a script pushes, or an empty one."""
    match = _PUSH.match(script)
    try:
        pushed = json.JSONDecoder().raw_decode(script, match.end())[0] if match is not None else []
    except (ValueError, RecursionError):
        return ""
    return pushed[1] if len(pushed) == 2 and isinstance(pushed[1], str) else ""


def load_json(text: str) -> Any:
    """Return the value of a JSON text, which may have a wrapper, or None."""
    text = _WRAPPER.sub("", _WRAPPER.sub("", text))
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def texts_of_value(value: str, budget: StepBudget, url: str) -> tuple[str, str]:
    """Return the plain text and the Markdown of HTML, of HTML with its tags escaped, or of plain lines.

    Its links are relative to the address `url`.
    """
    markup = value[:MAX_ANSWER]
    budget.spend_on_data(markup)
    if "&lt;" in markup and not _TAG.search(markup):
        markup = html.unescape(markup)
    if _TAG.search(markup):
        nodes = build_tree(turbohtml.parse_fragment(markup), budget).children
        text, markdown = text_of(nodes), markdown_of(nodes, url)
    else:
        lines = map(plain, html.unescape(markup).strip().splitlines())
        text = re.sub(r"\n{2,}", "\n\n", "\n".join(lines))
        markdown = escape(text)
    is_cut = len(value) > MAX_ANSWER
    return shortened(text, is_cut=is_cut), shortened(markdown, is_cut=is_cut)
