"""A block's HTML, to the letter; whatever a record holds, it is a balanced tree of the record's words."""

import json
import re
import unicodedata
from enum import IntEnum
from typing import Any

import html5lib
import pytest
import tinycss2
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import DictLoader, Environment, StrictUndefined, Undefined
from markupsafe import Markup, escape

from faqsvc_embed import FAQ, Item, Theme, to_json_ld, to_json_ld_string
from faqsvc_embed.rendering.answers import paragraphs
from faqsvc_embed.rendering.assets import stylesheet, stylesheet_name, theme_rule
from faqsvc_embed.rendering.contrast import SUPPORTED, TEXT, accents, adaptive
from faqsvc_embed.rendering.environments import printed
from faqsvc_embed.rendering.renderer import (
    Block,
    Look,
    Renderer,
    link_element,
    problem_element,
    script_element,
    style_element,
)
from faqsvc_embed.runtime.steps import MANY, MUCH, portions
from faqsvc_embed.settings.validators import VARIANTS, Variant
from tests.support import samples
from tests.support.strategies import any_text, records

PLAIN = Look(Theme(), show_title=True, heading_level=2)
RENDERER = Renderer()
LOOKS = [
    Look(theme, show_title, level)
    for theme in (Theme(), Theme(accent_color="teal", question_size=18))
    for show_title in (True, False)
    for level in (None, 2, 6)
]


def small(*, title: str = "Prices", lang: str | None = "en") -> FAQ:
    return FAQ(
        "pricing", title=title, lang=lang, items=(Item(0, "What?", "Nothing."), Item(1, "How?", "So."))
    )


def block(faq: FAQ, look: Look = PLAIN, ordinal: int = 1) -> Block:
    rendered = RENDERER.block(faq, look, ordinal)
    assert rendered is not None
    return rendered


def normal(text: str) -> str:
    return " ".join(text.replace("\0", "\ufffd").split())


class Reader:
    """What an HTML5 parser makes of a fragment."""

    def __init__(self, html: str) -> None:
        parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
        self.root = parser.parseFragment(html)
        self.errors = [code for _, code, _ in parser.errors if code != "invalid-codepoint"]

    def elements(self) -> list[Any]:
        return [element for element in self.root.iter() if isinstance(element.tag, str)]

    def texts(self, name: str) -> list[str]:
        """The texts of the elements of a class."""
        found = [e for e in self.elements() if name in e.get("class", "").split()]
        return [normal("".join(element.itertext())) for element in found]


def test_a_block_is_a_section_with_a_title_and_one_details_an_item() -> None:  # A1, A4, A12, P2
    assert block(small()).html == (
        '<section class="faqsvc" id="faq-pricing" lang="en" dir="ltr">\n'
        '<h2 class="faqsvc-title">Prices</h2>\n'
        '<details class="faqsvc-item">\n'
        '<summary class="faqsvc-toggle"><h3 class="faqsvc-heading">'
        '<span class="faqsvc-question">What?</span></h3></summary>\n'
        '<div class="faqsvc-answer" id="faq-pricing--what">\n'
        "<p>Nothing.</p>\n"
        "</div>\n"
        "</details>\n"
        '<details class="faqsvc-item">\n'
        '<summary class="faqsvc-toggle"><h3 class="faqsvc-heading">'
        '<span class="faqsvc-question">How?</span></h3></summary>\n'
        '<div class="faqsvc-answer" id="faq-pricing--how">\n'
        "<p>So.</p>\n"
        "</div>\n"
        "</details>\n"
        "</section>"
    )


def test_a_hidden_title_leaves_the_rest_as_it_is() -> None:
    whole = block(small()).html
    hidden = block(small(), PLAIN._replace(show_title=False)).html
    assert hidden == whole.replace('\n<h2 class="faqsvc-title">Prices</h2>', "")


@pytest.mark.parametrize("title", ["", " ", "\n\t"])
def test_an_empty_title_prints_nothing(title: str) -> None:
    assert block(small(title=title)).html == block(small(), PLAIN._replace(show_title=False)).html


@pytest.mark.parametrize(("level", "below"), [(2, 3), (3, 4), (4, 5), (5, 6), (6, 6)])
def test_questions_are_one_heading_below_the_title_and_never_above_six(level: int, below: int) -> None:  # A4
    expected = block(small()).html
    for tag, wanted in (("h3", f"h{below}"), ("h2", f"h{level}")):
        expected = re.sub(rf"(</?){tag}\b", rf"\g<1>_{wanted}", expected)
    assert block(small(), PLAIN._replace(heading_level=level)).html == expected.replace("_h", "h")


