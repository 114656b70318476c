"""Questions in data that scripts would show: JSON in script elements and in attributes."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import Final

import turbohtml

from faqsvc_embed.files.fields import find_columns, plain_name
from faqsvc_embed.files.values import answer_text, objects_of
from faqsvc_embed.generation.extraction.dom import CHARACTERS_PER_STEP, STEPS_TO_CONVERT, StepBudget
from faqsvc_embed.generation.extraction.questions import is_question
from faqsvc_embed.generation.extraction.structured_data import load_json, text_of_value
from faqsvc_embed.generation.extraction.text import plain

MAX_ATTRIBUTES: Final = 200
"""Attributes with JSON that are read."""

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
    yield from (script.text for script in scripts)
    values = (value for element in document.select("*") for value in element.attrs.values())
    texts = (value for value in values if isinstance(value, str))
    yield from islice((text for text in texts if text[:40].lstrip().startswith(("[{", '{"'))), MAX_ATTRIBUTES)
