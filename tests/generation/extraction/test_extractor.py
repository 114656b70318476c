"""Which questions and answers come out of the HTML of a page."""

import json
from collections.abc import Callable

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from faqsvc_embed.generation.extraction.extractor import Pair, extract
from tests.generation.websites import html

URL = "https://www.example.com/page"


def pairs(markup: str) -> list[Pair]:
    return list(extract(turbohtml.parse(markup), URL).pairs)


def texts(markup: str) -> list[tuple[str, str]]:
    return [(pair.question, pair.answer) for pair in pairs(markup)]


def test_pairs_are_in_the_order_of_the_page() -> None:
    page = html(
        "<main><h1>FAQ</h1><details><summary>Is it big?</summary>Yes.</details>"
        "<h3><a>Is it old?</a></h3><p>No.</p>"
        "<dl><dt>Is it red?</dt><dd>At night.</dd></dl>"
        "<details><summary>Is it?</summary>So.</details></main>"
    )

    assert pairs(page) == [
        Pair("Is it big?", "Yes.", True),
        Pair("Is it old?", "No.", True),
        Pair("Is it red?", "At night.", True),
        Pair("Is it?", "So.", True),
    ]


def test_an_answer_that_opens_is_taken_before_its_beginning_above_it() -> None:
    teasers = "".join(f"<h3>Is it {word}?</h3><p>Yes, it… Read more</p>" for word in ("big", "hot"))
    whole = "<details><summary>Is it {0}?</summary><p>Yes, it is {0} indeed.</p></details>".format
    page = html(f"<main><h1>FAQ</h1>{teasers}<hr>{whole('big')}{whole('hot')}</main>")
    assert [pair.answer for pair in pairs(page)] == ["Yes, it is big indeed.", "Yes, it is hot indeed."]


def test_the_heading_above_questions_is_their_section_if_the_page_has_several() -> None:
    first = "<h2>Orders</h2><details><summary>Is it big?</summary>Yes.<h3>How big</h3>Two metres.</details>"
    second = "<h2>Returns</h2><h3>Is it old?</h3><p>No.</p><h4>In years</h4><p>Two.</p>"
    title = "<h2>Frequently asked questions</h2><details><summary>Is it red?</summary>At night.</details>"

    def sections(markup: str) -> list[str | None]:
        return [pair.section for pair in pairs(html(f"<h1>FAQ</h1>{markup}"))]

    assert sections(first + second + title) == ["Orders", "Returns", None]
    assert sections(first) == [None]
    large = "<h1>Parts</h1><h3><a>Is it new?</a></h3><p>No.</p><h3><a>Where is it?</a></h3>"
    assert sections(f"{large}{first}")[0] == "Parts"


def test_a_long_heading_above_many_questions_is_read_once() -> None:
    questions = (f"<h3>Is it number {number}?</h3><p>It is {number}.</p>" for number in range(1_000))
    assert len(pairs(html(f"<h1>FAQ</h1><h2>{'long ' * 10_000}</h2>{''.join(questions)}"))) == 1_000


def stated(question: str, answer: str) -> str:
    """Return a page with a question in its JSON-LD only."""
    node = {"@type": "Question", "name": question, "acceptedAnswer": {"text": answer}}
    data = json.dumps({"@type": "FAQPage", "mainEntity": [node]})
    return html("", f'<script type="application/ld+json">{data}</script>')


@pytest.mark.parametrize(
    ("written", "instead"),
    [
        ("}}]}", "}},]}"),
        ("}}]}", "}}],\n}"),
        ('{"@type"', '/* ours */ {"@type"'),
        (": [{", ": [ // all, ]\n{"),
    ],
)
def test_json_ld_with_comments_or_a_comma_too_many_is_read(written: str, instead: str) -> None:
    page = stated("Is it ,] big?", "See https://heron.example/a, ] or /* b.").replace(written, instead)
    assert texts(page) == [("Is it ,] big?", "See https://heron.example/a, ] or /* b.")]


@pytest.mark.parametrize("names", [("q", "a"), ("questionText", "answerHtml"), ("question_text", "response")])
def test_questions_in_the_data_of_a_script_are_found_by_the_names_of_their_fields(
    names: tuple[str, str],
) -> None:
    data = json.dumps([dict(zip(names, ("Shipping", "<p>In two days.</p>"), strict=True))])
    assert texts(html("", f"<script>{data}</script>")) == [("Shipping", "In two days.")]


def test_a_question_that_is_too_long_to_be_published_is_left_out() -> None:
    assert texts(stated("w" * 1_000, "So.")) == [("w" * 1_000, "So.")]
    assert texts(stated("w" * 1_001, "So.")) == []


def shown(question: str, answer: str) -> str:
    return html(f"<details><summary>{question}</summary>{answer}</details>")


