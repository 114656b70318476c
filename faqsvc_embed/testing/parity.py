"""Compares the FAQPage markup of a page with the words on the page, whoever made both."""

from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import cache
from itertools import accumulate
from typing import Final

import turbohtml

from faqsvc_embed.errors import quoted
from faqsvc_embed.generation.extraction.dom import HEADINGS
from faqsvc_embed.generation.extraction.labels import bare_answer, is_label
from faqsvc_embed.generation.extraction.questions import MAX_LENGTH, is_question_line
from faqsvc_embed.testing.markup import Markup, Pair, read_markup
from faqsvc_embed.testing.words import Part, Words, fold, read_words, remove_icons

Kind = tuple[str, str]
Place = tuple[int, int]
_QUESTION_TAGS: Final = frozenset({*HEADINGS, "summary", "dt", "button"})
_WHOLE_PAGE: Final = frozenset({"#root", "html", "body", "main", "article"})
_BESIDE: Final = ("nav", "form", "button", "aside", "header", "footer")
"""Elements whose text belongs to no answer."""


def differences(page: str | bytes, url: str | None) -> list[str]:
    """Return the differences between the FAQPage markup and the words of a page, a line each."""
    document = turbohtml.parse(page)
    remove_icons(document)
    markup = read_markup(document, url or "")
    if not markup.ids:
        return markup.problems or ["there is no FAQPage markup: neither JSON-LD nor microdata has one"]
    found = markup.problems
    if len(ids := set(markup.ids)) > 1 or markup.ids.count("") > 1:
        same = '"@id": "#faqpage"'
        found.append(f"{max(len(ids), markup.ids.count(''))} FAQPages without one @id: give each {same}")
    return found + _Comparison(read_words(document), markup).lines()


