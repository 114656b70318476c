"""The other pages of the desk: import, history, preview links, lines to copy, site and keys."""

import html
import re
from urllib.parse import parse_qs, urlsplit

import pytest

from faqsvc_embed.service.desk.differences import changes, words
from faqsvc_embed.service.desk.draft import Draft, DraftItem
from faqsvc_embed.service.storage import Storage
from faqsvc_embed.service.storage.people import Role
from faqsvc_embed.service.storage.sites import DEFAULT_NAME
from tests.service.bodies import key_of_another_site
from tests.service.desk.conftest import ORIGIN, Editor, next_page, versions_of
from tests.service.desk.test_editor import base_of, publish, record, save, texts_of, written


def import_text(editor: Editor, text: str, **fields: str) -> tuple[int, list[str], str]:
    """Import a pasted text, and return the status, the texts of the editor and the page."""
    data = {"token": editor.token, "text": text, **fields}
    response = editor.client.post(
        "/desk/import", data=data, files={"file": ("", b"")}, headers={"origin": ORIGIN}
    )
    return response.status_code, texts_of(response.text), response.text


def upload(editor: Editor, name: str, content: bytes) -> tuple[int, list[str]]:
    """Import a file, and return the status and the texts of the page."""
    files = {"file": (name, content)}
    data = {"token": editor.token, "text": ""}
    response = editor.client.post("/desk/import", data=data, files=files, headers={"origin": ORIGIN})
    return response.status_code, texts_of(response.text)


PASTED = [
    "What does it cost?\nNothing.\n\nMay I cancel?\nAny time.",
    "## What does it cost?\n\nNothing.\n\n## May I cancel?\n\nAny time.",
    "1.\tWhat does it cost?\n\tNothing.\n2.\tMay I cancel?\n\tAny time.",
    "question;answer\nWhat does it cost?;Nothing.\nMay I cancel?;Any time.",
    "Question\tAnswer\nWhat does it cost?\tNothing.\nMay I cancel?\tAny time.",
    "What does it cost?\tNothing.\nMay I cancel?\tAny time.\n",
    "# FAQ\n\n| Question | Answer |\n|---|---|\n| What does it cost? | Nothing. |\n"
    "| May I cancel? | Any time. |",
    "Question | Answer\n--- | ---\nWhat does it cost? | Nothing.\nMay I cancel? | Any time.",
    '{"items": [{"question": "What does it cost?", "answer": "Nothing."},'
    ' {"question": "May I cancel?", "answer": "Any time."}]}',
    "# FAQ\n- question: What does it cost?\n  answer: |\n    Nothing.\n"
    '- question: "May I cancel?"\n  answer: >\n    Any\n    time.\n',
    "-\n  question : What does it cost?\n  answer : Nothing.\n"
    '-\n  question : "May I cancel?"\n  answer : Any time.\n',
    '[[items]]\nquestion = "What does it cost?"\nanswer = "Nothing."\n'
    '[[items]]\nquestion = "May I cancel?"\nanswer = "Any time."\n',
    "Q: What does it cost?\nA: Nothing.\nQ: May I cancel?\nA: Any time.",
    "<dl><dt>What does it cost?</dt><dd>Nothing.</dd><dt>May I cancel?</dt><dd>Any time.</dd></dl>",
    '<div class="q">What does it cost?</div><div>Nothing.</div><div>May I cancel?</div><p>Any time.</p>',
    "<details><summary>What does it cost?</summary>\n\nNothing.\n</details>\n\n"
    "<details><summary>May I cancel?</summary>\n\nAny time.\n</details>",
    '<!doctype html><html lang="en"><title>Boats</title><h1>Boats</h1><h2>News</h2><p>We moved.</p>'
    "<h2>FAQ</h2><div><button aria-expanded=false>What does it cost? <i class=icon>add</i></button>"
    "<div>Nothing.</div></div>"
    "<div><button aria-expanded=false>May I cancel? <i class=icon>add</i></button>"
    "<div>Any time.</div></div><h2>Visit us</h2><p>Is it far? No.</p></html>",
    '<script type="application/ld+json">{"@type": "FAQPage", "mainEntity": [{"@type": "Question", "name":'
    ' "What does it cost?", "acceptedAnswer": {"text": "Nothing."}}, {"@type": "Question", "name":'
    ' "May I cancel?", "acceptedAnswer": {"text": "Any time."}}]}</script>',
]