@pytest.mark.parametrize("page", [stated, shown])
@pytest.mark.parametrize("answer", ["so " * 7_000, f"<p>{'so ' * 7_000}</p>"])
def test_an_answer_of_more_than_20000_characters_is_cut_with_an_ellipsis(
    page: Callable[[str, str], str], answer: str
) -> None:
    [(_, found)] = texts(page("Is it?", answer))

    assert found.endswith("so …")
    assert 19_990 < len(found) <= 20_000


def test_an_answer_of_20000_characters_is_not_cut() -> None:
    assert texts(stated("Is it?", "w" * 20_000)) == [("Is it?", "w" * 20_000)]


def test_a_question_in_json_ld_gets_the_id_of_the_element_that_shows_it() -> None:
    stated = (
        '{"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name": "Is it big",'
        ' "acceptedAnswer": {"text": "Yes, <b>very</b>."}}]}'
    )
    head = f'<script type="application/ld+json">{stated}</script>'

    assert pairs(html('<h3 id="big">Is it big?</h3><p>Yes, very. More…</p>', head)) == [
        Pair("Is it big?", "Yes, very. More…", True)
    ]


@pytest.mark.parametrize(
    "json",
    [
        "{",
        "null",
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
def test_json_ld_without_questions_is_ignored(json: str) -> None:
    page = html("<h3>Is it?</h3><p>It is.</p>", f'<script type="application/ld+json">{json}</script>')

    assert texts(page) == [("Is it?", "It is.")]


def test_a_single_heading_that_starts_as_questions_do_is_a_question() -> None:
    assert texts(html("<h3>Are dogs welcome?</h3><p>Yes.</p>")) == [("Are dogs welcome?", "Yes.")]


def test_an_answer_is_plain_text_with_paragraphs_lines_and_lists() -> None:
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
        "<h2>Still deciding?</h2><p>Compare them.</p>",
        "<h2>Why teams love us</h2><p>Speed.</p>",
        "<h1>What can we do for you?</h1><p>All.</p>",
        '<h1 class="faq-page-title">Privacy</h1><p>We keep nothing.</p>',
        "<nav><details><summary>What is new?</summary><a href='/'>All</a></details></nav>",
        '<div class="cookie-banner"><h2>May we use cookies?</h2><p>Please.</p></div>',
        '<div id="comments"><h3>Is this true?</h3><p>Yes.</p></div>',
        "<template><h3>Is this true?</h3><p>Yes.</p></template>",
        "<h3>Is {{ name }} true?</h3><p>Yes.</p>",
        "<details><summary>Shipping</summary><p>Two days.</p></details>",
        "<h3>Is this empty?</h3><p> </p><h3>And what about this?</h3>",
        "<blockquote><h3>Is this true?</h3><p>Yes.</p></blockquote>",
        "<ol><li>F. Chen, Waves<p>1977</p></li><li>K.F. Abe, Light<p>1981</p></li></ol>",
        "<h2>What is this?</h2><p>A tool.</p><h2>Install</h2><p>So.</p><h2>Use</h2><p>So.</p>",
        "<h2>Noch Fragen?</h2><p>Anrufen.</p>",
        "<h2>Pourquoi nous choisir ?</h2><p>Parce que.</p>",
        "<h2>¿Listo para empezar?</h2><p>Sí.</p>",
        "<h2>더 궁금한 점이 있으신가요?</h2><p>전화 주세요.</p>",
        "<h2>まだ質問がありますか？</h2><p>お電話ください。</p>",
        "<h2>还有问题？</h2><p>联系我们。</p>",
    ],
)
def test_what_only_looks_like_a_question_is_left_out(markup: str) -> None:
    assert texts(html(markup)) == []


@given(st.text(alphabet="<>/ hdlp3123?Why=\"'&;\n\x00\ud800détails", max_size=200))
def test_any_markup_is_accepted(markup: str) -> None:
    for pair in pairs(markup.encode("utf-8", "replace").decode()):
        assert pair.question
        assert pair.answer


ASKED = ("How do I order?", "Do you ship abroad?", "Can I return it?", "How do I pay?")
NEWS = ("City opens new library", "What will the new tram cost?", "Market moves to the square", "Roadworks")


