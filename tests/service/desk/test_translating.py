"""Translations beside their source, discarded drafts, conflicts by question, and what a form keeps."""

import re
from typing import Any

from msgspec.structs import replace

from faqsvc_embed import FAQ
from faqsvc_embed.api.fields import Lang
from faqsvc_embed.languages import LANGUAGES
from faqsvc_embed.models import Item
from faqsvc_embed.service.desk.draft import Draft, DraftItem
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.values import Access, FileState, Preconditions, Write
from tests.service.desk.conftest import Editor
from tests.service.desk.test_editor import base_of, fields_of, publish, record, save, texts_of, written
from tests.support.clock import Clock
from tests.support.growth import grows_linearly

GERMAN: dict[str, Any] = {
    "question": ["Was kostet es?", "Kann ich kündigen?"],
    "answer": ["Nichts.", "Jederzeit."],
}


def translate(editor: Editor) -> str:
    """Publish an English FAQ and its German translation; return the German page."""
    publish(editor)
    return save(editor, "de", **GERMAN)


def source_of(page: str) -> list[str]:
    return re.findall(r'class="source" lang="en"><p><strong>([^<]*)</strong>', page)


def test_a_question_is_copied_from_the_source_without_a_script(editor: Editor) -> None:
    publish(editor)
    assert source_of(editor.get("/faqs/pricing").text) == []
    page = save(editor, "de", "copy:1")
    assert source_of(page) == ["What does it cost?", "May I cancel?"]
    assert texts_of(page) == ["", "", "May I cancel?", "Any time."]
    assert re.findall(r'id="([^"]+)"[^>]* autofocus', page) == ["items[1].question"]


def test_a_translation_shows_changes_of_its_source_until_it_is_saved_or_confirmed(
    editor: Editor,
) -> None:
    page = translate(editor)
    assert 'value="right"' not in page
    save(editor, "en", answer=["Ten euros.", "Any time."])
    page = editor.get("/faqs/pricing?lang=de").text
    assert "<ins>Ten euros</ins>" in page
    assert "badge older" in editor.get("").text
    form = {"action": "right", "lang": "de", "version": base_of(page)}
    done = editor.post("/faqs/pricing", **form).text
    assert 'value="right"' not in done
    assert "badge older" not in editor.get("").text
    assert texts_of(done)[1] == "Nichts."


def test_a_translation_without_a_new_question_is_up_to_date_when_it_is_saved(editor: Editor) -> None:
    translate(editor)
    english = fields_of(save(editor, "en", "add"))
    english["question"][2], english["answer"][2] = "Do you ship?", "Yes."
    editor.post("/faqs/pricing", action="publish", **english)
    assert "badge older" in editor.get("/faqs/pricing?lang=de").text
    page = save(editor, "de", "draft")
    assert ("badge older" in page, "Revision 1," in page) == (False, True)


def test_a_first_translation_that_leaves_a_question_out_in_the_middle_is_not_saved(editor: Editor) -> None:
    publish(editor)
    fields = fields_of(editor.get("/faqs/pricing?lang=de").text)
    german = fields | {"question": ["", "Kann ich kündigen?"], "answer": ["", "Jederzeit."]}
    page = editor.post("/faqs/pricing", action="draft", **german)
    assert (page.status_code, "items[0].question" in page.text) == (422, True)
    assert texts_of(page.text) == ["", "", "Kann ich kündigen?", "Jederzeit."]
    first = fields | {"question": ["Was kostet es?", ""], "answer": ["Nichts.", ""]}
    assert editor.post("/faqs/pricing", action="draft", **first).status_code == 200


def test_questions_that_a_translation_leaves_out_are_marked(editor: Editor) -> None:
    publish(editor)
    assert "Not translated" not in editor.get("/faqs/pricing?lang=de").text  # before the first translation
    page = save(editor, "de", "draft", question=["Was kostet es?", ""], answer=["Nichts.", ""])
    assert re.findall(r'id="item-(\d+)".*\n.*>Not translated<', page) == ["1"]
    assert "Not translated" not in save(editor, "de", "draft", **GERMAN)