def test_a_pasted_text_is_shown_before_anything_is_saved(editor: Editor) -> None:
    for text in PASTED:
        status, texts, page = import_text(editor, text)
        assert (text, status) == (text, 200)
        assert texts == ["What does it cost?", "Nothing.", "May I cancel?", "Any time."]
        assert 'action="/desk/new?' in page
    assert "/desk/faqs/" not in editor.get("").text


def test_a_dash_in_a_pasted_table_is_a_placeholder(editor: Editor) -> None:
    table = "question,answer\nWhat does it cost?,Nothing.\n-,-\nMay I cancel?,Any time."
    status, texts, _ = import_text(editor, table)
    assert (status, texts[::2]) == (200, ["What does it cost?", "-", "May I cancel?"])


def test_a_file_is_read_by_its_ending(editor: Editor) -> None:
    table = "question,answer\nWas kostet es?,Nichts für Sie.\n"
    assert upload(editor, "faq.csv", table.encode("utf-8")) == (200, ["Was kostet es?", "Nichts für Sie."])
    assert upload(editor, "faq.csv", table.encode("utf-16"))[0] == 200
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        content = "質問ですか？\nはい。".encode(encoding)
        assert upload(editor, "FAQ.TXT", content) == (200, ["質問ですか？", "はい。"])
    for name, content in (
        ("faq.csv", table.encode("latin-1")),
        ("faq.txt", "Öffnen Sie?\nJa.".encode("latin-1")),
        ("faq.txt", "Öffnen Sie?\nJa.".encode("utf-16-le")),
        ("faq.xlsx", b"PK"),
        ("faq.json", b"[" * 100_000),
        ("faq.json", b"\x00\xff"),
        ("faq.md", b"no question here"),
    ):
        assert upload(editor, name, content)[0] == 422


def test_a_paste_that_cannot_be_used_stays_in_the_form(editor: Editor) -> None:
    status, texts, _ = import_text(editor, "nothing that asks")
    assert (status, texts) == (422, ["nothing that asks"])
    assert import_text(editor, "- question: 'faq.q1'\n  answer: 'faq.a1'\n")[0] == 422  # keys of translations
    many = "question,answer\n" + "Q,A\n" * 5000
    status, texts, _ = import_text(editor, many)
    assert (status, texts) == (422, [many])
    questions = "What?\nThis.\n\n" * 3000
    status, texts, page = import_text(editor, questions)
    assert (status, texts) == (422, [questions])
    assert "3,000" in page
    assert import_text(editor, "- a\n" * 250_000)[0] == 422  # reading it would take many seconds
    assert import_text(editor, "Why?\n" + "-" * 60_000)[0] == 422  # no answer has such a line
    assert import_text(editor, "Why?\n" + "x" * 1_000_000)[0] == 413


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ('{"items": [{"question": "A?", "answer": "B."}, "Just words", 7]}', ["Just words", "7"]),
        ('{"items": [{"question": "A?", "answer": "B."}, {"words": "Lost"}]}', ["words", "items[1]"]),
        ('{"items": [{"question": "A?", "answer": "B.", "source": "Page 3"}]}', ["source"]),
        ("faq.title: Ours\nfaq.q1: A?\nfaq.a1: B.\nfaq.q2: Why?\nfaq.a2: So.", ["faq.title"]),
        ("question,answer\nA?,B.\nWhy?,\n", ["row 3"]),
        ("<h3>A?</h3><p>B.</p><iframe src=x></iframe>", ["embedded pages"]),
        ("Payment\n\nA?\nB.\n\nShop\n\nWhere?\nHere.", ["Payment", "Shop"]),
        ("A?\nB.\nShop\nWhere?\nHere.", ["Shop"]),
    ],
)
def test_an_import_names_parts_of_a_file_that_are_no_question_with_an_answer(
    editor: Editor, text: str, named: list[str]
) -> None:
    status, texts, page = import_text(editor, text)
    assert (status, texts[0], texts[1][:2]) == (200, "A?", "B.")
    notes = html.unescape(page.partition("Check these places")[2].partition("</div>")[0])
    assert [word for word in named if word.casefold() not in notes.casefold()] == []


