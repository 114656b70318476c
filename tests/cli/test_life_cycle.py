"""Commands over the life of an FAQ, with the real service."""

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any, Final

import click
import pytest
from msgspec import to_builtins

from faqsvc_embed import FAQ, FAQClient, FAQNotFound, Item
from faqsvc_embed.service.storage import open_storage
from tests.cli.support import failure, faqsvc, write
from tests.service.storage.writes import put
from tests.support.cases import sampled
from tests.support.service import Service, service

WEBSITE: Final = ("--website-url", "https://tea.example", "--website-name", "Tea & Sons")
TEXTS: Final = {
    "en": ("What does it cost?", "Five euros, **plus** shipping.\n\n- by post\n- by bike"),
    "ko": ("가격이 얼마인가요?", "5유로입니다."),
    "ja": ("いくらですか？", "５ユーロです。"),
    "zh": ("多少钱？", "五欧元。"),
    "es": ("¿Cuánto cuesta?", "Cinco euros."),
    "fr": ("Combien ça coûte ?", "Cinq euros. `code`"),
    "de": ("Was kostet es?", "Fünf Euro & mehr <b>."),
}


def publish(slug: str, **fields: Any) -> None:
    """Publish an FAQ through the client."""
    given = {"website_url": "https://tea.example", "website_name": "Tea & Sons", "lang": "en"}
    with FAQClient() as client:
        client.publish_faq(slug=slug, **{**given, "items": [TEXTS["en"]], **fields})


def editor(monkeypatch: pytest.MonkeyPatch, directory: Path, code: str) -> None:
    """Let `code` be the editor; it has the path of the file in `path`."""
    script = directory / "editor.py"
    script.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[1])\n{code}\n")
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    monkeypatch.delenv("VISUAL", raising=False)


# The round trip


@pytest.mark.parametrize(
    ("lang", "answer_format"),
    sampled(zip(TEXTS, ["markdown", "text"] * 4, strict=False), [("en", "markdown"), ("ko", "text")]),
)
@pytest.mark.parametrize(("form", "ending"), [("json", "json"), ("markdown", "md")])
def test_what_get_prints_is_published_as_a_revision_of_the_same_faq(
    ours: Service, tmp_path: Path, lang: str, answer_format: str, form: str, ending: str
) -> None:
    slug = f"round-{lang}-{answer_format}-{ending}"
    publish(slug, lang=lang, items=[TEXTS[lang]], title=f"{lang}: “Title”", answer_format=answer_format)
    before = faqsvc("get", slug, "--format", form)
    file = tmp_path / f"any.{ending}"
    file.write_bytes(before.stdout_bytes)
    result = faqsvc("publish", str(file), "--json")
    assert (result.exit_code, result.stderr) == (0, "")
    (published,) = json.loads(result.stdout)
    assert (published["slug"], published["lang"], published["unchanged"]) == (slug, lang, True)
    file.write_text(file.read_text().replace("?", "??").replace("？", "??"))
    for number, mark in ((2, "!"), (3, "!!")):  # the file states the revision that it was published as
        file.write_text(file.read_text().replace("“", f"“{mark}"))
        (published,) = json.loads(faqsvc("publish", str(file), "--json").stdout)
        assert (published["revision"], published["unchanged"]) == (number, False)
    with FAQClient() as client:
        first, third = (client.get_revision(slug, number, lang=lang) for number in (1, 3))
    assert third.faq.title == f"{lang}: “!!!Title”"
    assert third.faq.items[0].answer == first.faq.items[0].answer
    assert first.website_url == third.website_url == "https://tea.example"


def test_what_pull_writes_is_published_without_loss(ours: Service, tmp_path: Path) -> None:
    slug = "Pulled"
    for lang in ("en", "de"):
        publish(slug, lang=lang, items=[TEXTS[lang]], title=f"Tea, {lang}", answer_format="markdown")
    assert faqsvc("pull", slug, "--to", str(tmp_path)).exit_code == 0
    result = faqsvc("publish", str(tmp_path), "--json")
    assert (result.exit_code, "Warning" in result.stderr) == (0, False)
    assert [one["unchanged"] for one in json.loads(result.stdout)] == [True, True]
    for file in tmp_path.iterdir():
        file.write_text(file.read_text().replace("?", "??"))
    result = faqsvc("publish", str(tmp_path), "--json")
    assert (result.exit_code, [one["revision"] for one in json.loads(result.stdout)]) == (0, [2, 2])
    with FAQClient() as client:
        for lang in ("en", "de"):
            before, after = (client.get_revision(slug, number, lang=lang) for number in (1, 2))
            was, is_now = (to_builtins(revision.faq) for revision in (before, after))
            was["items"][0]["question"] += "?"
            assert is_now == was
            assert after.website_url == before.website_url == "https://tea.example"