def test_the_languages_that_are_missing_or_that_readers_do_not_see_are_named(editor: Editor) -> None:
    translate(editor)
    page = editor.post("/new", action="publish", **written(slug="other")).text
    assert re.search(r'lang="de">Deutsch</span> <span class="soft">missing', page)
    offered = re.findall(r'<li><a href="\?lang=(\w\w)"', editor.get("/faqs/other?lang=fr").text)
    assert set(offered) == set(LANGUAGES) - {"en", "fr"}
    assert "not published" not in editor.get("").text
    editor.post("/faqs/pricing/remove", action="unpublish", lang="de")
    assert editor.get("").text.count("not published") == 1


def test_a_discarded_draft_is_in_the_history_and_the_published_text_in_the_form(editor: Editor) -> None:
    publish(editor)
    assert 'value="discard"' in save(editor, "en", "draft", answer=["Ten.", "Any time."])
    page = save(editor, "en", "discard")
    assert (texts_of(page)[1], 'value="discard"' in page) == ("Nothing.", False)
    assert "Discarded" in editor.get("/faqs/pricing/history").text
    assert "Revision 3," in save(editor, "en", title="New")


def test_discarding_a_never_published_faq_shows_one_status_message(editor: Editor, storage: Storage) -> None:
    publish(editor, slug="other")
    editor.sign_in(storage, "Tom", role="editor")
    german = fields_of(editor.get("/faqs/other?lang=de").text) | GERMAN
    drafts = (
        editor.post("/new", action="draft", **written()),
        editor.post("/faqs/other", action="draft", **german),
    )
    for draft, path in zip(drafts, ("/desk", "/desk/faqs/other"), strict=True):
        page = editor.post(draft.url.path.removeprefix("/desk"), action="discard", **fields_of(draft.text))
        assert (page.status_code, page.url.path) == (200, path)
        assert page.text.count('role="status"') == 1
    assert editor.get("/faqs/pricing").status_code == 410


def test_a_draft_that_somebody_changed_meanwhile_is_not_discarded(editor: Editor) -> None:
    page = editor.post("/new", action="draft", **written()).text
    editor.post("/faqs/pricing", action="draft", version=base_of(page), **written(title="Other"))
    assert editor.post("/faqs/pricing", action="discard", **fields_of(page)).status_code == 409
    assert "Other" in editor.get("/faqs/pricing").text


def test_a_conflict_says_in_whose_text_a_question_is(editor: Editor) -> None:
    base = base_of(publish(editor))
    theirs = written(question=["May I cancel?", "Do you ship?"], answer=["Any time.", "Yes."])
    editor.post("/faqs/pricing", action="publish", version=base, **theirs)
    mine = written(title="Costs", question=["", *written()["question"]], answer=["", *written()["answer"]])
    page = editor.post("/faqs/pricing", action="draft", version=base, **mine).text
    titles = [" ".join(re.sub("<[^>]*>", "", title).split()) for title in re.findall("<h3>(.*)</h3>", page)]
    # The numbers are those of the form, with its empty questions.
    assert titles == ["Title", "Question 2 (only in yours)", "Question 2 (only in theirs)"]


def test_sections_ids_and_the_page_are_kept_by_every_way_of_saving(editor: Editor, storage: Storage) -> None:
    site = storage.people.list(None)[0].site
    items = (Item(0, "How?", "So.", "Orders", "how"), Item(1, "Why?", "Because.", "Orders"))
    url = "https://heron.example"
    faq = FAQ("shop", "Shop", "Heron", items=items, website_url=url, page_url=f"{url}/faq")
    storage.writer.write(Access(None, site), Write(faq=faq, slug="shop", lang="en"))
    fields = fields_of(editor.get("/faqs/shop").text) | {"title": "The shop"}
    editor.post("/faqs/shop", action="publish", **fields)
    kept = FAQ.from_json(editor.client.get("/api/v1/faq/shop").content)
    assert (kept.title, kept.page_url) == ("The shop", "https://heron.example/faq")
    assert [(item.section, item.id) for item in kept.items] == [("Orders", "how"), ("Orders", None)]

    def first(old: FAQ) -> FAQ:
        return replace(old, items=old.items[:1])

    storage.writer.change(Access(None, site), ("shop", None), first, Preconditions(), is_draft=False)
    assert storage.history.revision(Access(None, site), "shop", "en").faq.page_url == kept.page_url


