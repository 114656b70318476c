"""`faq_parity`: what differs between the FAQPage markup of a page and its words, whoever made both."""

import itertools
import json
import re
from pathlib import Path
from typing import Any

import pytest
from starlette.responses import HTMLResponse

from faqsvc_embed import FAQ
from faqsvc_embed.testing import fake_embed, faq_parity
from tests.cli.support import faqsvc
from tests.support.growth import grows_linearly
from tests.support.running import running

PAIRS = [
    ("How much is a poster?", "Five euros.", "A frame is another ten."),
    ("Do you ship abroad?", "Yes, to Europe.", "It takes <b>three</b> days."),
    ("Can I pay by card?", "Yes.", "We take every card."),
    ("Is there a shop?", "In Bremen.", "It is open on Mondays."),
]


def graph(**changes: Any) -> dict[str, Any]:
    """Return the FAQPage of the questions, as most sites write it."""
    questions = [
        {
            "@type": "Question",
            "name": question,
            "acceptedAnswer": {"@type": "Answer", "text": " ".join(answer)},
        }
        for question, *answer in PAIRS
    ]
    return {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": questions, **changes}


def script(*graphs: dict[str, Any]) -> str:
    return "".join(f'<script type="application/ld+json">{json.dumps(one)}</script>' for one in graphs)


FORMS = {
    "details": "<details><summary>{0}</summary><div><p>{1}</p><p>{2}</p></div></details>",
    "headings": "<h3>{0}</h3><p>{1}</p><p>{2}</p>",
    "terms": "<dt>{0}</dt><dd>{1}<br>{2}</dd>",
    "panels": '<div class="item"><h3><button aria-expanded="false">{0} <i class="icon">more</i></button></h3>'
    '<div hidden aria-hidden="true">{1} {2}</div></div>',
    "bold lines": "<p><strong>{0}</strong><br>{1} {2}</p>",
    "labels": "<p>Q: {0}</p><p>A: {1} {2}</p>",
}


def page(form: str = "details", *more: str, markup: str | None = None, pairs: Any = PAIRS) -> str:
    """Return a page with the questions in a form, and other things around them."""
    index = "".join(f"<li><a href='#x'>{question}</a></li>" for question, *_ in PAIRS)
    listed = "".join(FORMS[form].format(*pair) for pair in pairs)
    return (
        f"<!doctype html><html lang=en><title>Shop</title>{script(graph()) if markup is None else markup}"
        f"<header><nav><ul>{index}</ul></nav></header><main><h1>Shop</h1><p>We print.</p>"
        f"<div class=faq>{listed}{''.join(more)}</div><h2>Contact</h2><p>Write to us.</p></main>"
        "<footer><details><summary>Menu</summary><a href=/>Home</a></details></footer></html>"
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_page_that_says_what_its_markup_says_has_no_difference(form: str) -> None:
    assert faq_parity(page(form)) == []
    assert faq_parity(page(form).encode()) == []


TABS = "".join(f"<button role=tab>{pair[0]}</button>" for pair in PAIRS)


def test_answers_may_stand_apart_from_their_questions_in_the_same_order() -> None:
    panels = [f"<div hidden>{pair[1]} {pair[2]}</div>" for pair in PAIRS]
    assert faq_parity(f"{script(graph())}<div>{TABS}</div>{''.join(panels)}") == []
    assert faq_parity(f"{script(graph())}<div>{TABS}</div>{''.join(reversed(panels))}")


def changed(number: int, question: str | None = None, answer: str | None = None) -> str:
    """Return the markup with one question or answer changed; an empty text is left out."""
    data = graph()
    node = data["mainEntity"][number]
    if question is not None:
        node["name"] = question
    if answer is not None:
        node["acceptedAnswer"]["text"] = answer
    return script(data)


def without(number: int) -> str:
    data = graph()
    del data["mainEntity"][number]
    return script(data)


def swapped() -> str:
    data = graph()
    one, other = data["mainEntity"][:2]
    one["acceptedAnswer"], other["acceptedAnswer"] = other["acceptedAnswer"], one["acceptedAnswer"]
    return script(data)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("markup", "named"),
    [
        (without(0), "How much is a poster?"),
        (without(3), "Is there a shop?"),
        (changed(1, question="Do you ship overseas?"), "overseas"),
        (changed(1, question="Do you ship?"), "Do you ship?"),
        (changed(1, question=""), "no name"),
        (changed(2, answer=""), "no answer"),
        (changed(0, answer="Six euros. A frame is another ten."), "Six"),
        (changed(0, answer="Five euros. A frame another is ten."), "another is"),
        (changed(0, answer="A frame is another ten. Five euros."), "How much is a poster?"),
        (changed(0, answer="Five euros. A frame is another ten. Glass is extra."), "Glass"),
        (changed(0, answer="Five euros."), "A frame is another ten."),
        (changed(1, answer="Something else entirely."), "Something else"),
        (swapped(), "Do you ship abroad?"),
        (
            script(graph(mainEntity=[*graph()["mainEntity"], graph()["mainEntity"][0] | {"name": "Why?"}])),
            "Why?",
        ),
        (script(graph())[:-12] + "</script>", "line 1"),
        (script(graph(mainEntity=[*graph()["mainEntity"], {"@id": "#lost"}])), "no name"),
        (script(graph(mainEntity=[*graph()["mainEntity"], "#lost"])), "no name"),
        (script(graph(), graph()), "@id"),
        (script(graph(**{"@id": "#faqpage"}), graph()), "@id"),
        (script(graph(**{"@context": "https://example.com"})), "@context"),
    ],
)
def test_one_difference_is_found_and_named_in_a_few_lines(form: str, markup: str, named: str) -> None:
    lines = faq_parity(page(form, markup=markup))
    assert 1 <= len(lines) <= 9
    assert named in " ".join(lines)
    assert all("\n" not in line for line in lines)


@pytest.mark.parametrize("form", FORMS)
def test_a_question_that_only_the_page_has_is_found(form: str) -> None:
    lines = faq_parity(page(form, FORMS[form].format("Do you frame, too?", "Yes.", "In oak.")))
    assert 1 <= len(lines) <= 2
    assert "Do you frame, too?" in lines[-1]


@pytest.mark.parametrize("form", ["details", "terms"])
def test_a_question_that_only_the_page_has_may_be_in_other_words(form: str) -> None:
    listed = "".join(FORMS[form].format(*pair) for pair in [*PAIRS, ("Frames", "Yes.", "In oak.")])
    assert "Frames" in faq_parity(script(graph()) + listed)[-1]


@pytest.mark.parametrize(
    "beside",
    [
        "<dl><dt>Phone</dt><dd>555 0100</dd><dt>Opened</dt><dd>In 1999</dd></dl>",
        "<details><summary>Services</summary><a href=/a>Prints</a> and <a href=/b>frames</a></details>",
    ],
)
def test_terms_and_menus_that_ask_nothing_are_no_questions_of_the_page(beside: str) -> None:
    assert faq_parity(page("headings") + beside) == []


def test_a_label_in_any_language_is_no_part_of_a_question() -> None:
    assert faq_parity(page("headings", pairs=[(f"প্র. {pair[0]}", *pair[1:]) for pair in PAIRS])) == []
    asked, markup = "Do you ship to e.g. France?", changed(1, question="Do you ship to e.g. France?")
    pairs = [PAIRS[0], (f"No. {asked}", *PAIRS[1][1:]), *PAIRS[2:]]
    assert faq_parity(page("headings", markup=markup, pairs=pairs)) == []


@pytest.mark.parametrize("hidden", ["<template>{}</template>", "<!-- {} -->", "<script>{}</script>"])
def test_what_is_in_a_template_a_comment_or_a_script_is_not_on_the_page(hidden: str) -> None:
    assert (
        faq_parity(page("details", hidden.format("<details><summary>Why?</summary><p>So.</p></details>")))
        == []
    )
    lines = faq_parity(page("details", hidden.format(FORMS["details"].format(*PAIRS[0])), pairs=PAIRS[1:]))
    assert "How much is a poster?" in " ".join(lines)


@pytest.mark.parametrize(
    "markup",
    [
        script({"@context": "https://schema.org", "@graph": [{"@type": "WebPage"}, graph()]}),
        script({"@context": {"s": "https://schema.org/"}, "@graph": [graph(**{"@type": "s:FAQPage"})]}),
        script({"@context": "https://schema.org", "@graph": [
            graph(mainEntity=[{"@id": f"#{number}"} for number in range(4)]),
            *(node | {"@id": f"#{number}"} for number, node in enumerate(graph()["mainEntity"])),
        ]}),
        script(graph(**{"@id": "#faq"}), graph(**{"@id": "https://shop.example/help#faq"})),
        script(graph(), {"@context": "https://schema.org", "@type": "Product", "name": "A poster"}),
        '<script type="application/ld+json">{"name": "not read by anybody"</script>' + script(graph()),
        script(graph(name="Questions")).replace("application/ld+json", "Application/LD+json; charset=utf-8"),
        script(graph()).replace("@type", "type"),
        re.sub(r'"name": ("[^"]*")', r'"name": [{"@value": \1}]', script(graph())),
    ],
    ids=[
        "graph", "prefix", "references", "ids", "others", "broken, of something else", "type", "alias",
        "values",
    ],
)  # fmt: skip
def test_other_ways_to_write_the_same_markup(markup: str) -> None:
    assert faq_parity(page(markup=markup), "https://shop.example/help") == []


def test_all_faqpages_of_a_page_are_read_however_many() -> None:
    faqs = [
        script(graph(**{"@id": "#faqpage", "mainEntity": [graph()["mainEntity"][0] | {"name": f"Why {n}?"}]}))
        + FORMS["details"].format(f"Why {n}?", *PAIRS[0][1:])
        for n in range(120)
    ]
    assert faq_parity("".join(faqs)) == []


def test_two_ids_are_one_only_as_addresses_of_the_page() -> None:
    two = script(graph(**{"@id": "#faq"}), graph(**{"@id": "https://shop.example/help#faq"}))
    assert len(faq_parity(page(markup=two), "https://shop.example/other")) == 1
    assert len(faq_parity(page(markup=two))) == 1


MICRODATA = (
    '<div itemscope itemprop="mainEntity" itemtype="https://schema.org/Question"><h3 itemprop="name">{0}</h3>'
    '<div itemprop="acceptedAnswer" itemscope itemtype="https://schema.org/Answer">'
    '<div itemprop="text"><p>{1}</p><p>{2}</p></div></div></div>'
)


def microdata(*more: str) -> str:
    listed = "".join(MICRODATA.format(*pair) for pair in PAIRS)
    return (
        f'<main itemscope itemtype="https://schema.org/FAQPage"><h1>Shop</h1>{listed}{"".join(more)}</main>'
    )


def test_microdata_counts_where_there_is_no_json_ld() -> None:
    assert faq_parity(microdata()) == []
    assert "Why?" in faq_parity(microdata("<div><h3>Why?</h3><p>Because.</p></div>"))[0]
    other = microdata().replace('<h3 itemprop="name">Is', '<meta itemprop="name" content="Is it far?"><h3>Is')
    assert "Is it far?" in faq_parity(other)[0]
    assert "no answer" in faq_parity(microdata().replace('itemprop="text"', "", 1))[0]
    with_icons = microdata().replace("</h3>", ' <i class="material-icons">expand_more</i></h3>')
    assert faq_parity(with_icons) == []
    assert faq_parity(microdata().replace("<p>Five", "<p><del>Four</del> <script>let a</script>Five")) == []
    assert faq_parity(script(graph()) + microdata().replace("Five", "Six"))


@pytest.mark.parametrize(
    "html", ["", "<p>Hello</p>", page(markup=""), page(markup=script({"@type": "Product"}))]
)
def test_a_page_without_markup_says_so(html: str) -> None:
    assert len(lines := faq_parity(html)) == 1
    assert "no FAQPage" in lines[0]


RECORDS: dict[str, dict[str, Any]] = {
    "text": {"items": [["How much?", "Five.\n\nOr <b>ten</b> &amp; https://x.example"], ["<b>?", "Yes"]]},
    "markdown": {"answerFormat": "markdown", "introduction": "Hello **you**.", "items": [
        ["How much?", "Five **euros**.\n\n- a\n- b\n\n| a | b |\n|--|--|\n| 1 | 2 |\n\n### More\n\n`code`"],
        ["Ship?", "Yes, [to](https://shop.example/) you. ![x](https://e.example/y.png) <kbd>F1</kbd>"]]},
    "sections": {"items": [[f"Question {at}?", f"Answer {at}.", f"Part {at // 5}"] for at in range(20)]},
    "ja": {"lang": "ja", "answerFormat": "markdown", "items": [["いくら？", "**無料（むりょう）**。\n改行"]]},
    "ko": {"lang": "ko", "items": [["얼마인가요?", "무료입니다."], ["빈?", ""], ["얼마인가요?", "둘째"]]},
    "de": {"lang": "de", "items": [["Wieviel?", "Fünf."], ["Wohin?", "Überallhin."]]},
}  # fmt: skip


@pytest.mark.parametrize("name", RECORDS)
def test_our_own_pages_have_no_difference(name: str) -> None:
    keys = ("question", "answer", "section")
    items = [dict(zip(keys, item, strict=False)) for item in RECORDS[name]["items"]]
    embed = fake_embed(
        {"shop": {"title": "Shop", **RECORDS[name], "items": items}, "other": {"items": items[:1]}}
    )
    shapes = itertools.product(
        ("details", "disclosure", "open"), ("lines", "cards", "columns", "plain"), (2, 4)
    )
    for variant, look, level in shapes:
        with embed.page():
            faq = embed.render("shop", variant=variant, look=look, heading_level=level)  # type: ignore[arg-type]
            html = f"<h1>Shop</h1>{faq}<h2>More</h2>{embed.render('other')}<h2>Contact</h2><p>Write.</p>"
        assert faq_parity(html) == [], (variant, look, level)


def test_a_title_above_an_introduction_is_no_question() -> None:
    keys = ("question", "answer", "section")
    items = [dict(zip(keys, (f"Why {n}?", f"So {n}.", f"Part {n // 2}"), strict=True)) for n in range(6)]
    embed = fake_embed({"shop": {"title": "Shop", "introduction": "Hello. Ask us?", "items": items}})
    others = [{"question": question, "answer": "Yes."} for question in ("Where?", "When?")]
    with embed.page():
        faqs = [embed.render("shop"), *(embed.render(FAQ.from_dict({"slug": "x", "items": others})),) * 2]
    assert faq_parity("<p>Text between.</p>".join(faqs)) == []


def test_headings_that_ask_outside_of_the_faq_are_no_part_of_it() -> None:
    title = "<h2>What do we print?</h2><p>Posters.</p><h2>Who are we?</h2><p>Two printers.</p>"
    article = '<meta property="og:type" content="article">'
    listed = "".join(FORMS["headings"].format(*pair) for pair in PAIRS)
    markup = script(graph())
    assert faq_parity(f"{markup}{title}<div class=faq>{listed}</div>") == []
    assert faq_parity(f"{article}{markup}{title}<h2>Frequently asked questions</h2>{listed}") == []
    *inside, beside = (FORMS["headings"].format(*pair) for pair in PAIRS)
    (line,) = faq_parity(
        f"{markup}<div class=faq>{''.join(inside)}</div>{beside}<h3>Who are we?</h3><p>Printers.</p>"
    )
    assert "'Who are we?'" in line


@pytest.mark.parametrize(
    ("written", "steps"),
    [
        (
            "In two steps: 1) Choose a poster. 2) Pay.",
            "<p>In two steps:</p><ol><li>Choose a poster.</li><li>Pay.</li></ol>",
        ),
        (
            "In two steps: Choose a poster. Pay.",
            "<p>In two steps:</p><ul><li>Choose a poster.</li><li>Pay.</li></ul>",
        ),
        ("See it: Heron Pay.", "<p>See it:</p><img src=a.png alt=Heron><p>Pay.</p>"),
        ("Type <b> in the soft&shy;ware. Pay.", "<p>Type &lt;b&gt; in the software. Pay.</p>"),
    ],
    ids=["numbers of a list", "a list", "an image", "entities beside signs"],
)
def test_the_markup_may_be_typed_in_other_ways(written: str, steps: str) -> None:
    question = graph()["mainEntity"][0]
    question["acceptedAnswer"]["text"] = written
    shown = f"<h1>FAQ</h1><details><summary>{question['name']}</summary>{steps}</details>"
    assert faq_parity(script(graph(mainEntity=[question])) + shown) == []
    (line,) = faq_parity(script(graph(mainEntity=[question])) + shown.replace("Pay.", "Pay 2) euros."))
    assert "2)" in line


def test_an_id_that_is_no_address_is_an_id_of_its_own() -> None:
    assert faq_parity(page(markup=script(graph(**{"@id": "http://["})))) == []
    two = page(markup=script(graph(**{"@id": "http://["}), graph(**{"@id": "#faqpage"})))
    assert [line for line in faq_parity(two) if "@id" in line]


def test_the_line_of_broken_markup_is_that_of_the_page() -> None:
    broken = "<p>\n<script type=application/ld+json>\n{\n'FAQPage': 1}</script>"
    assert faq_parity(broken)[0].startswith("line 4: this JSON-LD cannot be read by any parser: Expecting")
    assert faq_parity(page(markup=script(graph()).replace("Five", "Fi\nve")))[0].endswith(
        "Invalid control character"
    )


def test_markup_without_questions_is_one_difference() -> None:
    empty, missing = faq_parity(page(markup=script(graph(mainEntity=[]))))
    assert ("mainEntity" in empty, str(len(PAIRS)) in missing) == (True, True)


def test_the_command_compares_a_file_or_a_page_of_this_machine(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.html", tmp_path / "bad.html"
    good.write_text(page(), encoding="utf-8")
    bad.write_text(page(markup=without(0)), encoding="utf-8")
    assert faqsvc("check", "--page", str(good)).exit_code == 0
    result = faqsvc("check", "--page", str(bad), "--json")
    assert (result.exit_code, len(json.loads(result.stdout)["differences"])) == (1, 1)
    with running(HTMLResponse(page())) as site:
        assert faqsvc("check", "--page", site).exit_code == 0
    with running(HTMLResponse(page(), status_code=404)) as site:
        assert faqsvc("check", "--page", site).exit_code == 1
    assert faqsvc("check", "--page", site).exit_code == 1
    assert faqsvc("check", "--page", str(tmp_path / "none.html")).exit_code == 1
    assert faqsvc("check").exit_code == faqsvc("check", str(tmp_path), "--page", str(good)).exit_code == 2


@pytest.mark.matrix
def test_the_work_on_nested_microdata_grows_linearly() -> None:
    question = (
        "<div itemscope itemprop=mainEntity itemtype=https://schema.org/Question><h3 itemprop=name>Is it?"
        "</h3><div itemprop=acceptedAnswer itemscope itemtype=https://schema.org/Answer>"
        "<div itemprop=text>Yes."
    )

    def page_of(count: int) -> str:
        deep = question * count + "</div></div></div>" * count
        return f"<div itemscope itemtype=https://schema.org/FAQPage>{deep}</div>"

    assert grows_linearly(faq_parity, page_of, 40)


@pytest.mark.matrix
@pytest.mark.parametrize("is_equal", [True, False])
@pytest.mark.parametrize("is_marked_up", [True, False])
def test_the_work_on_a_page_grows_linearly(is_equal: bool, is_marked_up: bool) -> None:
    def page_of(count: int) -> str:
        name = "Why?" if is_equal else "Why {}?"
        pairs = [(name.format(number), f"So {number}.") for number in range(count)]
        shown = "".join(f"<h2>{question}</h2><p>{answer}</p>" for question, answer in pairs)
        marked = [
            {
                "@type": "Question",
                "name": question if is_marked_up or not number else f"Other {number}?",
                "acceptedAnswer": {"@type": "Answer", "text": answer},
            }
            for number, (question, answer) in enumerate(pairs)
        ]
        return f"<main>{shown}</main>{script(graph(mainEntity=marked))}"

    assert grows_linearly(faq_parity, page_of, 40)
