"""All variants in a real Chromium: without script, by keyboard, found, printed, moving, under any policy."""

import io
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from flask import Flask, Response, g, render_template_string, request
from PIL import Image
from playwright.sync_api import Browser, Page

from faqsvc_embed import FAQ
from faqsvc_embed.flask import FAQExtension, faqs_from
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.host import HOST_PAGE, NOTE_VIOLATIONS, STRICT, serve, wait_until

MARKDOWN = """\
It has **much**:

1. one
2. two

# Heading

See [more](https://example.com/more) `code`.

> Quote
"""
FAQS = {
    "pricing": FAQ.from_dict(samples.pricing()),
    "rich": FAQ.from_dict(samples.record("rich", ("What is in it?", MARKDOWN), ("And then?", "No *more*."))),
}
THEME = 'theme={"accentColor": "#ffe14d", "questionSize": 20}'
PAGES = {
    "details": '{% faq "rich", ' + THEME + " %}",
    "disclosure": '{% faq "rich", variant="disclosure", ' + THEME + " %}",
    "open": '{% faq "rich", variant="open", ' + THEME + " %}",
    "plain": '{% faq "pricing", variant="disclosure" %}',
    "exclusive-details": '{% faq "pricing", exclusive=true %}{% faq "rich", exclusive=true %}',
    "exclusive-disclosure": '{% faq "pricing", variant="disclosure", exclusive=true %}',
    "all": '{% faq "rich" %}{% faq "pricing", variant="disclosure" %}{% faq "pricing", variant="open" %}',
    "without": "",
}
ANSWERS = [f"faq-pricing--{name}" for name in ("what-does-it-cost", "is-there-a-free-plan", "may-i-cancel")]
LOOKS = ("light", "dark", "forced light", "forced dark")


def make_app(styles: str) -> Flask:
    app = Flask("host")
    # The setting makes the host serve the enhancer as a file; each page says which variant it shows.
    options = {"variant": "disclosure"} if styles == "linked" else {}
    FAQExtension(app, embed=fake_embed(FAQS, styles=styles, answer_format="markdown", **options))

    @app.before_request
    def nonce() -> None:
        g.csp_nonce = "bm9uY2U=" if request.args.get("csp") == "nonce" else None

    @app.after_request
    def policy(response: Response) -> Response:
        csp = request.args.get("csp")
        allowed = {
            "nonce": "style-src 'nonce-bm9uY2U='; script-src 'nonce-bm9uY2U='",
            "self": "style-src 'self'; script-src 'self'",
        }
        if csp == "hashes":
            sources = faqs_from().csp_sources()
            allowed["hashes"] = "; ".join(f"{name} {' '.join(hashes)}" for name, hashes in sources.items())
        if csp is not None:
            response.headers["Content-Security-Policy"] = STRICT + allowed[csp]
        return response

    for name, content in PAGES.items():
        source = HOST_PAGE.replace("CONTENT", content)
        app.add_url_rule(
            f"/{name}",
            name,
            lambda source=source: render_template_string(source, dark="dark" in request.args),
        )
    app.add_url_rule("/icon.png", "icon", lambda: Response(b"", 204))
    dark = "html { color-scheme: dark; background: #111; color: #eee } a { color: #9cf }"
    app.add_url_rule("/dark.css", "dark", lambda: Response(dark, mimetype="text/css"))
    return app


@pytest.fixture(scope="module")
def host() -> Iterator[str]:
    """The address of a host with everything inline."""
    yield from serve(make_app("inline"))


@pytest.fixture(scope="module")
def linked() -> Iterator[str]:
    """The address of a host with everything in files."""
    yield from serve(make_app("linked"))


def expanded(page: Page) -> list[str | None]:
    found: list[str | None] = page.locator("button.faqsvc-toggle").evaluate_all(
        "all => all.map(e => e.getAttribute('aria-expanded'))"
    )
    return found