def test_a_question_that_was_moved_is_beside_its_own_source(editor: Editor, storage: Storage) -> None:
    site = storage.people.list(None)[0].site
    english = (Item(0, "How?", "So.", None, "how"), Item(1, "Why?", "Because.", None, "why"))
    german = (Item(0, "Warum?", "Darum.", None, "why"), Item(1, "Wo?", "Da."))
    langs: tuple[Lang, ...] = ("en", "de")
    for lang, items in zip(langs, (english, german), strict=True):
        faq = FAQ("shop", "Shop", "Heron", items=items, website_url="https://heron.example")
        storage.writer.write(Access(None, site), Write(faq=faq, slug="shop", lang=lang))
    page = editor.get("/faqs/shop?lang=de").text
    assert source_of(page) == ["How?", "Why?"]
    assert texts_of(page) == ["", "", "Warum?", "Darum.", "Wo?", "Da."]
    assert page.count("Not in English") == 1
    copied = editor.post("/faqs/shop", action="copy:1", **fields_of(page)).text
    assert texts_of(copied) == ["", "", "Why?", "Because.", "Wo?", "Da."]


def test_a_translation_follows_the_order_of_its_source_and_shows_untranslated_questions(
    editor: Editor,
) -> None:
    translate(editor)
    questions = ["Do you ship?", "May I cancel?", "What does it cost?"]
    none, answers = [""] * 3, ["Yes.", "Any time.", "Nothing."]
    save(editor, "en", question=questions, answer=answers, section=["A", "", ""], item_id=none)
    page = editor.get("/faqs/pricing?lang=de").text
    assert source_of(page) == questions
    assert texts_of(page)[::2] == ["", "Kann ich kündigen?", "Was kostet es?"]
    assert 'value="right"' not in page  # it would keep the old order
    german = fields_of(page)
    german["question"][0], german["answer"][0] = "Versenden Sie?", "Ja."
    page = editor.post("/faqs/pricing", action="publish", **german).text
    assert "badge older" not in page
    assert texts_of(page)[::2] == ["Versenden Sie?", "Kann ich kündigen?", "Was kostet es?"]
    save(editor, "en", question=questions[1:], answer=["Any time.", "Nothing."], section=["", ""])
    page = editor.get("/faqs/pricing?lang=de").text
    assert texts_of(page)[::2] == ["Kann ich kündigen?", "Was kostet es?", "Versenden Sie?"]
    assert "Not in English" in page
    assert "Kann ich" in record(editor, lang="de").json()["items"][1]["question"]
    assert "badge older" not in editor.post("/faqs/pricing", action="publish", **fields_of(page)).text


def test_a_translation_that_leaves_out_a_question_keeps_each_of_its_own_beside_its_source(
    editor: Editor,
) -> None:
    translate(editor)
    questions = ["What does it cost?", "Do you ship?", "May I cancel?"]
    none, answers = [""] * 3, ["Nothing.", "Yes.", "Any time."]
    save(editor, "en", question=questions, answer=answers, section=none, item_id=none)
    for answer in ("Gar nichts.", "Nichts mehr.", "Nichts mehr."):
        german = fields_of(editor.get("/faqs/pricing?lang=de").text)
        german["answer"][0] = answer
        editor.post("/faqs/pricing", action="publish", **german)
        page = editor.get("/faqs/pricing?lang=de").text
        assert source_of(page) == questions
        assert texts_of(page)[::2] == ["Was kostet es?", "", "Kann ich kündigen?"]
        assert "badge older" in page
        assert "Translate the empty ones" in page
    theirs = fields_of(page)
    editor.post("/faqs/pricing", action="publish", **theirs | {"title": "Preise"})
    german["answer"][0] = "Nichts."
    conflict = editor.post("/faqs/pricing", action="publish", **german)
    assert (conflict.status_code, source_of(conflict.text)) == (409, questions)
    german = fields_of(conflict.text)
    assert german["question"] == ["Was kostet es?", "", "Kann ich kündigen?"]
    german["question"][1], german["answer"][1] = "Versenden Sie?", "Ja."
    page = editor.post("/faqs/pricing", action="publish", **german).text
    assert (source_of(page), "badge older" in page) == (questions, False)


