"""Parts of an FAQ: answers where the question arises, with the ids that they have in the whole."""

import asyncio
import json
import re
from collections.abc import Callable
from typing import Any

import pytest
from django.template import engines
from jinja2 import Environment

from faqsvc_embed import FAQ, ConfigurationError, FAQEmbed, Item, to_json_ld
from faqsvc_embed.jinja import install
from faqsvc_embed.page.page import REQUEST, Page
from faqsvc_embed.testing import fake_embed
from tests.support import django_project
from tests.support.parsed import Parsed
from tests.test_costs import calls

SHOP = FAQ(
    "shop",
    title="Shop",
    lang="en",
    answer_format="markdown",
    introduction="Ask us.",
    items=(
        Item(0, "How do I order?", "Here.", section="Orders"),
        Item(1, "Do you ship “abroad”?", "# Yes\n\nTo Spain.", section="Delivery", id="ship"),
        Item(2, "How long does it take?", "A day.", section="Delivery"),
        Item(3, "How can I pay?", "By card.", section="Orders"),
    ),
)
NAMES = ("how-do-i-order", "ship", "how-long-does-it-take", "how-can-i-pay")
ORDER, SHIP, LONG, PAY = (f"faq-shop--{name}" for name in NAMES)
SCRIPT = r'<script type="application/ld\+json">(.*?)</script>'


@pytest.fixture
def embed() -> FAQEmbed:
    return fake_embed({"shop": SHOP})


def questions(html: str) -> list[str]:
    return Parsed(html).texts("faqsvc-question")


def elements(html: str) -> list[str]:
    """Return the ids of the answers on a page."""
    return [str(e.get("id")) for e in Parsed(html).elements if e.get("class") == "faqsvc-answer"]


def nodes(html: str) -> list[str]:
    """Return the ids of the questions in the JSON-LD of a page, in each of its scripts."""
    found = [node for script in re.findall(SCRIPT, html) for node in json.loads(script)["mainEntity"]]
    return [node.get("@id", node["name"]).lstrip("#") for node in found]


# Records


def test_a_section_is_an_faq_with_its_title() -> None:
    part = SHOP.part("Delivery")
    assert (part.slug, part.title, part.introduction) == ("shop", "Delivery", None)
    assert [(item.question, item.section) for item in part.items] == [
        ("Do you ship “abroad”?", None),
        ("How long does it take?", None),
    ]
    assert SHOP.part("delivery") == SHOP.part(" Delivery ") == part


@pytest.mark.parametrize(
    ("section", "named", "shown"),
    [
        (None, ["How can I pay?", "ship"], [3, 1]),
        (None, ["how-can-i-pay"], [3]),
        (None, 'Do you ship "abroad"', [1]),
        (None, "ship, how-can-i-pay", [1, 3]),
        (None, ("ship", "ship"), [1]),
        (None, [], []),
        ("Orders", ["How can I pay?"], [3]),
        ("Orders", None, [0, 3]),
    ],
)
def test_questions_are_named_by_id_or_text_and_keep_that_order(
    section: Any, named: Any, shown: list[int]
) -> None:
    part = SHOP.part(section, named)
    assert [item.question for item in part.items] == [SHOP.items[n].question for n in shown]
    assert part.title == (section or "Shop")


@pytest.mark.parametrize(
    ("section", "named", "similar"),
    [
        ("Delivry", None, "'Delivery'"),
        (None, ["shp"], "'ship'"),
        (None, ["How can I pai"], "How can I pay"),
        ("Orders", ["ship"], "in section 'Orders'"),
    ],
)
def test_what_is_unknown_is_an_error_that_names_what_is_similar(
    section: Any, named: Any, similar: str
) -> None:
    with pytest.raises(LookupError, match=re.escape(repr(named[0] if named else section))) as error:
        SHOP.part(section, named)
    assert similar in str(error.value)


def test_a_part_is_valid_although_its_longest_ids_are_repeated() -> None:
    items = [Item(n, f"Question {n}?", "Yes.", "Delivery", "x" * 99 + one) for n, one in enumerate("aabb")]
    part = FAQ(slug="shop", items=tuple(items)).part(section="Delivery")
    assert [item.question for item in part.items] == [item.question for item in items]
    assert len({item.id for item in part.items}) == 4


