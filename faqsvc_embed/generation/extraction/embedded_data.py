"""Questions in data that scripts would show: JSON in script elements and in attributes."""

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

import turbohtml

from faqsvc_embed.api.fields import MAX_ANSWER
from faqsvc_embed.files.fields import find_columns, plain_name
from faqsvc_embed.files.values import answer_text, objects_of
from faqsvc_embed.generation.extraction.dom import CHARACTERS_PER_STEP, STEPS_TO_CONVERT, StepBudget
from faqsvc_embed.generation.extraction.questions import is_question
from faqsvc_embed.generation.extraction.structured_data import load_json, text_of_value
from faqsvc_embed.generation.extraction.text import plain

MAX_ATTRIBUTES: Final = 200
"""Attributes with JSON that are read."""

MAX_ROWS: Final = 10_000
MAX_REFERENCES: Final = 50
"""References to texts that are replaced in one row."""
_PUSH = re.compile(r"\s*self\.__next_f\.push\((?=\[)")
_REFERENCE = re.compile(r'"\$([0-9a-f]{1,6})"')
_ROW = re.compile(rb"([0-9a-f]{1,6}):(?:T([0-9a-f]{1,6}),)?")
_NOT_JSON = re.compile(r"^\s*(?:window\.|self\.|var |let |const )?[\w.$]{0,60}\s*=\s*(?=[{\[])")


def embedded_pairs(document: turbohtml.Document, budget: StepBudget) -> Iterator[tuple[str, str]]:
    """Yield the questions and answers in JSON that a script of the page would show.

    These are objects with the fields `question` and `answer`, and objects with fields such as `title` and
    `content` if several titles of a script or an attribute are questions. Answers are unchanged, mostly HTML.

    Raises:
        PageTooComplex: the budget is spent.
    """
    for text in _json_texts(document):
        budget.spend(1 + STEPS_TO_CONVERT * len(text) // CHARACTERS_PER_STEP)
        data = load_json(_NOT_JSON.sub("", text, count=1).rstrip().rstrip(";"))
        asked: list[tuple[str, str]] = []
        titled: list[tuple[str, str]] = []
        for node in objects_of(data):
            names = find_columns(node)
            question, answer = (node[names[0]], answer_text(node[names[1]], None)) if names else ("", "")
            if names and isinstance(question, str) and isinstance(answer, str) and question and answer:
                if names[0] == "q" or plain_name(names[0]).startswith("question"):
                    asked.append((question, answer))
                elif is_question(question):
                    titled.append((question, answer))
        for question, answer in asked + (titled if len(titled) > 1 else []):
            yield plain(text_of_value(question, budget)), answer


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


def _pushed(script: str) -> str:
    """Return the text that a script pushes, or an empty one."""
    match = _PUSH.match(script)
    try:
        pushed = json.JSONDecoder().raw_decode(script, match.end())[0] if match is not None else []
    except (ValueError, RecursionError):
        return ""
    return pushed[1] if len(pushed) == 2 and isinstance(pushed[1], str) else ""
