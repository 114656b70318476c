"""Compares the FAQPage markup of a page with the questions and answers that the page shows.

The markup is read as in files. What the page shows is read as by `faqsvc extract`, without the markup.
"""

import html
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, Final, NamedTuple
from urllib.parse import urljoin

import turbohtml

from faqsvc_embed.errors import quoted
from faqsvc_embed.files.values import faq_pages
from faqsvc_embed.generation.extraction.extractor import Pair as Shown
from faqsvc_embed.generation.extraction.extractor import extract
from faqsvc_embed.generation.extraction.questions import bare_question, has_question_mark
from faqsvc_embed.generation.extraction.structured_data import json_ld_scripts, marked_pages
from faqsvc_embed.generation.extraction.text import base_of
from faqsvc_embed.text import normalized

COMPARED: Final = 20
"""Characters of an answer that are compared to find out whether its question is in another answer."""
_HIDDEN: Final = "script, style, template, del, s, strike"
"""Elements whose text is not for readers."""
_ICON: Final = re.compile(r"icon|symbol|glyph|chevron", re.IGNORECASE)
_ICON_TEXT: Final = re.compile(r"\s*[^ ]{0,24}\s*")
_LABEL: Final = re.compile(r"\A[^\s.:]{1,4}[.:]\s+")
"""A possible label of a question, in any language."""
_NUMBER: Final = re.compile(r"(?<!\S)[0-9]{1,2}[.)]\s")
"""A possible number of a list item, typed in the markup where the page has an `<ol>`."""
_OF_MARKUP: Final = ("itemtype", "itemprop", "typeof", "property")


class _Pair(NamedTuple):
    """A question and its answer in the markup, as the page should show them."""

    question: str
    answer: str
    questions: frozenset[str]
    """The question in its folded form: as plain text, as HTML, and without its number or label."""
    answers: frozenset[str]
    """The answer in its folded form: as plain text and as HTML."""

    def follows_its_question(self, texts: Sequence[str], minimum: int) -> bool:
        """Return whether one of the texts has the question with its answer directly after it.

        The answer must be longer than `minimum`, the part of it that extraction may have found.
        """
        longer = [answer for answer in self.answers if len(answer) > minimum]
        return any(question + one in text for question in self.questions for one in longer for text in texts)


def differences(page: str | bytes, url: str | None) -> list[str]:
    """Return the differences between the FAQPage markup and the words of a page, a line each."""
    document, problems = turbohtml.parse(page), list[str]()
    base, pages = base_of(document, url or ""), faq_pages(_json_ld(document, problems))
    is_whole = not problems
    _remove_hidden(document)
    if not pages and is_whole:
        pages = marked_pages(document)
    if not pages:
        return problems or ["there is no FAQPage markup: no JSON-LD, microdata or RDFa has one"]
    pairs = [pair for one in pages for pair in _pairs(one, problems)]
    ids = [_address(one.get("@id"), base) for one in pages]
    if (count := max(len(set(ids)), ids.count(""))) > 1:
        same = '"@id": "#faqpage"'
        problems.append(f"{count} FAQPages do not share an @id: give each {same}")
    for element in document.select(",".join(f":not(meta)[{name}]" for name in _OF_MARKUP)):
        for name in _OF_MARKUP:
            element.attrs.pop(name, None)
    shown = extract(document, url or "").pairs
    return [*problems, *_compared(pairs, document, shown, is_whole=is_whole)]


def _address(name: object, base: str) -> str:
    """Return an `@id` as an address if it can be one; an empty text if there is none."""
    try:
        return urljoin(base, name) if isinstance(name, str) else ""
    except ValueError:
        return str(name)


# The markup


def _json_ld(document: turbohtml.Document, problems: list[str]) -> list[Any]:
    """Return the data of the scripts in JSON-LD, and add their faults to the problems."""
    found = []
    for script in json_ld_scripts(document):
        first = script.source_line or 1
        try:
            found.append(json.loads(script.text, parse_constant=_refuse))
        except (ValueError, RecursionError) as error:
            line = first + getattr(error, "lineno", 1) - 1
            reason = str(getattr(error, "msg", error)).removesuffix(" at")
            if "FAQPage" in script.text:
                problems.append(f"line {line}: this JSON-LD cannot be read by any parser: {reason}")
            continue
        if "FAQPage" in script.text and "schema.org" not in script.text:
            problems.append(f"line {first}: this JSON-LD lacks the @context of schema.org")
    return found


def _refuse(constant: str) -> None:
    raise ValueError(f"{constant} is not JSON")


def _pairs(page: dict[str, Any], problems: list[str]) -> Iterator[_Pair]:
    """Yield the questions of a FAQPage, and add what is missing to the problems."""
    if not page["mainEntity"]:
        problems.append("a FAQPage of the markup has no questions (mainEntity)")
    for question in (one if isinstance(one, dict) else {} for one in page["mainEntity"]):
        answer = question.get("acceptedAnswer")
        answer = answer[0] if isinstance(answer, list) and answer else answer
        name = _text(question.get("name") or question.get("text"))
        text = _text(answer.get("text") if isinstance(answer, dict) else answer)
        if not name:
            problems.append(f"a question of the markup has no name; its answer is {quoted(text)}")
            continue
        if not text:
            problems.append(f"in the markup, the question {quoted(name)} has no answer")
        questions = _readings(name) | {fold(bare_question(name))} - {""}
        yield _Pair(name, text, questions, _readings(text))