def shown(page: Page) -> list[bool]:
    """Whether each answer can be seen."""
    found: list[bool] = page.locator(".faqsvc-answer").evaluate_all(
        "all => all.map(e => e.checkVisibility() && e.parentElement.getBoundingClientRect().height > 8)"
    )
    return found


def errors_of(page: Page) -> list[str]:
    errors = list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))
    return errors


# Accessibility


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", ["details", "disclosure", "open", "all"])
def test_axe_finds_nothing_in_any_variant(
    page: Page, host: str, name: str, look: str
) -> None:  # A1 to A3, A8
    dark, forced = look.endswith("dark"), look.startswith("forced")
    page.emulate_media(color_scheme="dark" if dark else "light", forced_colors="active" if forced else "none")
    page.goto(f"{host}/{name}{'?dark' if dark and not forced else ''}")
    closed = Axe().run(page)
    page.locator("details").evaluate_all("all => all.forEach(e => { e.open = true })")
    page.locator("button.faqsvc-toggle").evaluate_all("all => all.forEach(e => e.click())")
    for results in (closed, Axe().run(page)):
        assert results.violations_count == 0, results.generate_report()


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_disclosure_is_worked_by_keyboard_in_order(page: Page, host: str, key: str) -> None:  # A2, A6, A9
    page.goto(f"{host}/plain")
    page.locator("#own-summary").focus()
    for index in range(3):
        page.keyboard.press("Tab")
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press(key)
        assert expanded(page) == [str(n <= index).lower() for n in range(3)]
    wait_until(lambda: shown(page) == [True] * 3)
    page.keyboard.press(key)
    assert expanded(page) == ["true", "true", "false"]
    wait_until(lambda: shown(page) == [True, True, False])
    assert page.locator("#faq-pricing--may-i-cancel").evaluate("e => e.parentElement.hidden") == "until-found"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "field"


def test_a_screen_reader_meets_headings_and_buttons(page: Page, host: str) -> None:  # A2, A4, A15
    page.goto(f"{host}/plain")
    heading = page.get_by_role("heading", level=3, name="What does it cost?", exact=True)
    button = page.get_by_role("button", name="What does it cost?", exact=True, expanded=False)
    assert (heading.count(), button.count(), heading.locator("> *").count()) == (1, 1, 1)
    page.goto(f"{host}/details")
    assert page.get_by_role("heading", level=3, name="What is in it?", exact=True).count() == 1


def test_a_link_in_an_answer_is_a_link(page: Page, host: str) -> None:  # A10, H5
    page.goto(f"{host}/details")
    page.get_by_text("What is in it?").click()
    link = page.get_by_role("link", name="more")
    assert link.evaluate("e => [getComputedStyle(e).textDecorationLine, e.closest('summary, button')]") == [
        "underline",
        None,
    ]
    page.route("https://example.com/more", lambda route: route.fulfill(body="there"))
    link.click()
    page.wait_for_url("https://example.com/more")


SPACED = "* { line-height: 1.5 !important; letter-spacing: .12em !important; word-spacing: .16em !important }"
SPACED += "p { margin-block-end: 2em !important }"


@pytest.mark.parametrize("size", ["100%", "200%"])
@pytest.mark.parametrize("name", ["details", "disclosure", "open"])
def test_wider_spacing_and_larger_text_lose_nothing(
    page: Page, host: str, name: str, size: str
) -> None:  # A11
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 320, "height": 640})
    page.goto(f"{host}/{name}")
    page.add_style_tag(content=f"{SPACED} html {{ font-size: {size} }}")
    page.locator("details").evaluate_all("all => all.forEach(e => { e.open = true })")
    page.locator("button.faqsvc-toggle").evaluate_all("all => all.forEach(e => e.click())")
    cut = page.locator(".faqsvc, .faqsvc *").evaluate_all(
        """all => all.filter(e => !['SCRIPT', 'STYLE'].includes(e.tagName)
            && (e.getBoundingClientRect().right > 321 || e.getBoundingClientRect().left < -1
                || getComputedStyle(e).display === 'block' && e.scrollHeight > e.clientHeight + 2))
            .map(e => e.outerHTML.slice(0, 80))"""
    )
    assert cut == []