def test_removing_and_adding_questions_leaves_those_of_a_translation_beside_their_sources(
    editor: Editor,
) -> None:
    page = translate(editor)
    removed = editor.post("/faqs/pricing", action="remove:0", **fields_of(page)).text
    assert source_of(removed) == ["What does it cost?", "May I cancel?"]
    assert texts_of(removed) == ["", "", "Kann ich kündigen?", "Jederzeit."]
    added = editor.post("/faqs/pricing", action="add:1", **fields_of(page)).text
    assert texts_of(added)[::2] == ["Was kostet es?", "Kann ich kündigen?", ""]
    own = fields_of(added)
    own["question"][2], own["answer"][2] = "Wo?", "Hier."
    page = editor.post("/faqs/pricing", action="publish", **own).text
    assert page.count("Not in English") == 1
    page = editor.post("/faqs/pricing", action="remove:2", **fields_of(page)).text
    assert texts_of(page)[::2] == ["Was kostet es?", "Kann ich kündigen?"]


def test_a_translation_in_the_new_order_is_not_saved_with_a_question_left_out_in_the_middle(
    editor: Editor,
) -> None:
    translate(editor)
    questions = ["May I cancel?", "Do you ship?", "What does it cost?"]
    none, answers = [""] * 3, ["Any time.", "Yes.", "Nothing."]
    save(editor, "en", question=questions, answer=answers, section=none, item_id=none)
    german = fields_of(editor.get("/faqs/pricing?lang=de").text)
    german["answer"][2] = "Gar nichts."
    refused = editor.post("/faqs/pricing", action="publish", **german)
    assert (refused.status_code, "items[1].question" in refused.text) == (422, True)
    assert (source_of(refused.text), texts_of(refused.text)[5]) == (questions, "Gar nichts.")
    copied = fields_of(editor.post("/faqs/pricing", action="copy:1", **german).text)
    page = editor.post("/faqs/pricing", action="publish", **copied).text
    assert (source_of(page), "badge older" in page) == (questions, False)
    assert texts_of(page)[::2] == ["Kann ich kündigen?", "Do you ship?", "Was kostet es?"]


def test_the_new_words_of_a_source_are_marked_beside_the_translation(editor: Editor) -> None:
    translate(editor)
    questions = ["What does it cost?", "May I cancel at once?"]
    save(editor, "en", question=questions, answer=["Ten euros.", "Any time."])
    page = editor.get("/faqs/pricing?lang=de").text
    sources = re.findall(r'class="source" lang="en">(.*?)<button', page, re.DOTALL)
    assert "<ins>Ten euros</ins>." in sources[0]
    assert "May I cancel<ins> at once</ins>?" in sources[1]
    assert all("Changed since it was translated" in source for source in sources)
    german = fields_of(page)
    page = editor.post("/faqs/pricing", action="publish", **german).text
    assert "Changed since it was translated" not in page


def test_a_translation_that_is_reverted_is_older_than_its_source_again(editor: Editor, clock: Clock) -> None:
    translate(editor)
    clock.advance(60)
    save(editor, "en", answer=["Ten euros.", "Any time."])
    clock.advance(60)
    german = fields_of(editor.get("/faqs/pricing?lang=de").text)
    german["answer"][0] = "Zehn Euro."
    page = editor.post("/faqs/pricing", action="draft", **german).text
    assert "badge older" not in page
    page = editor.post("/faqs/pricing", action="discard", lang="de", version=base_of(page)).text
    assert "badge older" in editor.get("/faqs/pricing?lang=de").text
    page = editor.post("/faqs/pricing", action="publish", **german | {"version": [base_of(page)]}).text
    assert "badge older" not in page
    editor.post("/faqs/pricing/history", lang="de", number="1", version=base_of(page))
    page = editor.get("/faqs/pricing?lang=de").text
    assert (texts_of(page)[1], "badge older" in page) == ("Nichts.", True)