def _text(value: Any) -> str:
    texts = value if isinstance(value, list) else [value]
    return next((text for text in texts if isinstance(text, str) and text.strip()), "")


def _readings(text: str) -> frozenset[str]:
    """Return the words of a text, read as text, HTML and escaped HTML, with and without numbers of lists."""
    texts = [text, html.unescape(text)]
    texts += [turbohtml.parse_fragment(one).text for one in texts]
    return frozenset(map(fold, (*texts, *(_NUMBER.sub("", one) for one in texts)))) - {""}


# The page


def _remove_hidden(document: turbohtml.Document) -> None:
    """Remove what is not for readers, and signs such as the name of an icon or a plus."""
    for element in document.select(_HIDDEN):
        element.decompose()
    for element in document.select("i, span, b, em"):
        is_named = _ICON.search(str(element.attr("class") or "")) is not None
        if (is_named or element.attr("aria-hidden") == "true") and _ICON_TEXT.fullmatch(element.text):
            element.decompose()


def fold(text: str) -> str:
    """Return the letters, digits and signs of currencies in a text, without case."""
    text = normalized("NFKC", text).casefold()
    kinds = ((char, unicodedata.category(char)) for char in text if char not in "\ufe0e\ufe0f")
    return "".join(char for char, kind in kinds if kind[0] in "LNM" or kind == "Sc" or char == "%")


def _compared(
    pairs: list[_Pair], document: turbohtml.Document, shown: Sequence[Shown], *, is_whole: bool
) -> Iterator[str]:
    """Yield the differences between the questions of the markup and those that the page shows.

    `is_whole` is whether all markup could be read; if not, the page may have more questions.
    """
    lines = [*document.to_text().splitlines(), *document.stripped_strings]
    said = {name for line in lines for name in _names(line)}
    by_name = {name: one for one in shown for name in _names(one.question)}
    missing = [
        pair for pair in pairs if said.isdisjoint(pair.questions) and not by_name.keys() & pair.questions
    ]
    if len(missing) == len(pairs) > 1:
        yield f"none of the {len(missing)} questions of the markup is on the page"
        return
    words, end = "".join(map(fold, document.strings)), 0
    for image in document.select("img[alt]"):
        image.replace_with(turbohtml.Text(str(image.attr("alt"))))
    texts = (words, "".join(map(fold, document.strings)))  # without and with the texts of images
    times = Counter(name for pair in pairs for name in pair.questions)
    for pair in pairs:
        question = quoted(pair.question)
        # Extraction returns only one of several equal questions.
        found = next((by_name[one] for one in pair.questions if one in by_name and times[one] == 1), None)
        answer = "" if found is None else fold(found.answer)
        if pair in missing:
            yield f"in the markup, but not on the page: the question {question}"
        elif not pair.answers or answer in pair.answers or pair.follows_its_question(texts, len(answer)):
            continue
        elif found is not None:
            yield f"the answer to {question} differs: {_difference(pair.answer, found.answer)}"
        # In tabs, the answers stand apart from their questions, in the same order.
        elif (at := max(words.find(one, end) for one in pair.answers)) >= 0:
            end = at
        else:
            where = "in another place of" if any(map(words.count, pair.answers)) else "not on"
            yield f"the answer to {question} is {where} the page: {quoted(pair.answer)}"
    if is_whole:
        yield from _unmarked(pairs, shown)


def _unmarked(pairs: list[_Pair], shown: Sequence[Shown]) -> list[str]:
    """Return the questions that a page shows, but that are not in the markup, a line each."""
    names = frozenset[str]().union(*(pair.questions for pair in pairs))
    stated = "\n".join(answer for pair in pairs for answer in pair.answers)
    marked = {one for one in shown if not names.isdisjoint(_names(one.question))}
    # The headings above the FAQ, and outside of it, may be titles with an introduction.
    is_in_faq, others, has_begun = bool(marked) and all(one.in_faq for one in marked), list[str](), False
    for one in shown:
        has_begun |= one in marked
        is_question = has_begun or has_question_mark(one.question)
        begins = fold(one.question) + fold(one.answer)[:COMPARED]  # an answer may have questions in it
        if is_question and (one.in_faq or not is_in_faq) and one not in marked and begins not in stated:
            others.append(one.question)
    if not pairs and len(others) > 1:
        return [f"none of the {len(others)} questions of the page is in the markup"]
    return [f"on the page, but not in the markup: the question {quoted(question)}" for question in others]


def _names(question: str) -> set[str]:
    """Return a question in its folded form, with and without its number or label."""
    return {fold(text) for text in (question, bare_question(question), _LABEL.sub("", question))} - {""}


def _difference(stated: str, said: str) -> str:
    """Return the words where an answer of the markup and one of the page begin to differ."""
    texts = (turbohtml.parse_fragment(stated).text, said)
    one, other = ([word for word in text.split() if fold(word)] for text in texts)  # without marks of lists
    both = enumerate(zip_longest(map(fold, one), map(fold, other)))
    at = next((number for number, (word, shown) in both if word != shown), 0)
    return f"{_around(one, at)} in the markup, {_around(other, at)} on the page"


def _around(words: list[str], at: int) -> str:
    start, end = max(0, at - 3), at + 6
    return quoted("… " * (start > 0) + " ".join(words[start:end]) + " …" * (len(words) > end))
