"""`faqsvc publish` against editors: an old file undoes nobody's work, and the other files are published."""

import json
import os
import stat
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

import click
import pytest
from click.testing import Result

from faqsvc_embed import FAQClient, FAQNotFound
from faqsvc_embed.service.app import create_app
from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.values import UNCONDITIONAL, Access
from tests.cli.support import failure, faqsvc
from tests.support.running import running

WEBSITE: Final[dict[str, Any]] = {"website_url": "https://heron.example", "website_name": "Heron"}
FILE: Final = """---
title: {slug}
websiteUrl: https://heron.example
websiteName: Heron
lang: en
---

## How much is a poster?

{answer}
"""


@dataclass
class Desk:
    """What Mia does, and what readers see."""

    client: FAQClient
    folder: Path
    storage: Storage

    def write(self, slug: str, answer: str) -> None:
        (self.folder / f"{slug}.md").write_text(FILE.format(slug=slug, answer=answer))

    def edit(self, slug: str, answer: str, *, draft: bool = False) -> None:
        fields: dict[str, Any] = {"slug": slug, "title": slug, "lang": "en", "answer_format": "markdown"}
        items = [("How much is a poster?", answer)]
        self.client.publish_faq(items=items, draft=draft, **fields, **WEBSITE)

    def translate(self, answer: str) -> None:
        items = [("Was kostet ein Plakat?", answer)]
        self.client.publish_faq(slug="prices", title="Preise", lang="de", items=items, **WEBSITE)

    def write_german(self) -> None:
        (self.folder / "prices.de.md").write_text("## Was kostet ein Plakat?\n\nFünf Euro.\n")

    def pull(self, slug: str = "prices") -> Result:
        return faqsvc("pull", slug, "--to", str(self.folder))

    def replace(self, old: str, new: str, file: str = "prices.md") -> None:
        """Change the text of a file."""
        path = self.folder / file
        path.write_text(path.read_text().replace(old, new))

    def answer(self, slug: str) -> str:
        """Return the public answer, or an empty text."""
        try:
            return self.client.get_faq(slug).items[0].answer
        except FAQNotFound:
            return ""

    def publish(self, *options: str) -> tuple[int, list[str], list[str]]:
        """Run the command; return its exit status, what it published, and its lines about the others."""
        result = faqsvc("publish", str(self.folder), "--json", *options)
        done = json.loads(result.stdout or "[]")
        return (
            result.exit_code,
            [one["slug"] for one in done if not one["unchanged"]],
            result.stderr.splitlines(),
        )

    def refusal(self, *options: str) -> str:
        """Run the command, which publishes nothing, and return its only line."""
        status, done, (line,) = self.publish(*options)
        assert (status, done) == (1, [])
        return line

    def warning(self, *options: str) -> str:
        """Run the command, which publishes "prices", and return its only line."""
        status, done, (line,) = self.publish(*options)
        assert (status, done) == (0, ["prices"])
        return line


@pytest.fixture
def desk(
    tmp_path_factory: pytest.TempPathFactory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Desk]:
    """A service with the key "ci" in the environment, and Mia, who has published nothing yet."""
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('service')}/faqsvc.db")
    with running(create_app(storage)) as address:
        monkeypatch.setenv("FAQSVC_BASE_URL", address)
        monkeypatch.setenv("FAQSVC_API_KEY", storage.keys.create("ci"))
        with FAQClient(address, storage.keys.create("Mia")) as client:
            yield Desk(client, tmp_path, storage)
    storage.close()


def test_a_file_that_equals_an_older_revision_is_refused_and_the_others_are_published(desk: Desk) -> None:
    for slug in ("a", "prices", "z"):
        desk.write(slug, "Five euros.")
    assert desk.publish() == (0, ["a", "prices", "z"], [])
    desk.edit("prices", "Seven euros.")
    desk.write("z", "Six euros.")
    status, done, (line,) = desk.publish()
    assert (status, done) == (1, ["z"])
    assert all(part in line for part in ("prices.md", "Mia", "revision 2", "faqsvc pull", "--overwrite"))
    assert (desk.answer("prices"), desk.answer("z")) == ("Seven euros.", "Six euros.")
    assert desk.publish("--overwrite")[:2] == (0, ["prices"])
    assert desk.answer("prices") == "Five euros."


