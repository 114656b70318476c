"""What the dialects of Markdown add to CommonMark, in the plainest form that loses no word.

Admonitions and containers become quotations with a bold title; footnotes become a list at the end of the
answer; attributes in braces are left out. Bold text beside Chinese, Japanese and Korean punctuation is bold.
"""

import re
import unicodedata
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from faqsvc_embed.files.markdown_lines import CODE

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.rules_core import StateCore
    from markdown_it.rules_inline import StateInline
    from markdown_it.token import Token

ALIGNMENTS: Final = {"text-align:center": "faqsvc-center", "text-align:right": "faqsvc-end"}
"""The classes of the cells of a table, instead of style attributes."""
_ATTRIBUTES: Final = re.compile(
    rf"{CODE}|(?P<space>(?<=[)\]`*])|(?<=__)|(?<=_)(?=\{{:)|(?<![ \t])[ \t]*+(?=\{{[^{{}}\n]*\}}[ \t]*$))"
    r"(?<![\\$])(?:\{(?::|[ ]?[.#][\w-]|[ ]?[\w-]+=)[^{}\n]*\})+",
    re.MULTILINE,
)
"""Attributes after a link, an image, code or emphasis, or at the end of a line."""
_INCLUDE: Final = re.compile(rf"{CODE}|\{{%-?[ \t]*include\b(?P<rest>[^\n{{}}]*)%\}}", re.MULTILINE)
"""A tag of Jekyll that inserts a file, which may get a text; code is left as it is."""
_LINKED: Final = re.compile(
    rf"{CODE}|(?P<open>\]\(<?[ \t]*)\{{\{{[ \t]*+(?P<tag>[^\n{{}}]*)\}}\}}(?P<end>\)?)", re.MULTILINE
)
"""A variable of a generator at the beginning of an address."""
_ARGUMENT: Final = re.compile(r"[\"']([^\"']*)[\"']")
_SITE: Final = re.compile("base|site|root|url|home", re.I)
_BULLETS: Final = re.compile("[•·▪◦●]|o\t|[!?]> ")
_BULLET: Final = re.compile(
    rf"{CODE}|^(?P<indent>[ ]{{0,12}})(?:(?P<box>[!?]>)|[•·▪◦●]|o(?=\t))[ \t\u00a0]+(?=\S)", re.MULTILINE
)
"""The beginning of a list item as word processors write it, or of a box of Docsify."""
_CONTENT: Final = re.compile(r"\bcontent=([\"'])(.*?)\1")
_TAB: Final = re.compile(r"^([ \t]*)===[+!]?[ \t]+\"([^\"\n]*)\"[ \t]*$", re.MULTILINE)
_ALERT: Final = re.compile(r"\[!([A-Za-z]+)\][+-]?[ \t]*")
_CONTAINER: Final = re.compile(
    r"\s*\{?\.?([\w-]*)\}?\s*(?:\[([^\[\]]*)\]|\{[^{}]*?title=\"?([^\"{}]*)\"?[^{}]*\}|\{[^{}]*\})?\s*(.*)"
)
_LONE_TAG: Final = re.compile(r"(?:(?P<component></?[A-Z][\w.]*)|<(?:img|br))(?:\s[^<>]*|/)?>\s*")
"""A component, an image or a line break alone on a line."""
_FRAMES: Final = ("tabs", "tab-set", "code-group", "code-tabs", "grid", "columns", "div", "center")
"""Containers whose kind says nothing to a reader."""
_EAST_ASIAN: Final = re.compile(
    "[\u1100-\u11ff\u2e80-\u303f\u3040-\ua4cf\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\ufe30-\ufe4f\uff00-\uffef\U00020000-\U0003ffff]"
)


def in_plain_form(text: str) -> str:
    """Return Markdown with the texts of inserted boxes, with tabs as boxes and with bullets as lists.

    Lines keep their numbers.
    """
    if "{" in text:
        text = _LINKED.sub(_address, _INCLUDE.sub(_included, text))
    if _BULLETS.search(text):
        text = _BULLET.sub(_bullet, text)
    return _TAB.sub(r'\1!!! tab "\2"', text) if "===" in text else text


def _bullet(found: re.Match[str]) -> str:
    sign = ">" if found["box"] else "-"
    return found[0] if found["indent"] is None else f"{found['indent']}{sign} "


def _address(linked: re.Match[str]) -> str:
    """Return an address without the variable for the website at its beginning, or the one that it names."""
    if argument := _ARGUMENT.search(linked["tag"] or ""):
        return f"{linked['open']}{argument[1]}{linked['end']}"
    if linked["open"] is None or not _SITE.search(linked["tag"]):
        return linked[0]
    return linked["open"] + (linked["end"] and "/)")


def _included(tag: re.Match[str]) -> str:
    content = _CONTENT.search(tag["rest"] or "")
    return content[2] if content else tag[0]


def add_to(parser: "MarkdownIt") -> None:
    """Let a parser read footnotes, admonitions, containers, definition lists and East Asian bold text."""
    from mdit_py_plugins.admon import admon_plugin
    from mdit_py_plugins.container import container_plugin
    from mdit_py_plugins.deflist import deflist_plugin
    from mdit_py_plugins.footnote import footnote_plugin

    parser.use(footnote_plugin, inline=False, move_to_end=True).use(deflist_plugin).use(admon_plugin)
    parser.use(container_plugin, "box", validate=lambda *_: True)
    parser.block.ruler.before("html_block", "lone_tag", _lone_tag, {"alt": ["paragraph", "blockquote"]})
    parser.core.ruler.before("inline", "attributes", _leave_out_attributes)
    parser.inline.ruler.at("emphasis", _emphasis)
    parser.add_render_rule("footnote_ref", _footnote_mark)
    for name, html in (("block_open", "<ol>\n"), ("block_close", "</ol>\n"), ("anchor", "")):
        parser.add_render_rule(f"footnote_{name}", lambda *_, html=html: html)