class _Comparison:
    """The places of the questions and answers of the markup in the words of a page."""

    def __init__(self, words: Words, markup: Markup) -> None:
        self._words = words
        self._pairs = markup.pairs
        self._is_whole = not markup.is_unreadable
        self._marked = sorted(
            {
                (place, place + len(name))
                for name in {name for pair in markup.pairs for name in pair.questions}
                for place in words.places(name)
            }
        )
        self._starts = [start for start, _ in self._marked]
        # The same question may stand in many sections.
        self._nearest, self._alone = cache(self._find_nearest), cache(self._find_alone)
        self._others: list[Part] = []
        self._inside = Counter[tuple[Part, Kind]]()
        """How many elements of a kind an element has inside, with itself."""
        for part in words.parts:
            self._inside.update((around, kind) for around in part.path() for kind in _kinds(part))

    def lines(self) -> list[str]:
        for pair in self._pairs:
            self._locate(pair)
        missing = [pair for pair in self._pairs if pair.place is None]
        if len(missing) == len(self._pairs) > 1:
            return [f"none of the {len(missing)} questions of the markup is on the page"]
        self._others = list(self._unmarked())
        found = [line for pair in self._pairs for line in self._faults(pair)]
        if self._is_whole:
            said = [self._said(part) for part in self._others]
            found += [f"on the page, but not in the markup: the question {quoted(text)}" for text in said]
        return found

    def _locate(self, pair: Pair) -> None:
        """Find the question with its answer next to it, else the question alone."""
        near = [self._nearest(name, text) for name in pair.questions for text in pair.answers]
        if found := [one for one in near if one is not None]:
            _, pair.place, pair.answered = min(found)
        else:
            pair.place = self._alone(pair.questions)

    def _find_nearest(self, name: str, text: str) -> tuple[int, Place, Place] | None:
        """Return the question with this answer next to it, and how far apart they are."""
        questions, answers = self._words.places(name), self._words.places(text)
        if len(questions) < len(answers):  # start from those that the page has less often
            after = ((at, bisect_left(answers, at + len(name))) for at in questions)
            pairs = [(at, answers[index]) for at, index in after if index < len(answers)]
        else:
            before = ((bisect_right(questions, at - len(name)), at) for at in answers)
            pairs = [(questions[count - 1], at) for count, at in before if count]
        near = (
            (answer - at - len(name), (at, at + len(name)), (answer, answer + len(text)))
            for at, answer in pairs
            if answer <= self._next_marked(at + len(name))
        )
        return min(near, default=None)

    def _find_alone(self, names: tuple[str, ...]) -> Place | None:
        """Return the likeliest place of a question; a link in a list of questions is less likely."""
        places = [(at, at + len(name)) for name in names for at in self._words.places(name)]
        return max(
            places, key=lambda place: (not self._element(place).is_in("a", "nav"), place), default=None
        )

    def _next_marked(self, place: int) -> int:
        index = bisect_left(self._starts, place)
        return self._starts[index] if index < len(self._starts) else len(self._words.text)

    def _next_question(self, place: int) -> int:
        """Return where the next question begins, of those in the markup and on the page."""
        index = bisect_left(self._others, place, key=lambda part: part.start)
        other = self._others[index].start if index < len(self._others) else len(self._words.text)
        return min(self._next_marked(place), other)

    def _element(self, place: tuple[int, int]) -> Part:
        """Return the element that is a question: the heading, summary or term, else the outermost one."""
        around = self._around(place)
        same = [part for part in around.path() if (part.start, part.end) == (around.start, around.end)]
        return next((part for part in reversed(same) if part.tag in _QUESTION_TAGS), same[-1])

    def _around(self, place: tuple[int, int]) -> Part:
        """Return the innermost element around a place."""
        parts = self._words.parts
        count = bisect_right(parts, place[0], key=lambda part: part.start)
        path = parts[count - 1].path() if count else iter(())
        return next((part for part in path if place[1] <= part.end), Part("#root", frozenset(), None, 0))

    # Questions without markup

    def _unmarked(self) -> Iterator[Part]:
        """Yield the elements that look like the questions of the markup, but are not in it."""
        questions = {self._element(pair.place) for pair in self._pairs if pair.place}
        containers = defaultdict[Kind, set[Part]](set)
        for question in questions:
            for kind in _kinds(question):
                containers[kind].add(self._container(question))
        taken = sorted([*self._marked, *(pair.answered for pair in self._pairs if pair.answered)])
        starts, stops = [start for start, _ in taken], list(accumulate((stop for _, stop in taken), max))
        end = -1
        for part in self._words.parts:
            if part.start < end or part.start == part.end or part.end - part.start > MAX_LENGTH:
                continue
            if (count := bisect_left(starts, part.end)) and stops[count - 1] > part.start:
                continue
            if part.is_in("a", "nav", "header", "footer", "form"):
                continue
            asks = is_question_line(self._said(part))
            around = set[Part]().union(*(containers[kind] for kind in _kinds(part) if kind in containers))
            is_marked_up = bool(part.classes) or part.tag in _QUESTION_TAGS
            is_term = part.tag in ("summary", "dt")
            is_alike = any(
                asks or is_term or (is_marked_up and one.tag not in _WHOLE_PAGE)
                for one in part.path()
                if one in around
            )
            is_question = is_alike or (asks and is_term)
            if is_question and next(self._region(part.end, part), None) is not None:
                yield part
                end = part.end

    def _container(self, question: Part) -> Part:
        """Return the element that has a question and another of its kind, with markup or without."""
        kinds = _kinds(question)
        several = (part for part in question.path() if any(self._inside[part, kind] > 1 for kind in kinds))
        return next(several, question)

    def _said(self, part: Part) -> str:
        return self._words.said(part.start, part.end)

    # Faults of one pair

    def _faults(self, pair: Pair) -> Iterator[str]:
        words, question = self._words, quoted(pair.question)
        if pair.place is None:
            yield f"in the markup, but not on the page: the question {question}"
        elif not pair.answers:
            return
        elif pair.answered:
            if extra := self._extra(pair.place, pair.answered):
                yield f"the answer to {question} has words on the page that the markup lacks: {quoted(extra)}"
        elif region := list(self._region(pair.place[1], self._element(pair.place))):
            yield f"the answer to {question} differs: {_difference(pair, region)}"
        elif not (places := [at for text in pair.answers for at in words.places(text)]):
            yield f"in the markup, but not on the page: the answer to {question}: {quoted(pair.answer)}"
        elif not any(self._is_panel(pair, place) for place in places):
            yield f"the answer to {question} is in another place of the page: {quoted(pair.answer)}"

    def _region(self, place: int, question: Part) -> Iterator[Part]:
        """Yield the lines between a question and the next, or the next heading if it is one."""
        end = self._next_question(place)
        for line in self._words.lines_between(place, end):
            if line.end > end or (line.is_in(*HEADINGS) and question.tag in HEADINGS):
                break
            if not line.is_in(*_BESIDE) and not is_label(line.text):
                yield line

    def _is_panel(self, pair: Pair, answer: int) -> bool:
        """Return whether an answer apart from its question, as in tabs, is where their order puts it."""
        known = [(one.place, one.answered[0]) for one in self._pairs if one.place and one.answered]
        if any((place < pair.place) != (at < answer) for place, at in known if pair.place and at != answer):
            return False
        text = next(text for text in pair.answers if self._words.text.startswith(text, answer))
        pair.answered = (answer, answer + len(text))
        return True

    def _extra(self, place: Place, answer: Place) -> str:
        """Return the words below a question that are neither in its answer nor in another one."""
        end = self._end(place, answer)
        extra = []
        for line in self._words.lines_between(place[1], end):
            is_after = line.start >= answer[1]
            if is_after and (line.end > end or line.is_in(*HEADINGS)):
                break
            is_beside = line.is_in(*_BESIDE) or is_label(line.text) or (is_after and line.is_in("a"))
            if is_beside or _overlap(line, answer):
                continue
            if not any(_overlap(line, pair.answered) for pair in self._pairs):
                extra.append(line.text)
        return " ".join(extra)

    def _end(self, place: Place, answer: Place) -> int:
        """Return the end of the text that belongs to a question.

        It ends at the next question, or with the element around the question and its answer.
        """
        around = self._around((place[0], answer[1]))
        first = next(self._words.lines_between(around.start, place[0] + 1))
        following = self._next_question(answer[1])
        is_item = first.end >= place[1] and around.tag not in _WHOLE_PAGE
        if is_item or following < around.end:
            return min(following, around.end)
        # This is the last question of several in one element: its text ends with the block of its answer.
        block = self._around((answer[1] - 1, answer[1]))
        inside = [part for part in block.path() if part.start > place[0]]
        return inside[-1].end if inside else answer[1]