def test_a_file_without_its_revision_replaces_only_revisions_of_its_own_key(desk: Desk) -> None:
    for answer in ("Five euros.", "Six euros."):
        desk.write("prices", answer)
        assert desk.publish() == (0, ["prices"], [])
    desk.edit("prices", "Seven euros.")
    desk.write("prices", "Eight euros.")
    line = desk.refusal()
    assert ("Mia" in line, "move the file away" in line, desk.answer("prices")) == (
        True,
        True,
        "Seven euros.",
    )
    assert "Mia" in desk.warning("--overwrite")
    desk.write("prices", "Nine euros.")
    assert desk.publish() == (0, ["prices"], [])


def test_a_key_may_replace_revisions_of_the_key_before_it(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("prices", "Five euros.")
    desk.publish()
    keys = desk.storage.keys
    (old,) = [key.id for key in keys.list() if key.name == "ci"]
    monkeypatch.setenv("FAQSVC_API_KEY", keys.rotate(old, overlap=timedelta(hours=1)))
    desk.write("prices", "Six euros.")
    assert desk.publish() == (0, ["prices"], [])


def test_two_programs_whose_keys_have_one_name_do_not_overwrite_each_other(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("prices", "Five euros.")
    desk.publish()
    keys = desk.storage.keys
    (first,) = [key.id for key in keys.list() if key.name == "ci"]
    monkeypatch.setenv("FAQSVC_API_KEY", keys.create("ci"))
    desk.write("prices", "Six euros.")
    for _ in range(2):
        assert "--overwrite" in desk.refusal()
        assert desk.answer("prices") == "Five euros."
        keys.revoke(first)  # the other key does not become its successor


def test_a_file_with_a_revision_that_is_no_longer_the_newest_is_refused(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    assert desk.pull().exit_code == 0
    desk.edit("prices", "Seven euros.")
    desk.replace("Five", "Six")
    assert "revision 2" in desk.refusal()
    assert desk.answer("prices") == "Seven euros."
    (desk.folder / "prices.md").unlink()
    assert desk.pull().exit_code == 0
    for old, new in (("Seven", "Eight"), ("Eight", "Nine")):  # the file has its published revision
        desk.replace(old, new)
        assert desk.publish() == (0, ["prices"], [])
        assert desk.answer("prices") == f"{new} euros."


def test_an_faq_that_somebody_else_wrote_is_edited(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.edit("prices", "Five euros.")
    monkeypatch.delenv("VISUAL", raising=False)
    for old, new in (("Five", "Six"), ("Six", "Seven")):
        monkeypatch.setenv("EDITOR", f"sed -i s/{old}/{new}/")
        edited = faqsvc("edit", "prices")
        assert (edited.exit_code, edited.stderr, desk.answer("prices")) == (0, "", f"{new} euros.")
        desk.edit("prices", f"{new} euros, says Mia.")
        desk.edit("prices", f"{new} euros.")
    assert desk.client.get_faq("prices").title == "prices"


def test_an_edit_does_not_publish_an_faq_that_was_unpublished_meanwhile(
    desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.edit("prices", "Five euros.")

    def unpublish(*, filename: str) -> None:
        Path(filename).write_text(Path(filename).read_text().replace("Five", "Six"))
        desk.client.unpublish_faq("prices")

    monkeypatch.setattr(click, "edit", unpublish)
    message = failure(faqsvc("edit", "prices"))
    kept = Path(message.split()[-1])
    assert ("unpublished" in message, "Six" in kept.read_text(), desk.answer("prices")) == (True, True, "")
    kept.unlink()


def test_a_file_keeps_its_permissions_and_a_link_leads_to_it_when_its_revision_changes(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    assert desk.pull().exit_code == 0
    file, link = desk.folder / "files" / "p.md", desk.folder / "prices.md"
    file.parent.mkdir()
    file.write_text(link.read_text().replace("Five", "Six"))
    file.chmod(0o640)
    link.unlink()
    link.symlink_to("files/p.md")
    assert desk.publish() == (0, ["prices"], [])
    desk.edit("prices", "Seven euros.")
    assert desk.pull().exit_code == 0
    assert (link.is_symlink(), stat.S_IMODE(file.stat().st_mode)) == (True, 0o640)
    assert [part in file.read_text() for part in ("revision: 3", "Seven")] == [True, True]


@pytest.mark.parametrize("trouble", ["UTF-16", "an error"])
def test_a_revision_that_cannot_be_written_into_its_file_is_named_and_the_run_goes_on(
    desk: Desk, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    desk.edit("prices", "Five euros.")
    assert desk.pull().exit_code == 0
    file = desk.folder / "prices.md"
    text = file.read_text().replace("Five", "Six")
    file.write_text(text, encoding="utf-16" if trouble == "UTF-16" else "utf-8")
    desk.write("z", "Five euros.")
    if trouble != "UTF-16":

        def refuse(*_: object) -> None:
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(os, "replace", refuse)
    status, done, (warning,) = desk.publish()
    assert (status, done) == (0, ["prices", "z"])
    assert all(
        part in warning
        for part in ("prices.md", "revision is now 2", "utf-8" if trouble == "UTF-16" else "denied")
    )


def test_publishing_a_folder_names_the_published_faqs_that_have_no_file_in_it(desk: Desk) -> None:
    for slug in ("prices", "terms"):
        desk.write(slug, "Five euros.")
    assert desk.publish() == (0, ["prices", "terms"], [])
    (desk.folder / "terms.md").rename(desk.folder / "legal.md")
    status, done, (named,) = desk.publish()
    assert (status, done, "terms" in named, "prices" in named) == (0, ["legal"], True, False)
    assert faqsvc("publish", str(desk.folder / "legal.md")).stderr == ""


def test_pull_replaces_the_file_of_an_faq_whatever_its_name(desk: Desk) -> None:
    desk.edit("our prices", "Five euros.")
    for file in ("our prices.md", "our prices.en.md", "our prices.MD"):
        (desk.folder / file).write_text(FILE.format(slug="our prices", answer="Five euros."))
        result = faqsvc("pull", "our prices", "--to", str(desk.folder))
        assert (result.exit_code, [path.name for path in desk.folder.iterdir()]) == (0, [file])
        (desk.folder / file).unlink()


def test_pull_replaces_a_file_unless_it_was_edited(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    for answer in ("Five", "Six"):
        desk.edit("prices", f"{answer} euros.")
        replaced = desk.pull()
        assert (replaced.exit_code, replaced.stderr) == (0, "")
    file = desk.folder / "prices.md"
    desk.replace("Six", "Nine")
    edited = file.read_text()
    for answer in ("Six", "Seven"):  # the newest revision, and then an older one
        desk.edit("prices", f"{answer} euros.")
        assert "prices.md" in failure(desk.pull())
        assert file.read_text() == edited
    monkeypatch.delenv("FAQSVC_API_KEY")  # only a key reads the older revision
    named = desk.pull()
    assert (named.exit_code, "prices.md" in named.stderr) == (0, True)
    assert "Seven" in file.read_text()


def test_a_file_that_was_pulled_before_a_draft_is_refused(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    desk.pull()
    desk.edit("prices", "Seven euros.", draft=True)
    assert desk.publish() == (0, [], [])  # unchanged: the draft waits
    desk.replace("Five", "Six")
    line = desk.refusal()
    assert ("a draft by Mia" in line, "--overwrite" in line) == (True, True)
    assert "faqsvc pull" not in line  # which cannot fetch a draft
    assert "draft" in desk.warning("--overwrite")


def test_an_unpublished_faq_stays_unpublished(desk: Desk) -> None:
    for slug in ("legal", "prices"):
        desk.write(slug, "Five euros.")
    desk.publish()
    desk.client.unpublish_faq("legal")
    desk.write("prices", "Six euros.")
    for answer in ("Five euros.", "Six euros."):
        desk.write("legal", answer)
        status, _, (line,) = desk.publish()
        assert (status, "legal" in line, "--republish" in line) == (1, True, True)
    assert (desk.answer("legal"), desk.answer("prices")) == ("", "Six euros.")
    status, done, (warning,) = desk.publish("--republish")
    assert (status, done, "unpublished" in warning) == (0, ["legal"], True)
    assert desk.answer("legal") == "Six euros."


def test_an_old_file_of_an_unpublished_faq_is_not_said_to_be_public_again(desk: Desk) -> None:
    desk.write("prices", "Five euros.")
    desk.publish()
    desk.write("prices", "Six euros.")
    desk.publish()
    desk.client.unpublish_faq("prices")
    desk.write("prices", "Five euros.")
    assert "public again" not in desk.refusal("--republish")
    assert desk.answer("prices") == ""


def test_without_a_language_the_default_one_stays_unpublished(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    desk.translate("Fünf Euro.")
    desk.client.unpublish_faq("prices", lang="en")
    desk.write("prices", "Six euros.")
    desk.replace("lang: en\n", "")
    assert "--republish" in desk.refusal()
    assert desk.publish("--republish", "--overwrite")[:2] == (0, ["prices"])
    assert desk.client.get_faq("prices", lang="en").items[0].answer == "Six euros."


def test_a_purged_faq_is_not_brought_back(desk: Desk) -> None:
    for slug in ("people", "prices"):
        desk.write(slug, "Five euros.")
    desk.publish()
    desk.client.unpublish_faq("people", purge=True)
    desk.write("prices", "Six euros.")
    for options in ((), ("--overwrite", "--republish")):
        status, _, (line,) = desk.publish(*options)
        assert (status, "people" in line, "faqsvc restore" in line) == (1, True, True)
    assert (desk.answer("people"), desk.answer("prices")) == ("", "Six euros.")


def act_before_write(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Let somebody act just before the command publishes its first file."""
    publish = FAQClient.publish_faq

    def after(client: FAQClient, **fields: Any) -> object:
        monkeypatch.setattr(FAQClient, "publish_faq", publish)
        act()
        return publish(client, **fields)

    monkeypatch.setattr(FAQClient, "publish_faq", after)


def test_a_race_is_a_refusal(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write("prices", "Four euros.")
    desk.publish()
    slugs = ("new", "prices")
    for slug in slugs:
        desk.write(slug, "Five euros.")

    def edit_both() -> None:
        for slug in slugs:
            desk.edit(slug, "Seven euros.")

    act_before_write(monkeypatch, edit_both)
    status, done, lines = desk.publish()
    assert (status, done, len(lines)) == (1, [], 2)
    assert [desk.answer(slug) for slug in slugs] == ["Seven euros.", "Seven euros."]


def test_a_translation_that_somebody_else_has_just_made_is_not_overwritten(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write("prices", "Five euros.")
    desk.publish()
    desk.write_german()
    act_before_write(monkeypatch, lambda: desk.translate("Sieben Euro."))
    assert desk.refusal()
    assert desk.client.get_faq("prices", lang="de").items[0].answer == "Sieben Euro."


def test_the_name_of_a_file_is_its_slug(desk: Desk) -> None:
    desk.write("prices", "Five euros.")
    file = str(desk.folder / "prices.md")
    for unchanged in (False, True):
        (one,) = json.loads(faqsvc("publish", file, "--json").stdout)
        assert (one["slug"], one["unchanged"]) == ("prices", unchanged)
    (other,) = json.loads(faqsvc("publish", file, "--new-slug", "--json").stdout)
    assert other["slug"] != "prices"
    assert faqsvc("publish", file, "--new-slug", "--slug", "mine").exit_code == 2
    assert len(desk.client.list_faqs()) == 2


def test_a_text_that_the_service_takes_for_another_language_is_refused(desk: Desk) -> None:
    desk.write("prices", "Five euros.")
    desk.publish()
    questions = [
        ("Was kostet es?", "Fünf Euro."),
        ("Wer darf bestellen?", "Alle."),
        ("Wohin?", "Überallhin."),
    ]
    text = "".join(f"## {question}\n\n{answer}\n\n" for question, answer in questions)
    (desk.folder / "prices.md").write_text(text)
    line = desk.refusal()
    assert ("prices.md" in line, "lang" in line, desk.answer("prices")) == (True, True, "Five euros.")
    assert desk.publish("--lang", "de") == (0, ["prices"], [])


@pytest.mark.system
def test_100_files_are_published_in_one_run_and_compared_in_a_few_requests(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    storage = open_storage(f"sqlite:///{tmp_path_factory.mktemp('service')}/faqsvc.db")
    app, requests = create_app(storage), list[str]()

    async def counting(scope: Any, receive: Any, send: Any) -> None:
        requests.extend([scope["method"]] if scope["type"] == "http" else [])
        await app(scope, receive, send)

    german = "---\ntitle: Preise\n---\n## Was kostet es?\n\nFünf Euro.\n"  # the website is in the other file
    for number in range(50):
        (tmp_path / f"faq-{number}.md").write_text(FILE.format(slug=f"faq-{number}", answer="Five euros."))
        (tmp_path / f"faq-{number}.de.md").write_text(german)
    with running(counting) as address:
        monkeypatch.setenv("FAQSVC_BASE_URL", address)
        monkeypatch.setenv("FAQSVC_API_KEY", storage.keys.create("ci"))
        first = faqsvc("publish", str(tmp_path))
        assert (first.exit_code, first.stdout.count("unchanged")) == (0, 0)
        requests.clear()
        second = faqsvc("publish", str(tmp_path))
        assert (second.exit_code, second.stdout.count("unchanged"), len(requests) <= 3) == (0, 100, True)
    storage.close()


def test_a_discarded_draft_blocks_no_write_and_is_not_published(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    desk.pull()
    with FAQClient() as own:
        items = [("How much is a poster?", "Nothing.")]
        own.publish_faq(slug="prices", title="Wrong", lang="en", items=items, draft=True, **WEBSITE)
    site = desk.storage.keys.list()[0].site
    desk.storage.writer.discard(Access(None, site), "prices", "en", UNCONDITIONAL)
    assert desk.client.newest_revision("prices").revision == 1
    assert "2  discarded" in faqsvc("history", "prices").stdout
    desk.replace("Five", "Six")
    assert desk.publish() == (0, ["prices"], [])
    changed = faqsvc("edit", "prices", "--question", "How much is a poster?", "--answer", "Seven euros.")
    assert (changed.exit_code, desk.answer("prices")) == (0, "Seven euros.")
    assert desk.client.get_faq("prices").title == "prices"


def test_a_file_with_the_text_of_a_draft_publishes_the_draft(desk: Desk) -> None:
    desk.write("prices", "Five euros.")
    desk.publish()
    desk.write("prices", "Six euros.")
    for options in (("--draft",), ()):
        assert desk.publish(*options) == (0, ["prices"], [])
    assert desk.answer("prices") == "Six euros."
    desk.edit("prices", "Seven euros.", draft=True)
    desk.write("prices", "Seven euros.")
    assert desk.publish("--draft") == (0, [], [])  # unchanged
    assert desk.publish() == (0, ["prices"], [])
    assert desk.answer("prices") == "Seven euros."


def test_a_file_that_states_a_revision_of_another_service_is_refused(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    desk.write("prices", "Six euros.")
    desk.replace("lang: en\n", "lang: en\nrevision: 7\n")
    assert "Mia" in desk.refusal()
    assert desk.answer("prices") == "Five euros."
    assert desk.publish("--overwrite")[:2] == (0, ["prices"])
    assert desk.publish() == (0, [], [])


def test_a_translation_of_an_unpublished_faq_is_published_only_with_republish(desk: Desk) -> None:
    desk.write("prices", "Five euros.")
    desk.publish()
    desk.client.unpublish_faq("prices")
    (desk.folder / "prices.md").unlink()
    desk.write_german()
    assert "--republish" in desk.refusal()
    assert desk.answer("prices") == ""
    assert desk.publish("--draft")[:2] == (0, ["prices"])
    refused = faqsvc("edit", "prices", "--lang", "de")
    assert (refused.exit_code, "was unpublished" in refused.stderr) == (1, True)
    assert desk.publish("--republish")[:2] == (0, ["prices"])
    assert desk.answer("prices") == "Fünf Euro."


def test_revert_names_the_draft_that_it_leaves_behind(desk: Desk) -> None:
    for answer in ("Five euros.", "Six euros."):
        desk.edit("prices", answer)
    desk.edit("prices", "Seven euros.", draft=True)
    result = faqsvc("revert", "prices", "1")
    assert (result.exit_code, desk.answer("prices")) == (0, "Five euros.")
    assert all(part in result.stderr for part in ("Mia", "revision 3", "faqsvc revert prices 3"))
    assert faqsvc("revert", "prices", "3").stderr == ""
    desk.edit("prices", "Eight euros.", draft=True)
    assert faqsvc("revert", "prices", "6").stderr == ""
    assert desk.answer("prices") == "Eight euros."


def test_the_revision_of_a_file_is_not_one_of_the_faq_that_an_option_names(desk: Desk) -> None:
    for slug in ("prices", "shipping"):
        desk.edit(slug, "Five euros.")
    desk.pull()
    before = (desk.folder / "prices.md").read_text()
    assert "Mia" in desk.refusal("--slug", "shipping")
    file = str(desk.folder / "prices.md")
    assert faqsvc("publish", file, "--new-slug", "--website-url", "https://heron.example").exit_code == 0
    assert (desk.folder / "prices.md").read_text() == before


def test_a_file_keeps_its_revision_if_an_option_says_the_language_of_its_name(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    desk.pull()
    text = (desk.folder / "prices.md").read_text().replace("lang: en\n", "")
    (desk.folder / "prices.md").unlink()
    (desk.folder / "prices.en.md").write_text(text.replace("Five", "Six"))
    assert desk.publish("--lang", "en") == (0, ["prices"], [])
    assert desk.answer("prices") == "Six euros."


def test_a_translation_has_nothing_of_a_draft_that_waits(desk: Desk) -> None:
    desk.edit("prices", "Five euros.")
    website: dict[str, Any] = {"website_url": "https://secret.example", "website_name": "Secret"}
    items = [("How much is a poster?", "Five euros.")]
    desk.client.publish_faq(slug="prices", lang="en", items=items, draft=True, **website)
    desk.write_german()
    assert desk.publish() == (0, ["prices"], [])
    german = desk.client.newest_revision("prices", lang="de")
    assert (german.faq.website_name, german.website_url) == ("Heron", "https://heron.example")