def test_a_translation_keeps_its_source_after_a_draft_is_discarded_or_a_part_is_written(
    editor: Editor, storage: Storage
) -> None:
    translate(editor)
    save(editor, "en", answer=["Ten euros.", "Any time."])
    page = editor.get("/faqs/pricing?lang=de").text
    assert "badge older" in page
    access = storage.keys.verify(storage.keys.create("program"))
    assert access is not None
    change = storage.writer.change
    german: tuple[str, Lang] = ("pricing", "de")
    change(access, german, lambda faq: replace(faq, title="Preise"), Preconditions(), is_draft=False)
    for title in ("Kosten", "Was es kostet"):
        old = storage.history.revision(access, *german)
        # As `update_faq` of the tools does, and with `If-Match: *`.
        unchanged = Preconditions([old.tag] if title == "Kosten" else [])
        faq, file = replace(old.content, title=title), FileState(old.number)
        edit = Write(faq=faq, slug="pricing", lang="de", preconditions=unchanged, file=file)
        storage.writer.write(access, edit)
        page = editor.get("/faqs/pricing?lang=de").text
        assert "badge older" in page
    source = fields_of(page)["source"][0]
    page = editor.post("/faqs/pricing", action="right", lang="de", source=source, version=base_of(page)).text
    assert "badge older" not in page
    draft = fields_of(page)
    draft["answer"][0] = "Zehn Euro."
    page = editor.post("/faqs/pricing", action="draft", **draft).text
    editor.post("/faqs/pricing", action="discard", lang="de", version=base_of(page))
    assert "badge older" not in editor.get("/faqs/pricing?lang=de").text


def test_a_translation_is_up_to_date_after_a_file_has_replaced_what_somebody_wrote(
    editor: Editor, storage: Storage
) -> None:
    translate(editor)
    save(editor, "en", answer=["Ten euros.", "Any time."])
    access = storage.keys.verify(storage.keys.create("program"))
    assert access is not None
    old = storage.history.revision(access, "pricing", "de")
    faq, unchanged = replace(old.content, title="Preise"), Preconditions([old.tag])
    file = FileState(old.number, overwrite=True)  # as `faqsvc publish --overwrite` does
    storage.writer.write(
        access, Write(faq=faq, slug="pricing", lang="de", preconditions=unchanged, file=file)
    )
    assert "badge older" not in editor.get("/faqs/pricing?lang=de").text


def test_a_translation_is_not_older_after_a_mistake_in_its_source_was_undone(editor: Editor) -> None:
    translate(editor)
    save(editor, "en", answer=["Oops.", "Any time."])
    assert "badge older" in editor.get("/faqs/pricing?lang=de").text
    editor.post("/faqs/pricing/history", number="1", lang="en")
    assert record(editor).json()["items"][0]["answer"] == "Nothing."
    assert "badge older" not in editor.get("/faqs/pricing?lang=de").text


def test_a_translator_sees_the_title_and_the_section_of_the_source(editor: Editor) -> None:
    publish(editor, section=["Contract", ""])
    page = editor.get("/faqs/pricing?lang=de").text
    assert '<span lang="en">Prices</span>' in page.partition('<details class="settings"')[0]
    assert page.count("</span> Contract</p>") == 1


def test_readers_of_a_translation_without_a_title_see_that_of_the_default_language(editor: Editor) -> None:
    publish(editor)
    german = fields_of(editor.get("/faqs/pricing?lang=de").text) | GERMAN
    preview = editor.post("/faqs/pricing", action="preview", part="preview", **german).text
    page = editor.post("/faqs/pricing", action="publish", **german).text
    assert record(editor, lang="de").json()["title"] == "Prices"
    assert "Prices" in preview
    assert "Title not translated" in page
    assert "Title not translated" not in save(editor, "de", title="Preise")
    assert record(editor, lang="de").json()["title"] == "Preise"


def test_the_preview_may_show_images_of_the_website_alone(editor: Editor) -> None:
    publish(editor)
    policy = editor.get("/faqs/pricing").headers["content-security-policy"]
    assert "img-src 'self' https://heron.example;" in policy
    fields = fields_of(editor.get("/faqs/pricing").text)
    for address in ("https://[", "https://x.example; script-src *", "data://x"):
        page = editor.post("/faqs/pricing", action="preview", **fields | {"website_url": address})
        assert "img-src 'self';" in page.headers["content-security-policy"]


def test_a_draft_shows_the_changes_that_publishing_it_would_make(editor: Editor) -> None:
    publish(editor)
    assert "<del>" not in editor.get("/faqs/pricing").text
    assert "<ins>Ten euros</ins>" in save(editor, "en", "draft", answer=["Ten euros.", "Any time."])
    assert "<ins>" not in save(editor, "en")


