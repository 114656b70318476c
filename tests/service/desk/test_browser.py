"""The desk in Chromium: with and without scripts, by keyboard, narrow, dark, and as axe sees it."""

import re
from collections.abc import Iterator
from typing import Literal

import pytest
from playwright.sync_api import Browser, Dialog, Page, expect

from faqsvc_embed.models import FAQ, Item
from faqsvc_embed.service.storage.values import Access, Write
from tests.service.desk.serving import Served, remove, serve_desk
from tests.support.axe import OF_COLOURS, violations

pytestmark = pytest.mark.system

PATHS = {
    "list": "",
    "new": "/new",
    "import": "/import",
    "edit": "/faqs/pricing",
    "korean": "/faqs/pricing?lang=ko",
    "history": "/faqs/pricing/history",
    "revision": "/faqs/pricing/history/1",
    "use": "/faqs/pricing/use",
    "remove": "/faqs/pricing/remove",
    "unpublished": "/faqs/shipping/remove",
    "bin": "/bin",
    "log": "/log",
    "site": "/site",
    "people": "/people",
    "keys": "/keys",
    "you": "/you",
    "person": "/people/{person}",
    "key": "/keys/{key}",
    "missing": "/faqs/nothing",
}
COLOURS: tuple[tuple[Literal["light", "dark"], Literal["none", "active"]], ...] = (
    ("dark", "none"),
    ("light", "active"),  # the colours of the system replace ours, the dark ones too
)
CONTROLS = {"button", "link", "textbox", "searchbox", "combobox", "checkbox", "radio", "DisclosureTriangle"}
FOCUSED = "(e => e.labels?.[0]?.textContent ?? e.textContent)(document.activeElement)"
COVERED = """(() => {
  const bar = document.querySelector(".save"), focused = document.activeElement;
  return !bar.contains(focused) && focused.getBoundingClientRect().bottom > bar.getBoundingClientRect().top;
})()"""
SIDEWAYS = "document.documentElement.scrollWidth > document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_desk(tmp_path_factory.mktemp("desk")) as served:
        remove(served.storage, served.admin.access)
        yield served


def address(desk: Served, name: str) -> str:
    """Return the address of a page."""
    path = PATHS[name].format(person=desk.admin.id, key=desk.storage.keys.list()[0].id)
    return f"{desk.url}/desk{path}"


@pytest.fixture
def editor(page: Page, desk: Served) -> Iterator[Page]:
    """A page that is signed in; the Content-Security-Policy may stop nothing on it."""
    errors = list[str]()
    page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    desk.sign_in(page.context)
    yield page
    assert [error for error in errors if "status of 4" not in error] == []


def test_a_sign_in_link_works_with_one_button_and_is_in_no_log(page: Page, desk: Served) -> None:
    requests = list[str]()
    page.on("request", lambda request: requests.append(f"{request.url} {request.headers}"))
    link = desk.link()
    token = link.partition("#link=")[2]
    page.goto(link)
    page.get_by_role("button", name="Sign in").click()
    page.wait_for_url(f"{desk.url}/desk")
    assert not any(token in request for request in requests)


@pytest.mark.parametrize("name", PATHS)
def test_each_page_is_accessible_fits_narrow_windows_and_names_its_controls(
    editor: Page, desk: Served, name: str
) -> None:
    editor.goto(address(desk, name))
    for width in (1600, 768, 320):
        editor.set_viewport_size({"width": width, "height": 800})
        assert not editor.evaluate(SIDEWAYS)
    assert violations(editor) == []
    for scheme, forced in COLOURS:
        editor.emulate_media(color_scheme=scheme, forced_colors=forced)
        assert violations(editor, *OF_COLOURS) == [], (scheme, forced)
    tree = editor.context.new_cdp_session(editor).send("Accessibility.getFullAXTree")
    controls = [
        (node["role"]["value"], node.get("name", {}).get("value", "").strip())
        for node in tree["nodes"]
        if node.get("role", {}).get("value") in CONTROLS and not node["ignored"]
    ]
    assert all(name for _, name in controls)
    buttons = [name for role, name in controls if role == "button"]
    assert len(buttons) == len(set(buttons))
    editor.evaluate("document.documentElement.style.fontSize = '200%'")
    assert not editor.evaluate(SIDEWAYS)


def test_the_sign_in_page_is_accessible(page: Page, desk: Served) -> None:
    page.goto(f"{desk.url}/desk/sign-in")
    assert violations(page) == []
    page.get_by_label("Sign-in link").fill("wrong")
    page.keyboard.press("Enter")
    page.get_by_role("alert").wait_for()
    assert violations(page) == []