# Without script, found, printed


@pytest.mark.parametrize("javascript", [True, False])
def test_an_address_opens_its_panel(chromium: Browser, host: str, javascript: bool) -> None:  # P1, P2, P7
    context = chromium.new_context(java_script_enabled=javascript)
    page = context.new_page()
    page.goto(f"{host}/plain#{ANSWERS[1]}")
    page.locator(f"#{ANSWERS[1]}").wait_for(state="visible")
    if javascript:
        assert expanded(page) == ["false", "true", "false"]
        page.evaluate(f"location.hash = '{ANSWERS[2]}'")
        wait_until(lambda: expanded(page) == ["false", "true", "true"])
    context.close()


def test_an_address_opens_where_the_browser_itself_does_not(page: Page, host: str) -> None:  # P7
    # As an older engine would: what is hidden stays so, and details closed, unless a script opens them.
    page.add_init_script(
        """new MutationObserver(() => {
            for (const panel of document.querySelectorAll('.faqsvc-panel[hidden]')) panel.hidden = true
        }).observe(document, {childList: true, subtree: true})"""
    )
    page.goto(f"{host}/plain#{ANSWERS[2]}")
    wait_until(lambda: expanded(page) == ["false", "false", "true"])


@pytest.mark.parametrize(
    "fragment", ["", "%", "%E0%A4%A", "nothing", "faq-pricing", "'\"><b", "%00", "section", "before"]
)
def test_no_address_is_an_error(page: Page, host: str, fragment: str) -> None:  # P7
    errors = errors_of(page)
    page.goto(f"{host}/plain#{fragment}")
    page.evaluate("fragment => { location.hash = 'x'; location.hash = fragment }", fragment)
    assert expanded(page) == ["false"] * 3
    assert errors == []


def test_without_script_everything_of_every_variant_can_be_read(
    chromium: Browser, host: str
) -> None:  # P1, P6
    context = chromium.new_context(java_script_enabled=False)
    page = context.new_page()
    for name in ("plain", "disclosure", "open"):
        page.goto(f"{host}/{name}")
        for answer in page.locator(".faqsvc-answer").all():
            assert answer.is_visible()
            box = answer.locator("..").bounding_box()
            assert box is not None
            assert box["height"] > 8
    context.close()


@pytest.mark.parametrize("name", ["details", "disclosure", "open", "all"])
def test_paper_shows_every_answer_of_every_variant(page: Page, host: str, name: str) -> None:  # P1, P4
    page.goto(f"{host}/{name}")
    page.emulate_media(media="print")
    wait_until(lambda: all(shown(page)))
    marks = page.locator(".faqsvc-toggle").evaluate_all(
        "all => all.map(e => getComputedStyle(e, '::after').display)"
    )
    assert set(marks) <= {"none"}


@pytest.mark.parametrize(
    ("path", "answer"),
    [("all#:~:text=one", ".faqsvc-answer ol"), ("plain#:~:text=Any%20time", f"#{ANSWERS[2]}")],
)
def test_what_is_searched_for_opens(page: Page, host: str, path: str, answer: str) -> None:  # P1
    page.goto(f"{host}/{path}")  # a text fragment finds as the browser's own search does
    page.locator(answer).first.wait_for(state="visible")
    if path.startswith("plain"):
        wait_until(lambda: expanded(page) == ["false", "false", "true"])


def test_of_an_exclusive_block_one_item_is_open(page: Page, host: str) -> None:  # P5
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/exclusive-details")
    for question in ("What does it cost?", "What is in it?", "May I cancel?"):
        page.get_by_text(question).click()
    opened = page.locator("details.faqsvc-item").evaluate_all("all => all.map(e => e.open)")
    assert opened == [False, False, True, True, False]
    page.goto(f"{host}/exclusive-disclosure")
    for index in (0, 2, 1):
        page.locator("button.faqsvc-toggle").nth(index).click()
        assert expanded(page) == [str(n == index).lower() for n in range(3)]
        assert shown(page) == [n == index for n in range(3)]
    page.locator("button.faqsvc-toggle").nth(1).click()
    assert expanded(page) == ["false"] * 3


