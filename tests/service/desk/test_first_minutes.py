"""From an empty service to a published FAQ on a host's page, by somebody who has read nothing."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from playwright.sync_api import Page, expect

from faqsvc_embed import FAQEmbed
from tests.service.desk.serving import Served, serve_desk

pytestmark = pytest.mark.system

PASTE = """([field, html, text]) => {
  const data = new DataTransfer();
  if (html) data.setData('text/html', html);
  data.setData('text/plain', text);
  field.focus();
  const event = new ClipboardEvent('paste', {clipboardData: data, bubbles: true, cancelable: true});
  return field.dispatchEvent(event);
}"""
WORD = """<p class=MsoNormal>We take <b>cards</b>:<o:p></o:p></p>
<p class=MsoListParagraphCxSpFirst style='mso-list:l0 level1 lfo1'><span style='mso-list:Ignore'>·
<span>&nbsp; </span></span>Visa</p><p class=MsoListParagraphCxSpLast style='mso-list:l0 level2 lfo1'>
<span style='mso-list:Ignore'>o<span>&nbsp; </span></span>in Europe</p>"""
DOCS = """<b style="font-weight:normal" id="docs-internal-guid-1"><p>
<span style="font-weight:400">See </span>
<a href="https://heron.example/rates"><span style="font-weight:400">our rates</span></a>
<span style="font-weight:700">, now </span></p><ul><li><p>one</p></li>
<ul><li><p>below</p></li></ul><li><p>two</p></li></ul></b>"""
PAGE = """<h3>Sizes</h3><p>Ask <em>us</em><img src="x.png"> or <a href="#top">up</a>.</p>
<table><tr><th>Size</th><th>Price</th></tr><tr><td>A|4</td><td>5 €</td></tr></table>
<ol start="3"><li>three</li></ol>"""


CELLS = """<table><tr><th>Size</th></tr><tr><td><p>5</p><p>6</p></td><td>€</td></tr></table>
<ol><li><p>First.</p><p>Second.</p></li></ol><table><tr><td>Alone</td></tr></table>"""
MARKS = """<p><s>20 €</s> 10<sup>6</sup> <b>new</b><b>est</b> ~ <a href="/shop">here</a></p>
<a href="https://heron.example"><div>A</div><div>card</div></a>"""

REVIEWED = """<p>Pay <a href="https://eur01.safelinks.protection.outlook.com/?url=https%3A%2F%2Fheron.example%2Fpay
%3Fa%3D1&amp;data=05%7Cmia">here</a><a class=msocomanchor href="#_msocom_1">[M1]</a>.</p>
<div style='mso-element:comment-list'><p>Ask Tom first</p></div>"""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """An empty desk, on which one test writes."""
    with serve_desk(tmp_path_factory.mktemp("desk"), is_empty=True) as served:
        served.storage.sites.update(served.admin.access, name="main", website_url="")
        yield served


@pytest.fixture
def editor(page: Page, desk: Served) -> Page:
    """A page in which the admin is signed in."""
    desk.sign_in(page.context)
    page.on("dialog", lambda dialog: dialog.accept())  # leaving asks first, because nothing is saved
    return page


def test_a_link_in_a_mail_leads_to_its_page(editor: Page, desk: Served) -> None:
    """Mail is read on another site, whose links send cookies only if they are `SameSite=Lax`."""
    mail, link = "http://mail.example/inbox", f"{desk.url}/desk/log?slug=repairs"
    editor.route(mail, lambda route: route.fulfill(body=f"<a href={link}>Look</a>", content_type="text/html"))
    for options in ("", " target=_blank", " rel=noreferrer"):
        editor.goto(mail)
        editor.locator("a").evaluate(
            "(a, html) => { a.outerHTML = html }", f"<a href={link}{options}>Look</a>"
        )
        if "_blank" in options:
            with editor.context.expect_page() as opened:
                editor.click("a")
            page = opened.value
        else:
            editor.click("a")
            page = editor
        page.wait_for_url(link)
        expect(page.get_by_role("button", name="Sign out")).to_be_visible()


def test_a_first_faq_is_written_and_shown_by_a_host(page: Page, desk: Served) -> None:
    editor = page
    editor.goto(f"{desk.url}/desk")
    editor.get_by_label("Sign-in link").wait_for()
    editor.evaluate("link => { location.href = link }", desk.link())  # pasted into the tab with the form
    editor.get_by_text("This link works once").wait_for()
    editor.get_by_role("button", name="Sign in").click()
    editor.get_by_role("link", name="Write an FAQ").click()
    editor.get_by_label("Title").fill("Häufige Reparaturen")
    slug = editor.get_by_label("Slug")
    expect(slug).to_have_value("haeufige-reparaturen")
    editor.get_by_label("Name of the website").fill("Spoke & Chain")
    editor.get_by_label("Address of the website").fill("spoke.example")
    editor.get_by_label("Question", exact=True).fill("Muss ich buchen?")
    answer = editor.get_by_label("Answer", exact=True)
    answer.fill("Bitte buchen Sie.")
    answer.evaluate("field => field.setSelectionRange(6, 12)")
    editor.get_by_role("button", name="Link in Question 1").click()
    editor.keyboard.type("spoke.example/book")
    editor.keyboard.press("Enter")
    answer.press("End")
    editor.keyboard.type("\n\n")
    editor.get_by_role("button", name="List in Question 1").click()
    editor.keyboard.type(" Montag")
    editor.get_by_label("Section").fill("Werkstatt")
    editor.get_by_role("button", name="Publish", exact=True).click()
    editor.get_by_role("link", name="put it on your website").click()
    line = editor.locator("pre", has_text="{{ faq(").first.inner_text()
    assert line == '{{ faq("haeufige-reparaturen") }}'
    # Playwright has an event loop in this thread, in which a synchronous call would not wait.
    with FAQEmbed(desk.url, wait=20) as embed, ThreadPoolExecutor(1) as thread:
        html = thread.submit(embed.render, "haeufige-reparaturen", lang="de").result()
    assert '<a href="https://spoke.example/book"' in html
    assert "<li>first Montag</li>" in html
    assert "Werkstatt" in html


def test_the_link_button_makes_a_link_that_works_or_none(editor: Page, desk: Served) -> None:
    for selected, typed, expected in (
        ("book", "https://spoke.example/a (b)", None),
        ("book", "spoke.example/a_(b)", "Please [book](https://spoke.example/a_%28b%29) it."),
        ("book", "us@spoke.example", "Please [book](mailto:us@spoke.example) it."),
        ("book", "/contact", "Please [book](/contact) it."),
        ("", "spoke.example", "Please book it.[spoke.example](https://spoke.example)"),
        ("book", "https://", None),
        ("book", "javascript:alert(1)", None),
    ):
        editor.goto(f"{desk.url}/desk/new")
        answer = editor.get_by_label("Answer", exact=True)
        answer.fill("Please book it.")
        place = "Please book it.".find(selected) if selected else 15
        answer.evaluate(f"field => field.setSelectionRange({place}, {place + len(selected)})")
        editor.get_by_role("button", name="Link in Question 1").click()
        editor.keyboard.type(typed)
        editor.keyboard.press("Enter")
        assert answer.input_value() == (expected or "Please book it.")
        assert editor.locator(".address .error").is_visible() is (expected is None)
        if expected is not None:
            answer.press("Control+z")
            assert answer.input_value() == "Please book it."


def test_an_address_that_is_selected_or_not_added_yet_becomes_a_link(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/new")
    answer = editor.get_by_label("Answer", exact=True)
    answer.fill("www.spoke.example")
    answer.select_text()
    editor.get_by_role("button", name="Link in Question 1").click()
    editor.keyboard.type("Spoke")
    assert answer.input_value() == "[Spoke](https://www.spoke.example)"
    answer.press("End")
    editor.get_by_role("button", name="Link in Question 1").click()
    editor.keyboard.type("heron.example")
    editor.get_by_role("button", name="Save draft").click()
    editor.get_by_role("alert").first.wait_for()
    assert "(https://heron.example)" in answer.input_value()


def test_what_the_buttons_did_is_undone(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/new")
    answer = editor.get_by_label("Answer", exact=True)
    answer.focus()
    editor.keyboard.type("hello world")
    for name, changed in (("Bold", "**hello world**"), ("List", "- hello world")):
        answer.select_text()
        editor.get_by_role("button", name=f"{name} in Question 1").click()
        assert answer.input_value() == changed
        answer.press("Control+z")
        assert answer.input_value() == "hello world"
    answer.press("Control+z")
    assert "world" not in answer.input_value()


def test_marks_stand_beside_words_and_are_removed_again(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/new")
    answer = editor.get_by_label("Answer", exact=True)
    for written, selected, name, changed in (
        ("a word here", "word ", "Bold", "a **word** here"),  # as a double click selects it
        ("one\n\n- two", "one\n\n- two", "Bold", "**one**\n\n- **two**"),
        ("a **word** here", "word", "Bold", "a word here"),
        ("one\n\ntwo", "one\n\ntwo", "List", "- one\n\n- two"),
        ("- one\n- two", "- one\n- two", "List", "one\ntwo"),
    ):
        answer.fill(written)
        place = written.index(selected)
        answer.evaluate(f"field => field.setSelectionRange({place}, {place + len(selected)})")
        editor.get_by_role("button", name=f"{name} in Question 1").click()
        assert answer.input_value() == changed


PASTED = (
    (WORD, "x", "We take **cards**:\n\n- Visa\n  - in Europe", ""),
    (DOCS, "x", "See [our rates](https://heron.example/rates) **, now**\n\n- one\n  - below\n- two", ""),
    (
        PAGE,
        "x",
        "**Sizes**\n\nAsk *us* or up.\n\n| Size | Price |\n| --- | --- |\n| A\\|4 | 5 € |\n\n3. three",
        "Left out: 1 picture, 1 link without a web address.",
    ),
    (CELLS, "x", "| Size |  |\n| --- | --- |\n| 5 6 | € |\n\n1. First.\n\n   Second.\n\nAlone", ""),
    (
        MARKS,
        "x",
        "~~20 €~~ 10<sup>6</sup> <strong>new</strong>**est** ~ here\n\n[A card](https://heron.example)",
        "Left out: 1 link without a web address.",
    ),
    (REVIEWED, "x", "Pay [here](https://heron.example/pay?a=1).", "Left out: 2 comments."),
    ("<div><b>- **a** card</b></div>", "- **a** card", "- **a** card", ""),
    ("", "We take:\n•\tVisa\n·        Cash\no\tCheque", "We take:\n\n- Visa\n- Cash\n- Cheque", ""),
)


def test_what_is_pasted_keeps_links_lists_and_bold_text(editor: Page, desk: Served) -> None:
    for html, text, markdown, left in PASTED:
        editor.goto(f"{desk.url}/desk/new")
        answer = editor.get_by_label("Answer", exact=True)
        if editor.evaluate(PASTE, [answer.element_handle(), html, text]):
            answer.fill(text)  # as the browser does
        expect(answer).to_have_value(markdown)
        assert left == (editor.locator(".pasted").inner_text() if left else "")
        answer.press("Control+z")
        assert answer.input_value() == ""


def test_who_pastes_a_whole_faq_into_one_field_is_told_of_the_import(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/new")
    for name in ("Question", "Answer"):
        field = editor.get_by_label(name, exact=True).element_handle()
        editor.evaluate(PASTE, [field, "", "How do I pay?\nBy card.\n\nWhere are you?\nHere."])
        expect(editor.locator(".pasted")).to_have_text(re.compile("2 questions.*Import"))
        editor.evaluate(PASTE, [field, "", "How do I pay?"])
        expect(editor.locator(".pasted")).to_have_count(0)


WHOLE = (
    "<h2>Payment</h2><h3>How do I pay?</h3><p>By card, see <a href='https://heron.example/pay'>how</a>.</p>"
    "<h3>Rooms<br>for groups</h3><ul><li>Up to 5 * 2</li><li>Ask <i>us</i></li></ul><img src=x>"
    "<h2>Delivery</h2><h3>Do you ship?</h3><p>Yes.</p>"
)
CELLS_OF_A_SHEET = "<table><tr><td>How do I pay?</td><td>By <b>card</b>.</td><td>Payment</td></tr></table>"
TABLE = (
    "<table><tr><td><p><b>Question</b></p></td><td><p>Answer</p></td></tr><tr><td>Payment</td></tr>"
    "<tr><td><p>How do<br>I pay?</p></td><td><p>By <b>card</b>.</p><p>Or:</p><ul><li>cash</li></ul></td></tr>"
    "<tr><td><p>Where?</p></td><td><p>Here.</p></td></tr></table>"
)

EXPANDS = (
    "<p role=heading aria-level=2><b>Payment</b></p><div data-node-type=expand data-title='How do I pay?'>"
    "<p>By card.</p></div><div data-node-type=expand data-title='Where?'><p>Here.</p></div>"
)
MESSAGE = (
    "<b>How do I pay?</b><br><span>By card.</span><span style='display: block; height: 8px'></span>"
    "<b>Where?</b><br><span>Here.</span>"
)
PAGE_OF_TWO = "<h2>How do I pay?</h2><p>By <b>card</b>.</p><h2>Where?</h2><p>Here.</p>"


IMPORTED = (
    (
        WHOLE,
        "Payment\nHow do I pay?\nBy card, see how.\nRooms for groups\nUp to 5 * 2\nAsk us",
        ["By card, see [how](https://heron.example/pay).", "- Up to 5 \\* 2\n- Ask *us*", "Yes."],
    ),
    (CELLS_OF_A_SHEET, "How do I pay?\tBy card.\nWhere?\tHere.", ["By card.", "Here."]),
    (TABLE, "Question\tAnswer\nPayment", ["By **card**.\n\nOr:\n\n- cash", "Here."]),
    (EXPANDS, "Payment\nHow do I pay?\nBy card.\nWhere?\nHere.", ["By card.", "Here."]),
    (MESSAGE, "How do I pay?\nBy card.\nWhere?\nHere.", ["By card.", "Here."]),
    (f"<table></table>{PAGE_OF_TWO}", "How do I pay?\nWhere?", ["By **card**.", "Here."]),
    ("<pre>x</pre>", "How do I pay?\nBy card.", ["By card."]),
    ("<b>## Pay</b>", "## How do I pay?\nBy **card**.", ["By **card**."]),
    ("", "How do I pay?\nBy card.", ["By card."]),
)


def test_an_faq_that_is_pasted_into_the_import_keeps_links_lists_and_headings(
    editor: Page, desk: Served
) -> None:
    for html, text, answers in IMPORTED:
        editor.goto(f"{desk.url}/desk/import")
        field = editor.get_by_label("Paste questions and answers")
        if editor.evaluate(PASTE, [field.element_handle(), html, text]):
            field.fill(text)  # as the browser does
        expect(field).not_to_have_value("")
        expect(editor.locator(".pasted")).to_have_count(int("<img" in html))
        editor.get_by_role("button", name="Preview the import").click()
        found = editor.get_by_label("Answer", exact=True)
        expect(found).to_have_count(len(answers))
        assert [answer.input_value() for answer in found.all()] == answers
        expect(editor.get_by_label("Question", exact=True).first).to_have_value("How do I pay?")
        sections = [section.input_value() for section in editor.get_by_label("Section").all()]
        if html == WHOLE:
            assert sections == ["Payment", "Payment", "Delivery"]
        if html == EXPANDS:
            assert sections == ["Payment"] * 2