def test_who_writes_in_a_draft_that_was_discarded_meanwhile_is_told_so(editor: Editor) -> None:
    base = base_of(publish(editor))
    page = editor.post("/faqs/pricing", action="draft", version=base, **written(title="Draft")).text
    for _ in range(2):  # sent twice, because the first response was lost
        told = editor.post("/faqs/pricing", action="discard", **fields_of(page))
    assert (told.status_code, "the draft was discarded while you were writing" in told.text) == (409, True)


def test_who_writes_in_an_faq_that_was_unpublished_before_is_told_who_saved_a_draft_meanwhile(
    editor: Editor,
) -> None:
    publish(editor)
    editor.post("/faqs/pricing/remove", action="unpublish")
    fields = fields_of(editor.get("/faqs/pricing?lang=en").text)
    save(editor, "en", "draft", title="Theirs")
    told = editor.post("/faqs/pricing", action="draft", **fields | {"title": "Mine"})
    assert (told.status_code, "Mia saved revision 2" in told.text) == (409, True)


def test_an_editor_sees_the_parts_of_an_answer_that_readers_do_not_see(editor: Editor) -> None:
    fields = written() | {"answer_format": "markdown", "answer": ["So.\n[Help](help.html)", "[Yes](/help)"]}
    page = editor.post("/new", action="preview", **fields).text
    assert page.count("not-shown") == 1
    assert "help.html" in page[page.index("not-shown") :][:100]


def test_a_translation_that_was_begun_before_the_faq_was_unpublished_is_not_published(
    editor: Editor, storage: Storage
) -> None:
    publish(editor)
    fields = fields_of(editor.get("/faqs/pricing?lang=de").text) | GERMAN
    program = {"X-Plugin-Key": storage.keys.create("program")}
    editor.client.delete("/api/v1/faq/pricing", headers=program)
    told = editor.post("/faqs/pricing", action="publish", **fields)
    assert (told.status_code, "was unpublished" in told.text, "Jederzeit." in told.text) == (409, True, True)
    assert editor.post("/faqs/pricing", action="draft", **fields).status_code == 200
    assert record(editor).status_code == 410


def test_a_draft_of_a_translation_is_not_published_after_the_faq_was_unpublished(
    editor: Editor, storage: Storage
) -> None:
    publish(editor)
    fields = fields_of(editor.get("/faqs/pricing?lang=de").text) | GERMAN
    form = fields_of(editor.post("/faqs/pricing", action="draft", **fields).text)
    program = {"X-Plugin-Key": storage.keys.create("program")}
    editor.client.delete("/api/v1/faq/pricing", headers=program)
    told = editor.post("/faqs/pricing", action="publish", **form)
    assert (told.status_code, "was unpublished" in told.text) == (409, True)
    assert record(editor).status_code == 410
    assert editor.post("/faqs/pricing", action="publish", **fields_of(told.text)).status_code == 200
    assert record(editor).json()["lang"] == "de"


def test_still_right_says_nothing_about_a_source_that_changed_since_the_page_was_opened(
    editor: Editor,
) -> None:
    translate(editor)
    english = fields_of(editor.get("/faqs/pricing?lang=en").text)
    for answer in ("Ten euros.", "Twelve euros."):
        page = editor.get("/faqs/pricing?lang=de").text
        english["version"] = base_of(editor.get("/faqs/pricing?lang=en").text)
        editor.post("/faqs/pricing", action="publish", **english | {"answer": [answer, "Any time."]})
    (form,) = (form for form in re.findall("<form.*?</form>", page, re.DOTALL) if 'value="right"' in form)
    button = dict(re.findall(r'name="(lang|base|source)" value="([^"]*)"', form))
    assert "badge older" in editor.post("/faqs/pricing", action="right", **button).text
    as_it_is = fields_of(page)
    assert "badge older" in editor.post("/faqs/pricing", action="publish", **as_it_is).text


def test_the_work_for_a_translation_grows_with_its_questions() -> None:
    def make(count: int) -> tuple[Draft, Draft]:
        items = tuple(DraftItem("Why?", "So.", id=f"q{number}") for number in range(count))
        return Draft(items=tuple(DraftItem(id=item.id) for item in reversed(items))), Draft(items=items)

    def work(drafts: tuple[Draft, Draft]) -> None:
        assert drafts[0].originals(drafts[1]) == list(reversed(drafts[1].items))

    assert grows_linearly(work, make, 100)