# Policies


@pytest.mark.parametrize(
    ("fixture", "csp"), [("host", "nonce"), ("host", "hashes"), ("linked", "self"), ("linked", "nonce")]
)
@pytest.mark.parametrize("name", ["details", "disclosure", "open", "all"])
def test_any_strict_policy_lets_every_variant_through(
    page: Page, request: pytest.FixtureRequest, fixture: str, csp: str, name: str
) -> None:  # C1 to C5, C7, P6
    address: str = request.getfixturevalue(fixture)
    page.add_init_script(NOTE_VIOLATIONS)
    messages, asked = list[str](), list[str]()
    page.on("console", lambda message: messages.append(message.text))
    page.on("request", lambda request: asked.append(request.url))
    errors = errors_of(page)
    page.goto(f"{address}/{name}?csp={csp}")
    for button in page.locator("button.faqsvc-toggle").all():
        button.click()
    assert set(expanded(page)) <= {"true"}
    assert (page.evaluate("window.violations"), messages, errors) == ([], [], [])
    assert [url for url in asked if not url.startswith(f"{address}/")] == []
    measure = page.locator(".faqsvc").first.evaluate("e => getComputedStyle(e).maxInlineSize")
    assert measure == "736px"
    if name != "all":  # the theme has come, too
        size = page.locator(".faqsvc-question").first.evaluate("e => getComputedStyle(e).fontSize")
        assert size == "20px"


def test_the_hashes_are_needed(page: Page, linked: str) -> None:
    page.add_init_script(NOTE_VIOLATIONS)
    page.goto(f"{linked}/plain?csp=hashes")  # everything is in files, which no hash of a style allows
    assert len(page.evaluate("window.violations")) == 2


# Motion and layout


