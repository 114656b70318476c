"""Writing FAQs at the desk: create, edit, reorder, save, publish, translate, and conflicts."""

import html
import re
from time import process_time
from typing import Any

import pytest
import turbohtml

from faqsvc_embed import FAQ
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.values import Preconditions
from tests.service.desk.conftest import Editor, next_page
from tests.service.storage.writes import put
from tests.support import samples
from tests.support.clock import Clock
from tests.support.growth import grows_linearly

ABOUT = {"website_name": "Heron", "website_url": "https://heron.example", "lang": "en"}


def written(**changes: Any) -> dict[str, Any]:
    """Return the fields of an FAQ with two questions."""
    return {
        "slug": "pricing",
        "title": "Prices",
        **ABOUT,
        "question": ["What does it cost?", "May I cancel?"],
        "answer": ["Nothing.", "Any time."],
        **changes,
    }


def base_of(text: str) -> str:
    found = re.search(r'name="version" value="([^"]*)"', text)
    assert found
    return found[1]


def slugs_of(text: str) -> list[str]:
    """Return the FAQs on a page of the list."""
    return re.findall(r'<h2[^>]*><a href="/desk/faqs/([^"]+)"', text)


def texts_of(text: str) -> list[str]:
    """Return what the text areas have, in their order."""
    return [
        html.unescape(found)
        for found in re.findall(r"<textarea(?! id=.introduction)[^>]*>\n(.*?)</textarea>", text, re.DOTALL)
    ]


def fields_of(text: str) -> dict[str, Any]:
    """Return the fields of the editor's form as a browser sends them."""
    [found] = re.findall(r'<form class="write".*?</form>', text, re.DOTALL)
    fields: dict[str, Any] = {}
    form: Any = turbohtml.parse(found)
    for element in form.select("input, textarea, select"):
        value = element.attrs.get("value", "").replace("\n", "")
        if element.tag == "textarea":
            value = element.text.replace("\n", "\r\n")
        elif element.tag == "select":
            options = element.select("option")
            value = next((o for o in options if "selected" in o.attrs), options[0]).attrs.get("value", "")
        fields.setdefault(element.attrs["name"], []).append(value)
    return fields


def publish(editor: Editor, **changes: Any) -> str:
    """Publish a new FAQ, and return the page."""
    response = editor.post("/new", action="publish", **written(**changes))
    assert response.status_code == 200, response.text
    return response.text


def save(editor: Editor, lang: str, action: str = "publish", **changes: Any) -> str:
    """Open the form of a language, change fields and save it; return the page."""
    fields = fields_of(editor.get(f"/faqs/pricing?lang={lang}").text) | changes
    return editor.post("/faqs/pricing", action=action, **fields).text


def record(editor: Editor, slug: str = "pricing", lang: str = "en") -> Any:
    return editor.client.get(f"/api/v1/faq/{slug}?lang={lang}")


def test_a_draft_is_seen_at_the_desk_only(editor: Editor) -> None:
    response = editor.post("/new", action="draft", **written())
    assert "Nothing." in texts_of(response.text)
    assert record(editor).status_code == 404
    editor.post("/faqs/pricing", action="publish", version=base_of(response.text), **written())
    assert record(editor).status_code == 200
    revisions = editor.client.get  # publishing the draft as it is writes no second revision
    assert "Revision 1," in revisions("/desk/faqs/pricing").text


def test_without_a_slug_and_a_language_both_are_found(editor: Editor) -> None:
    fields = written(slug="", lang="", question=["배송비는 얼마인가요?"], answer=["무료입니다."])
    response = editor.post("/new", action="publish", **fields)
    assert response.status_code == 200
    assert response.url.path == "/desk/faqs/prices"
    assert response.url.params["lang"] == "ko"


def test_buttons_move_add_and_remove_questions(editor: Editor) -> None:
    for action, questions in (
        ("up:2", ["a", "c", "b"]),
        ("up:0", ["a", "b", "c"]),
        ("down:0", ["b", "a", "c"]),
        ("remove:1", ["a", "c"]),
        ("add:1", ["a", "", "b", "c"]),
        ("add", ["a", "b", "c", ""]),
        ("remove:99999", ["a", "b", "c"]),
        ("up:x", ["a", "b", "c"]),
    ):
        response = editor.post("/new", action=action, **written(question=["a", "b", "c"], answer=["1"] * 3))
        assert (response.status_code, texts_of(response.text)[::2]) == (200, questions), action


