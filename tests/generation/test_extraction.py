"""HTML in, questions and answers out: the corpus of layouts, and what a single shape must not get wrong."""

import json
import time
from collections.abc import Callable

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed.generation.extraction.pairs import Pair, extract
from faqsvc_embed.generation.extraction.questions import is_come_on, is_question, names_faq
from faqsvc_embed.languages import LANGUAGES
from tests.benchmarks.extraction import PARTS, Reading, rates, readings
from tests.generation.websites import html

URL = "https://www.example.com/page"
CORPUS = [reading for part in PARTS for reading in readings(part)]


def pairs(markup: str) -> list[Pair]:
    return extract(turbohtml.parse(markup), URL)


def texts(markup: str) -> list[tuple[str, str]]:
    return [(pair.question, pair.answer) for pair in pairs(markup)]


def test_the_corpus_is_as_wide_as_it_says() -> None:
    assert len(readings("known")) >= 12
    languages = {reading.name.rpartition(".")[2] for reading in readings("known")}
    assert languages == set(LANGUAGES)


def test_recall_and_precision_over_the_corpus_are_what_is_promised() -> None:
    recall, precision = rates(CORPUS)

    assert recall >= 0.95
    assert precision >= 0.98


@pytest.mark.parametrize("reading", CORPUS, ids=lambda reading: reading.name)
def test_a_layout_gives_exactly_its_questions_and_answers(reading: Reading) -> None:
    assert reading.found == reading.expected


def test_pairs_come_in_the_order_of_the_page_each_with_its_nearest_id() -> None:
    page = html(
        '<main id="top"><h1>FAQ</h1><details id="first"><summary>Is it big?</summary>Yes.</details>'
        '<h3><a id="second">Is it old?</a></h3><p>No.</p>'
        '<dl><dt>Is it red?</dt><dd id="third">At night.</dd></dl>'
        "<details><summary>Is it?</summary>So.</details></main>"
    )

    assert pairs(page) == [
        Pair("Is it big?", "Yes.", "first", True),
        Pair("Is it old?", "No.", "second", True),
        Pair("Is it red?", "At night.", "third", True),
        Pair("Is it?", "So.", "top", True),
    ]


def stated(question: str, answer: str) -> str:
    """Return a page that says a question and its answer to machines only."""
    node = {"@type": "Question", "name": question, "acceptedAnswer": {"text": answer}}
    data = json.dumps({"@type": "FAQPage", "mainEntity": [node]})
    return html("", f'<script type="application/ld+json">{data}</script>')


def test_what_is_too_long_to_be_published_is_no_question() -> None:
    assert texts(stated("w" * 1_000, "So.")) == [("w" * 1_000, "So.")]
    assert texts(stated("w" * 1_001, "So.")) == []


def shown(question: str, answer: str) -> str:
    return html(f"<details><summary>{question}</summary>{answer}</details>")


@pytest.mark.parametrize("page", [stated, shown])
@pytest.mark.parametrize("answer", ["so " * 7_000, f"<p>{'so ' * 7_000}</p>"])
def test_an_answer_that_is_cut_says_so(page: Callable[[str, str], str], answer: str) -> None:
    [(_, found)] = texts(page("Is it?", answer))

    assert found.endswith("so …")
    assert 19_990 < len(found) <= 20_000


def test_an_answer_as_long_as_may_be_is_whole() -> None:
    assert texts(stated("Is it?", "w" * 20_000)) == [("Is it?", "w" * 20_000)]


def test_a_question_that_is_stated_and_shown_is_one_with_the_address_of_where_it_is_shown() -> None:
    stated = (
        '{"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Is it big",'
        ' "acceptedAnswer": {"text": "Yes, <b>very</b>."}}]}'
    )
    head = f'<script type="application/ld+json">{stated}</script>'

    assert pairs(html('<h3 id="big">Is it big?</h3><p>Yes, very. More…</p>', head)) == [
        Pair("Is it big", "Yes, very.", "big", True)
    ]


@pytest.mark.parametrize(
    "json",
    [
        "",
        "{",
        "[]",
        "null",
        "NaN",
        '"FAQPage"',
        '{"@type": "FAQPage"}',
        '{"@type": "FAQPage", "mainEntity": 5}',
        '{"@type": ["FAQPage"], "mainEntity": [null, 5, "x", {}, {"name": 1}, {"name": "Is it?"}]}',
        '{"@type": "FAQPage", "mainEntity": {"name": "Is it?", "acceptedAnswer": {"text": {"a": 1}}}}',
        '{"@type": "FAQPage", "mainEntity": {"name": "Is it?", "acceptedAnswer": {"text": " "}}}',
        "[" * 100000,
        "1" * 5000,
    ],
    ids=lambda json: json[:60],
)
def test_json_that_states_nothing_is_no_error(json: str) -> None:  # D4
    page = html("<h3>Is it?</h3><p>It is.</p>", f'<script type="application/ld+json">{json}</script>')

    assert texts(page) == [("Is it?", "It is.")]


def test_answers_are_plain_text_with_paragraphs_lines_and_lists() -> None:
    answer = (
        "<p>One &amp; two<br>three&nbsp;four</p>  <p>five <b>six</b>\n<a href='/'>seven</a></p>"
        "<ul><li>eight<ul><li>nine</li></ul></li><li><p>ten</p></li></ul><table><tr><td>a</td><td>b</td></tr></table>"
        "<script>alert(1)</script><style>p{}</style><button>Share</button>&lt;b&gt;"
    )

    assert texts(f"<details><summary>Is it &lt;b&gt; &amp; all?</summary>{answer}</details>") == [
        (
            "Is it <b> & all?",
            "One & two\nthree four\n\nfive six seven\n\n- eight\n- nine\n- ten\n\na | b\n\n<b>",
        )
    ]