def test_a_question_on_two_lines_is_one_question(editor: Editor) -> None:
    wrapped = "How long does delivery take to a house\nfar away from the city?"
    texts = import_text(editor, f"Do you ship?\nYes, to all of Europe and beyond it.\n{wrapped}\nTwo days.")[
        1
    ]
    assert texts[-2:] == [wrapped.replace("\n", " "), "Two days."]
    assert texts[:2] == ["Do you ship?", "Yes, to all of Europe and beyond it."]
    answer = "To each town that has a station of the railway"
    assert import_text(editor, f"Do you ship?\n{answer}\niPads, too?\nYes.")[1] == [
        *("Do you ship?", answer),
        *("iPads, too?", "Yes."),
    ]


def test_an_import_offers_both_readings_of_a_text(editor: Editor) -> None:
    text = "## How do I pay?\nBy card.\n\nDo you take cheques?\nNo.\n\n## Where are you?\nOld Mill Lane 3."
    page = import_text(editor, text)[2]
    for count, other in ((3, 2), (2, 3), (3, 2)):
        assert f"{count} questions were recognised" in page
        assert f"Take those {other} instead" in page
        reading = re.search(r'name="reading" value="(\w+)"', page)
        assert reading
        page = import_text(editor, text, reading=reading[1])[2]


@pytest.mark.parametrize(
    ("text", "answer", "markdown", "language"),
    [
        (
            "Was kostet der Versand?\nDas hängt von der Größe ab.",
            "Das hängt von der Größe ab.",
            False,
            "Deutsch",
        ),
        ("How much?\n* 4 € * 2 rooms\n\n#1 is free", "* 4 € * 2 rooms\n\n#1 is free", False, ""),
        ("How much does it cost?\nIt is **free**.", "It is **free**.", True, ""),
    ],
)
def test_an_import_recognises_the_language_and_the_format(
    editor: Editor, text: str, answer: str, markdown: bool, language: str
) -> None:
    _, texts, page = import_text(editor, text)
    assert (texts[1], '<option value="markdown" selected' in page) == (answer, markdown)
    assert "1 question was recognised." in page
    assert f"Language: {language}" in page


def test_a_draft_that_readers_never_saw_is_not_published_again(editor: Editor) -> None:
    publish(editor)
    save(editor, "en", "draft", answer=["Ten.", "Any time."])
    save(editor, "en", "discard")
    save(editor, "en", answer=["Twenty.", "Any time."])
    history = editor.get("/faqs/pricing/history").text
    assert re.findall(r"<button class=\"small\">([\w ]+)<", history) == ["Publish", "Publish again"]
    assert "<del>Nothing</del>" in history  # what readers saw before, and not the draft


