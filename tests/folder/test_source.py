"""An embed whose FAQs come from a folder, without any service."""

import subprocess
import sys
from pathlib import Path

import pytest

from faqsvc_embed import ConfigurationError, FAQEmbed, FAQNotFound, get_faq
from tests.folder.support import PREISE, PRICING, folder
from tests.support.parsed import json_ld, text_of


@pytest.fixture
def faqs(tmp_path: Path) -> Path:
    """A folder with an FAQ in two languages."""
    return folder(tmp_path, pricing__md=PRICING, pricing__de__md=PREISE)


def test_a_page_shows_the_translation_or_else_the_faq_itself(faqs: Path) -> None:
    embed = FAQEmbed(directory=faqs)
    titles = [embed.get_faq("pricing", lang=lang).title for lang in (None, "en", "de", "ko")]
    assert titles == ["Pricing", "Pricing", "Preise", "Pricing"]
    assert text_of(embed.render("pricing", lang="de"), "h2") == ["Preise"]
    assert json_ld(embed.render("pricing"))[0]["mainEntity"][0]["acceptedAnswer"]["text"] == (
        "<p><strong>Nothing</strong> for 10 users.</p>"
    )


def test_translations_alone_are_an_faq_in_the_language_of_the_setting(tmp_path: Path) -> None:
    fr = PREISE.replace("Preise", "Tarifs")
    faqs = folder(tmp_path, pricing__fr__md=fr, pricing__de__md=PREISE)
    assert FAQEmbed(directory=faqs, lang="de").get_faq("pricing", lang="ko").title == "Preise"
    assert FAQEmbed(directory=faqs).get_faq("pricing").title == "Tarifs"


def test_a_draft_is_not_shown_and_may_have_mistakes(faqs: Path) -> None:
    for mistake in (f"revision: soon\n---\n{PREISE}", "---\nLater.\n", "---\n"):
        draft = f"---\ndraft: true\n{mistake}"
        embed = FAQEmbed(directory=folder(faqs.parent, pricing__de__md=draft))
        assert embed.get_faq("pricing", lang="de").title == "Pricing"
    folder(faqs.parent, pricing__md=PRICING.replace("lang:", "published: false\nlang:"))
    error = FAQEmbed(directory=faqs).use_faq("pricing").error
    assert isinstance(error, FAQNotFound)
    assert "draft" in str(error)
    folder(faqs.parent, pricing__md=PRICING.replace("lang:", "draft: flase\nlang:"))
    with pytest.raises(ConfigurationError, match="flase"):
        FAQEmbed(directory=faqs)


def test_a_file_without_a_language_has_that_of_the_setting(tmp_path: Path) -> None:
    faqs = folder(tmp_path, preise__md=PREISE)
    assert FAQEmbed(directory=faqs).get_faq("preise").lang is None
    assert FAQEmbed(directory=faqs, lang="de").get_faq("preise").lang == "de"


def test_the_hook_has_the_faq_of_the_folder(faqs: Path) -> None:
    state = FAQEmbed(directory=faqs).use_faq("pricing", lang="ko")
    assert state.data is not None
    assert (state.status, state.source, state.is_stale, state.is_fetching) == (
        "success",
        "store",
        False,
        False,
    )
    assert (state.lang_requested, state.lang_served) == ("ko", "en")


@pytest.mark.parametrize("slug", ["nope", "../pricing", "pricing.de", "", None, 5, [], "a" * 500])
def test_another_slug_is_not_found(faqs: Path, slug: str) -> None:
    embed = FAQEmbed(directory=faqs)
    state = embed.use_faq(slug)
    assert isinstance(state.error, FAQNotFound)
    assert embed.render(slug) == ""
    with pytest.raises(FAQNotFound):
        embed.get_faq(slug)


def test_a_file_that_states_another_slug_is_named(tmp_path: Path) -> None:
    faqs = folder(tmp_path, prices__md=PRICING.replace("title:", "slug: pricing\ntitle:"))
    error = FAQEmbed(directory=faqs).use_faq("prices").error
    assert str(faqs / "prices.md") in str(error)
    assert "'pricing'" in str(error)


def test_health_lists_the_files(faqs: Path) -> None:
    health = FAQEmbed(directory=faqs).health()
    assert [(one["slug"], one["lang"], one["freshness"]) for one in health] == [
        ("pricing", None, "fresh"),
        ("pricing", "de", "fresh"),
    ]