# publish


@pytest.mark.system
def test_a_call_to_action_of_a_file_is_named_because_it_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with service(tmp_path) as own:
        monkeypatch.setenv("FAQSVC_BASE_URL", own.base_url)
        monkeypatch.setenv("FAQSVC_API_KEY", own.key)
        storage = open_storage(f"sqlite:///{tmp_path}/faqsvc.db")
        faq = FAQ("tea", "Tea", "Tea & Sons", "en", (Item(0, "Why?", "So."),), {"label": "Buy"})
        put(storage, faq, website_url="https://tea.example")
        storage.close()
        for form in ("json", "markdown"):
            file = tmp_path / ("faq.json" if form == "json" else "faq.md")
            file.write_bytes(faqsvc("get", "tea", "--format", form).stdout_bytes)
            result = faqsvc("publish", str(file))
            assert (result.exit_code, result.stderr.startswith(f"Warning: {file}: cta ")) == (0, True)


def test_the_file_without_a_language_in_its_name_or_else_the_english_one_is_the_default(
    ours: Service, tmp_path: Path
) -> None:
    names = {"hours.de.md": "de", "hours.en.md": "en", "tea.de.md": "de", "tea.md": "en"}
    for name, lang in {**names, "salt.en.md": "en", "salt.md": "de"}.items():
        (tmp_path / name).write_text(f"---\nlang: {lang}\n---\n## {TEXTS[lang][0]}\n\n{TEXTS[lang][1]}\n")
    files = sorted(map(str, tmp_path.iterdir()))
    assert files[0].endswith("hours.de.md")
    assert faqsvc("publish", *files, *WEBSITE).exit_code == 0
    with FAQClient() as client:
        assert [client.get_faq(slug).lang for slug in ("hours", "tea", "salt")] == ["en", "en", "de"]
        assert client.get_faq("tea").items[0].question == TEXTS["en"][0]


def test_a_folder_writes_only_what_has_changed(ours: Service, tmp_path: Path) -> None:
    (tmp_path / "kept-as-is.md").write_text("---\nlang: en\n---\n## Open?\n\nYes, **always**.\n")
    (tmp_path / "kept-as-is.de.md").write_text("## Offen?\n\nJa.\n")
    (tmp_path / "rewritten.csv").write_text("question,answer\nOpen?,Yes.\n")

    def published(*options: str) -> list[tuple[str, int, bool]]:
        result = faqsvc("publish", str(tmp_path), *WEBSITE, "--json", *options)
        warned = [line for line in result.stderr.splitlines() if line.startswith("Warning")]
        assert (result.exit_code, len(warned)) == (0, int("--republish" in options))
        assert all("kept-as-is" in line and "unpublished" in line for line in warned)
        entries = [(Path(one["file"]).name, one) for one in json.loads(result.stdout)]
        return [(name, one["revision"], one["unchanged"]) for name, one in entries]

    names = ("kept-as-is.md", "kept-as-is.de.md", "rewritten.csv")
    assert published() == [(name, 1, False) for name in names]
    assert published() == published("--draft") == [(name, 1, True) for name in names]
    (tmp_path / "rewritten.csv").write_text("question,answer\nOpen?,No.\n")
    faqsvc("delete", "kept-as-is", "--lang", "de")
    assert published("--republish") == list(zip(names, (1, 1, 2), (True, False, False), strict=True))
    lines = faqsvc("publish", str(tmp_path), *WEBSITE).stdout.splitlines()
    assert [("unchanged" in line, f"{ours.base_url}/faq/" in line) for line in lines] == [(True, True)] * 3


def test_options_choose_slug_language_title_and_state(ours: Service, tmp_path: Path) -> None:
    (tmp_path / "faq.csv").write_text("question,answer\nOuvert ?,Oui.\n")
    chosen = ("--slug", "chosen", "--lang", "fr-CH", "--title", "Prix", "--draft")
    result = faqsvc("publish", str(tmp_path / "faq.csv"), *WEBSITE, *chosen)
    assert result.exit_code == 0
    with FAQClient() as client:
        draft = client.get_revision("chosen", 1)
        with pytest.raises(FAQNotFound):
            client.get_faq("chosen")
    assert (draft.state, draft.faq.lang, draft.faq.title) == ("draft", "fr", "Prix")


