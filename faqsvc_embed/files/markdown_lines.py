"""Lines of Markdown: comments, ids, numbers and signs in them, and which of them have words."""

import re
from bisect import bisect
from typing import Final

CODE: Final = (
    r"^[ \t]*(`{3,}+(?=[^`\n]*$)|~{3,}+)[^\n]*\n(?:[^\n]*\n)*?(?:[ \t]*\1[`~]*[ \t]*$|[^\n]*\Z)"
    # A code span does not cross a blank line.
    r"|(?<!`)(`+)(?!`)(?:[^`\n]++|`++|\n(?![ \t]*\n))+?(?<!`)\2(?!`)"
)
_COMMENT: Final = re.compile(
    # A comment of MDX or kramdown contains no beginning of another: so many without an end take linear time.
    rf"{CODE}|\\.|<!--(?s:.*?)(?:-->|\Z)"
    r"|\{/\*(?!\s*#)(?:[^*{]|\*(?!/\})|\{(?!/\*))*+\*/\}|\{::comment\}(?:[^{]|\{(?!:[:/]))*+\{:/(?:comment)?\}"
    r"|^[ ]{0,3}<(?P<script>script|style)\b(?s:.*?)(?:</(?P=script)\s*>|\Z)"
    # A table of contents that Jekyll makes of a list, in the box that a theme has for it.
    r"|(?P<contents>^(?:<details[^<>]*>\s*<summary[^<>]*>[^<>]*</summary>\s*+(?:\{:[^{}\n]*\}\s*+)?)?"
    r"[ \t]*(?:[-*+]|1\.)[ \t][^\n]*\n[ \t]*\{:[ \t]*toc\b[^{}\n]*\}(?:\s*</details>)?)"
    # The address of a link that has a template. In Markdown, the spaces of the template would end it.
    r"|(?P<address>(?<=\]: )\S*\{\{[^\n{}]*\}\}"
    r"|(?<=\]\()(?=[^\n()]*\{[{%])(?:[^\s(){}<>]|\{\{[^\n{}]*\}\}|\{%[^\n{}]*%\})++(?=\)))"
    # An address with spaces, which ends no link in Markdown, but is meant as one. Other words are a remark.
    r"|(?P<spaced>(?<=\]\()(?=[^\n()]*(?:[/#@]|\.\w\w))[^\s()<>{}\"']+(?:[ ]+[^\s()<>{}\"']+)+(?=\)))"
    # An element whose text is Markdown for kramdown, but HTML in CommonMark.
    r"|(?P<element>^[ ]{0,3}<(?:div|section)\b(?:(?!\bmarkdown=)[^<>])*+\bmarkdown=[^<>]*>)"
    # Statements of MDX, whole ones, because sentences begin with these words, too. An export ends at a blank
    # line.
    r"|^(?P<mdx>(?-i:import\s(?:[^\n'\"]*\sfrom\s+)?['\"][^\s'\"]+['\"];?[ \t]*$"
    r"|export\s+(?:default\s+[({]|(?:default\s+)?(?:async\s+)?(?:const|let|function)\s+[\w$]*\s*[=({:])"
    r"[^\n]*(?:\n(?![ \t]*$)[^\n]+)*))",
    re.MULTILINE | re.IGNORECASE,
)
NUMBER: Final = re.compile(
    r"\A(?:(?:[0-9]{1,3}(?:\.[0-9]{1,3})*[.)、:：]?|[a-zA-Z][.)])[ \t]+(?=\S)"
    r"|(?:[0-9]{1,3}[.)、：]|[a-zA-Z]、)(?=\D))"
)
"""A number before the name of a section. Names may also begin like one: `U.S. orders`, `No 1 in town`."""
_QUESTION_NUMBER: Final = re.compile(
    r"\AFAQ[:：][ ]*|\A(?:FAQ|No|[Qq])?[^\w\s¿¡$€£¥]{0,2}[ ]?"
    r"(?:[0-9０-９]{1,3}(?:\.[0-9]{1,3})*(?:[ \t]*[^\w\s%‰°+$€£¥]{0,3}[ \t]+|[^\w\s%‰°+$€£¥(-]{1,2}(?=\D))"
    r"|(?:[IVX]{1,5}|[一二三四五六七八九十]{1,3}|[a-zA-Z])[.)、）\]】][ \t]*|[①-⑳][ \t]*)(?=\S)"
)
"""A number before a question; most questions of a file begin with one."""
_SIGN: Final = re.compile(
    r"\A(?![¿¡「『《(\[\"'“‘„«`@#$/.<*_~\\-])[^\w\s]{1,4}[ \t\ufe0f]+(?=\S)"
    r"|\A[^\w\s\x00-\x7f¿¡「『《“‘„«（]\ufe0f?(?=\w)"
)
_LAST_SIGN: Final = re.compile(r"(?<=[?？])[ \t]+[^\w\s]\Z")
"""The sign with which a page unfolds an answer."""
_ID: Final = re.compile(
    r"(?<!\\)(?:\{(?::|/\*)?[ \t]*#(?P<id>[^{}\s]*)[^{}]*\}"
    r"|[ \t](?::id=|\[#(?![0-9]))(?P<name>[\w-]+)\]?)[ \t]*\Z"  # `[#12]` is a number of an issue
)
ATTRIBUTES: Final = re.compile(r"\{:?[ \t]*[.#][^{}]*\}[ \t]*\Z")
HEADING: Final = re.compile(r"(#{1,6})(?:[\s\u00a0\u3000]+|(?<=##)(?=[^\s#]))(\S.*?)(?:(?<=\s)#+)?")
"""A heading with any space after its number signs, or with none after two or more signs."""
_TITLE: Final = (
    r"<(?P<tag>h[1-6]|heading|dt|(?:div|p|span|button)"
    r"(?=\s[^<>]*?class=\"[^<>\"]*(?P<kind>title|question)\b))\b[^<>]*>"
)
_BLOCK: Final = r"<(?:div|h[1-6]|p|ul|dl)\b"
HTML_HEADING: Final = re.compile(
    rf"(?:</?[a-z][^<>]*>\s*){{0,20}}?{_TITLE}(?P<text>(?:(?!{_BLOCK}).){{0,1000}}?)"
    r"</(?P=tag)\s*>(?P<rest>.*)",
    re.I,
)
"""A heading, a defined term, or a box for a title or a question, with tags before it and a text after it.

A search for the end of each of many titles would take a time that is quadratic, so both are limited.
"""
_TITLE_CLASS: Final = re.compile(r":{3,}[ \t]*\{?\.?[\w-]*title\b[^{}]*\}?", re.I)
"""The first line of a container whose class says that it is a title."""
_OPEN_TITLE: Final = re.compile(rf"{_TITLE}(?:(?!</(?P=tag)\b|{_BLOCK}).){{0,1000}}\Z", re.I)
_MAX_HEADING: Final = 6
"""Maximum lines of a heading in HTML."""
_WRAPPER: Final = re.compile(r"<(p|div|span|font|center|section|article|li|big)\b[^<>]*>", re.I)
LIST_TAG: Final = re.compile(r"[^\w-]faqs?(?:\.\w+)?[ \"'%>}]", re.IGNORECASE)
"""A tag that inserts questions, such as `{{< faq >}}`, unlike `{% include faq-nav.html %}`."""
TAG_LINE: Final = re.compile(r"\{\{[%<][^{}]*\}\}|\{%(?:[^{}\"]|\"[^\s{}\"]*\")*%\}")
"""A line for the generator of a website. A tag that quotes several words may show them to readers."""
NOT_SHOWN: Final = re.compile(
    r"\[(?:[^\w\[\]<>]*|:[\w-]+:|(?:<[^<>]*>)+|!\[[^\[\]]*\]\([^()]*\))\]\(#[^()]*\)|\[\]\{[^{}]*\}"
    r"|<a\s[^<>]*>[#¶]?(?:<[^<>]*>){0,9}</a>|<[a-z]+\s[^<>=]*=\{[^<>]*>|<[A-Z][^<>]*/>"
    r"|(?<![\w:]):[a-z][a-z0-9+_-]*[a-z0-9]:(?![a-z0-9`:])(?:\{[ \t]*[.#:][^{}]*\})?"
)
"""A link from a heading to itself, a tag of MDX, or the code of an icon such as `:smile:`."""
ADMONITION: Final = re.compile(
    r"[ \t]*(?:\{%-?[ \t]*hint\b(?:(?!endhint).)*"
    r"|:{3,}[ \t]*\{?\.?(?:caution|danger|important|info|note|tip|warning)\b(?:(?!:::).)*)"
)
ADMONITION_END: Final = re.compile(r".*\{%-?[ \t]*endhint\b.*|[ \t]*:{3,}[ \t]*")
"""The first and the last line of an admonition."""
TEMPLATE: Final = re.compile(r"\{\{[^{}]*\}\}|\{%[^{}]*%\}")
_HTML_TAG: Final = re.compile(r"</?[a-zA-Z][^<>]*>")
_TAGS: Final = re.compile(r"<[a-zA-Z/][^<>]*>|\]\([^()]*\)|\{[#:.][^{}]*\}")
DECORATION: Final = re.compile(
    r"(?:([-*_=])(?:[ \t]*\1){2,}|<a [^<>]*>[ \t]*</a>|\[[^\[\]]*\]\(#[^()]*\)|<hr[^<>]*>"
    r"|(?:<br[^<>]*>[ \t]*)+|&nbsp;|\{:[^{}]*\}|\[\[?_?toc_?\]?\]|\[\]\{[^{}]*\}|>"
    r"|:{2,}(?:[ \t]*\{[^{}]*\})?)?",
    re.I,
)
"""A blank line, a rule, an anchor, or a link to one, without white space around it."""
CONTENTS: Final = re.compile(
    r"(?:[-*+:]|[0-9]{1,3}(?:\.[0-9]{1,3})*[.)]?)?[*_ \t]*\[.*\]\(#[^()]*\)[*_ \t]*"
    r"|(?:[-*+][ \t]+)?<a\s[^<>:#]*#[^<>:]*>.*</a>",
    re.I,
)
"""An entry in a table of contents."""
_ONLY_TAGS: Final = re.compile(r"(?:</?[a-z][^<>]*>[ \t]*)+", re.I)