def test_without_a_heading_level_there_is_no_heading() -> None:  # A4
    expected = block(small()).html
    expected = expected.replace("h2", "p").replace('<h3 class="faqsvc-heading">', "").replace("</h3>", "")
    assert block(small(), PLAIN._replace(heading_level=None)).html == expected


@pytest.mark.parametrize(
    ("lang", "attributes"),
    [
        ("en", ' lang="en" dir="ltr"'),
        ("zh-Hant-TW", ' lang="zh-Hant-TW" dir="ltr"'),
        ("ar", ' lang="ar" dir="rtl"'),
        ("he-IL", ' lang="he-IL" dir="rtl"'),
        ("FA", ' lang="FA" dir="rtl"'),
        (None, ' dir="auto"'),
    ],
)
def test_the_root_says_the_language_and_its_direction(lang: str | None, attributes: str) -> None:  # A12
    expected = block(small()).html.replace(' lang="en" dir="ltr"', attributes)
    assert block(small(lang=lang)).html == expected


def test_a_theme_is_one_class_and_one_rule() -> None:  # T2, C1
    theme = Theme(accent_color="teal", question_size=18)
    name, rule = theme_rule(theme)
    on_light, on_dark = accents("#008080", TEXT)
    assert rule == (
        f"@layer faqsvc{{.{name}{{--faqsvc-accent:#008080;--faqsvc-question-size:18px}}"
        f"@supports {SUPPORTED}{{.{name}{{--faqsvc-accent:{adaptive('#008080', on_dark)};"
        f"--faqsvc-link:{adaptive(on_light, on_dark)}}}}}}}"
    )
    themed = block(small(), PLAIN._replace(theme=theme))
    assert themed.html == block(small()).html.replace('class="faqsvc"', f'class="faqsvc {name}"')
    assert themed.css == (stylesheet(), rule)
    assert theme_rule(Theme(accent_color="#008080", question_size=18.0)) == (name, rule)  # T6
    assert theme_rule(Theme(question_size=18))[1].endswith("{--faqsvc-question-size:18px}}")
    assert theme_rule(Theme()) == ("", "")


def test_the_second_block_of_a_slug_has_ids_of_its_own() -> None:  # A14
    first, second = block(small()).html, block(small(), ordinal=2).html
    assert second == first.replace('id="faq-pricing', 'id="faq-pricing__2')


def test_items_without_a_question_or_an_answer_are_left_out() -> None:  # J5, J10
    items = (Item(0, "What?", "Nothing."), Item(1, " ", "x"), Item(2, "x", "\n"), Item(3, "How?", "So."))
    assert block(FAQ("pricing", title="Prices", lang="en", items=items)).html == block(small()).html


@pytest.mark.parametrize("items", [(), (Item(0, "", "x"), Item(1, "x", " "))])
def test_without_an_item_to_show_there_is_no_block(items: tuple[Item, ...]) -> None:  # J5, J16
    assert RENDERER.block(FAQ("pricing", title="Prices", items=items), PLAIN) is None


def test_items_are_shown_in_the_order_of_their_positions() -> None:  # J6
    items = (Item(5, "How?", "So."), Item(-1, "What?", "Nothing."))
    assert block(FAQ("pricing", title="Prices", lang="en", items=items)).html == block(small()).html


def test_markup_in_a_record_is_text() -> None:  # H1, E9
    faq = FAQ(
        'a"b',
        title="<b>T</b> & 'more'",
        lang="en",
        items=(Item(0, '"><img src=x onerror=alert(1)>', "{{ 7 * 7 }}</details></section>\0"),),
    )
    assert block(faq).html == (
        '<section class="faqsvc" id="faq-a-b_39a012772dd5c3ac" lang="en" dir="ltr">\n'
        '<h2 class="faqsvc-title">&lt;b&gt;T&lt;/b&gt; &amp; &#39;more&#39;</h2>\n'
        '<details class="faqsvc-item">\n'
        '<summary class="faqsvc-toggle"><h3 class="faqsvc-heading"><span class="faqsvc-question">'
        "&#34;&gt;&lt;img src=x onerror=alert(1)&gt;</span></h3></summary>\n"
        '<div class="faqsvc-answer" id="faq-a-b_39a012772dd5c3ac--img-src-x-onerror-alert-1">\n'
        "<p>{{ 7 * 7 }}&lt;/details&gt;&lt;/section&gt;\ufffd</p>\n"
        "</div>\n"
        "</details>\n"
        "</section>"
    )


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("one", "<p>one</p>"),
        ("one\ntwo", "<p>one<br>\ntwo</p>"),
        ("one\n\ntwo", "<p>one</p>\n<p>two</p>"),
        ("one\r\n\r\n \t\r\ntwo\rthree\r\n", "<p>one</p>\n<p>two<br>\nthree</p>"),
        ("  a & b  ", "<p>a &amp; b</p>"),
        ("- 1\n- 2", "<p>- 1<br>\n- 2</p>"),
        ("<p>\n\n</p>", "<p>&lt;p&gt;</p>\n<p>&lt;/p&gt;</p>"),
    ],
)
def test_blank_lines_part_paragraphs_and_line_breaks_are_kept(text: str, html: str) -> None:  # H1
    assert paragraphs(text) == html