def test_a_question_with_the_same_words_keeps_the_id_that_it_has_in_the_whole() -> None:
    items = (Item(0, "How long?", "A day.", section="A"), Item(1, "How long?", "A week.", section="B"))
    record = FAQ("shop", items=items)
    html = str(fake_embed({"shop": record}).render("shop"))
    assert elements(str(fake_embed({}).render(record.part("B")))) == elements(html)[1:]


# Pages


def _jinja(embed: FAQEmbed, source: str) -> str:
    environment = Environment(autoescape=True)
    install(environment, embed)
    return environment.from_string(source).render()


def _django(embed: FAQEmbed, source: str) -> str:
    with django_project.project(lambda _: None, embed):
        template = engines["django"].from_string("{% load faqsvc %}" + source)
        return str(template.render({"named": TWO}))


TWO = ["ship", "how-can-i-pay"]
MACRO = '{% from "faqsvc/macros.html" import faq %}{{ faq("shop", questions="ship, how-can-i-pay") }}'
CALLS: dict[str, Callable[[FAQEmbed], str]] = {
    "render": lambda embed: str(embed.render("shop", questions=TWO)),
    "arender": lambda embed: str(asyncio.run(embed.arender("shop", questions=TWO))),
    "record": lambda embed: str(embed.render(SHOP, questions=TWO)),
    "global": lambda embed: _jinja(embed, '{{ faq("shop", questions=["ship", "how-can-i-pay"]) }}'),
    "tag": lambda embed: _jinja(embed, '{% faq "shop", questions=["ship", "how-can-i-pay"] %}'),
    "macro": lambda embed: _jinja(embed, MACRO),
    "django": lambda embed: _django(embed, '{% faq "shop" questions="ship, how-can-i-pay" %}'),
    "django variable": lambda embed: _django(embed, '{% faq "shop" questions=named %}'),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_markup_and_json_ld_have_exactly_the_questions_of_the_part(
    embed: FAQEmbed, call: Callable[[FAQEmbed], str]
) -> None:
    html = call(embed)
    assert questions(html) == ["Do you ship “abroad”?", "How can I pay?"]
    assert elements(html) == nodes(html) == [SHIP, PAY]
    assert Parsed(html).texts("faqsvc-title") == ["Shop"]
    assert "Ask us." not in html
    assert "faqsvc-section" not in re.sub("<style>.*?</style>", "", html)


def test_equal_questions_of_two_sections_are_two_in_the_markup_of_a_part_too() -> None:
    items = [Item(n, "How long?", f"{n} days.", section=title) for n, title in enumerate("AABB")]
    part = FAQ("shop", items=tuple(items)).part(questions=["How long?"])
    marked = [node["acceptedAnswer"]["text"] for node in to_json_ld(part)["mainEntity"]]
    assert marked == ["0 days.", "2 days."]  # in one section, the first of equal questions counts
    html = str(fake_embed({}).render(part))
    assert questions(html) == ["How long?"] * 4
    assert nodes(html) == elements(html)[::2]


def test_a_section_is_not_named_twice(embed: FAQEmbed) -> None:
    html = str(embed.render("shop", section="Delivery"))
    assert Parsed(html).texts("faqsvc-title") == ["Delivery"]
    assert html.count(">Delivery<") == 1


SHIP_2, LONG_2 = (f"faq-shop__2--{name}" for name in NAMES[1:3])
DELIVERY: dict[str, Any] = {"section": "Delivery"}
ONE: dict[str, Any] = {"questions": "ship"}


@pytest.mark.parametrize(
    ("parts", "shown", "marked"),
    [
        ([DELIVERY, {"section": "Orders"}], [SHIP, LONG, ORDER, PAY], [SHIP, LONG, ORDER, PAY]),
        ([ONE, DELIVERY], [SHIP, SHIP_2, LONG], [SHIP, SHIP, LONG]),
        ([ONE, ONE, ONE], [SHIP, SHIP_2, "faq-shop__3--ship"], [SHIP, SHIP, SHIP]),
        ([DELIVERY, {}], [SHIP, LONG, ORDER, PAY, SHIP_2, LONG_2], [SHIP, LONG, ORDER, PAY, SHIP, LONG]),
        ([{}, ONE], [ORDER, PAY, SHIP, LONG, SHIP_2], [ORDER, PAY, SHIP, LONG, SHIP]),
    ],
)
def test_only_a_question_that_is_repeated_has_another_element_and_all_are_one_in_the_graph(
    embed: FAQEmbed, parts: list[dict[str, Any]], shown: list[str], marked: list[str]
) -> None:
    for _ in range(2):  # rendered, and from the cache
        with embed.page():
            html = "".join(str(embed.render("shop", **part)) for part in parts)
        assert (elements(html), nodes(html)) == (shown, marked)
        ids = re.findall(r'\bid="([^"]+)"', html)
        assert len(set(ids)) == len(ids)
        texts = dict[str, set[str]]()
        for script in re.findall(SCRIPT, html):
            for node in json.loads(script)["mainEntity"]:
                texts.setdefault(node["@id"], set()).add(json.dumps(node))
        assert {len(found) for found in texts.values()} == {1}  # whatever the levels of the headings are


def test_a_later_script_has_each_question_once(embed: FAQEmbed) -> None:
    html = _jinja(
        embed,
        '{{ faq("shop", section="Delivery", schema=false) }}{{ faq("shop", questions="ship", schema=false) }}'
        '{{ faq("shop", questions="how-can-i-pay") }}'
        '{% for item in use_faq("shop", section="Orders").data.items %}{{ item.id }} {% endfor %}'
        "{{ faq_schema() }}",
    )
    assert nodes(html) == [PAY, SHIP, LONG, "How do I order?", PAY]  # that of the earlier script is the same
    assert "how-do-i-order how-can-i-pay" in html


def test_the_state_of_a_part_has_its_data(embed: FAQEmbed) -> None:
    assert embed.use_faq("shop", section="Delivery").data == SHOP.part("Delivery")
    source = '{% use_faq "shop" questions="ship" as state %}{{ state.data.items.0.question }}'
    assert _django(embed, source) == "Do you ship “abroad”?"


class _Development(Page):
    shows_problems = True


def test_what_is_unknown_is_left_out_and_named_once(
    embed: FAQEmbed, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        assert questions(str(embed.render("shop", questions=["shp", "how-can-i-pay"]))) == ["How can I pay?"]
        assert embed.render("shop", section="Delivry") == ""
        assert embed.use_faq("shop", section="Nothing").data == SHOP.part(questions=[])
    names = [
        [name for name in ("'ship'", "'Delivery'", "'Nothing'") if name in text] for text in caplog.messages
    ]
    assert names == [["'ship'"], ["'Delivery'"], ["'Nothing'"]]
    token = REQUEST.set(_Development())
    try:
        assert "Delivry" in embed.render("shop", section="Delivry")
    finally:
        REQUEST.reset(token)
    strict = fake_embed({"shop": SHOP}, strict=True)
    for options in ({"section": "Delivry"}, {"questions": ["shp"]}, {"questions": 5}):
        with pytest.raises(ConfigurationError):
            strict.render("shop", **options)
        with pytest.raises(ConfigurationError):
            strict.use_faq("shop", **options)


def test_an_empty_list_is_an_empty_part(embed: FAQEmbed, caplog: pytest.LogCaptureFixture) -> None:
    assert embed.render("shop", questions=[]) == embed.render("shop", section="Orders", questions=[]) == ""
    assert not caplog.records


def test_a_part_that_shows_nothing_takes_no_address(embed: FAQEmbed) -> None:
    with embed.page():
        assert embed.render("shop", section="Returns") == embed.render("shop", questions=[]) == ""
        assert 'id="faq-shop"' in embed.render("shop")


@pytest.mark.parametrize("count", [33, 100, 300])
def test_a_part_costs_at_most_twice_the_second_however_many_are_above_it(count: int) -> None:
    items = tuple(Item(n, f"Question {n}?", "So.", id=f"q{n}", section=f"S{n % 7}") for n in range(40))
    embed = fake_embed({"shop": FAQ("shop", items=items)})
    environment = Environment(autoescape=True)
    install(environment, embed)
    template = environment.from_string(
        "{% for n in range(count) %}{{ faq('shop', questions=['q' ~ n % 40, 'q' ~ n * 3 % 40]) }}{% endfor %}"
    )

    def cost(count: int) -> int:
        return calls(lambda: template.render(count=count))

    assert cost(count) - cost(count - 1) <= 2 * (cost(2) - cost(1))


def test_questions_that_visitors_invent_do_not_fill_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """A host may pass on the questions of an address."""
    embed = fake_embed({"shop": SHOP})
    for n in range(200):
        embed.render("shop", questions=[f"invented {n}"])
    assert 1 <= len(caplog.records) <= 30