def test_problems_stand_beside_their_fields_and_nothing_typed_is_lost(editor: Editor) -> None:
    fields = written(
        website_url="heron", question=["", "What?", "x" * 1001], answer=["", "", "An answer"], slug="a/b"
    )
    response = editor.post("/new", action="publish", **fields)
    assert response.status_code == 422
    for name in ("slug", "websiteUrl", "items[1].answer", "items[2].question"):
        assert f'id="{name}-error"' in response.text
    assert 'id="items[0].question-error"' not in response.text  # an empty pair is left out
    assert texts_of(response.text) == ["", "", "What?", "", "x" * 1001, "An answer"]
    assert record(editor, "a").status_code == 404


def test_problems_are_listed_in_the_order_of_the_form(editor: Editor) -> None:
    wrong = written(page_url="heron", question=[""], answer=["Yes."], slug="a/b") | {"website_name": ""}
    page = editor.post("/new", action="publish", **wrong).text
    expected = ["slug", "items[0].question", "websiteName", "pageUrl"]
    assert re.findall(r'<li><a href="#([^"]+)">', page) == expected


def test_the_preview_is_rendered_as_readers_see_it_and_safe(editor: Editor) -> None:
    fields = written(question=["What <b>is</b> it?"], answer=["**Bold** <script>alert(1)</script>"])
    response = editor.post("/new", action="preview", part="preview", answer_format="markdown", **fields)
    assert "<strong>Bold</strong>" in response.text
    assert "<script" not in response.text
    assert "What &lt;b&gt;is&lt;/b&gt; it?" in response.text


def test_the_second_of_two_editors_sees_both_versions_and_loses_nothing(editor: Editor) -> None:
    base = base_of(publish(editor))
    theirs = written(answer=["Ten euros.", "Any time."])
    mine = written(answer=["Nothing.", "Until Monday."])
    assert editor.post("/faqs/pricing", action="publish", version=base, **theirs).status_code == 200
    response = editor.post("/faqs/pricing", action="publish", version=base, **mine)
    assert response.status_code == 409
    assert texts_of(response.text)[1::2] == ["Nothing.", "Until Monday."]
    assert "<del>Ten euros</del>" in response.text
    assert "Mia published revision 2" in response.text
    assert record(editor).json()["items"][0]["answer"] == "Ten euros."
    again = editor.post("/faqs/pricing", action="publish", version=base_of(response.text), **mine)
    assert again.status_code == 200
    assert record(editor).json()["items"][1]["answer"] == "Until Monday."
    assert "Revision 3," in again.text


def test_the_same_form_sent_twice_writes_one_revision(editor: Editor) -> None:
    base = base_of(publish(editor))
    changed = written(answer=["Ten euros.", "Any time."])
    for _ in range(2):
        response = editor.post("/faqs/pricing", action="publish", version=base, **changed)
        assert response.status_code == 200
    assert "Revision 2," in response.text


@pytest.mark.parametrize("slug", ["", "repairs"])
def test_the_form_of_a_new_faq_that_is_sent_twice_makes_one_faq(
    editor: Editor, storage: Storage, slug: str
) -> None:
    fields = fields_of(editor.get("/new").text) | written(slug=slug, title="Repairs")
    pages = [editor.post("/new", action="publish", **fields) for _ in range(2)]
    assert {page.url.path for page in pages} == {"/desk/faqs/repairs"}
    # Its response was lost, and the text was changed since: neither is lost, and there is no second FAQ.
    changed = editor.post("/new", action="publish", **{**fields, "answer": ["Ten euros.", "Any time."]})
    assert (changed.status_code, texts_of(changed.text)[1]) == (409, "Ten euros.")
    again = editor.post("/faqs/repairs", action="publish", **fields_of(changed.text))
    assert again.status_code == 200
    assert [faq.slug for faq in storage.overview.page(storage.sites.list()[0].id, limit=9)[0]] == ["repairs"]
    assert record(editor, "repairs").json()["items"][0]["answer"] == "Ten euros."
    assert editor.post("/new", action="publish", **fields_of(editor.get("/new").text) | written()).is_success