@pytest.mark.parametrize("fixture", ["host", "linked"])
@pytest.mark.parametrize("name", ["details", "plain", "all"])
def test_nothing_moves_while_a_page_loads(
    page: Page, request: pytest.FixtureRequest, fixture: str, name: str
) -> None:  # P8
    page.add_init_script(
        "window.shifts = []; new PerformanceObserver(list => window.shifts.push(...list.getEntries()"
        ".map(e => e.value))).observe({type: 'layout-shift', buffered: true})"
    )
    address: str = request.getfixturevalue(fixture)
    page.goto(f"{address}/{name}", wait_until="networkidle")
    page.evaluate("() => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    assert page.evaluate("window.shifts") == []


def test_the_script_changes_no_box(page: Page, linked: str) -> None:  # P8
    boxes = "all => all.map(e => JSON.stringify(e.getBoundingClientRect()))"
    page.route("**/*.js", lambda route: route.abort())
    page.goto(f"{linked}/plain")
    before = page.locator("body *").evaluate_all(boxes)
    page.unroute("**/*.js")
    page.goto(f"{linked}/plain")
    assert page.locator("body *").evaluate_all(boxes) == before
    page.locator("button.faqsvc-toggle").first.click()
    assert expanded(page)[0] == "true"


@pytest.mark.parametrize("name", ["details", "plain"])
def test_an_item_opens_and_closes_calmly(page: Page, host: str, name: str) -> None:
    page.goto(f"{host}/{name}")
    follow = """toggle => new Promise(done => {
        const item = toggle.closest('.faqsvc-item'), heights = [item.offsetHeight]
        const watch = () => {  // until the height is the same for ten frames
            heights.push(item.offsetHeight)
            const last = heights.slice(-10)
            const is_still = heights.length > 10 && last.every(height => height === last[0])
            is_still ? done(heights) : requestAnimationFrame(watch)
        }
        toggle.click()
        requestAnimationFrame(watch)
    })"""
    toggle = page.locator(".faqsvc-toggle").first
    for grows in (True, False):
        heights = toggle.evaluate(follow)
        assert heights == sorted(heights, reverse=not grows)
        assert len(set(heights)) > 3


@pytest.mark.parametrize("name", ["details", "disclosure", "all"])
def test_nothing_moves_for_those_who_asked_for_that(page: Page, host: str, name: str) -> None:  # A13
    page.emulate_media(reduced_motion="reduce")
    page.goto(f"{host}/{name}")
    moving = page.locator(".faqsvc, .faqsvc *").evaluate_all(
        """all => all.flatMap(e => [null, '::after', '::details-content'].map(p => getComputedStyle(e, p)))
            .filter(s => s.transitionDuration !== '0s' || s.animationName !== 'none').length"""
    )
    assert moving == 0


def marker(page: Page) -> bytes:
    """What the end of the first toggle looks like, in shades of grey."""
    row = Image.open(io.BytesIO(page.locator(".faqsvc-toggle").first.screenshot())).convert("L")
    return row.crop((row.width - 24, 0, row.width, row.height)).tobytes()


@pytest.mark.parametrize("look", LOOKS)
@pytest.mark.parametrize("name", ["details", "disclosure"])
def test_the_marker_is_seen_and_says_by_its_shape_what_is_open(
    page: Page, host: str, name: str, look: str
) -> None:  # A8, A13, A15
    dark, forced = look.endswith("dark"), look.startswith("forced")
    page.emulate_media(
        color_scheme="dark" if dark else "light",
        forced_colors="active" if forced else "none",
        reduced_motion="reduce",
    )
    page.goto(f"{host}/{name}{'?dark' if dark and not forced else ''}")
    closed = marker(page)
    page.locator(".faqsvc-toggle").first.click()
    page.mouse.move(0, 0)
    opened = marker(page)
    assert all(max(picture) - min(picture) > 80 for picture in (closed, opened))
    assert closed != opened


# Hosts that style what we use

FRAMEWORK = """
    h2 { font-size: 2rem; font-weight: 500; margin: 0 0 .5rem; line-height: 1.2 }
    h3 { font-size: 1.75rem; font-weight: 500; margin: 0 0 .5rem; line-height: 1.2 }
    p { margin: 0 0 1rem }
    summary { display: list-item; cursor: pointer }
    [hidden] { display: none !important }
"""


def test_headings_of_the_host_leave_the_rhythm_alone(page: Page, host: str) -> None:
    page.goto(f"{host}/all")
    page.add_style_tag(content=FRAMEWORK)
    toggles = page.locator("summary.faqsvc-toggle, button.faqsvc-toggle").evaluate_all(
        """all => all.map(e => {
            const box = e.getBoundingClientRect(), text = e.querySelector('.faqsvc-question')
            const question = text.getBoundingClientRect()
            return [parseFloat(getComputedStyle(text).fontSize),
                Math.abs(question.top - box.top - (box.bottom - question.bottom))]
        })"""
    )
    assert {size for size, _ in toggles} == {18.0}
    assert max(askew for _, askew in toggles) <= 1
    gap = page.locator(".faqsvc-open .faqsvc-answer").first.evaluate(
        """e => e.parentElement.getBoundingClientRect().bottom
            - e.lastElementChild.getBoundingClientRect().bottom"""
    )
    assert 24 <= gap <= 32  # the paragraph's own margin is part of it


def test_a_panel_is_found_whatever_a_host_does_to_hidden_things(page: Page, host: str) -> None:  # A2
    page.goto(f"{host}/plain")
    page.add_style_tag(content=FRAMEWORK)
    display = page.locator(".faqsvc-panel").first.evaluate("e => getComputedStyle(e).display")
    assert display == "block"
    assert shown(page) == [False] * 3


def test_a_marker_of_the_host_replaces_ours(page: Page, host: str) -> None:
    page.goto(f"{host}/details")
    page.add_style_tag(
        content="summary::after { background-image: linear-gradient(rgb(1, 2, 3), rgb(1, 2, 3)) }"
    )
    image = page.locator(".faqsvc-toggle").first.evaluate(
        "e => getComputedStyle(e, '::after').backgroundImage"
    )
    assert image.count("gradient") == image.count("rgb(1, 2, 3)") / 2 == 1


# What Pico 2 says of all buttons and details, outside of any layer.
PICO = """
    :root { --pico-spacing: 1rem; --pico-color: rgb(1, 2, 3); --pico-border-width: 1px }
    details { margin-bottom: var(--pico-spacing) }
    button { --pico-background-color: rgb(1, 114, 173); --pico-color: #fff; width: 100%; outline: 0;
        --pico-form-element-spacing-vertical: 12px; --pico-form-element-spacing-horizontal: 16px;
        padding: var(--pico-form-element-spacing-vertical) var(--pico-form-element-spacing-horizontal);
        border: var(--pico-border-width) solid; background-color: var(--pico-background-color);
        color: var(--pico-color); text-align: center; margin-bottom: var(--pico-spacing) }
    button:is(:hover, :focus) { --pico-background-color: rgb(1, 127, 192); --pico-color: #fff }
"""


def test_on_a_page_with_pico_a_question_is_no_blue_button_and_nothing_overlaps(page: Page, host: str) -> None:
    page.goto(f"{host}/all")
    page.add_style_tag(content=PICO)
    toggle = page.locator("button.faqsvc-toggle").first
    toggle.hover()
    assert toggle.evaluate(
        """e => [getComputedStyle(e).backgroundColor, getComputedStyle(e).color,
            getComputedStyle(e).borderTopWidth, getComputedStyle(e).padding,
            e.querySelector('.faqsvc-question').getBoundingClientRect().left - e.parentElement
                .parentElement.getBoundingClientRect().left,
            getComputedStyle(e.querySelector('.faqsvc-question')).textAlign]"""
    ) == ["rgba(0, 0, 0, 0)", "rgb(1, 2, 3)", "0px", "18px 0px", 0, "start"]
    gaps = page.locator(".faqsvc-item + .faqsvc-item").evaluate_all(
        """all => all.map(e => e.getBoundingClientRect().top
            - e.previousElementSibling.getBoundingClientRect().bottom)"""
    )
    assert {round(gap, 3) for gap in gaps} == {0}


def test_an_open_item_is_not_under_a_sticky_header(page: Page, host: str) -> None:  # A9
    page.emulate_media(reduced_motion="reduce")
    page.set_viewport_size({"width": 800, "height": 300})
    page.goto(f"{host}/exclusive-details")
    page.add_style_tag(
        content="body::before { content: ''; display: block; position: sticky; top: 0; height: 90px }"
    )
    page.add_style_tag(content=".faqsvc { --faqsvc-scroll-margin: 150px } body { padding-bottom: 1000px }")
    page.evaluate(f"location.hash = '{ANSWERS[2]}'")
    answer = page.locator(f"#{ANSWERS[2]}")
    answer.wait_for(state="visible")
    wait_until(lambda: bool(answer.evaluate("e => Math.abs(e.getBoundingClientRect().top - 150) < 2")))


@pytest.mark.parametrize("name", ["disclosure", "open", "all"])
def test_no_variant_touches_the_host(page: Page, host: str, name: str) -> None:  # T5
    styles: Any = """() => [...document.querySelectorAll('*')]
        .filter(e => !e.closest('.faqsvc')
            && !['STYLE', 'SCRIPT', 'HTML', 'BODY', 'MAIN'].includes(e.tagName))
        .map(e => [e.tagName, Object.fromEntries([...getComputedStyle(e)]
            .map(name => [name, getComputedStyle(e).getPropertyValue(name)]))])"""
    page.goto(f"{host}/without")
    without = page.evaluate(styles)
    page.goto(f"{host}/{name}")
    assert page.evaluate(styles) == without