def bare(line: str) -> str:
    """Return a line without white space and tags of blocks around it, such as `<p>` and `</p>`."""
    line = line.strip(" \t")
    while line.startswith("<") and (tag := _WRAPPER.match(line)) is not None:
        line = re.sub(rf"</{tag[1]}\s*>\Z", "", line[tag.end() :], flags=re.I).strip(" \t")
    return line


def without_tags(line: str) -> str:
    """Return a line without the tags of HTML."""
    return _HTML_TAG.sub("", line) if "<" in line else line


def split_id(heading: str) -> tuple[str, str | None]:
    """Return the text of a heading, and the id that `{#id}`, `[#id]` or `:id=id` at its end states."""
    found = _ID.search(heading)
    if found is None:
        return heading, None
    return heading[: found.start()].rstrip(" \t"), found["id"] or found["name"]


def joined(lines: list[str]) -> list[str]:
    """Return lines with each heading of HTML or of a container on one line; the others keep their numbers."""
    for number, line in enumerate(lines[:-2]):
        if line[:3] == ":::" == lines[number + 2][:3] and _TITLE_CLASS.fullmatch(line.strip()):
            lines[number : number + 3] = [f"## {lines[number + 1]}", "", ""]
    for number, line in enumerate(lines):
        if "<" in line and (title := _OPEN_TITLE.search(line)):
            for last in range(number + 1, min(number + _MAX_HEADING, len(lines))):
                if re.search(_BLOCK, lines[last], re.I):
                    break
                if f"</{title['tag'].lower()}" in lines[last].lower():
                    lines[number] = " ".join(part.strip() for part in lines[number : last + 1])
                    lines[number + 1 : last + 1] = [""] * (last - number)
                    break
    return lines