def test_the_history_compares_revisions_and_publishes_an_old_one_again(editor: Editor) -> None:
    publish(editor)
    first = record(editor).content
    save(editor, "en", answer=["Ten.", "Any time."])
    page = editor.get("/faqs/pricing/history").text
    assert "<del>Nothing</del>" in page
    assert "<ins>Ten</ins>" in page
    assert page.count("by Mia") == 2
    assert re.findall(r"<option value=\"(\d)\" selected>", page) == ["1", "2"]
    assert editor.post("/faqs/pricing/history", lang="en", number="1").status_code == 200
    assert record(editor).content == first
    assert "The two are the same" in editor.get("/faqs/pricing/history?old=1&new=3").text
    for query, status in (("?old=9&new=x", 404), ("?lang=xx", 200), ("?old=-1", 200), ("?after=%00", 422)):
        assert editor.get(f"/faqs/pricing/history{query}").status_code == status
    assert editor.post("/faqs/pricing/history", lang="en", number="99").status_code == 404


def test_an_earlier_revision_is_read_whole_as_readers_saw_it(editor: Editor, storage: Storage) -> None:
    first = written(
        title="Old prices", introduction="All with tax.", section=["Money", "Time"], answer_format="markdown"
    )
    publish(editor, **{**first, "answer": ["**Ten** euros.", "Any time."]})
    save(editor, "en", title="New prices")
    save(editor, "en", "draft", title="Newest prices")
    link = re.search(r'href="/desk(/faqs/pricing/history/1[^"]*)"', editor.get("/faqs/pricing/history").text)
    assert link
    stranger = storage.people.add("Tom", role="editor")
    editor.use_link(storage.sign_ins.create_link(stranger))
    page = editor.get(html.unescape(link[1])).text
    parts = ("Old prices", "All with tax.", "<strong>Ten</strong> euros.", "Money", "<details open ")
    assert [part for part in (*parts, "Readers saw it.") if part not in page] == []
    assert "Publish again" not in page  # an editor writes drafts only
    assert "This is what readers see" in editor.get("/faqs/pricing/history/2").text
    assert "never seen" in editor.get("/faqs/pricing/history/3").text
    for path in ("/faqs/pricing/history/9", "/faqs/pricing/history/x", "/faqs/nothing/history/1"):
        assert editor.get(path).status_code == 404


def test_a_history_whose_faq_was_published_meanwhile_says_that_nothing_was_done(editor: Editor) -> None:
    publish(editor)
    save(editor, "en", "draft", answer=["Ten.", "Any time."])
    form = {"lang": "en", "number": "2", "version": base_of(editor.get("/faqs/pricing/history").text)}
    assert editor.post("/faqs/pricing/history", **form).status_code == 200
    response = editor.post("/faqs/pricing/history", **form)
    assert response.status_code == 409
    assert "Nothing was done, because somebody changed this FAQ" in response.text


def test_differences_are_by_word_and_name_what_moved() -> None:
    left, right = words("It costs ten euros.", "It costs two euros.")
    assert [piece.text for piece in left if piece.kind == "old"] == ["ten"]
    assert [piece.text for piece in right if piece.kind == "new"] == ["two"]
    left, _ = words("返品できます", "返金できます")
    assert [piece.text for piece in left if piece.kind == "old"] == ["品"]
    before = Draft(items=(DraftItem("a?", "1"), DraftItem("b?", "2"), DraftItem("c?", "3")))
    after = Draft(items=(DraftItem("c?", "3"), DraftItem("a?", "1"), DraftItem("d?", "4")))
    assert [change.kind for change in changes(before, after)] == ["moved", "added", "removed"]
    assert changes(before, before) == []
    before = Draft(items=(DraftItem("a?", "1"), DraftItem("Do you ship?", "Yes.", id="ship")))
    after = Draft(items=(DraftItem("Where to?", "To Norway.", id="ship"), DraftItem("a?", "1")))
    assert [change.kind for change in changes(before, after)] == ["changed", "moved"]