def assert_parity(faq: FAQ, look: Look) -> None:
    """Both lists are made of the record's words, and of nothing else (J10)."""
    shown = [item for item in faq.items if item.question.strip() and item.answer.strip()]
    rendered = RENDERER.block(faq, look)
    if rendered is None:
        assert not shown
        assert to_json_ld(faq) == {}
        return
    rendered.html.encode()  # E4
    page = Reader(f"{rendered.html}{script_element([faq])}<i class='sentinel'>still here</i>")
    assert page.errors == []
    assert [e.tag for e in page.root] == ["section", "script", "i"]  # balanced (H3, E3)
    pairs = list(zip(page.texts("faqsvc-question"), page.texts("faqsvc-answer"), strict=True))
    assert pairs == [(normal(item.question), normal(item.answer)) for item in shown]
    title = normal(faq.title)
    assert page.texts("faqsvc-title") == ([title] if look.show_title and title else [])
    once = dict[str, tuple[str, str]]()
    for question, answer in pairs:
        once.setdefault(unicodedata.normalize("NFC", question), (question, answer))
    node = json.loads(to_json_ld_string(faq))
    marked = [(normal(q["name"]), normal(q["acceptedAnswer"]["text"])) for q in node["mainEntity"]]
    assert marked == list(once.values())
    assert page.root[1].text == to_json_ld_string(faq)
    assert_no_active_markup(page)
    ids = [e.get("id") for e in page.elements() if e.get("id")]
    assert len(set(ids)) == len(ids) == len(shown) + 1  # A14


def assert_no_active_markup(page: Reader) -> None:  # C1
    allowed = {"section", "h2", "h3", "h6", "p", "details", "summary", "span", "div", "br", "script", "i"}
    for element in page.elements()[1:]:
        assert element.tag in allowed
        assert set(element.attrib) <= {"class", "id", "lang", "dir", "type"}


@given(records, st.sampled_from(LOOKS))
def test_any_record_is_a_balanced_tree_of_its_own_words(record: dict[str, Any], look: Look) -> None:
    assert_parity(FAQ.from_dict({**record, "cta": None}), look)


@pytest.mark.parametrize("look", LOOKS)
def test_a_record_of_traps_is_a_balanced_tree_of_its_own_words(look: Look) -> None:
    assert_parity(FAQ.from_dict(samples.nasty()), look)


@given(any_text)
def test_a_text_is_paragraphs_and_line_breaks_and_nothing_else(text: str) -> None:  # H1
    page = Reader(paragraphs(FAQ("p", items=(Item(0, "q", text),)).items[0].answer))
    assert page.errors == []
    assert {e.tag for e in page.elements()[1:]} <= {"p", "br"}


# What the page prints around blocks


def test_elements_around_a_block_escape_what_they_are_given() -> None:  # E7, J17
    faq = FAQ("p", lang="en", items=(Item(0, "Q", "</script>"),))
    assert script_element([faq], 'a"b') == (
        '\n<script type="application/ld+json" nonce="a&#34;b">'
        '{"@context":"https://schema.org","@type":"FAQPage","inLanguage":"en","mainEntity":'
        '[{"@type":"Question","name":"Q","acceptedAnswer":{"@type":"Answer","text":"\\u003c/script\\u003e"}}]}'
        "</script>"
    )
    assert style_element(["a{}", "b{}"], 'x" onload="y') == (
        '<style nonce="x&#34; onload=&#34;y">a{}b{}</style>\n'
    )
    assert link_element('/a"b.css') == '<link rel="stylesheet" href="/a&#34;b.css">\n'
    assert problem_element("<b>&\ud800") == (
        '<p class="faqsvc-problem" role="note"><strong>faqsvc:</strong> &lt;b&gt;&amp;?</p>'
    )