def _lone_tag(state: "StateBlock", start: int, end: int, silent: bool) -> bool:
    """Read a tag alone on a line as a block of its own.

    CommonMark would read all below it as HTML, up to a blank line; MDX and most editors read Markdown there.
    """
    line = state.src[state.bMarks[start] + state.tShift[start] : state.eMarks[start]]
    found = None if state.is_code_block(start) else _LONE_TAG.fullmatch(line)
    if found is None or silent:
        # An image or a line break may be within a paragraph, which a component ends.
        return found is not None and found["component"] is not None
    token = state.push("html_block", "", 0)
    token.content, token.map, state.line = f"{line}\n", [start, start + 1], start + 1
    if found["component"] and start + 1 < end and state.is_code_block(start + 1):
        state.sCount[start + 1] = state.blkIndent  # MDX has no indented code
    return True


def _leave_out_attributes(state: "StateCore") -> None:
    """Leave out attributes; code, which may look like them, is in tokens of its own or in backticks."""
    for token in state.tokens:
        if token.type == "inline" and "{" in token.content:
            kept = _ATTRIBUTES.sub(lambda one: one[0] if one["space"] is None else "", token.content)
            token.content = kept.rstrip()


def _footnote_mark(renderer: object, tokens: "Sequence[Token]", at: int, options: object, env: object) -> str:
    return f"<sup>[{int(tokens[at].meta['id']) + 1}]</sup>"


def simplify(state: "StateCore") -> None:
    """Turn boxes into quotations with bold titles and alignment into classes; leave out attributes."""
    tokens, at = state.tokens, 0
    while at < len(tokens):
        token = tokens[at]
        if token.type.startswith("container_box_") or token.type in ("admonition_open", "admonition_close"):
            token.tag, token.attrs = "blockquote", {}
            if token.type == "container_box_open" and (title := _title(token.info)):
                tokens[at + 1 : at + 1] = _paragraph(title, token, state)
        elif token.type in ("admonition_title_open", "admonition_title_close"):
            token.tag = "p"
            if token.nesting > 0:
                tokens[at + 1].children = _bold(tokens[at + 1].children or [])
        elif token.type in ("th_open", "td_open"):
            if alignment := ALIGNMENTS.get(str(token.attrs.pop("style", ""))):
                token.attrSet("class", alignment)
        elif token.type == "inline" and at > 1 and tokens[at - 2].type == "blockquote_open":
            _embolden_alert(token.children or [])
        at += 1


def _title(info: str) -> str:
    """Return the title of a container such as `tip`, `tip Read this` or `tip[Read this]`."""
    found = _CONTAINER.fullmatch(info)
    if found is None:
        return info.strip()
    kind, *titles = found.groups()
    named = "{" not in info and kind not in _FRAMES
    return " ".join(filter(None, titles)).strip() or (kind.capitalize() if named else "")


def _paragraph(text: str, box: "Token", state: "StateCore") -> "list[Token]":
    from markdown_it.token import Token

    children = list[Token]()
    state.md.inline.parse(text, state.md, state.env, children)
    inline = Token("inline", "", 0, content=text, map=box.map, children=_bold(children))
    return [Token("paragraph_open", "p", 1, map=box.map), inline, Token("paragraph_close", "p", -1)]


def _embolden_alert(children: "list[Token]") -> None:
    """Make bold the first line of a quotation such as `> [!NOTE] Mind`."""
    alert = _ALERT.match(children[0].content) if children and children[0].type == "text" else None
    if alert is None:
        return
    title = children[0].content[alert.end() :]
    children[0].content = f"{alert[1].capitalize()}: {title}" if title else alert[1].capitalize()
    end = next((at for at, child in enumerate(children) if child.type == "softbreak"), len(children))
    for child in children[end : end + 1]:
        child.type, child.tag = "hardbreak", "br"
    children[:end] = _bold(children[:end])


def _bold(children: "list[Token]") -> "list[Token]":
    from markdown_it.token import Token

    return [Token("strong_open", "strong", 1), *children, Token("strong_close", "strong", -1)]


def _emphasis(state: "StateInline", silent: bool) -> bool:
    """Collect delimiters as the parser does, where East Asian text and punctuation are no obstacle.

    CommonMark's rule is made for scripts with spaces (commonmark-spec, issue 650). This is the amendment that
    is proposed there: a run beside other punctuation may also open or close at an East Asian character.
    """
    from markdown_it.rules_inline import emphasis

    start, marker = state.pos, state.src[state.pos]
    is_read = emphasis.tokenize(state, silent)
    if is_read and marker == "*":
        before, after = state.src[start - 1 : start] or " ", state.src[state.pos : state.pos + 1] or " "
        for delimiter in state.delimiters[start - state.pos :]:
            delimiter.open |= _flanks(after, before)
            delimiter.close |= _flanks(before, after)
    return is_read


def _flanks(inside: str, outside: str) -> bool:
    """Return whether a run of asterisks between two characters may be at the edge of emphasis."""
    if inside.isspace():
        return False
    is_punctuation = unicodedata.category(inside)[0] in "PS" and not _EAST_ASIAN.match(inside)
    return not is_punctuation or _EAST_ASIAN.match(outside) is not None