def test_a_slug_that_the_form_proposed_gets_a_number_if_it_is_taken(editor: Editor) -> None:
    for slug in ("repairs", "repairs-2"):
        fields = fields_of(editor.get("/new").text) | written(slug="", title="Repairs")
        proposed = fields_of(editor.post("/new", action="add", **fields).text)
        assert proposed["slug"] == ["repairs"]
        page = editor.post("/new", action="publish", **proposed)
        assert page.url.path == f"/desk/faqs/{slug}"


def test_a_link_that_leads_nowhere_is_named_when_it_is_saved(editor: Editor) -> None:
    fields = written(answer=["Please [book](https://) ahead.", "Yes."], answer_format="markdown")
    for action, path in (("draft", "/new"), ("publish", "/faqs/pricing")):
        page = editor.post(path, action=action, **fields).text
        fields = fields_of(page)
        assert 'Readers do not see all of question <a href="#item-0">1</a>.' in page
        assert "https://&#39; is not shown" in page


@pytest.mark.parametrize("line_end", ["\r\n", "\r", "\n"])
def test_a_text_of_the_api_that_is_saved_as_it_was_opened_is_not_changed(
    editor: Editor, storage: Storage, line_end: str
) -> None:
    items = [
        {"position": 0, "question": f"{line_end}What?{line_end}", "answer": f" One{line_end}{line_end}two "}
    ]
    stored = {"slug": "pricing", "title": f" Our{line_end}prices ", "websiteName": " Heron ", "lang": "en"}
    put(storage, FAQ.from_dict({**stored, "items": items}), website_url="https://heron.example")
    for action in ("draft", "publish"):
        response = editor.post("/faqs/pricing", action=action, **fields_of(editor.get("/faqs/pricing").text))
        assert (response.status_code, response.url.params["done"]) == (200, "same")
    assert record(editor).json()["items"] == items

    fields = fields_of(editor.get("/faqs/pricing").text)
    response = editor.post("/faqs/pricing", action="publish", **{**fields, "website_name": "Kingfisher"})
    assert response.url.params["done"] == "published"
    assert record(editor).json()["title"] == "Our prices"


def test_what_is_pasted_is_converted_as_files_are(editor: Editor, storage: Storage) -> None:
    html = '<p>See <b>our</b> <a href="https://heron.example">rates</a></p><script>x</script>'
    pasted = editor.post("/new", part="pasted", html=html)
    assert (pasted.headers["content-type"], pasted.text) == (
        "text/plain; charset=utf-8",
        "See **our** [rates](https://heron.example)",
    )
    assert editor.post("/new", part="pasted", html="<p>" * 100_000).status_code == 413
    token = editor.token
    editor.sign_in(storage)
    for part in ("pasted", "preview"):  # the script must not show a page instead
        assert editor.post("/new", token=token, part=part, html=html).status_code == 403


def test_a_slug_that_is_taken_or_reserved_is_refused_and_nothing_typed_is_lost(
    editor: Editor,
) -> None:
    publish(editor)
    typed = written(title="Other", answer=["Typed for an hour.", "Yes."])
    for slug in ("pricing", "generate", "notes.md"):
        response = editor.post("/new", action="publish", **{**typed, "slug": slug})
        assert (response.status_code, 'id="slug-error"' in response.text) == (409, True)
        assert texts_of(response.text)[1::2] == ["Typed for an hour.", "Yes."]
    assert [editor.get(f"/faqs/{slug}").status_code for slug in ("generate", "notes.md")] == [404, 404]
    assert record(editor).json()["title"] == "Prices"
    assert editor.post("/new", action="publish", **{**typed, "slug": "other"}).status_code == 200


@pytest.mark.parametrize("action", ["publish", "draft"])
def test_a_slug_of_another_site_is_taken_and_nothing_typed_is_lost(
    editor: Editor, storage: Storage, action: str
) -> None:
    assert editor.post("/new", action=action, **written()).status_code == 200
    editor.sign_in(storage, site=storage.sites.create("another"))
    typed = written(title="Mine", answer=["Typed for an hour.", "Yes."])
    response = editor.post("/new", action="publish", **typed)
    assert response.status_code == 409
    assert 'id="slug-error"' in response.text
    assert texts_of(response.text)[1::2] == ["Typed for an hour.", "Yes."]
    assert editor.post("/new", action="publish", **{**typed, "slug": "mine"}).status_code == 200