def test_nothing_to_print_is_the_empty_string() -> None:  # J16
    assert script_element([]) == ""
    assert script_element([FAQ("p")]) == ""
    assert style_element([]) == ""
    assert style_element(["a{}"], "") == "<style>a{}</style>\n"


# Templates of the host


def hosts(template: str, **options: Any) -> Renderer:
    return Renderer(Environment(loader=DictLoader({"faqsvc/faq.html": template}), **options))


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("level", [None, 2])
def test_our_templates_print_the_same_as_one_and_one_by_one(
    variant: Variant, exclusive: bool, level: int | None
) -> None:  # T7
    """A host that has one of them, if only to extend ours, has all rendered one by one."""
    renderer = hosts('{%- extends "faqsvc/block.html" -%}')
    look = Look(Theme(), True, level, variant, exclusive)
    for faq in (small(), small(title=""), FAQ.from_dict(samples.nasty())):
        one_by_one = renderer.block(faq, look)
        assert one_by_one is not None
        assert block(faq, look).html == one_by_one.html


def test_a_host_replaces_the_inside_and_keeps_the_root() -> None:  # T7, E5
    faq = FAQ("p", title="<T>", lang="ar", items=(Item(0, "<Q>", "A\nB"),))
    renderer = hosts(
        "<dl>{% for i in items %}<dt id={{ i.id }}>{{ i.question }}<dd>{{ i.answer }}{% endfor %}</dl>"
    )
    rendered = renderer.block(faq, PLAIN)
    assert rendered is not None
    assert rendered.html == (
        '<section class="faqsvc" id="faq-p" lang="ar" dir="rtl">'
        "<dl><dt id=faq-p--q>&lt;Q&gt;<dd><p>A<br>\nB</p></dl>\n</section>"
    )


def test_a_host_fills_one_block_and_keeps_the_others() -> None:  # T7
    renderer = hosts(
        '{% extends "faqsvc/block.html" %}{% block cta %}\n<a href="/x">{{ faq.cta.label }}</a>{% endblock %}'
    )
    faq = FAQ("pricing", title="Prices", lang="en", items=small().items, cta={"label": "<Buy>"})
    rendered = renderer.block(faq, PLAIN)
    assert rendered is not None
    assert rendered.html == block(small()).html.replace(
        "\n</section>", '\n<a href="/x">&lt;Buy&gt;</a>\n</section>'
    )


@pytest.mark.parametrize(
    "options",
    [
        {"autoescape": False},
        {"enable_async": True},
        {"undefined": StrictUndefined},
        {"finalize": lambda value: "finalized"},
        {"trim_blocks": True, "lstrip_blocks": True},
        {"block_start_string": "<%", "block_end_string": "%>"},
        {"variable_start_string": "${", "variable_end_string": "}"},
        {"line_statement_prefix": "<", "line_comment_prefix": "##"},
    ],
    ids=lambda options: ",".join(options),
)
def test_the_environment_of_a_host_changes_nothing_in_our_template(options: dict[str, Any]) -> None:  # E6
    faq = FAQ.from_dict(samples.nasty())
    rendered = Renderer(Environment(**options)).block(faq, PLAIN)
    assert rendered is not None
    assert rendered.html == block(faq).html


def test_filters_and_globals_of_the_host_work_in_its_override() -> None:
    environment = Environment(loader=DictLoader({"faqsvc/faq.html": "{{ shout(title) | twice }}"}))
    renderer = Renderer(environment)
    environment.globals["shout"] = str.upper
    environment.filters["twice"] = lambda text: text * 2
    rendered = renderer.block(small(), PLAIN)
    assert rendered is not None
    assert (
        rendered.html
        == '<section class="faqsvc" id="faq-pricing" lang="en" dir="ltr">PRICESPRICES\n</section>'
    )


@pytest.mark.parametrize(
    "value", [5, 2.5, None, True, [], "", "plain", "<b>", Markup("<b>"), Markup.escape("'"), Undefined("x")]
)
def test_templates_print_a_value_as_if_it_were_made_markup(value: object) -> None:  # E9, H1
    assert printed(value) == escape(value)


@given(any_text)
def test_templates_print_any_text_escaped(text: str) -> None:  # E9, H1
    assert printed(text) == escape(text)
    assert printed(Markup(text)) == text