@pytest.mark.parametrize(
    "markup",
    [
        "<h2>Ready to start?</h2><p>Go.</p>",
        "<h2>Still have questions?</h2><p>Write to us.</p>",
        "<h2>Why teams love us</h2><p>Speed.</p>",
        "<h2>Hungry yet?</h2><p>Come in.</p>",
        "<h1>What can we do for you?</h1><p>All.</p>",
        "<nav><details><summary>What is new?</summary><a href='/'>All</a></details></nav>",
        '<div class="cookie-banner"><h2>May we use cookies?</h2><p>Please.</p></div>',
        '<div id="comments"><h3>Is this true?</h3><p>Yes.</p></div>',
        "<template><h3>Is this true?</h3><p>Yes.</p></template>",
        '<div style="display: none"><h3>Is this true?</h3><p>Yes.</p></div>',
        "<h3>Is {{ name }} true?</h3><p>Yes.</p>",
        "<details><summary>Shipping</summary><p>Two days.</p></details>",
        "<h3>Is this empty?</h3><p> </p><h3>And what about this?</h3>",
        "<blockquote><h3>Is this true?</h3><p>Yes.</p></blockquote>",
        "<h2>Noch Fragen?</h2><p>Anrufen.</p>",
        "<h2>Pourquoi nous choisir ?</h2><p>Parce que.</p>",
        "<h2>¿Listo para empezar?</h2><p>Sí.</p>",
        "<h2>더 궁금한 점이 있으신가요?</h2><p>전화 주세요.</p>",
        "<h2>まだ質問がありますか？</h2><p>お電話ください。</p>",
        "<h2>还有问题？</h2><p>联系我们。</p>",
    ],
)
def test_what_only_looks_like_a_question_does_not_come_out(markup: str) -> None:
    assert texts(html(markup)) == []


@pytest.mark.parametrize(
    "text",
    [
        "What is it",
        "How to pay",
        "Can I pay later",
        "Is it?",
        "Wie lange dauert es",
        "Kann ich zahlen",
        "Comment puis-je payer",
        "Est-ce que c'est ouvert",
        "¿Cuánto cuesta",
        "Cómo puedo pagar",
        "환불이 되나요",
        "어떻게 합니까",
        "返品できますか",
        "いくらですか。",
        "可以退款吗",
        "如何退款",
        "多久发货",
    ],
)
def test_a_question_is_known_in_seven_languages_without_its_mark(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    [
        "Prices",
        "How it is made",
        "Why teams love us",
        "What we do",
        "Preise",
        "Wie wir arbeiten",
        "배송",
        "価格",
    ],
)
def test_a_title_is_no_question(text: str) -> None:
    assert not is_question(text)


def test_an_faq_is_announced_in_seven_languages() -> None:
    titles = ["FAQs", "Frequently asked questions", "Häufig gestellte Fragen", "Questions fréquentes"]
    titles += ["Preguntas frecuentes", "자주 묻는 질문", "よくあるご質問", "常见问题", "Q&A"]

    assert [title for title in titles if not names_faq(title)] == []
    assert not names_faq("Afaqir")


def test_questions_about_help_are_no_come_ons() -> None:
    assert not is_come_on("Do you offer help with moving?")
    assert not is_come_on("Are you open on Sundays?")
    assert is_come_on("Need help?")


@given(st.text(alphabet="<>/ hdlp3123?Why=\"'&;\n\x00\ud800détails", max_size=200))
def test_nothing_that_is_called_html_breaks_it(markup: str) -> None:
    for pair in pairs(markup.encode("utf-8", "replace").decode()):
        assert pair.question
        assert pair.answer


@pytest.mark.parametrize(
    "markup",
    [
        "<div>" * 200_000,
        "<details><summary>Why?</summary>" * 20_000,
        "<b>Why?<p>" * 1_000,
        "<dl>" + "<dt>Why?" * 20_000 + "<dd>x",
        "<div id=p>" + "<p>x</p>" * 10_000 + "</div>" + "<button aria-controls=p>Why?</button>" * 10_000,
        "<div class=question>Why?" * 20_000,
        "<h3>Why?</h3>" * 10_000,
        "<h1>FAQ</h1><p>" + "Q: Why?<br>A: So.<br><br>Also.<br><br>" * 500,
        "<div>Why is it?<p>So.</p></div>" * 2_000,
        "<p>" + "¿" * 500_000,
        "<p>Q: " + " \n" * 500_000,
        '<script type="application/ld+json">{"@type": "FAQPage", "mainEntity": {"name": "Why?", '
        '"acceptedAnswer": {"text": "' + "<a" * 400_000 + '"}}}</script>',
    ],
    ids=[
        "deep",
        "nested",
        "unclosed",
        "terms",
        "controls",
        "classes",
        "headings",
        "lines",
        "items",
        "marks",
        "space",
        "stated",
    ],
)
def test_a_hostile_page_costs_seconds_at_most(markup: str) -> None:  # D13
    started = time.thread_time()

    pairs(markup)

    assert time.thread_time() - started < 10
