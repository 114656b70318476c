"""A Markdown file as lines without comments and definitions, with its headings."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import pairwise, zip_longest
from typing import TYPE_CHECKING, Any, Final

from faqsvc_embed.files.asking import asks, clearly_asks, says_faq
from faqsvc_embed.files.markdown_cost import MAX_QUOTATIONS, too_many_quotations
from faqsvc_embed.files.markdown_lines import (
    ADMONITION,
    ADMONITION_END,
    ATTRIBUTES,
    CONTENTS,
    DECORATION,
    HEADING,
    HTML_HEADING,
    NOT_SHOWN,
    TEMPLATE,
    has_words,
    joined,
    split_id,
    without_comments,
    without_tags,
)
from faqsvc_embed.files.markdown_text import block_parser, plain_text
from faqsvc_embed.files.openers import (
    CODE,
    INNER,
    Opener,
    answer_label,
    question_label,
    text_after,
    usual_labels,
)

if TYPE_CHECKING:
    from markdown_it.token import Token

_COMPONENT: Final = re.compile(r"<(/?)[A-Z][a-z][^<>]*(?<!/)>")
"""A tag that begins or ends a component."""


class Source:
    """A Markdown file; `is_written` says that it has the form of `markdown_writer`.

    `lines` are those of the file; comments and definitions are empty lines. In `texts`, code is empty, too.
    `contents` has the lines of the headings above tables of contents, and `notes` names what is not shown.
    """

    def __init__(self, text: str, *, is_written: bool) -> None:
        self.is_written = is_written
        text, notes = without_comments(text, is_written=is_written)
        if (line := too_many_quotations(text)) is not None:
            wanted = "put a blank line below each quotation"
            raise ValueError(
                f"line {line}: more than {MAX_QUOTATIONS} quotations without a blank line: {wanted}"
            )
        self.notes: list[str] = notes
        lines = text.split("\n")
        self.lines: list[str] = joined(lines if is_written else usual_labels(lines))
        environment = dict[str, Any]()
        tokens = block_parser().parse("\n".join(self.lines), environment)
        self._references = environment.get("references", {})
        places = {label: reference["map"] for label, reference in self._references.items()}
        places |= {
            f"^{token.meta['label']}".lower().upper(): token.map
            for token in tokens
            if token.type == "footnote_reference_open" and token.map
        }
        self._definitions = {
            label: (at[0], "\n".join(self.lines[slice(*at)])) for label, at in places.items()
        }
        for first, end in places.values():
            self.lines[first:end] = [""] * (end - first)
        self.texts: list[str] = self._without_code(tokens)
        headings = list(self._headings(tokens))
        self.contents: set[int] = {
            one.line
            for one, below in zip_longest(headings, headings[1:])
            if (below is None or below.level <= one.level) and self._is_contents(one, below)
        }
        self.headings: list[Opener] = [one for one in headings if one.line not in self.contents]
        names = Counter((one.level, one.text) for one in self.headings)
        repetitions = Counter[int]()  # of each level
        for (level, _), count in names.items():
            repetitions[level] += count - 2
        for one in self.headings:  # "Solution" below several headings is part of their texts
            is_other = one.is_explicit or clearly_asks(one.text) or TEMPLATE.search(one.text)
            is_repeated = names[one.level, one.text] > 1 and repetitions[one.level] >= 0
            one.is_section = is_repeated and not is_other

    def _without_code(self, tokens: "Sequence[Token]") -> list[str]:
        """Return the lines without code. Indented lines are none in components, nor as HTML below HTML."""
        texts, depth = list(self.lines), 0
        for token in tokens:
            is_code = token.type == "fence" or (token.type == "code_block" and not depth)
            is_code &= not token.info.startswith("{dropdown}")
            # `<String>` within a text is no component.
            is_tag = token.type in ("html_block", "inline") and token.content.lstrip()[:1] == "<"
            for end in _COMPONENT.findall(token.content) if is_tag else ():
                depth = max(0, depth - 1) if end else depth + 1
            is_code |= token.type == "html_block" and token.content.lstrip().lower().startswith("<pre")
            if not (is_code and token.map):
                continue
            first, end = token.map
            above = next((self.lines[n] for n in range(first - 1, -1, -1) if self.lines[n].strip()), "")
            if token.type == "code_block" and token.content.lstrip()[:1] == above.strip()[:1] == "<":
                self.lines[first:end] = texts[first:end] = [line.strip() for line in self.lines[first:end]]
            elif token.type != "code_block" or not above.rstrip().endswith("</summary>"):
                texts[first:end] = [""] * (end - first)
        return texts

    def _headings(self, tokens: "Sequence[Token]") -> Iterator[Opener]:
        """Yield the headings: those that the parser finds, those with other spaces, and those in HTML.

        In a file whose headings begin with number signs, a row of hyphens below a text is a rule. It makes a
        heading if only headings of level 3 and below begin with signs, and those above are underlined.
        """
        tops = {
            token.map[0]: (token, inline.content)
            for token, inline in pairwise(tokens)
            if token.type == "heading_open" and token.level == 0 and token.map
        }
        is_labelled, admonitions = False, self._admonitions()
        signs = {token.markup for token, _ in tops.values()}
        has_signs = "##" in signs or ("=" not in signs and any(sign.startswith("##") for sign in signs))
        for number, line in enumerate(self.texts):
            token, content = tops.get(number, (None, ""))
            one, indent = None, len(line) - len(line.lstrip())
            if token is not None and token.map and (token.markup[0] == "#" or not self.is_written):
                is_rule = token.markup == "-" and has_signs
                text = " ".join(content.split("\n"))
                one = None if is_rule else Opener(number, token.map[1], text, int(token.tag[1]))
            elif self.is_written:
                continue
            elif indent < CODE and (found := HEADING.fullmatch(line.strip())):
                one = Opener(number, number + 1, found[2].rstrip(), len(found[1]), indent=indent)
                self.lines[number] = f"{found[1]} {found[2]}"  # adds the space that may be missing
            elif line.lstrip().startswith("<") and (found := HTML_HEADING.fullmatch(line.strip())):
                digit, box_level = found["tag"][-1], INNER - (2 if found["kind"] == "title" else 1)
                level = int(digit) if digit.isdigit() else box_level  # a title is above questions
                text, rest = without_tags(found["text"]).strip(), found["rest"].strip()
                one = Opener(number, number + 1, text, level, rest, indent=indent)
                one.is_explicit = found["kind"] == "question"
            if one is not None and (has_words(one.text) or TEMPLATE.search(one.text)):
                label = None if self.is_written else question_label(one.text)
                if is_labelled and answer_label(one.text):
                    continue  # the answer to the question above it
                if label is not None:
                    one.text, one.is_explicit = text_after(label), True
                is_labelled = one.is_explicit
                one.asks = one.is_explicit or asks(self.plain(one.text))
                if one.asks or number not in admonitions:
                    yield one

    def _admonitions(self) -> set[int]:
        """Return the lines of admonitions, whose heading is no question unless it asks.

        One without an end, or with several headings, is left out, because these may be questions.
        """
        found, first, headings = set[int](), -1, 0
        for number, line in enumerate(() if self.is_written else self.texts):
            if ADMONITION.fullmatch(line):
                first, headings = number, 0
            elif ADMONITION_END.fullmatch(line):
                found.update(range(first, number) if first >= 0 and headings == 1 else ())
                first = -1
            else:
                headings += line.lstrip().startswith("#")
        return found

    def _is_contents(self, one: Opener, below: Opener | None) -> bool:
        """Return whether a heading has entries of a table of contents below it, and nothing else."""
        lines = map(str.strip, self.lines[one.below : below.line if below else None])
        entries = [line for line in lines if not DECORATION.fullmatch(line)]
        groups = [entry for entry in entries if not CONTENTS.fullmatch(entry)]
        is_other = self.is_written or one.asks or says_faq(one.text) or len(groups) * 2 >= len(entries)
        return not is_other and all(entry.startswith(("- ", "* ", "+ ")) for entry in groups)

    def plain(self, markdown: str) -> str:
        """Return the text that a line of Markdown shows."""
        return plain_text(NOT_SHOWN.sub(" ", ATTRIBUTES.sub("", split_id(markdown)[0])), self._references)

    def with_definitions(self, text: str) -> str:
        """Return a text followed by the definitions of links and footnotes that it uses."""
        if not self._definitions or "[" not in text:
            return text
        folded = " ".join(text.lower().upper().split())  # as labels are matched (CommonMark 0.31, 4.7)
        labels = set(re.findall(r"\[([^\[\]]+)\]", folded))
        used = sorted(self._definitions[label] for label in labels & self._definitions.keys())
        return "\n\n".join(filter(None, [text, "\n".join(definition for _, definition in used)]))

    def without_break(self, text: str, below: int) -> str:
        """Return a text without the backslash of a line break before the line with a number."""
        is_odd = (len(text) - len(text.rstrip("\\"))) % 2  # a pair is a backslash of the text
        return text[:-1] if is_odd and any(map(str.strip, self.lines[below : below + 1])) else text

    def trimmed(self, lines: Sequence[str], first: int = 0) -> tuple[str, int]:
        """Return lines without rules and anchors around them, and the number of the first that is kept."""
        kept = [place for place, line in enumerate(lines) if not DECORATION.fullmatch(line.strip(" \t"))]
        text = "\n".join(lines[kept[0] : kept[-1] + 1]).rstrip(" \t") if kept else ""
        return text, first + (kept[0] if kept else 0)