def test_an_editor_writes_drafts_and_a_publisher_publishes(stranger: Editor, storage: Storage) -> None:
    stranger.sign_in(storage, "Tom", role="editor")
    assert stranger.post("/new", action="publish", **written()).status_code == 403
    assert stranger.post("/new", action="draft", **written()).status_code == 200
    page = stranger.get("/faqs/pricing").text
    assert 'value="publish"' not in page
    stranger.sign_in(storage, "Ada", role="publisher")
    fields = fields_of(stranger.get("/faqs/pricing").text)
    assert stranger.post("/faqs/pricing", action="publish", **fields).status_code == 200
    assert record(stranger).status_code == 200


def test_another_sites_faq_is_neither_shown_nor_changed(editor: Editor, storage: Storage) -> None:
    publish(editor)
    base = base_of(editor.get("/faqs/pricing").text)
    editor.sign_in(storage, site=storage.sites.create("another"))
    assert "Prices" not in editor.get("").text
    for path in ("/faqs/pricing", "/faqs/pricing/history", "/faqs/pricing/use", "/faqs/pricing/remove"):
        assert editor.get(path).status_code == 403
    response = editor.post("/faqs/pricing", action="publish", version=base, **written(title="Stolen"))
    assert response.status_code == 409
    assert record(editor).json()["title"] == "Prices"


def test_fields_of_the_record_that_the_desk_does_not_show_stay(editor: Editor, storage: Storage) -> None:
    publish(editor)
    faq = FAQ.from_dict({**record(editor).json(), "cta": {"label": "Buy"}})
    put(storage, faq)
    page = editor.get("/faqs/pricing").text
    editor.post("/faqs/pricing", action="publish", version=base_of(page), **written(title="Changed"))
    assert record(editor).json()["cta"] == {"label": "Buy"}


def test_the_list_finds_by_word_language_and_state(editor: Editor) -> None:
    publish(editor)
    publish(
        editor, slug="shipping", title="Shipping", question=["How long?"], answer=["Two days, 100% sure."]
    )
    german = written(slug="preise", title="Preise", lang="de", question=["Was?"], answer=["Nichts."])
    editor.post("/new", action="draft", **german)

    def found(query: str) -> set[str]:
        return set(slugs_of(editor.get(query).text))

    assert found("") == {"pricing", "shipping", "preise"}
    assert found("?q=CANCEL") == {"pricing"}
    assert found("?q=100%25") == {"shipping"}
    assert found("?lang=de") == {"preise"}
    assert found("?state=published") == {"pricing", "shipping"}
    assert found("?q=nowhere&lang=x") == set()


def test_a_long_list_misses_no_faq_when_another_is_removed_meanwhile(
    editor: Editor, storage: Storage, clock: Clock
) -> None:
    site = storage.people.list()[0]
    for number in range(120):
        put(storage, FAQ.from_dict(samples.record(f"faq-{number:03}")))
    first = editor.get("?state=published").text
    assert ("more than 50 FAQs" in first, "120 FAQs" in editor.get("").text) == (True, True)
    clock.advance(1)
    storage.removal.bin(site.access, "faq-119", None, Preconditions())
    put(storage, FAQ.from_dict(samples.record("faq-001", ("Changed?", "Yes."))))
    second = next_page(editor, "", first)
    third = next_page(editor, "", second)

    unchanged = [f"faq-{number:03}" for number in reversed(range(120)) if number != 1]
    assert slugs_of(first + second + third) == [*unchanged, "faq-001"]
    assert ("Next page" in third, "First page" in third) == (False, True)
    assert editor.get("?after=x").status_code == 422


def test_a_long_bin_has_pages(editor: Editor, storage: Storage) -> None:
    access = storage.people.list()[0].access
    for number in range(51):
        put(storage, FAQ.from_dict(samples.record(f"faq-{number:03}")))
        storage.removal.bin(access, f"faq-{number:03}", None, Preconditions())
    first = editor.get("/bin").text
    assert [text.count('value="restore"') for text in (first, next_page(editor, "/bin", first))] == [50, 1]


def test_the_work_for_a_form_with_many_mistakes_grows_with_its_questions(editor: Editor) -> None:
    version = base_of(publish(editor))

    def make(count: int) -> dict[str, Any]:
        return written(question=["x" * 1001] * count, answer=["So."] * count)

    def work(fields: dict[str, Any]) -> None:
        response = editor.post("/faqs/pricing", action="publish", version=version, **fields)
        assert response.status_code == 422

    assert grows_linearly(work, make, 100, process_time)
