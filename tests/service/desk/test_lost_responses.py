"""Forms of the desk whose response is lost or late, or that are sent twice: nothing is lost or done twice."""

from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, Request, Route, expect

from faqsvc_embed.service.storage.values import UNCONDITIONAL
from tests.service.desk.serving import Served, serve_desk
from tests.service.desk.test_first_minutes import PASTE
from tests.support.axe import violations

pytestmark = pytest.mark.system

FORMS: dict[str, tuple[str, dict[str, str], str]] = {
    "a new FAQ": ("/new", {"Title": "Lost", "Question": "Why?", "Answer": "Because."}, "Publish"),
    "an FAQ": ("/faqs/shipping", {"Title": "Shipping of parcels"}, "Publish"),
    "the site": ("/site", {"Name": "Heron & Ink"}, "Save"),
    "a new person": ("/people", {"Name": "Zoe"}, "Add, and make a sign-in link"),
    "a person": ("/people/{person}", {"Name": "Mia B."}, "Save"),
    "a new key": ("/keys", {"What is it for?": "the shop"}, "Make the key"),
    "the end of an FAQ": ("/faqs/pricing/remove", {}, "Unpublish"),
    "an import": ("/import", {"Paste questions and answers": "Why?\nBecause."}, "Preview the import"),
    "preview links": (
        "/faqs/shipping/use",
        {"Page of your website": "heron.example/x"},
        "Make preview links",
    ),
}
"""The path of each form, what is typed into it, and its button."""


@pytest.fixture
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serve_desk(tmp_path_factory.mktemp("desk")) as served:
        yield served


@pytest.fixture
def editor(page: Page, desk: Served) -> Page:
    desk.sign_in(page.context)
    return page


def state_of(desk: Served) -> tuple[object, ...]:
    """Return what the forms change."""
    faqs = desk.storage.overview.page(desk.admin.site, limit=100)[0]
    return (
        sorted((one.slug, one.state, [(t.lang, t.newest) for t in one.translations]) for one in faqs),
        sorted(person.name for person in desk.storage.people.list()),
        len(desk.storage.keys.list()),
        desk.storage.sites.get(desk.admin.site).name,
    )


def fill(page: Page, desk: Served, name: str) -> Callable[[], None]:
    """Open and fill a form, and return what presses its button."""
    path, fields, button = FORMS[name]
    page.goto(f"{desk.url}/desk{path.format(person=desk.admin.id)}")
    if "Title" in fields and not page.get_by_label("Title", exact=True).is_visible():
        page.get_by_text("Title and settings").click()
    for label, text in fields.items():
        page.get_by_label(label, exact=True).first.fill(text)
    return page.get_by_role("button", name=button, exact=True).click


def is_sent(request: Request) -> bool:
    """Return whether a request sends a form; previews of what is being written are none."""
    return request.method == "POST" and "part=preview" not in (request.post_data or "")


def typed(page: Page, name: str) -> list[str]:
    return [page.get_by_label(label, exact=True).first.input_value() for label in FORMS[name][1]]


@pytest.mark.parametrize("name", FORMS)
def test_a_lost_or_late_response_loses_nothing_and_nothing_is_done_twice(
    editor: Page, desk: Served, name: str
) -> None:
    late = list[Route]()

    def is_kept() -> bool:
        return typed(editor, name) == list(FORMS[name][1].values())

    def lose_request(route: Route) -> None:
        route.abort() if is_sent(route.request) else route.continue_()

    def lose_response(route: Route) -> None:
        if is_sent(route.request):
            route.fetch(max_redirects=0)
        lose_request(route)

    def delay(route: Route) -> None:
        late.append(route) if is_sent(route.request) else route.continue_()

    press, before = fill(editor, desk, name), state_of(desk)
    for lose in (lose_request, lose_response):
        assert state_of(desk) == before
        editor.route("**/*", lose)
        press()
        expect(editor.locator("#unsent")).to_be_visible()
        assert is_kept()
        editor.go_back()
        assert is_kept()
        editor.unroute("**/*")
    after = state_of(desk)
    assert (after == before) is (name in ("an import", "preview links"))
    editor.route("**/*", delay)
    with editor.expect_request(is_sent):
        press()
    press()
    assert is_kept()
    with editor.expect_response(lambda response: is_sent(response.request)):
        late[0].continue_()
    editor.wait_for_load_state()
    assert (len(late), state_of(desk)) == (1, after)


@pytest.mark.parametrize("has_scripts", [False, True], ids=["without scripts", "with scripts"])
@pytest.mark.parametrize("name", ["the site", "an FAQ"])
def test_text_that_is_restored_after_back_undoes_nobodys_change_in_silence(
    chromium: Browser, desk: Served, name: str, has_scripts: bool
) -> None:
    context = desk.sign_in(chromium.new_context(java_script_enabled=has_scripts))
    pages = {"mine": context.new_page(), "theirs": context.new_page()}
    path, label, button = {
        "the site": ("/site", "Name", "Save"),
        "an FAQ": ("/faqs/shipping", "Answer", "Publish"),
    }[name]
    for text, page in pages.items():
        page.on("dialog", lambda dialog: dialog.accept())
        page.goto(f"{desk.url}/desk{path}")
        page.get_by_label(label, exact=True).first.fill(text)
    pages["mine"].get_by_role("link", name="FAQs", exact=True).click()
    pages["mine"].wait_for_url("**/desk")
    pages["theirs"].get_by_role("button", name=button, exact=True).click()
    pages["theirs"].get_by_role("status").first.wait_for()
    page = pages["mine"]
    page.go_back()
    page.go_forward()
    page.go_back()
    field = page.get_by_label(label, exact=True).first
    if has_scripts:
        expect(field).to_have_value("mine")
        if name == "an FAQ":
            expect(page.locator("#preview")).to_contain_text("mine")
            expect(page.locator("#saved")).to_have_text("Unsaved")
        page.get_by_role("button", name=button, exact=True).click()
        expect(page.get_by_role("alert").first).to_be_visible()
        expect(page.locator("main")).to_contain_text("theirs")
        assert violations(page) == []
        expect(field).to_have_value("mine")
    else:
        expect(field).to_have_value("theirs")
    context.close()