def test_a_file_that_says_that_it_is_a_draft_is_stored_as_one(ours: Service, tmp_path: Path) -> None:
    (tmp_path / "launch.md").write_text("---\ndraft: True\nlang: en\n---\n## Price?\n\nNot announced yet.\n")
    result = faqsvc("publish", str(tmp_path / "launch.md"), *WEBSITE, "--json")
    assert [one["state"] for one in json.loads(result.stdout)] == ["draft"]
    assert "launch" in failure(faqsvc("get", "launch"))
    assert "draft" in failure(faqsvc("publish", write(tmp_path, "faq.json", draft="later")))


def test_what_a_dry_run_of_a_draft_prints_is_a_draft(ours: Service, tmp_path: Path) -> None:
    file = write(tmp_path, "faq.json", slug="later", lang="en")
    (tmp_path / "body.json").write_text(faqsvc("publish", file, "--draft", "--dry-run").stdout)
    (published,) = json.loads(faqsvc("publish", str(tmp_path / "body.json"), "--json").stdout)
    assert published["state"] == "draft"


def test_what_a_file_leaves_out_does_not_come_from_a_draft(ours: Service, tmp_path: Path) -> None:
    publish("relaunch", title="Prices")
    draft = {"title": "Secret", "website_name": "Secret", "website_url": "https://secret.example"}
    publish("relaunch", **draft, draft=True)
    (tmp_path / "faq.csv").write_text("question,answer\nOpen?,Yes.\n")
    file = (str(tmp_path / "faq.csv"), "--slug", "relaunch", "--lang", "en")
    assert faqsvc("publish", *file, "--draft").exit_code == 0
    assert faqsvc("publish", *file).exit_code == 0
    with FAQClient() as client:
        as_draft, published = (client.get_revision("relaunch", number) for number in (3, 4))
    assert (as_draft.faq.title, as_draft.website_url) == ("Secret", "https://secret.example")
    assert (published.faq.title, published.faq.website_name) == ("Prices", "Tea & Sons")
    assert published.website_url == "https://tea.example"


@pytest.mark.parametrize(
    "names",
    [("a.json", "b.json", "--slug", "same"), ("a.en.json", "b.json", "--slug", "same", "--lang", "en")],
)
def test_two_files_cannot_be_the_same_faq(ours: Service, tmp_path: Path, names: tuple[str, ...]) -> None:
    files = [write(tmp_path, name) if name.endswith(".json") else name for name in names]
    assert "b.json" in failure(faqsvc("publish", *files))


# list, history, revert, delete


def test_a_list_and_a_history_are_tables_or_json(ours: Service) -> None:
    publish("listed", title="Tea:\n prices")
    publish("listed", title="Tea", draft=True)
    first = faqsvc("list").stdout.splitlines()[0]
    assert re.fullmatch(r"listed +published +r2 +en +[-\d]+ [:\d]+  Tea", first)
    publish("質問")  # each letter takes two columns of a terminal
    before = [
        row.partition("published ")[0] for row in faqsvc("list", "--state", "published").stdout.splitlines()
    ]
    assert len({len(text) + text.count("質") + text.count("問") for text in before}) == 1
    (listed,) = [faq for faq in json.loads(faqsvc("list", "--json").stdout) if faq["slug"] == "listed"]
    assert (listed["state"], listed["revision"], listed["languages"]) == ("published", 2, ["en"])
    assert [line.split()[:2] for line in faqsvc("history", "listed").stdout.splitlines()] == [
        ["2", "draft"],
        ["1", "published"],
    ]
    assert [one["revision"] for one in json.loads(faqsvc("history", "listed", "--json").stdout)] == [2, 1]


def test_a_change_is_undone(ours: Service) -> None:
    publish("undone", items=[("Open?", "Yes.")])
    publish("undone", items=[("Open?", "No.")])
    result = faqsvc("revert", "undone", "1", "--json")
    assert json.loads(result.stdout)["revision"] == 3
    assert "Yes." in faqsvc("get", "undone").stdout
    assert "undone" in failure(faqsvc("revert", "undone", "9"))
    assert faqsvc("revert", "undone", "none").exit_code == 2
    without_number = faqsvc("revert", "undone")
    assert (without_number.exit_code, "faqsvc history undone" in without_number.stderr) == (2, True)