def _kinds(part: Part) -> list[Kind]:
    """Return the tag of an element with each class, or without one; one in common makes the same kind."""
    return [(part.tag, name) for name in part.classes or ("",)]


def _overlap(line: Part, answer: Place | None) -> bool:
    return answer is not None and max(answer[0], line.start) < min(answer[1], line.end)


def _difference(pair: Pair, region: list[Part]) -> str:
    """Return the words where an answer of the markup and the lines of a page part."""
    said = bare_answer(" ".join(line.text for line in region))
    stated = " ".join(line.text for line in read_words(turbohtml.parse_fragment(pair.answer)).lines)
    pairs = enumerate(zip(f"{fold(stated)}\0", f"{fold(said)}\0", strict=False))
    same = next(at for at, (one, other) in pairs if one != other)
    return f"{quoted(_from(stated, same))} in the markup, {quoted(_from(said, same))} on the page"


def _from(text: str, place: int) -> str:
    """Return some words of a text around a place in its folded form."""
    words, size = text.split(), 0
    for index, word in enumerate(words):
        size += len(fold(word))
        if size > place:
            start = max(0, index - 3)
            return "… " * (start > 0) + " ".join(words[start : index + 6]) + " …" * (len(words) > index + 6)
    return "… " + " ".join(words[-4:])