def test_a_sentence_of_which_most_words_differ_is_not_cut_into_pieces() -> None:
    left, right = words("Is it free for all?\n\nYes.", "Does it cost money for us?\n\nYes.")
    assert [tuple(piece) for piece in left] == [("old", "Is it free for all"), ("same", "?\n\nYes.")]
    assert [tuple(piece) for piece in right] == [("new", "Does it cost money for us"), ("same", "?\n\nYes.")]
    left, right = words("Yes, to the end of each month. We write to you.", "Yes, at the end of each month.")
    assert [piece.text for piece in right if piece.kind == "new"] == ["at"]
    left, right = words("Why so?\n\nOf course.", "How so?\n\nOf habit.")
    assert "\n\n" in "".join(piece.text for piece in left if piece.kind == "same")


def test_a_form_without_a_known_action_or_language_changes_nothing(editor: Editor) -> None:
    publish(editor)
    for fields in ({"action": "unpublish", "lang": "xx"}, {"action": "publish"}, {}):
        assert editor.post("/faqs/pricing/remove", **fields).status_code == 422
    assert record(editor).status_code == 200


def test_preview_links_are_in_the_language_that_was_being_written(editor: Editor) -> None:
    publish(editor)
    page = save(editor, "de", "draft", question=["Wie?", ""], answer=["So.", ""])
    [path] = re.findall(r'href="/desk(/faqs/pricing/use[^"]*)"', page)
    chosen = re.compile(r'<option value="(\w+)" selected')
    assert chosen.findall(editor.get(html.unescape(path)).text) == ["de"]
    made = editor.post("/faqs/pricing/use", lang="de", page="").text
    assert chosen.findall(made) == ["de"]
    assert chosen.findall(editor.get("/faqs/pricing/use?lang=ko").text) == ["en"]


def test_preview_links_show_the_draft(editor: Editor) -> None:
    editor.post("/new", action="draft", **written())
    response = editor.post("/faqs/pricing/use", lang="en", page="https://www.heron.example/prices?a=b")
    hosted, host = (
        html.unescape(link) for link in re.findall(r'<a href="([^"]+)" rel="noreferrer"', response.text)
    )
    assert "Nothing." in editor.client.get(hosted).text
    assert parse_qs(urlsplit(host).query)["a"] == ["b"]
    assert parse_qs(urlsplit(host).query)["faq_preview"] == parse_qs(urlsplit(hosted).query)["faq_preview"]
    for page in ("javascript:alert(1)", "heron", "http://[", "https://x y"):
        assert editor.post("/faqs/pricing/use", page=page).status_code == 422