def test_an_faq_is_taken_back_and_published_again(ours: Service) -> None:
    publish("taken")
    assert faqsvc("unpublish", "taken").exit_code == 0  # the same command
    assert "taken" in failure(faqsvc("get", "taken"))
    assert faqsvc("revert", "taken", "1").exit_code == 0
    assert faqsvc("get", "taken").exit_code == 0
    refused = faqsvc("delete", "taken", "--purge")  # nobody says yes
    assert (refused.exit_code, "--yes" in refused.stderr) == (1, True)
    assert faqsvc("get", "taken").exit_code == 0
    assert json.loads(faqsvc("delete", "taken", "--purge", "--yes", "--json").stdout)["state"] == "binned"
    assert faqsvc("restore", "taken").exit_code == 0
    assert faqsvc("get", "taken").exit_code == 0
    assert "taken" in faqsvc("restore", "taken").stderr  # there is nothing to restore
    assert faqsvc("delete", "taken", "--purge", "--now", "--yes").exit_code == 0
    assert "taken" in failure(faqsvc("restore", "taken"))
    assert faqsvc("delete", "taken", "--now").exit_code == 2


def test_a_command_in_a_message_can_be_pasted_whatever_the_slug(ours: Service, tmp_path: Path) -> None:
    publish("a b")
    with FAQClient() as client:
        client.unpublish_faq("a b")
    assert "`faqsvc history 'a b'`" in faqsvc("revert", "a b").stderr
    assert "`faqsvc restore 'a b'`" in failure(faqsvc("edit", "a b"))
    faqsvc("delete", "a b", "--purge", "--yes")
    assert "`faqsvc restore 'a b'`" in faqsvc("publish", write(tmp_path, "a b.json")).stderr


# edit


def test_an_faq_that_was_not_changed_gets_no_revision(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish("same")
    for code in ("path.unlink()", ""):
        editor(monkeypatch, tmp_path, code)
        result = faqsvc("edit", "same")
        assert (result.exit_code, "--wait" in result.stderr) == (0, True)
    found = json.loads(faqsvc("edit", "same", "--json").stdout)
    assert (found["slug"], found["revision"], found["unchanged"]) == ("same", 1, True)
    assert len(json.loads(faqsvc("history", "same", "--json").stdout)) == 1
    assert (found["state"], faqsvc("delete", "same").exit_code) == ("published", 0)
    assert json.loads(faqsvc("edit", "same", "--draft", "--json").stdout)["state"] == "superseded"


@pytest.mark.parametrize(
    "code",
    [
        "path.write_text('no question')",
        "path.write_text(path.read_text().replace('websiteUrl: https://tea.example', 'websiteUrl: no'))",
        "path.write_text('## Mine?\\n\\nYes.\\n'); sys.exit(1)",
    ],
    ids=["no question", "an invalid field", "the editor fails"],
)
def test_what_cannot_be_published_stays_in_a_file(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str
) -> None:
    publish("broken")
    editor(monkeypatch, tmp_path, code)
    path = Path(failure(faqsvc("edit", "broken")).split()[-1])
    assert path.read_text()
    path.unlink()


@pytest.mark.parametrize(("value", "named"), [("'vim", "quotation"), ("/no/such/editor", "/no/such/editor")])
def test_an_editor_that_cannot_be_started_is_named_and_leaves_no_file(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, value: str, named: str
) -> None:
    publish("unopened")
    monkeypatch.setenv("VISUAL", value)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    message = failure(faqsvc("edit", "unopened"))
    assert (named in message, "EDITOR" in message, "code --wait" in message) == (True, True, True)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("method", "arguments"), [("unpublish_faq", ["delete", "tea"]), ("restore_faq", ["restore", "tea"])]
)
def test_a_write_that_ctrl_c_ended_says_that_it_may_have_happened(
    ours: Service, monkeypatch: pytest.MonkeyPatch, method: str, arguments: list[str]
) -> None:
    def interrupt(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FAQClient, method, interrupt)
    result = faqsvc(*arguments)
    assert (result.exit_code, "interrupted; tea may have been" in result.stderr) == (1, True)


