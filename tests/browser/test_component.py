"""The component in a real Chromium, on pages of a Flask application at a real address."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask, Response, g, render_template_string, request
from PIL import Image
from playwright.sync_api import Browser, Dialog, Page

from faqsvc_embed import FAQ
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.rendering.element_ids import question_ids
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.host import HOST_PAGE, NOTE_VIOLATIONS, STRICT, serve, wait_until

PRICING = FAQ.from_dict(samples.pricing())
NASTY = FAQ.from_dict(samples.nasty())
LONG = FAQ.from_dict(
    samples.record(
        "long",
        ("Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft?", "x" * 300),
        ("Where is it? " * 12, "https://example.com/" + "path/" * 40),
        title="W" * 60,
    )
)
ARABIC = FAQ.from_dict(samples.record("arabic", ("كم السعر؟", "مجاني."), lang="ar", title="الأسعار"))
ACCENT = (200, 30, 120)

PAGES = {
    "/": '{% faq "pricing" %}',
    "/without": "",
    "/nasty": '{% faq "nasty" %}',
    "/long": '{% faq "long" %}',
    "/arabic": '{% faq "arabic" %}',
    "/themed": '{% faq "pricing", theme={"accentColor": "rgb(200 30 120)", "questionSize": 32} %}',
    "/smallest": '{% faq "pricing", theme={"questionSize": 8} %}',
    "/many": '{% faq "pricing" %}{% faq "nasty" %}{% faq "pricing", heading_level=4 %}{% faq "long" %}'
    '{% faq "pricing", show_title=false, heading_level=none %}',
}


def make_app(styles: str) -> Flask:
    """A host with a page for each case; `?csp=` and `?dark` say what the case needs."""
    app = Flask("host")
    faqs = {faq.slug: faq for faq in (PRICING, NASTY, LONG, ARABIC)}
    FAQExtension(app, embed=fake_embed(faqs, styles=styles))

    @app.before_request
    def nonce() -> None:
        g.csp_nonce = "bm9uY2U=" if request.args.get("csp") == "nonce" else None

    @app.after_request
    def policy(response: Response) -> Response:
        allowed = {
            "nonce": "style-src 'nonce-bm9uY2U='; script-src 'nonce-bm9uY2U='",
            "self": "style-src 'self'",
        }
        if (csp := request.args.get("csp")) is not None:
            response.headers["Content-Security-Policy"] = STRICT + allowed[csp]
        return response

    for path, content in PAGES.items():
        source = HOST_PAGE.replace("CONTENT", content)
        app.add_url_rule(
            path, path, lambda source=source: render_template_string(source, dark="dark" in request.args)
        )
    app.add_url_rule("/icon.png", "icon", lambda: Response(b"", 204))
    dark = "html { color-scheme: dark; background: #111; color: #eee } a { color: #9cf }"
    app.add_url_rule("/dark.css", "dark", lambda: Response(dark, mimetype="text/css"))
    return app


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """The address of a host with inline styles."""
    yield from serve(make_app("inline"))


@pytest.fixture(scope="module")
def linked() -> Iterator[str]:
    """The address of a host with a linked stylesheet."""
    yield from serve(make_app("linked"))


def words(text: str) -> str:
    return " ".join(text.replace("\0", "\ufffd").split())


def texts(page: Page, selector: str) -> list[str]:
    return [words(text) for text in page.locator(selector).all_text_contents()]


def open_items(page: Page) -> list[bool]:
    found: list[bool] = page.locator(".faqsvc-item").evaluate_all("items => items.map(item => item.open)")
    return found


def visible_answers(page: Page) -> list[bool]:
    """Whether each answer takes room on the page."""
    found: list[bool] = page.locator(".faqsvc-answer").evaluate_all(
        """all => all.map(e =>
            e.checkVisibility({contentVisibilityAuto: true}) && e.getBoundingClientRect().height > 8)"""
    )
    return found


def is_styled(page: Page) -> bool:
    """The stylesheet has come: the toggle is the place of its marker."""
    position: str = page.locator(".faqsvc-toggle").first.evaluate("e => getComputedStyle(e).position")
    return position == "relative"


# What it shows


@pytest.mark.parametrize(("path", "faq"), [("/", PRICING), ("/nasty", NASTY), ("/long", LONG)])
def test_the_text_shown_is_the_text_of_the_record(
    page: Page, host: str, path: str, faq: FAQ
) -> None:  # J10, H1
    dialogs = list[str]()

    def dismiss(dialog: Dialog) -> None:
        dialogs.append(dialog.message)
        dialog.dismiss()

    page.on("dialog", dismiss)
    page.goto(host + path)
    assert texts(page, ".faqsvc-title") == [words(faq.title)]
    assert texts(page, ".faqsvc-question") == [words(item.question) for item in faq.items]
    assert texts(page, ".faqsvc-answer") == [words(item.answer) for item in faq.items]
    assert dialogs == []
    assert page.locator("#section #h3").count() == 1  # the rest of the page is still there (E3)


def test_a_browser_reads_the_faq_page(page: Page, host: str) -> None:  # J1, J12, E3
    page.goto(f"{host}/many")
    nodes = page.locator('script[type="application/ld+json"]').evaluate_all(
        "scripts => scripts.map(script => JSON.parse(script.text))"
    )
    (node,) = nodes
    assert node["@type"] == "FAQPage"
    shown = [item.question for faq in (PRICING, NASTY, LONG) for item in faq.items]
    assert [question["name"] for question in node["mainEntity"]] == shown


def test_ids_are_unique_on_a_page_of_many_blocks(page: Page, host: str) -> None:  # A14
    page.goto(f"{host}/many")
    ids = page.locator("[id]").evaluate_all("all => all.map(element => element.id)")
    assert len(set(ids)) == len(ids)
    assert page.locator(".faqsvc").count() == 5


# What it does


def test_a_click_opens_an_item_and_another_closes_it(page: Page, host: str) -> None:  # H5
    page.goto(host)
    assert (open_items(page), visible_answers(page)) == ([False] * 3, [False] * 3)
    page.get_by_text("May I cancel?").click()
    assert (open_items(page), visible_answers(page)) == ([False, False, True], [False, False, True])
    page.get_by_text("Any time").click()
    assert open_items(page) == [False, False, True]
    page.get_by_text("May I cancel?").click()
    assert open_items(page) == [False] * 3
    wait_until(lambda: visible_answers(page) == [False] * 3)  # it closes calmly


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_the_keyboard_reaches_and_toggles_each_item_in_order(page: Page, host: str, key: str) -> None:  # A6
    page.goto(host)
    page.locator("#own-summary").focus()
    for index in range(3):
        page.keyboard.press("Tab")
        focused = page.evaluate(
            "[...document.querySelectorAll('.faqsvc-toggle')].indexOf(document.activeElement)"
        )
        assert focused == index
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
        assert outline == "solid"  # A9
        page.keyboard.press(key)
        assert open_items(page) == [n <= index for n in range(3)]
    page.keyboard.press(key)
    assert open_items(page) == [True, True, False]
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "field"


@pytest.mark.parametrize("javascript", [True, False])
def test_a_link_to_a_question_opens_it(chromium: Browser, host: str, javascript: bool) -> None:  # P1, P2
    context = chromium.new_context(java_script_enabled=javascript)
    page = context.new_page()
    ids = question_ids("pricing", [item.question for item in PRICING.items])
    page.goto(f"{host}/#{ids[1]}")
    page.locator(f"#{ids[1]}").wait_for(state="visible")
    assert [page.locator(f"#{anchor}").is_visible() for anchor in ids] == [False, True, False]
    context.close()


def test_without_javascript_every_answer_can_be_opened(chromium: Browser, host: str) -> None:  # P1, P6
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(host)
    for item in PRICING.items:
        page.get_by_text(item.question).click()
    for anchor in question_ids("pricing", [item.question for item in PRICING.items]):
        assert page.locator(f"#{anchor}").is_visible()
    context.close()


@pytest.mark.parametrize("path", ["/", "/nasty", "/themed"])
def test_print_shows_every_answer(page: Page, host: str, path: str) -> None:  # P1, P4
    page.goto(host + path)
    assert not any(visible_answers(page))
    page.emulate_media(media="print")
    wait_until(lambda: all(visible_answers(page)))  # the layout follows the new medium in a frame of its own
    assert not any(open_items(page))
    assert not page.locator("#own-answer").evaluate(
        "e => e.checkVisibility({contentVisibilityAuto: true})"
    )  # T5


# Policies


@pytest.mark.parametrize(
    ("fixture", "csp", "path"),
    [
        ("host", "nonce", "/"),
        ("host", "nonce", "/themed"),  # a theme is a style element, and needs a nonce
        ("host", "nonce", "/many"),
        ("linked", "self", "/"),
        ("linked", "self", "/many"),
    ],
)
def test_a_strict_policy_lets_all_of_it_through(
    page: Page, request: pytest.FixtureRequest, fixture: str, csp: str, path: str
) -> None:  # C1, C2, C3, C4
    address: str = request.getfixturevalue(fixture)
    page.add_init_script(NOTE_VIOLATIONS)
    messages = list[str]()
    page.on("console", lambda message: messages.append(message.text))
    page.goto(f"{address}{path}?csp={csp}")
    page.get_by_text("May I cancel?").first.click()
    assert page.evaluate("window.violations") == []
    assert messages == []
    assert is_styled(page)


def test_the_policy_of_these_tests_does_stop_styles(page: Page, host: str) -> None:
    page.goto(f"{host}/?csp=self")  # inline styles, and only files allowed
    assert not is_styled(page)


@pytest.mark.parametrize("fixture", ["host", "linked"])
@pytest.mark.parametrize("path", ["/many", "/nasty", "/themed"])
def test_no_request_leaves_the_host(
    page: Page, request: pytest.FixtureRequest, fixture: str, path: str
) -> None:  # C7
    address: str = request.getfixturevalue(fixture)
    asked = list[str]()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(address + path, wait_until="networkidle")
    assert asked[0] == address + path
    assert [url for url in asked if not url.startswith(f"{address}/")] == []
    assert is_styled(page)


# Accessibility


@pytest.mark.parametrize("look", ["light", "dark", "forced light", "forced dark"])
@pytest.mark.parametrize("path", ["/", "/nasty", "/themed", "/arabic"])
def test_axe_finds_nothing(page: Page, host: str, path: str, look: str) -> None:  # A1, A8
    dark, forced = look.endswith("dark"), look.startswith("forced")
    page.emulate_media(color_scheme="dark" if dark else "light", forced_colors="active" if forced else "none")
    # Where colours are forced, the host's are not used, yet axe would read them.
    page.goto(f"{host}{path}{'?dark' if dark and not forced else ''}")
    page.locator(".faqsvc-item").evaluate_all("items => items.forEach(item => item.open = true)")
    results = Axe().run(page)
    assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("path", ["/", "/smallest"])
def test_each_toggle_is_large_enough_to_hit(page: Page, host: str, path: str) -> None:  # A7
    page.goto(host + path)
    for toggle in page.locator(".faqsvc-toggle").all():
        box = toggle.bounding_box()
        assert box is not None
        assert (box["width"] >= 24, box["height"] >= 24) == (True, True)


@pytest.mark.parametrize("size", ["100%", "200%"])
@pytest.mark.parametrize("path", ["/", "/nasty", "/long", "/themed", "/arabic"])
def test_a_narrow_page_does_not_scroll_sideways(page: Page, host: str, path: str, size: str) -> None:  # A11
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(host + path)
    page.evaluate("size => { document.documentElement.style.fontSize = size }", size)
    page.locator(".faqsvc-item").evaluate_all("items => items.forEach(item => item.open = true)")
    wider = page.evaluate(
        """() => {
            const block = document.querySelector('.faqsvc')
            const edge = block.getBoundingClientRect()
            return [block, ...block.querySelectorAll('*')]
                .filter(e => e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).display !== 'inline'
                    || e.getBoundingClientRect().right > edge.right + 1
                    || e.getBoundingClientRect().left < edge.left - 1)
                .map(e => e.className)
        }"""
    )
    assert wider == []
    block = page.locator(".faqsvc").evaluate(
        "e => [e.getBoundingClientRect().left, e.getBoundingClientRect().right]"
    )
    assert 0 <= block[0] < block[1] <= 320


def test_a_language_from_right_to_left_begins_at_the_right(page: Page, host: str) -> None:  # A12
    page.goto(f"{host}/arabic")
    root, text = page.locator(".faqsvc").bounding_box(), page.locator(".faqsvc-question").bounding_box()
    assert root is not None
    assert text is not None
    assert abs((root["x"] + root["width"]) - (text["x"] + text["width"])) < 1
    assert page.locator(".faqsvc").evaluate("e => [e.lang, getComputedStyle(e).direction]") == ["ar", "rtl"]


# The host's page around it

STYLES_OUTSIDE = """() => [...document.querySelectorAll('*')]
    .filter(e => !e.closest('.faqsvc') && !['STYLE', 'SCRIPT', 'LINK'].includes(e.tagName))
    .map(e => {
        const found = {}
        for (const pseudo of [null, '::before', '::after', '::marker']) {
            for (const name of getComputedStyle(e, pseudo)) {
                found[(pseudo || '') + name] = getComputedStyle(e, pseudo).getPropertyValue(name)
            }
        }
        return [e.tagName + '#' + e.id, found]
    })"""
# They follow from how much is on the page.
SIZES = ("block-size", "height", "perspective-origin", "transform-origin")


@pytest.mark.parametrize("media", ["screen", "print"])
def test_no_element_of_the_host_looks_different_beside_a_block(
    page: Page, host: str, media: Any
) -> None:  # T5
    page.emulate_media(media=media)
    page.goto(f"{host}/without")
    without = page.evaluate(STYLES_OUTSIDE)
    page.goto(f"{host}/themed")
    beside = page.evaluate(STYLES_OUTSIDE)
    assert [name for name, _ in beside] == [name for name, _ in without]
    assert len(beside) > 20
    for (element, now), (_, before) in zip(beside, without, strict=True):
        changed = {name for name in before if now[name] != before[name]}
        grown = {"HTML#", "BODY#", "MAIN#host"}
        assert changed <= (set(SIZES) if element in grown else set()), (element, changed)


def test_any_rule_of_the_host_wins_over_ours(page: Page, host: str) -> None:  # T5
    page.goto(host)
    page.add_style_tag(content="summary { display: flex; padding: 1px }")
    style = page.locator(".faqsvc-toggle").first.evaluate(
        "e => [getComputedStyle(e).display, getComputedStyle(e).paddingBlockStart]"
    )
    assert style == ["flex", "1px"]


# What is to be seen


def picture(page: Page) -> Image.Image:
    """Return what the block looks like."""
    return Image.open(io.BytesIO(page.locator(".faqsvc").screenshot())).convert("RGB")


def share(image: Image.Image, colour: tuple[int, int, int], tolerance: int = 24) -> float:
    """Return which part of the picture has this colour, or nearly."""
    counted = image.getcolors(image.width * image.height) or []
    near = [
        n
        for n, c in counted
        if isinstance(c, tuple) and all(abs(a - b) <= tolerance for a, b in zip(c, colour, strict=True))
    ]
    return sum(near) / (image.width * image.height)


def test_the_picture_shows_text_on_the_ground_of_the_host(page: Page, host: str) -> None:
    page.goto(host)
    closed = picture(page)
    assert share(closed, (255, 255, 255)) > 0.8
    assert 0.005 < share(closed, (0, 0, 0)) < 0.2
    page.locator(".faqsvc-item").evaluate_all("items => items.forEach(item => item.open = true)")
    opened = picture(page)
    assert opened.height > closed.height + 60
    assert share(opened, (0, 0, 0)) * opened.height > share(closed, (0, 0, 0)) * closed.height
    page.goto(f"{host}/?dark")
    dark = picture(page)
    assert share(dark, (17, 17, 17)) > 0.8
    assert 0.005 < share(dark, (238, 238, 238)) < 0.2


def test_the_picture_shows_the_accent_colour_and_the_question_size(page: Page, host: str) -> None:  # T1
    page.goto(host)
    plain = picture(page)
    assert share(plain, ACCENT) == 0
    page.goto(f"{host}/themed")
    themed = picture(page)
    assert share(themed, ACCENT) > 0.0002
    assert themed.height > plain.height
    sizes = page.locator(".faqsvc-question").evaluate_all("all => all.map(e => getComputedStyle(e).fontSize)")
    assert sizes == ["32px"] * 3
    # Its marks stand at the end of each question, and nowhere else.
    for toggle in page.locator(".faqsvc-toggle").all():
        row = Image.open(io.BytesIO(toggle.screenshot())).convert("RGB")
        assert share(row.crop((0, 0, row.width - 60, row.height)), ACCENT) == 0
        assert share(row.crop((row.width - 60, 0, row.width, row.height)), ACCENT) > 0