def test_an_faq_is_written_and_published_without_scripts(chromium: Browser, desk: Served) -> None:
    context = desk.sign_in(chromium.new_context(java_script_enabled=False))
    page = context.new_page()
    page.goto(f"{desk.url}/desk")
    page.get_by_role("link", name="New FAQ").click()
    page.get_by_label("Slug").fill("without-scripts")
    page.get_by_label("Question", exact=True).fill("Does it work?")
    page.get_by_label("Answer", exact=True).fill("Yes.")
    page.get_by_role("button", name="Add below").click()
    page.get_by_label("Question", exact=True).nth(1).fill("Without scripts?")
    page.get_by_label("Answer", exact=True).nth(1).fill("As well.")
    page.get_by_role("button", name="Up question 2").click()
    assert page.get_by_label("Question", exact=True).first.input_value() == "Without scripts?"
    page.get_by_role("button", name="Preview", exact=True).click()
    assert page.locator("#preview-sheet summary").count() == 2
    page.get_by_role("button", name="Publish", exact=True).click()
    assert page.get_by_role("status").is_visible()
    assert page.evaluate("document.activeElement.role") == "status"  # it is read out, and the form is next
    page.get_by_role("link", name="See the page").click()
    assert page.locator("summary").count() == 2
    context.close()