def without_comments(text: str, *, is_written: bool) -> tuple[str, list[str]]:
    """Return Markdown without comments, scripts and style sheets, and a note for each of the latter.

    The lines after them keep their numbers. The address of a link loses the spaces of its template.
    """
    notes, ends = list[str](), [found.end() for found in re.finditer("\n", text)]

    def replacement(found: re.Match[str]) -> str:
        line = f"line {bisect(ends, found.start()) + 1}"
        if found["spaced"]:
            return found[0] if is_written else f"<{found[0]}>"
        if found["address"]:
            notes.append(f"{line}: the address of this link comes from a template: {found[0][:60]}")
            return "".join(found[0].split()).replace('"', "")
        is_comment = found[0].startswith(("<!--", "{/*", "{::")) and found[0].endswith(("-->", "}"))
        is_comment |= bool(found["contents"] or found["element"])
        is_code = found["script"] or found["mdx"]
        if is_code:
            first, *more = found[0].strip().split("\n")
            end = f", up to line {bisect(ends, found.end()) + 1}" if more else ""
            notes.append(f"{line}: not shown{end}: {first[:60]}")
        return "\n" * found[0].count("\n") if is_comment or is_code else found[0]

    return _COMMENT.sub(replacement, text), notes


def unnumbered(texts: list[str]) -> list[str]:
    """Return questions without the numbers and signs that most of them begin or end with."""
    for pattern in (_SIGN, _QUESTION_NUMBER, _LAST_SIGN):
        shorter = [pattern.sub("", text, count=1).strip() for text in texts]
        if sum(map(str.__ne__, texts, shorter)) * 2 > max(len(texts), 2):
            texts = shorter
    return texts


def has_words(text: str) -> bool:
    """Return whether a text has more than templates and tags."""
    return any(map(str.isalnum, _TAGS.sub("", TEMPLATE.sub("", text))))


def is_text(line: str) -> bool:
    """Return whether a line has words that a reader would miss."""
    line = line.strip(" \t")
    return not any(pattern.fullmatch(line) for pattern in (DECORATION, CONTENTS, _ONLY_TAGS))


def is_template(text: str) -> bool:
    """Return whether a text has templates or tags, and no words of its own."""
    return not has_words(text) and (TEMPLATE.search(text) or _TAGS.search(text)) is not None