def test_the_lines_to_copy_have_the_slug_and_the_address(
    editor: Editor, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(editor, slug='say "hi"')
    text = html.unescape(editor.get("/faqs/say%20%22hi%22/use").text)
    assert '{{ faq("say \\"hi\\"") }}' in text
    assert 'FAQExtension(app, base_url="http://testserver")' in text
    for name in ("Flask", "FastAPI", "Django", "Jinja", "MCP"):
        assert name in text
    assert "npm" not in text
    monkeypatch.setenv("FAQSVC_NPM_PACKAGE", "@heron/faq")  # only the operator names a package
    assert "npm install @heron/faq" in editor.get("/faqs/say%20%22hi%22/use").text


def test_a_key_is_shown_once_and_can_be_replaced_and_revoked(editor: Editor, storage: Storage) -> None:
    response = editor.post("/keys", key_name="website", scope="read")
    [key] = re.findall(r"fs_live_[\w-]+", response.text)
    access = storage.keys.verify(key)
    assert access is not None
    assert access.scope == "read"
    assert key not in editor.get("/keys").text
    assert "by Mia" in editor.get(f"/keys/{access.key_id}").text
    response = editor.post(f"/keys/{access.key_id}", action="rotate", overlap="24")
    [new] = re.findall(r"fs_live_[\w-]+", response.text)
    assert storage.keys.verify(key) is not None
    access = storage.keys.verify(new)
    assert access is not None
    assert editor.post(f"/keys/{access.key_id}", action="revoke").status_code == 422  # not confirmed
    assert storage.keys.verify(new) is not None
    assert editor.post(f"/keys/{access.key_id}", action="revoke", confirm="yes").status_code == 200
    assert storage.keys.verify(new) is None
    assert editor.get(f"/keys/{access.key_id}").status_code == 200  # an ended key can still be looked at
    assert editor.post(f"/keys/{access.key_id}", action="rotate").status_code == 409


def test_keys_and_people_are_listed_fifty_on_a_page_and_none_is_left_out(
    editor: Editor, storage: Storage
) -> None:
    names = {f"Nr {number:03} of all" for number in range(51)}
    for name in names:
        storage.keys.create(name)
        storage.people.add(name, role="editor")
    storage.keys.revoke(storage.keys.list()[7].id)
    for path in ("/keys", "/people"):
        pages = [editor.get(path).text]
        while "Next page" in pages[-1]:
            pages.append(next_page(editor, path, pages[-1]))
        found = [re.findall("Nr [0-9]{3} of all", page) for page in pages]
        assert (len(pages), {name for page in found for name in page}) == (2, names)
        assert sum(map(len, found)) == len(names)


def test_forms_that_make_a_key_or_a_person_and_are_sent_twice_make_one(
    editor: Editor, storage: Storage
) -> None:
    for path, fields in (
        ("/keys", {"key_name": "shop", "scope": "read"}),
        ("/people", {"name": "Zoe", "email": "", "role": "editor"}),
    ):
        once = re.search(r'name="once" value="([^"]+)"', editor.get(path).text)
        assert once
        sent = [editor.post(path, once=once[1], **fields).status_code for _ in range(2)]
        assert sent == [200, 409]
    assert [key.name for key in storage.keys.list()] == ["shop"]
    assert [person.name for person in storage.people.list()] == ["Mia", "Zoe"]


def test_an_old_page_does_not_replace_a_key_that_was_replaced_meanwhile(
    editor: Editor, storage: Storage
) -> None:
    storage.keys.create("website")
    path = f"/keys/{storage.keys.list()[0].id}"
    opened = editor.get(path).text
    ends = versions_of(opened)[0]
    editor.post(path, action="rotate", overlap="24", **ends)
    again = editor.post(path, action="rotate", overlap="24", **ends)
    assert (again.status_code, "somebody replaced this key" in again.text) == (409, True)
    assert len(storage.keys.list()) == 2
    ends = versions_of(again.text)[0]
    assert editor.post(path, action="rotate", overlap="24", **ends).status_code == 200


def test_keys_and_people_of_another_site_are_out_of_reach(editor: Editor, storage: Storage) -> None:
    other = key_of_another_site(storage)
    access = storage.keys.verify(other)
    assert access is not None
    for action in ("revoke", "rotate"):
        assert editor.post(f"/keys/{access.key_id}", action=action, confirm="yes").status_code == 404
    assert storage.keys.verify(other) is not None
    eve = storage.people.add("Eve", role="admin", site=storage.sites.create("third"))
    assert "Eve" not in editor.get("/people").text
    assert editor.get(f"/people/{eve.id}").status_code == 404
    for action in ("link", "remove", "save"):
        assert editor.post(f"/people/{eve.id}", action=action, confirm="yes").status_code == 404


def test_the_site_is_renamed_and_listed(editor: Editor, storage: Storage) -> None:
    assert editor.post("/site", name="Heron", listed="yes").status_code == 200
    [site] = storage.sites.list()
    assert (site.name, site.is_listed) == ("Heron", True)
    told = editor.post("/site", name="Mine", website_url="https://x.example", listed="yes", version="old")
    assert (told.status_code, "“Heron”" in told.text, "is empty" in told.text) == (409, True, True)
    assert editor.post("/site", name="x" * 101).status_code == 422
    response = editor.post("/site", name="", website_url="heron", listed="yes")
    assert response.status_code == 422
    for name in ("name", "website_url"):
        assert f'id="{name}-error"' in response.text
    assert 'value="heron"' in response.text  # what was typed stays
    assert storage.sites.list()[0].name == "Heron"
    assert editor.post("/site", name=" ").status_code == 422
    assert editor.post("/keys", key_name="", scope="read").status_code == 422
    assert editor.post("/keys", key_name="x", scope="all").status_code == 422


def test_new_faqs_begin_with_the_website_of_the_site(editor: Editor, storage: Storage) -> None:
    assert storage.sites.list()[0].name == DEFAULT_NAME
    assert editor.post("/site", name="", website_url="https://heron.example").status_code == 200
    for path in ("", "/site", "/new"):
        assert re.findall(rf'(?:>|value=")\s*{DEFAULT_NAME}\b', editor.get(path).text) == []
    assert 'value="https://heron.example"' in editor.get("/new").text
    editor.post("/site", name="Heron", website_url="https://heron.example")
    assert 'value="Heron"' in editor.get("/new").text


def test_an_admin_adds_changes_and_removes_people(editor: Editor, storage: Storage) -> None:
    response = editor.post("/people", name="Tom", email="Tom@heron.example", role="editor")
    [link] = re.findall(r"http://testserver/desk/sign-in#link=[\w-]+", response.text)
    tom = storage.people.find("tom@heron.example")
    assert (tom.name, tom.role, tom.site) == ("Tom", "editor", storage.people.admin("Mia").site)
    assert editor.post("/people", name="T", email="tom@heron.example", role="editor").status_code == 422
    for fields in ({"name": ""}, {"name": "T", "email": "t"}, {"name": "T", "role": "boss"}):
        response = editor.post("/people", **{"role": "editor", "email": "", **fields})
        assert response.status_code == 422
        assert "-error" in response.text
    path = f"/people/{tom.id}"
    editor.post(path, action="save", name="Tom B.", email="tb@heron.example", role="publisher")
    tom = storage.people.find(tom.id)
    assert (tom.name, tom.email, tom.role) == ("Tom B.", "tb@heron.example", "publisher")
    other = re.findall(r"#link=([\w-]+)", editor.post(path, action="link").text)
    assert storage.sign_ins.redeem_link(other[0])
    unconfirmed = editor.post(path, action="remove")
    assert (unconfirmed.status_code, 'value="Tom B."' in unconfirmed.text) == (422, True)
    assert editor.post(path, action="remove", confirm="yes").url.path == "/desk/people"
    assert editor.get(path).status_code == 404
    assert storage.sign_ins.redeem_link(link.partition("#link=")[2]) is None


def test_the_last_admin_stays(editor: Editor, storage: Storage) -> None:
    path = f"/people/{storage.people.admin('Mia').id}"
    fields = {"name": "Mia", "email": "", "role": "editor"}
    assert editor.post(path, action="save", **fields).status_code == 422
    assert editor.post(path, action="remove", confirm="yes").status_code == 409
    assert storage.people.admin("Mia").role == "admin"


def test_a_form_of_a_person_undoes_no_change_of_somebody_else_silently(
    editor: Editor, storage: Storage
) -> None:
    tom = storage.people.add("Tom", role="admin", email="tom@example.com")
    opened = versions_of(editor.get(f"/people/{tom.id}").text)[0]
    storage.people.change(tom.id, role="editor", email="tom@new.example")
    fields = {"name": "Thomas", "email": "tom@example.com", "role": "admin"}
    told = editor.post(f"/people/{tom.id}", action="save", **fields, **opened)
    assert (told.status_code, 'value="Thomas"' in told.text) == (409, True)
    assert ("“tom@new.example”" in told.text, "“editor”" in told.text) == (True, True)
    fields |= {"email": "tom@new.example", "role": "editor"}
    editor.post(f"/people/{tom.id}", action="save", **fields, **versions_of(told.text)[0])
    found = storage.people.find(tom.id)
    assert (found.name, found.email, found.role) == ("Thomas", "tom@new.example", "editor")


def test_who_is_removed_takes_the_keys_along_if_so_chosen(editor: Editor, storage: Storage) -> None:
    people = [storage.people.add(name, role="admin") for name in ("Tom", "Ada")]
    for person in people:
        storage.keys.create(person.name, by=person.access)
    for person, choice in zip(people, ({"with_keys": "yes"}, {}), strict=True):
        path = f"/people/{person.id}"
        assert 'name="with_keys"' in editor.get(path).text
        editor.post(path, action="remove", confirm="yes", **choice)
    assert [key.name for key in storage.keys.list() if key.revoked_at is not None] == ["Tom"]


def test_an_old_page_does_not_remove_a_person_who_was_added_again_with_another_role(
    editor: Editor, storage: Storage
) -> None:
    tom = storage.people.add("Tom", role="editor", email="tom@heron.example")
    path = f"/people/{tom.id}"
    opened = versions_of(editor.get(path).text)[-1]
    storage.people.remove(tom.id)
    storage.people.add("Tom", role="publisher", email="tom@heron.example")
    told = editor.post(path, action="remove", confirm="yes", **opened)
    assert (told.status_code, "Nobody was removed" in told.text) == (409, True)
    opened = versions_of(told.text)[-1]
    assert editor.post(path, action="remove", confirm="yes", **opened).url.path == "/desk/people"


@pytest.mark.parametrize("role", ["editor", "publisher"])
def test_only_an_admin_manages_the_site_its_people_and_its_keys(
    stranger: Editor, storage: Storage, role: Role
) -> None:
    admin = storage.people.admin("Mia")
    stranger.sign_in(storage, "Tom", role=role)
    assert stranger.get("/site").status_code == 200
    for path in ("/people", f"/people/{admin.id}", "/keys"):
        assert stranger.get(path).status_code == 403
    assert stranger.post("/site", name="x").status_code == 403
    assert stranger.post("/keys", key_name="x", scope="publish").status_code == 403
    assert stranger.post("/people", name="Eve", role="admin").status_code == 403
    assert stranger.post(f"/people/{admin.id}", action="link").status_code == 403
    assert storage.keys.list() == []
    assert [person.name for person in storage.people.list()] == ["Mia", "Tom"]


def test_every_address_is_a_page_with_a_way_back(editor: Editor) -> None:
    pages = {
        **{f"/{path}": 404 for path in ("nonsense", "nonsense/", "faqs/pricing/nonsense", "%3Cb%3E")},
        "/sign-out": 405,
        "/website": 405,
        "?done=saved&done=saved": 200,
        "/faqs/tea?done=a&done=b": 404,
        "?q=a&q=b": 400,
    }
    for path, status in pages.items():
        page = editor.get(path)
        assert (path, page.status_code, page.headers["content-type"][:9]) == (path, status, "text/html")
        assert '<a href="/desk">' in page.text
        assert "/desk/sign-out" in page.text
        assert (page.headers.get("allow") == "POST, OPTIONS") is (status == 405)
    editor.client.cookies.clear()
    assert [path for path in pages if "/desk/sign-out" in editor.get(path).text] == []


@pytest.mark.parametrize("texts", [("a\n" * 20_000, "b\n" * 20_000), ("a b " * 20_000, "b a " * 20_000)])
def test_long_texts_are_shown_whole_instead_of_compared(texts: tuple[str, str]) -> None:
    before, after = words(*texts)
    assert [piece.kind for piece in (*before, *after)] == ["old", "new"]


def test_the_pages_of_two_faqs_with_the_same_title_have_different_titles(editor: Editor) -> None:
    for slug in ("pricing", "delivery"):
        publish(editor, slug=slug)
    pages = [f"/faqs/{slug}{page}" for slug in ("pricing", "delivery") for page in ("", "/history", "/use")]
    pages += ["", "?lang=de", "?state=draft"]
    titles = [re.findall("<title>(.*?)</title>", editor.get(page).text) for page in pages]
    assert len({*map(str, titles)}) == len(pages)