@pytest.mark.parametrize("moment", ["in the editor", "when it is published"])
def test_an_edit_that_ctrl_c_ended_says_where_the_text_is(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    publish("interrupted")
    editor(monkeypatch, tmp_path, "path.write_text(path.read_text().replace('Five', 'Six'))")
    run = click.edit

    def interrupt(**arguments: Any) -> None:
        if "filename" in arguments:
            run(**arguments)
        raise KeyboardInterrupt

    if moment == "in the editor":
        monkeypatch.setattr(click, "edit", interrupt)
    else:
        monkeypatch.setattr(FAQClient, "publish_faq", lambda _, **fields: interrupt(**fields))
    result = faqsvc("edit", "interrupted")
    path = Path(result.stderr.split()[-1])
    assert (result.exit_code, "Six" in path.read_text()) == (1, True)
    assert ("may have been published" in result.stderr) == (moment == "when it is published")
    path.unlink()


@pytest.mark.parametrize(
    ("old", "new"),
    [("slug: guarded", "slug: other"), ("slug: guarded", ""), ("lang: en", "lang: de")],
    ids=["another slug", "no slug", "another language"],
)
def test_an_edit_writes_no_other_faq_and_no_other_translation(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, old: str, new: str
) -> None:
    for slug, lang in (("guarded", "en"), ("guarded", "de"), ("other", "en")):
        publish(slug, lang=lang, items=[TEXTS[lang]])

    def read_others() -> object:
        with FAQClient() as client:
            german = client.newest_revision("guarded", lang="de")
            return len(client.list_faqs()), german, client.get_faq("other")

    before = read_others()
    editor(monkeypatch, tmp_path, f"path.write_text(path.read_text().replace({old!r}, {new!r}, 1))")
    message = failure(faqsvc("edit", "guarded", "--lang", "en"))
    path = Path(message.split()[-1])
    assert "euros" in path.read_text()
    path.unlink()
    assert old.split()[0].rstrip(":") in message
    assert read_others() == before


def test_an_edit_can_make_a_translation(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish("untranslated")
    editor(monkeypatch, tmp_path, "path.write_text(path.read_text().replace('lang: en', 'lang: fr'))")
    made = json.loads(faqsvc("edit", "untranslated", "--json").stdout)
    assert (made["slug"], made["lang"], made["revision"]) == ("untranslated", "fr", 1)
    assert len(json.loads(faqsvc("history", "untranslated", "--lang", "en", "--json").stdout)) == 1


def test_an_edit_names_what_readers_will_not_see(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish("unseen", answer_format="markdown")
    added = "\\n## Where?\\n\\nSee [this](help.html), {{ name }}.\\n"
    editor(monkeypatch, tmp_path, f"path.write_text(path.read_text() + '{added}')")
    result = faqsvc("edit", "unseen")
    assert result.exit_code == 0
    assert all(part in result.stderr for part in ("help.html", "{{ name }}", "line "))


def test_an_edit_keeps_a_language_that_the_file_no_longer_states(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    items = [TEXTS["de"], ("Wer darf bestellen?", "Alle."), ("Wohin liefern Sie?", "In alle Länder.")]
    publish("unstated", items=items)
    edited = "path.read_text().replace('lang: en', '').replace('Alle.', 'Jeder.')"
    editor(monkeypatch, tmp_path, f"path.write_text({edited})")
    made = json.loads(faqsvc("edit", "unstated", "--json").stdout)
    assert (made["lang"], made["revision"]) == ("en", 2)


def test_one_answer_is_changed_or_added(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish("one", items=[("Open?", "Yes."), ("Closed?", "No.")])
    changed = json.loads(faqsvc("edit", "one", "--question", "Open?", "--answer", "Daily.", "--json").stdout)
    assert changed["revision"] == 2
    editor(monkeypatch, tmp_path, "path.write_text(path.read_text() + 'On Sundays.\\n')")
    again = faqsvc("edit", "one", "--question", "closed", "--draft")
    assert (again.exit_code, again.stderr) == (0, "")
    with FAQClient() as client:
        items = [(item.question, item.answer) for item in client.newest_revision("one").faq.items]
    assert items == [("Open?", "Daily."), ("Closed?", "No.On Sundays.")]
    same = faqsvc("edit", "one", "--question", "Open?", "--answer", "Daily.", "--draft")
    assert (same.exit_code, same.stdout, "not changed" in same.stderr) == (0, "", True)
    for arguments in (["--answer", "Daily."], []):
        message = failure(faqsvc("edit", "one", "--question", "Is it open?", "--draft", *arguments))
        assert "'Open?'" in message
    assert faqsvc("edit", "one", "--answer", "Daily.").exit_code == 2


@pytest.mark.parametrize("encoding", ["latin-1", "utf-8-sig", "utf-16"])
def test_an_answer_with_a_byte_order_mark_is_read_and_one_in_an_unknown_encoding_stays_in_its_file(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    publish(encoding, items=[("Open?", "Yes.")])
    editor(monkeypatch, tmp_path, f"path.write_text('Täglich.', encoding={encoding!r})")
    result = faqsvc("edit", encoding, "--question", "open")
    if encoding == "latin-1":
        path = Path(failure(result).split()[-1])
        assert ("as UTF-8" in result.stderr, path.read_bytes()) == (True, "Täglich.".encode(encoding))
        path.unlink()
        return
    assert result.exit_code == 0
    with FAQClient() as client:
        assert [item.answer for item in client.get_faq(encoding).items] == ["Täglich."]


def test_one_answer_publishes_no_draft_and_nothing_that_was_unpublished(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    change = ("--question", "Open?", "--answer", "Never.")
    for lang in ("en", "de"):
        publish("waiting", lang=lang, items=[("Open?", "Yes.")])
        publish("waiting", lang=lang, items=[("Open?", "From June.")], draft=True)
        message = failure(faqsvc("edit", "waiting", "--lang", lang, *change))
        assert f"faqsvc revert waiting 2 --lang {lang}" in message
    publish("withdrawn", items=[("Open?", "Yes.")])
    editor(monkeypatch, tmp_path, "path.write_text(path.read_text().replace('Yes', 'No'))")
    with FAQClient() as client:
        client.unpublish_faq("withdrawn")
        for arguments in (change, ()):
            assert "faqsvc restore withdrawn" in failure(faqsvc("edit", "withdrawn", *arguments))
        assert [faq.state for faq in client.list_faqs(text="withdrawn")] == ["unpublished"]
        assert [item.answer for item in client.get_faq("waiting").items] == ["Yes."]
        assert faqsvc("edit", "withdrawn", *change, "--draft").exit_code == 0
        assert client.newest_revision("withdrawn").state == "draft"
        assert "faqsvc restore withdrawn" in failure(faqsvc("edit", "withdrawn"))


def test_an_edit_says_that_it_publishes_a_draft(
    ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish("opened", items=[("Open?", "Yes.")])
    publish("opened", items=[("Open?", "From June.")], draft=True)
    editor(monkeypatch, tmp_path, "path.write_text(path.read_text().replace('June', 'July'))")
    assert "draft" not in faqsvc("edit", "opened", "--draft").stderr
    edited = faqsvc("edit", "opened")
    assert (edited.exit_code, "draft" in edited.stderr) == (0, True)


@pytest.mark.system
def test_two_editors_lose_nothing(ours: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    publish("conflict")
    other = tmp_path / "other.py"
    other.write_text(
        "from faqsvc_embed import FAQClient\n"
        "FAQClient().publish_faq(slug='conflict', website_url='https://tea.example', website_name='Tea',"
        " items=[('Theirs?', 'Yes.')], lang='en')\n"
    )
    code = f"import subprocess\nsubprocess.run([sys.executable, {str(other)!r}], check=True)\n"
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))
    editor(monkeypatch, tmp_path, code + "path.write_text(path.read_text().replace('Five', 'Six'))")
    path = Path(failure(faqsvc("edit", "conflict")).split()[-1])
    assert "Six" in path.read_text()
    path.unlink()
    assert "Theirs?" in faqsvc("get", "conflict").stdout


# preview


def test_a_preview_is_the_address_of_a_page_with_a_token(ours: Service) -> None:
    publish("shown", draft=True)
    address = faqsvc("preview", "shown").stdout.strip()
    assert re.fullmatch(re.escape(f"{ours.base_url}/faq/shown?faq_preview=") + r"\S+", address)
    page = "https://heron.example/prices?a=b#faq"
    made = json.loads(faqsvc("preview", "shown", "--page", page, "--json").stdout)
    assert made["url"] == f"https://heron.example/prices?a=b&faq_preview={made['token']}#faq"
    assert "no-such" in failure(faqsvc("preview", "no-such"))


@pytest.mark.parametrize("page", ["javascript:x", "ftp://a", "https://[a", "prices.html", ""])
def test_an_invalid_page_address_is_a_usage_error(ours: Service, page: str) -> None:
    result = faqsvc("preview", "shown", "--page", page)
    assert (result.exit_code, "--page" in result.stderr, repr(page) in result.stderr) == (2, True, True)