def test_what_knows_its_own_html_or_is_no_plain_text_is_printed_as_markupsafe_does() -> None:
    class Name(str):
        __slots__ = ()

        def __html__(self) -> str:
            return f"<b>{escape(str(self))}</b>"

    class Level(int):
        def __str__(self) -> str:
            return f"<{int(self)}>"

    class Kind(IntEnum):
        SMALL = 1

        def __html__(self) -> str:
            return f"<i>{self.name}</i>"

    assert printed(Name("a<b")) == "<b>a&lt;b</b>"
    assert printed(Name("ab")) == "<b>ab</b>"
    assert printed(Level(2)) == "&lt;2&gt;"
    assert printed(Kind.SMALL) == "<i>SMALL</i>"


def test_what_a_template_of_the_hosts_captures_is_markup_still() -> None:
    macro = "{% macro hr(text) %}<hr>{{ text }}{% endmacro %}{{ hr('<i>') }}{{ hr(items[0].answer) }}"
    capture = "{% set html %}<b>{{ title }}</b>{% endset %}{{ html }}{{ html ~ '<u>' }}{{ html | e }}"
    rendered = hosts(macro + capture).block(small(title="<T>"), PLAIN)
    assert rendered is not None
    title = "<b>&lt;T&gt;</b>"
    inside = f"<hr>&lt;i&gt;<hr><p>Nothing.</p>{title}{title}&lt;u&gt;{title}"
    assert (
        rendered.html == f'<section class="faqsvc" id="faq-pricing" lang="en" dir="ltr">{inside}\n</section>'
    )


@given(st.lists(st.integers(0, 2 * MUCH) | st.integers(0, 200), max_size=3 * MANY))
def test_a_step_gets_many_things_or_much_text_and_nothing_is_lost(lengths: list[int]) -> None:
    cut = list(portions(lengths, lambda length: length))
    assert [length for some in cut for length in some] == lengths
    assert all(len(some) == 1 or (len(some) <= MANY and sum(some) <= MUCH) for some in cut)


# The stylesheet


def rules(content: Any, media: str = "") -> list[tuple[str, str, Any]]:
    """Return (media, selector, declarations) of each style rule below a list of CSS tokens."""
    found = []
    for node in tinycss2.parse_rule_list(content, skip_comments=True, skip_whitespace=True):
        assert node.type != "error", node
        if node.type == "at-rule":
            assert node.at_keyword == "media"
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


def test_the_stylesheet_is_one_layer_below_one_class() -> None:  # T5
    for _, selector, _ in layer():
        plain = selector
        while "(" in plain:
            plain = re.sub(r"\([^()]*\)", "", plain)
        for part in plain.split(","):
            assert re.match(r"(button|details)?\.faqsvc(-[a-z]+)?(?![\w-])", part.strip()), selector


def test_the_stylesheet_knows_no_left_and_no_right() -> None:  # A12
    for _, selector, declarations in layer():
        for declaration in declarations:
            assert not re.search(r"left|right|^(width|height|(min|max)-(width|height))$", declaration.name)
            value = tinycss2.serialize(declaration.value)
            assert not re.search(r"\b(left|right)\b", value), (selector, declaration.name)
            # Any rule of the host's wins, but none can keep a closed panel from being found; and Pico's
            # own properties, by which it makes all buttons alike, are no rule of a host's.
            kept = (selector, declaration.name) == ('.faqsvc-panel[hidden="until-found"]', "display")
            assert declaration.important == (kept or declaration.name.startswith("--pico-"))


def test_the_stylesheet_loads_nothing_and_cannot_end_its_element() -> None:  # C7, E3
    assert not re.search(r"url\(|@import|@font-face|</|<!--|\\", stylesheet())


def test_print_opens_every_answer() -> None:  # P4
    printed = {
        selector: {d.name: tinycss2.serialize(d.value).strip() for d in declarations}
        for media, selector, declarations in layer()
        if media == "print"
    }
    assert printed[".faqsvc-item::details-content"] == {"content-visibility": "visible", "block-size": "auto"}
    assert printed['.faqsvc-item [hidden="until-found"]'] == {"content-visibility": "visible"}


def test_motion_is_only_for_those_who_did_not_decline_it() -> None:  # A13
    moving = {
        media
        for media, _, declarations in layer()
        for d in declarations
        if d.name.startswith(("transition", "animation"))
    }
    assert moving == {"screen and (prefers-reduced-motion:no-preference)"}


def test_the_name_of_the_stylesheet_follows_its_contents() -> None:
    assert re.fullmatch(r"faqsvc\.[0-9a-f]{12}\.css", stylesheet_name())
