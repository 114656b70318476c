"""The stylesheet: scoped, in a layer, without direction, and safe in a style element."""

import re
from typing import Any

import tinycss2

from faqsvc_embed.rendering.assets import script, stylesheet


def rules(content: Any, media: str = "") -> list[tuple[str, str, Any]]:
    """Return (media, selector, declarations) of each style rule below a list of CSS tokens."""
    found = []
    for node in tinycss2.parse_rule_list(content, skip_comments=True, skip_whitespace=True):
        assert node.type != "error", node
        if node.type == "at-rule" and node.at_keyword == "keyframes":
            assert tinycss2.serialize(node.prelude).strip().startswith("faqsvc-")
        elif node.type == "at-rule":
            assert node.at_keyword in ("media", "container")
            found += rules(node.content, tinycss2.serialize(node.prelude).strip())
        else:
            declarations = tinycss2.parse_declaration_list(node.content, skip_whitespace=True)
            assert all(d.type == "declaration" for d in declarations)
            found.append((media, tinycss2.serialize(node.prelude).strip(), declarations))
    return found


def layer() -> list[tuple[str, str, Any]]:
    (node,) = tinycss2.parse_stylesheet(stylesheet(), skip_comments=True, skip_whitespace=True)
    assert (node.at_keyword, tinycss2.serialize(node.prelude).strip()) == ("layer", "faqsvc")
    return rules(node.content)


def test_the_stylesheet_is_one_layer_below_one_class() -> None:
    for _, selector, _ in layer():
        plain = selector
        while "(" in plain:
            plain = re.sub(r"\([^()]*\)", "", plain)
        for part in plain.split(","):
            assert re.match(r"(button|details)?\.faqsvc(-[a-z]+)?(?![\w-])", part.strip()), selector


def test_the_stylesheet_uses_logical_properties_only() -> None:
    for _, selector, declarations in layer():
        for declaration in declarations:
            assert not re.search(r"left|right|^(width|height|(min|max)-(width|height))$", declaration.name)
            value = tinycss2.serialize(declaration.value)
            assert not re.search(r"\b(left|right)\b", value), (selector, declaration.name)


def test_any_rule_of_the_host_wins_except_for_its_buttons_and_where_content_would_be_lost() -> None:
    important = {
        (selector, declaration.name)
        for _, selector, declarations in layer()
        for declaration in declarations
        if declaration.important and not selector.startswith("button")
    }
    assert important == {
        ('.faqsvc-panel[hidden="until-found"]', "display"),
        (".faqsvc-panel[hidden]", "display"),  # on paper
    }


def test_styles_and_script_load_nothing_and_cannot_end_their_element() -> None:
    assert not re.search(r"url\(|@import|@font-face|[<\\]", stylesheet())
    assert not re.search(r"[<\u2028\u2029]|eval|innerHTML", script())
    assert "/*" not in stylesheet() + script()
    assert len(script()) < 6_000


def test_print_opens_every_answer() -> None:
    in_print = {
        selector: {d.name: tinycss2.serialize(d.value).strip() for d in declarations}
        for media, selector, declarations in layer()
        if media == "print"
    }
    assert in_print[".faqsvc-item::details-content"] == {
        "content-visibility": "visible",
        "block-size": "auto",
    }
    assert in_print[".faqsvc-panel[hidden]"] == {"display": "block", "content-visibility": "visible"}


def test_motion_respects_the_preference_for_less() -> None:
    moving = {
        media
        for media, _, declarations in layer()
        for d in declarations
        if d.name.startswith(("transition", "animation"))
        and "faqsvc-" not in tinycss2.serialize(d.value)  # these change nothing while they last
    }
    assert moving == {"screen and (prefers-reduced-motion:no-preference)"}