@pytest.mark.parametrize(
    "content",
    [
        "".join(f"<p><a href=/faq/{n}>{text}</a></p>" for n, text in enumerate(ASKED)) + "<p>Or call us.</p>",
        "<h2>What about orders?</h2><ul>"
        + "".join(f"<li><a href=/{t[0]}>{t}</a></li>" for t in ASKED)
        + "</ul>",
        "".join(
            f"<div><h3><a href=/faq/{text[0]}>{text}</a></h3><p>Read the answer</p></div>" for text in ASKED
        ),
        "<table>"
        + "".join(f"<tr><td><a href=/>{t}</a></td><td>2026-05-01</td></tr>" for t in ASKED)
        + "</table>",
        "".join(f"<h3>{text}</h3><div class=panel></div>" for text in ASKED) + "<p>Contact our team.</p>",
        "".join(
            f"<button aria-controls=p{n}>{text}</button><div id=p{n}></div>" for n, text in enumerate(ASKED)
        )
        + "<p>Ask us anything.</p>",
        "".join(
            f"<div class='item{number}'><h3>{text}</h3><p>Please wait a moment.</p></div>"
            for number, text in zip((1, 2, 2, 2), ASKED, strict=True)
        ),
        "".join(f"<h3>{text}</h3><p>{len(text)}</p>" for text in ASKED),
        "<dl>"
        + "".join(f"<dt>{text}</dt><dd>10 May. The council says more.</dd>" for text in NEWS)
        + "</dl>",
        "".join(f"<h3>{text}</h3><p>10 May</p><p>The council says more.</p>" for text in NEWS),
    ],
    ids=[
        "links",
        "a list",
        "cards",
        "a board",
        "panels",
        "buttons",
        "open",
        "votes",
        "news in a list",
        "news",
    ],
)
def test_an_index_empty_panels_and_news_are_no_faq(content: str) -> None:
    page = f"<title>Site</title><main><h1>Site</h1>{content}</main>"
    assert extract(turbohtml.parse(page), "https://heron.example/").pairs == ()


def test_what_asks_within_an_answer_is_part_of_it() -> None:
    steps = "<p>First:</p><ol><li>Is the lid closed?</li></ol><p>Is the ring old: yes</p><p>Then call us.</p>"
    item = '<div class="faq-item"><h3 class="faq-question">{}</h3><div class="faq-answer">{}</div></div>'
    page = "".join(item.format(text, f"<p>{text[:-1]}.</p>{steps}") for text in ASKED)
    assert [pair.question for pair in pairs(html(f"<h1>FAQ</h1>{page}"))] == list(ASKED)


def test_the_items_of_an_faq_may_be_complaints_of_which_a_few_ask() -> None:
    said = ["It is slow.", "It is too loud.", "I see no lights.", "It never stops.", "What is the red light?"]
    listed = "".join(f"<li>{text}<p>Call us.</p><p>{text}</p></li>" for text in said)
    assert [pair.question for pair in pairs(html(f"<h1>FAQ</h1><ol>{listed}</ol>"))] == said


def test_keywords_beside_a_question_are_no_part_of_it() -> None:
    tags = '<span class="tags"><span class="tag">Orders</span></span>'
    item = f"<details><summary>{{}} {tags}</summary>Yes.</details>"
    assert [pair.question for pair in pairs(html("".join(map(item.format, ASKED))))] == list(ASKED)


def test_a_few_facts_with_labels_beside_many_questions_are_no_questions() -> None:
    asked = [*ASKED, "Is it big?", "Is it old?", "Is it red?", "Is it far?"]
    listed = "".join(f"<details><summary>{text}</summary>It is.</details>" for text in asked)
    facts = "".join(f"<dt>{name}</dt><dd>As you like</dd>" for name in ("Cards", "Bills", "Area"))
    assert [pair.question for pair in pairs(html(f"<h1>FAQ</h1>{listed}<dl>{facts}</dl>"))] == asked


def test_words_of_a_question_in_its_id_are_no_class_names() -> None:
    headings = "".join(
        f'<h2 id="{text.lower().replace(" ", "-")}">{text}</h2><p>Yes.</p>'
        for text in ("Can I search it?", "Is there a poll?", "Is there a quiz?")
    )
    assert len(pairs(html(f"<h1>FAQ</h1>{headings}"))) == 3


def test_the_title_of_a_post_that_links_to_it_is_no_question() -> None:
    post = '<h2><a href="/how-it-works">{}</a></h2><p>We send a message to each of your customers.</p>'
    assert pairs(html(f"<h1>Tutorials</h1>{post.format('How is it done?')}")) == []
    assert len(pairs(html(f"<h1>FAQ</h1>{post.format('How is it done?')}"))) == 1


def test_a_list_of_interviews_has_no_questions_of_its_own() -> None:
    page = html("<h1>Speakers</h1><h3>Who are you?</h3><p>Ana.</p><h3>Why do you come?</h3><p>To learn.</p>")
    found = [
        len(extract(turbohtml.parse(page), f"https://heron.example/{name}").pairs)
        for name in ("people", "mini-interviews.html")
    ]
    assert found == [2, 0]


@pytest.mark.parametrize(
    ("path", "title", "found"),
    [
        ("faq", "Chat", 1),
        ("faq/index.html", "Chat", 0),
        ("faq", "We value your privacy", 0),
        ("privacy-faq", "We value your privacy", 1),
    ],
)
def test_the_last_part_of_an_address_announces_an_faq_unless_the_page_asks_for_consent(
    path: str, title: str, found: int
) -> None:
    headings = "<h3>What is chat?</h3><p>A talk.</p><h3>Reports</h3><p>Daily.</p><h3>Prices</h3><p>Low.</p>"
    page = f"<title>Chat</title><main><h1>{title}</h1>{headings}</main>"
    assert [
        pair.question for pair in extract(turbohtml.parse(page), f"https://heron.example/{path}").pairs
    ] == ["What is chat?", "Reports", "Prices"][: 3 * found]