def test_a_page_that_is_opened_again_without_typed_text_is_up_to_date(editor: Page, desk: Served) -> None:
    editor.on("dialog", lambda dialog: dialog.accept())
    editor.goto(f"{desk.url}/desk/faqs/shipping")
    answer = editor.get_by_label("Answer", exact=True).first
    answer.fill("First.")
    editor.wait_for_url("**version=*")
    bookmark = editor.url
    editor.get_by_role("button", name="Publish", exact=True).click()
    editor.get_by_role("status").first.wait_for()
    editor.goto(bookmark)
    editor.wait_for_url("**/shipping")
    answer.fill("Second.")
    editor.get_by_role("button", name="Publish", exact=True).click()
    editor.wait_for_url("**done=published")


def test_a_removal_that_was_refused_can_be_tried_again_after_a_look_at_the_history(
    editor: Page, desk: Served
) -> None:
    editor.goto(f"{desk.url}/desk/faqs/pricing/remove")
    for lang in ("de", ""):
        editor.get_by_label("Which languages").select_option(lang)
    desk.storage.removal.unpublish(desk.admin.access, "pricing", "ko", UNCONDITIONAL)
    editor.get_by_role("button", name="Unpublish", exact=True).click()
    editor.get_by_role("alert").get_by_role("link", name="history").click()
    editor.wait_for_url("**/history*")
    editor.go_back()
    editor.wait_for_url("**/remove")
    editor.get_by_role("button", name="Unpublish", exact=True).click()
    editor.wait_for_url("**done=unpublish")


@pytest.mark.parametrize("is_back", [False, True], ids=["reload", "back"])
def test_without_scripts_a_lost_form_is_sent_again_or_still_has_the_text(
    chromium: Browser, desk: Served, is_back: bool
) -> None:
    context = desk.sign_in(chromium.new_context(java_script_enabled=False))
    page = context.new_page()
    page.goto(f"{desk.url}/desk/faqs/shipping")
    page.get_by_label("Answer", exact=True).first.fill("Typed without a network.")
    page.route("**/*", lambda route: route.abort() if route.request.method == "POST" else route.continue_())
    page.get_by_role("button", name="Save draft").click()
    page.wait_for_url("chrome-error:**")
    page.unroute("**/*")
    page.go_back() if is_back else page.reload()
    expect(page.get_by_label("Answer", exact=True).first).to_have_value("Typed without a network.")
    assert desk.storage.overview.faq(desk.admin.access, "shipping").has_draft is not is_back
    context.close()


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/new", "Save draft"),
        ("/new", "Add a question"),
        ("/faqs/shipping", "Publish"),
        ("/faqs/pricing", "Discard draft"),
    ],
)
def test_what_is_typed_while_the_response_is_late_is_kept(
    editor: Page, desk: Served, path: str, name: str
) -> None:
    waiting = list[Route]()
    editor.goto(f"{desk.url}/desk{path}")
    if path == "/new":
        editor.get_by_label("Title", exact=True).fill("Late")
    editor.get_by_label("Question", exact=True).first.fill("Why?")
    answer = editor.get_by_label("Answer", exact=True).first
    answer.fill("Because.")

    def delay(route: Route) -> None:
        if is_sent(route.request) and not waiting:
            waiting.append(route)
        else:
            route.continue_()

    editor.route("**/*", delay)
    with editor.expect_request(is_sent):
        editor.get_by_role("button", name=name, exact=True).click()
    answer.press("End")
    editor.keyboard.type(" And so on.")
    waiting[0].continue_()
    if name == "Add a question":
        expect(editor.get_by_label("Answer", exact=True).last).to_be_empty()
    else:
        alert = editor.get_by_role("alert")
        expect(alert).to_contain_text("discarded" if name == "Discard draft" else "was saved")
        editor.get_by_role("button", name="Publish", exact=True).click()
        editor.get_by_role("status").first.wait_for()
    expect(answer).to_have_value("Because. And so on.")


def test_after_a_proxy_has_signed_somebody_out_its_page_replaces_nothing(editor: Page, desk: Served) -> None:
    press = fill(editor, desk, "a new FAQ")
    out = {"status": 302, "headers": {"location": f"{desk.url}/livez"}}  # stands for a page of the proxy
    editor.route(
        "**/desk/**",
        lambda route: route.fulfill(**out) if route.request.method == "POST" else route.continue_(),
    )
    answer = editor.get_by_label("Answer", exact=True)
    editor.evaluate(PASTE, [answer.element_handle(), "<p>Here, <b>too</b>.</p>", " Here, too."])
    expect(answer).to_have_value("Because. Here, too.")
    press()
    expect(editor.locator("#unsent")).to_contain_text("Sign in")
    expect(answer).to_have_value("Because. Here, too.")