def test_the_environment_names_the_folder(faqs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAQSVC_DIRECTORY", str(faqs))
    assert get_faq("pricing").title == "Pricing"


def test_offline_makes_no_request(faqs: Path) -> None:
    embed = FAQEmbed("https://faq.invalid", directory=faqs, offline=True)
    assert embed.get_faq("pricing").title == "Pricing"
    assert isinstance(embed.use_faq("nope").error, FAQNotFound)
    assert not embed.reader.fetcher.is_fetching()


@pytest.mark.parametrize("directory", [5, b"faqs", "a\0b", ["faqs"]])
def test_a_directory_is_a_path(directory: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        FAQEmbed(directory=directory)
    assert str(refused.value).startswith("directory ")


def test_a_relative_directory_of_a_deleted_release_is_a_mistake_of_configuration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    release = tmp_path / "release"
    release.mkdir()
    monkeypatch.chdir(release)
    release.rmdir()
    with pytest.raises(ConfigurationError, match="faqs"):
        FAQEmbed(directory="faqs")


def test_without_folder_and_service_the_message_names_both() -> None:
    with pytest.raises(ConfigurationError) as refused:
        FAQEmbed()
    assert "base_url" in str(refused.value)
    assert "directory" in str(refused.value)


def test_pages_need_no_thread_no_socket_and_no_http_client(faqs: Path) -> None:
    program = f"""
import socket, sys, threading
from faqsvc_embed import FAQEmbed
def refuse(*args, **kwargs): raise AssertionError("a socket")
socket.socket = refuse
embed = FAQEmbed(directory={str(faqs)!r}, lang="de", variant="disclosure")
assert "Preise" in embed.render("pricing")
assert embed.use_faq("nope").error and embed.health()
embed.prefetch("pricing"); embed.forget("pricing"); embed.get_faq("pricing"); embed.close()
assert threading.active_count() == 1
print({{"httpx2", "httpcore2"}} & set(sys.modules))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


# Reloading


def touch(path: Path, content: str | None) -> None:
    """Change a file, as an editor does: by a new one in its place."""
    if content is None:
        path.unlink()
    else:
        (path.parent / ".swap").write_text(content)
        (path.parent / ".swap").rename(path)


def test_without_reload_files_are_read_once(faqs: Path) -> None:
    embed = FAQEmbed(directory=faqs)
    touch(faqs / "pricing.md", None)
    touch(faqs / "pricing.de.md", "broken")
    assert (embed.get_faq("pricing").title, embed.get_faq("pricing", lang="de").title) == (
        "Pricing",
        "Preise",
    )


def test_with_reload_an_edited_file_is_shown_at_once(faqs: Path) -> None:
    embed = FAQEmbed(directory=faqs, reload=True)
    german = embed.get_faq("pricing", lang="de")
    touch(faqs / "pricing.md", PRICING.replace("Pricing", "Prices"))
    assert "Prices" in embed.render("pricing")
    assert embed.get_faq("pricing").title == "Prices"
    assert embed.get_faq("pricing", lang="de") is german  # what was rendered of it stays valid
    touch(faqs / "pricing.ko.md", PREISE.replace("Preise", "요금"))
    assert embed.get_faq("pricing", lang="ko").title == "요금"


def test_with_reload_a_slug_without_a_file_is_answered_with_a_similar_one(faqs: Path) -> None:
    embed = FAQEmbed(directory=str(faqs), reload=True)
    assert "did you mean 'pricing'?" in str(embed.use_faq("pricin").error)
    with pytest.raises(FAQNotFound, match=r"did you mean 'pricing'\?"):
        FAQEmbed(directory=faqs, strict=True).render("pricing.md")


def test_with_reload_a_broken_file_shows_its_problem_until_it_is_mended(faqs: Path) -> None:
    embed = FAQEmbed(directory=faqs, reload=True)
    touch(faqs / "pricing.md", "# Pricing\n\n## What <b>?\n\n## How?\n\nSo.\n")
    shown = embed.render("pricing")
    assert f"{faqs}/pricing.md:3: " in text_of(shown, ".faqsvc-problem")[0]
    assert isinstance(embed.use_faq("pricing").error, ConfigurationError)
    assert embed.get_faq("pricing", lang="de").title == "Preise"
    assert [one["freshness"] for one in embed.health()] == ["failed", "fresh"]
    touch(faqs / "pricing.md", PRICING)
    assert embed.get_faq("pricing").title == "Pricing"


def test_with_reload_a_file_or_a_folder_may_disappear(faqs: Path) -> None:
    embed = FAQEmbed(directory=faqs, reload=True)
    touch(faqs / "pricing.md", None)
    assert embed.get_faq("pricing").title == "Preise"
    touch(faqs / "pricing.de.md", None)
    assert isinstance(embed.use_faq("pricing").error, FAQNotFound)
    faqs.rmdir()
    assert isinstance(embed.use_faq("pricing").error, ConfigurationError)
    assert "faqsvc-problem" in embed.render("pricing")
    folder(faqs.parent, pricing__md=PRICING)
    assert embed.get_faq("pricing").title == "Pricing"