def test_the_preview_follows_while_somebody_writes(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/faqs/shipping")
    editor.get_by_label("Question", exact=True).first.fill("Is it <fast>?")
    editor.locator("#preview-sheet summary", has_text="Is it <fast>?").wait_for()
    # Leaving asks first, because this is not saved.
    dialogs = list[str]()

    def leave(dialog: Dialog) -> None:
        dialogs.append(dialog.type)
        dialog.accept()

    editor.on("dialog", leave)
    editor.goto(f"{desk.url}/desk")
    assert dialogs == ["beforeunload"]


def questions_of(page: Page) -> list[str]:
    return [field.input_value() for field in page.get_by_label("Question", exact=True).all()]


def numbers_of(page: Page) -> list[list[str]]:
    """Return the numbers that the buttons of each question send."""
    numbers: list[list[str]] = page.evaluate(
        "[...document.querySelectorAll('.item')].map(item =>"
        " [...item.querySelectorAll('button[name=action]')].map(button => button.value.split(':')[1]))"
    )
    return numbers


def test_the_preview_opens_translated_questions_even_if_others_are_untranslated(
    editor: Page, desk: Served
) -> None:
    editor.goto(f"{desk.url}/desk/faqs/pricing?lang=fr")
    for place, text in ((0, "Combien ?"), (2, "Comment payer ?")):
        editor.get_by_label("Question", exact=True).nth(place).fill(text)
        editor.get_by_label("Answer", exact=True).nth(place).fill("Voici.")
    opened = editor.locator("#preview-sheet details[open]", has_text="Comment payer ?")
    opened.wait_for()


def test_questions_are_moved_by_dragging(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/faqs/pricing")
    first, second, third = questions_of(editor)
    grip, target = editor.locator(".grip").nth(0), editor.locator(".item").nth(2)
    grip.scroll_into_view_if_needed()
    box, below = grip.bounding_box(), target.bounding_box()
    assert box
    assert below
    editor.mouse.move(box["x"] + 9, box["y"] + 9)
    editor.mouse.down()
    editor.mouse.move(box["x"] + 9, below["y"] + 20, steps=4)
    assert questions_of(editor) == [first, second, third]  # a line shows the place, and nothing moves yet
    editor.mouse.up()
    assert questions_of(editor) == [second, first, third]
    assert numbers_of(editor) == [["0", "0", "1", "0"], ["1", "1", "2", "1"], ["2", "2", "3", "2"]]
    assert editor.locator("#said").inner_text() == "Now Question 2 of 3"
    editor.locator("#preview-sheet summary").first.get_by_text(second).wait_for()
    box = editor.locator(".grip").nth(0).bounding_box()
    assert box
    editor.mouse.move(box["x"] + 9, box["y"] + 9)
    editor.mouse.down()
    editor.mouse.move(box["x"] + 9, box["y"] + 500, steps=4)
    editor.keyboard.press("Escape")  # gives up
    editor.mouse.up()
    assert questions_of(editor) == [second, first, third]
    editor.get_by_role("button", name="Save draft").click()
    editor.get_by_text("The draft is saved").wait_for()
    assert questions_of(editor) == [second, first, third]


def test_questions_are_moved_with_the_keyboard(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/faqs/opening-hours")
    first, second = questions_of(editor)
    editor.get_by_role("button", name="Down question 1").focus()
    editor.keyboard.press("Enter")
    assert questions_of(editor) == [second, first]
    # The last question cannot go further down, so that the focus is on the button beside it.
    assert " ".join(str(editor.evaluate(FOCUSED)).split()) == "Up question 2"
    assert editor.locator("#said").inner_text() == "Now Question 2 of 2"
    editor.keyboard.press("Enter")
    assert questions_of(editor) == [first, second]
    editor.get_by_role("button", name="Add below question 1").click()
    editor.locator("textarea:focus").wait_for()
    assert questions_of(editor) == [first, "", second]


def test_characters_are_counted_as_the_service_counts_them(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/faqs/shipping")
    question = editor.get_by_label("Question", exact=True).first
    question.fill("🛒" * 950)
    count = editor.locator(".count")
    assert count.inner_text() == "950 of 1,000 characters"
    assert "over" not in (count.get_attribute("class") or "")
    editor.locator("#said", has_text="950 of 1,000").wait_for()  # announced, because few are left
    question.fill("🛒" * 1001)
    assert "over" in (count.get_attribute("class") or "")
    assert violations(editor) == []
    editor.get_by_label("Answer", exact=True).first.focus()
    assert "20,000" in count.inner_text()


def write_forty(desk: Served, access: Access | None = None, slug: str = "help") -> None:
    """Write an FAQ of forty questions in five sections."""
    items = tuple(
        Item(n, f"Question number {n + 1} of the shop?", f"Answer {n + 1}.", f"Part {n // 8}")
        for n in range(40)
    )
    faq = FAQ(slug, "Help", "Heron", items=items, website_url="https://www.heron.example")
    write = Write(faq=faq, slug=slug, lang="en")
    desk.storage.writer.write(access or desk.admin.access, write)


def test_of_forty_questions_one_is_open_and_each_is_found_and_moved(editor: Page, desk: Served) -> None:
    write_forty(desk)
    editor.goto(f"{desk.url}/desk/faqs/help")
    lines = editor.locator(".item > summary")
    opened = editor.locator(".item[open]")
    assert (lines.count(), opened.count()) == (40, 1)
    assert lines.first.evaluate("line => line.getBoundingClientRect().top") <= 200
    assert editor.evaluate("document.documentElement.scrollHeight") < 2500
    editor.get_by_label("Answer", exact=True).first.fill("Typed, not saved.")

    editor.get_by_label("Find a question").fill("NUMBER 31")
    assert [line.locator(".n").inner_text() for line in lines.all() if line.is_visible()] == ["31"]
    editor.keyboard.press("Enter")
    assert editor.evaluate("document.activeElement.value") == "Question number 31 of the shop?"
    assert opened.count() == 1
    editor.keyboard.type(" Changed")
    editor.get_by_label("Find a question").fill("")

    lines.nth(30).focus()
    editor.keyboard.press("Alt+ArrowUp")
    assert "Question number 30" in lines.nth(30).inner_text()
    lines.nth(5).click()
    assert editor.locator("#item-5 [name=question]").is_visible()
    assert not editor.locator("#item-30 [name=question]").is_visible()
    assert violations(editor) == []
    editor.keyboard.press("Control+s")
    editor.get_by_text("The draft is saved").wait_for()
    faq = desk.storage.history.revision(desk.admin.access, "help", "en").faq
    assert faq.items[0].answer == "Typed, not saved."
    assert faq.items[29].question == "Question number 31 of the shop? Changed"
    assert sorted(item.answer for item in faq.items[1:]) == sorted(f"Answer {n}." for n in range(2, 41))


@pytest.mark.parametrize(
    ("path", "summary", "text"),
    [
        ("/faqs/pricing", "Changes", "What publishing this draft by Mia changes."),
        ("/faqs/pricing?lang=de", "English changed", "When it was translated"),
    ],
    ids=["a waiting draft", "a changed source"],
)
def test_the_questions_begin_near_the_top_of_the_page(
    editor: Page, desk: Served, path: str, summary: str, text: str
) -> None:
    for width, height in ((1280, 200), (1000, 200), (360, 320)):
        editor.set_viewport_size({"width": width, "height": 800})
        editor.goto(f"{desk.url}/desk{path}")
        assert editor.locator(".item").first.evaluate("item => item.getBoundingClientRect().top") <= height
    expect(editor.get_by_text(text).first).to_be_hidden()
    editor.locator("summary").get_by_text(summary, exact=True).click()
    expect(editor.get_by_text(text).first).to_be_visible()


def test_who_saves_a_draft_goes_on_writing_at_the_same_place(editor: Page, desk: Served) -> None:
    write_forty(desk)
    editor.goto(f"{desk.url}/desk")
    editor.goto(f"{desk.url}/desk/faqs/help")
    editor.locator("#item-30 > summary").click()
    answer = editor.locator("#item-30 [name=answer]")
    answer.fill("First part, second part.")
    answer.evaluate("field => field.setSelectionRange(10, 10)")
    place = "document.activeElement.getBoundingClientRect().top"
    before = editor.evaluate(place)
    editor.keyboard.press("Control+s")
    editor.wait_for_url("**done=draft")
    assert abs(editor.evaluate(place) - before) < 2
    editor.keyboard.type(" of it")
    assert answer.input_value() == "First part of it, second part."
    editor.locator("#saved", has_text="Unsaved").wait_for()
    editor.once("dialog", lambda dialog: dialog.accept())
    editor.go_back()  # leads to the page before the editor, not to a second copy of it
    editor.wait_for_url(f"{desk.url}/desk")


def test_a_question_with_an_answer_is_removed_after_a_confirmation(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/faqs/opening-hours")
    first, second = questions_of(editor)
    editor.once("dialog", lambda dialog: dialog.dismiss())
    editor.get_by_role("button", name="Remove question 1").click()
    assert questions_of(editor) == [first, second]
    editor.once("dialog", lambda dialog: dialog.accept())
    editor.get_by_role("button", name="Remove question 1").click()
    expect(editor.locator(".item")).to_have_count(1)
    assert questions_of(editor) == [second]


def test_forty_questions_are_a_list_without_scripts(chromium: Browser, desk: Served) -> None:
    write_forty(desk)
    context = desk.sign_in(chromium.new_context(java_script_enabled=False))
    page = context.new_page()
    page.goto(f"{desk.url}/desk/faqs/help#item-30")
    assert page.locator("#item-30 > summary").bounding_box()
    page.locator("#item-30 > summary").click()
    assert page.locator(".item[open]").count() == 1
    page.locator("#item-30 [name=answer]").fill("x" * 20_001)
    page.locator("#item-0 > summary").click()
    page.get_by_role("button", name="Publish", exact=True).click()
    # The closed question with the mistake is open, and the list of mistakes leads to it.
    page.get_by_role("alert").get_by_role("link").click()
    assert page.locator("#item-30 [name=answer]").is_visible()
    assert page.locator(".item[open]").count() == 1
    context.close()


def test_numbers_and_dates_are_in_the_language_of_the_desk(chromium: Browser, desk: Served) -> None:
    context = desk.sign_in(chromium.new_context(locale="de-DE", timezone_id="UTC"))
    page = context.new_page()
    page.goto(f"{desk.url}/desk/faqs/shipping")
    page.get_by_label("Answer", exact=True).first.focus()
    assert "of 20,000 characters" in page.locator(".count").inner_text()
    title = page.locator("#saved time").get_attribute("title")
    assert re.fullmatch(r"\d+ \w{3,4} \d{4}, \d\d:\d\d", title or "")
    context.close()


def test_lines_are_copied(editor: Page, desk: Served) -> None:
    editor.context.grant_permissions(["clipboard-read", "clipboard-write"], origin=desk.url)
    editor.goto(f"{desk.url}/desk/faqs/pricing/use")
    editor.get_by_role("button", name="Copy Flask: In the template, where the FAQ belongs:").click()
    editor.get_by_role("button", name="Copied").wait_for()
    assert editor.evaluate("navigator.clipboard.readText()") == '{{ faq("pricing") }}'


def test_all_of_it_can_be_done_with_the_keyboard(page: Page, desk: Served) -> None:
    def tab_to(name: str) -> None:
        for _ in range(80):
            page.keyboard.press("Tab")
            focused = page.evaluate(FOCUSED)
            if " ".join(str(focused).split()).startswith(name):
                outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
                assert outline == "3px"  # it is visible where the focus is
                return
        raise AssertionError(f"no way to {name}")

    page.goto(f"{desk.url}/desk")
    page.wait_for_function("document.activeElement.matches('input')")  # at once, but not before it is painted
    page.keyboard.type(desk.link())
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="FAQs", exact=True).wait_for()
    tab_to("New FAQ")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="New FAQ").wait_for()
    tab_to("Question")
    page.keyboard.type("By keyboard?")
    page.keyboard.press("Tab")  # the answer follows its question
    page.keyboard.type("Yes.")
    assert page.get_by_label("Answer", exact=True).input_value() == "Yes."
    tab_to("Slug")
    page.keyboard.type("by-keyboard")
    page.keyboard.press("Enter")  # saves nothing
    tab_to("Add a question")
    page.keyboard.press("Enter")
    page.locator("textarea:focus").wait_for()
    page.keyboard.type("And this one?")
    tab_to("Answer")
    page.keyboard.type("As well.")
    tab_to("Publish")
    page.keyboard.press("Enter")
    page.get_by_role("status").wait_for()
    assert "/desk/faqs/by-keyboard" in page.url


def test_a_language_is_added_from_a_menu_that_closes_again(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/faqs/shipping")
    menu, french = editor.get_by_text("+ Language"), editor.get_by_role("link", name="Français")
    for is_key in (True, False):
        menu.click()
        expect(french).to_be_visible()
        editor.keyboard.press("Escape") if is_key else editor.locator("h2").first.click()
        expect(french).to_be_hidden()
    menu.press("Enter")
    editor.keyboard.press("Tab")
    editor.keyboard.press("Escape")
    expect(editor.locator("summary", has=menu)).to_be_focused()
    editor.set_viewport_size({"width": 320, "height": 640})
    menu.click()
    box = french.bounding_box()
    assert box
    assert box["x"] + box["width"] <= 320
    french.click()
    editor.wait_for_url("**lang=fr")


def test_what_was_typed_is_there_after_a_new_sign_in(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/faqs/shipping")
    typed = "Typed for an hour,\n\nwith <two> paragraphs."
    editor.get_by_label("Answer", exact=True).first.fill(typed)
    editor.context.clear_cookies()
    editor.get_by_role("button", name="Publish", exact=True).click()
    editor.get_by_label("Sign-in link").fill(desk.link())
    editor.get_by_role("button", name="Sign in").click()
    editor.get_by_role("button", name="Continue editing").click()
    editor.get_by_role("heading", name="Preview").wait_for()
    assert editor.get_by_label("Answer", exact=True).first.input_value() == typed


def test_typed_text_stays_in_its_field_when_the_service_refuses_it(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/import")
    typed = f"May I cancel?\n{'Yes. ' * 10_000}"
    text = editor.get_by_label("Paste questions and answers")
    text.fill(typed)
    editor.context.clear_cookies()  # without the cookie, a long form is not read
    editor.get_by_role("button", name="Preview the import").click()
    expect(editor.get_by_role("alert")).to_contain_text("another tab")
    assert text.input_value() == typed
    desk.sign_in(editor.context)
    editor.get_by_role("button", name="Preview the import").click()
    editor.get_by_role("button", name="Continue editing").click()
    expect(editor.get_by_text("1 question was recognised")).to_be_visible()


def test_the_head_of_an_open_question_is_one_line_on_a_phone(editor: Page, desk: Served) -> None:
    editor.set_viewport_size({"width": 320, "height": 700})
    editor.goto(address(desk, "edit"))
    head = editor.locator(".item > summary").first
    before = head.evaluate("head => head.offsetHeight")
    editor.get_by_label("Answer", exact=True).first.focus()
    assert head.locator(".count").is_visible()
    assert head.evaluate("head => head.offsetHeight") == before <= 44


def test_on_a_phone_the_bar_never_covers_the_focused_field(editor: Page, desk: Served) -> None:
    writer = desk.storage.people.add("M" * 50, role="publisher")
    write_forty(desk, writer.access, slug="covered")
    editor.set_viewport_size({"width": 320, "height": 568})
    editor.goto(f"{desk.url}/desk/faqs/covered")
    expect(editor.locator("#saved")).to_contain_text("Revision 1")
    editor.locator("#item-5 > summary").click()
    for _ in range(15):
        editor.keyboard.press("Tab")
        assert editor.evaluate(COVERED) is False, editor.evaluate(FOCUSED)


def test_problems_are_announced_beside_their_fields(editor: Page, desk: Served) -> None:
    editor.goto(f"{desk.url}/desk/new")
    editor.get_by_label("Question", exact=True).fill("Why?")
    editor.get_by_role("button", name="Publish", exact=True).click()
    editor.get_by_role("alert").wait_for()
    answer = editor.get_by_label("Answer", exact=True)
    assert answer.get_attribute("aria-invalid") == "true"
    described = answer.get_attribute("aria-describedby")
    assert answer.evaluate("field => field.nextElementSibling.className") == "error"
    assert editor.locator(f'[id="{described}"]').is_visible()
    editor.get_by_role("alert").get_by_role("link").last.click()
    assert editor.evaluate("document.activeElement.name") == "answer"
    assert violations(editor) == []
