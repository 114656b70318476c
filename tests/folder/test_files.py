"""What is read of a folder, and what is refused, with file and line."""

import os
from pathlib import Path

import pytest

from faqsvc_embed import FAQEmbed
from faqsvc_embed.files.folder import Folder
from tests.folder.support import PREISE, PRICING, folder, refusal
from tests.support.growth import grows_linearly

CSV = "question,answer\nWhat?,That.\n"
YAML = "lang: fr\nitems:\n  - question: Quoi ?\n    answer: Ça.\n"
JSON = '{"title": "Terms", "items": [{"question": "What?", "answer": "*That*."}]}'


def test_a_file_is_an_faq_and_the_part_before_its_ending_a_language(tmp_path: Path) -> None:
    faqs = folder(
        tmp_path, pricing__md=PRICING, pricing__de__md=PREISE, a__csv=CSV, b__yaml=YAML, c__json=JSON
    )
    found = {(file.slug, file.lang): file.faq for file in Folder(faqs).files}
    assert list(found) == [("a", None), ("b", None), ("c", None), ("pricing", None), ("pricing", "de")]
    assert {
        key: faq and (faq.slug, faq.lang, faq.title, faq.answer_format) for key, faq in found.items()
    } == {
        ("a", None): ("a", None, "", "text"),
        ("b", None): ("b", "fr", "", "text"),
        ("c", None): ("c", None, "Terms", "text"),
        ("pricing", None): ("pricing", "en", "Pricing", "markdown"),
        ("pricing", "de"): ("pricing", "de", "Preise", "markdown"),
    }


def test_front_matter_can_state_a_slug_that_is_no_file_name(tmp_path: Path) -> None:
    front = "slug: Prices & plans?\ntitle: Prices\nlanguage: fr\nwebsite: Heron\nanswerFormat: text"
    faqs = folder(tmp_path, prices__md=f"---\n{front}\n---\n## Why?\n\nSo \\*it\\* is.\n")
    faq = FAQEmbed(directory=faqs).get_faq("Prices & plans?")
    assert (faq.title, faq.lang, faq.website_name, faq.answer_format) == ("Prices", "fr", "Heron", "text")
    assert faq.items[0].answer == "So *it* is."


@pytest.mark.parametrize(
    "name", [".hidden.md", "_draft.md", "README.md", "readme.de.md", "photo.png", "notes.txt", "a.md~"]
)
def test_other_files_are_left_out(tmp_path: Path, name: str) -> None:
    faqs = folder(tmp_path, pricing__md=PRICING)
    (faqs / name).write_bytes(b"\xff")
    (faqs / "drafts.md").mkdir()
    assert [file.slug for file in Folder(faqs).files] == ["pricing"]


def test_names_are_composed_as_slugs_in_templates_are(tmp_path: Path) -> None:
    faqs = folder(tmp_path, **{"pru\u0308fung.MD".replace(".", "__"): PRICING})
    assert FAQEmbed(directory=faqs).get_faq("prüfung").title == "Pricing"


def test_a_slug_may_have_dots(tmp_path: Path) -> None:
    stated = PRICING.replace("title:", "slug: terms.zh-TW\ntitle:")
    faqs = folder(tmp_path, v1__2__md=PRICING, terms__it__md=PRICING, a__md=stated)
    assert [file.slug for file in Folder(faqs).files] == ["terms.it", "terms.zh-TW", "v1.2"]
    assert not Folder(faqs).problems


@pytest.mark.parametrize(
    ("ending", "lang"), [("zh-TW", "zh"), ("zh-Hant-TW", "zh"), ("de_CH", "de"), ("es-419", "es")]
)
def test_a_longer_tag_in_a_name_is_shortened(tmp_path: Path, ending: str, lang: str) -> None:
    question = "## Why?\nSo.\n"
    stated = f"---\nlang: {ending.replace('_', '-')}\n---\n{question}"
    faqs = folder(tmp_path, **{f"terms__{ending}__md": question, f"prices__{ending}__md": stated})
    assert [(file.slug, file.lang, file.problems) for file in Folder(faqs).files] == [
        ("prices", lang, ()),
        ("terms", lang, ()),
    ]


@pytest.mark.parametrize(
    ("files", "place"),
    [
        ({"pricing__md": PRICING, "pricing__yaml": YAML}, "pricing.md: "),
        ({"pricing__md": PRICING, "other__md": f"---\nslug: pricing\n{PRICING[4:]}"}, "other.md: "),
        ({"pricing__md": PRICING, "pricing__en__md": PRICING}, "pricing.md: "),
        ({"pricing__md": PRICING, "pricing__it__md": PRICING}, "pricing.it.md: "),
        ({"pricing__md": PRICING, "pricing__pt-BR__md": PRICING}, "pricing.pt-BR.md: "),
        ({"pricing__de__md": PRICING}, "pricing.de.md: "),
        ({"a__md": "---\nslug: ..\n---\n## Why?\n\nSo.\n"}, "a.md: "),
        ({"a\x1b__md": PRICING}, "a\x1b.md: "),
        ({"a__md": "---\ntitle: A\nlang: [\n---\n## Why?\n\nSo.\n"}, "a.md:3: "),
        ({"a__md": "---\nlang: de\n\n## Why?\n\nSo.\n"}, "a.md:1: "),
        ({"a__md": "---\nlang: nonsense!\n---\n## Why?\n\nSo.\n"}, "a.md: "),
        ({"a__md": "---\nanswerFormat: html\n---\n## Why?\n\nSo.\n"}, "a.md: "),
        ({"a__md": "Just words.\n"}, "a.md:1: "),
        ({"a__md": ""}, "a.md:1: "),
        ({"a__md": "# A\n\n## Why?\n\n## How?\n\nSo.\n"}, "a.md:3: "),
        ({"a__md": b"## Why?\n\nSo \xff.\n"}, "a.md:3: "),
        ({"a__md": b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"}, "a.md:1: "),
        ({"a__md": b"## Why?\n\nSo \0.\n"}, "a.md:1: "),
        ({"a__md": f"## Why?\n\n{'So. ' * 300_000}\n"}, "a.md: "),
        ({"a__yaml": "items:\n  - question: Why?\n    answer: ''\n"}, "a.yaml:2: "),
        ({"a__yaml": "items:\n  - question: [Why?\n"}, "a.yaml:2: "),
        ({"a__json": '{"items": [\n{"question": "Why?"]}'}, "a.json:2: "),
        ({"a__csv": "question,answer\nWhy?,So.\nHow?,\n"}, "a.csv:3: "),
        ({"a__csv": "question,answer\nWhy?,So,no.\n"}, "a.csv:2: "),
        ({"a__csv": "question,answer\nWhy?,So,,no\n"}, "a.csv:2: "),
        ({"a__json": '{"slug": 5, "items": [{"q": "Why?", "a": "So."}]}'}, "a.json: "),
        ({"a__json": '{"lang": ["de"], "items": [{"q": "Why?", "a": "So."}]}'}, "a.json: "),
        ({"a__csv": "one,two\nWhy?,So.\n"}, "a.csv: "),
    ],
)  # fmt: skip
def test_a_mistake_names_the_file_and_the_line(
    tmp_path: Path, files: dict[str, str | bytes], place: str
) -> None:
    assert refusal(folder(tmp_path, **files)).startswith(place)


def test_all_mistakes_are_named_at_once(tmp_path: Path) -> None:
    message = refusal(folder(tmp_path, a__md="words", b__md="words", c__md=PRICING))
    assert [line.partition(":")[0] for line in message.splitlines()] == ["a.md", "b.md"]


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    faqs = folder(tmp_path, a__md=b"## Why?\n\n" + b"- *So*\n" * 1_500_000)
    assert refusal(faqs).startswith("a.md: larger than the limit")


def test_a_file_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    faqs = folder(tmp_path, a__md=PRICING)
    (faqs / "a.md").chmod(0)
    if os.access(faqs / "a.md", os.R_OK):
        pytest.skip("root reads everything")
    assert refusal(faqs).startswith("a.md: ")


def test_a_link_out_of_the_folder_is_not_followed(tmp_path: Path) -> None:
    faqs = folder(tmp_path, a__md=PRICING)
    (tmp_path / "secret.md").write_text(PRICING)
    (faqs / "b.md").symlink_to("../secret.md")
    assert refusal(faqs).startswith("b.md: ")


@pytest.mark.parametrize("target", ["nowhere.md", "b.md", "/dev/null"])
def test_a_link_to_no_file_is_named(tmp_path: Path, target: str) -> None:
    faqs = folder(tmp_path, a__md=PRICING)
    (faqs / "b.md").symlink_to(target)
    assert refusal(faqs).startswith("b.md: ")


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    faqs = folder(tmp_path, a__md=PRICING)
    os.mkfifo(faqs / "b.md")
    assert refusal(faqs).startswith("b.md: ")


def test_links_within_the_folder_are_files_as_kubernetes_mounts_them(tmp_path: Path) -> None:
    faqs = folder(tmp_path)
    (faqs / "..2026").mkdir()
    (faqs / "..2026" / "pricing.md").write_text(PRICING)
    (faqs / "..data").symlink_to("..2026")
    (faqs / "pricing.md").symlink_to("..data/pricing.md")
    assert FAQEmbed(directory=faqs).get_faq("pricing").title == "Pricing"


@pytest.mark.parametrize("directory", ["nowhere", "faqs/pricing.md"])
def test_a_directory_that_is_not_a_folder_is_refused(tmp_path: Path, directory: str) -> None:
    folder(tmp_path, pricing__md=PRICING)
    assert directory in refusal(tmp_path / directory)


@pytest.mark.system
def test_the_work_on_a_folder_grows_with_its_files(tmp_path: Path) -> None:
    def make(count: int) -> Path:
        faqs = tmp_path / str(count)
        if not faqs.exists():
            faqs.mkdir()
            for number in range(count):
                (faqs / f"faq-{number}.md").write_text(PRICING)
        return faqs

    assert grows_linearly(lambda faqs: FAQEmbed(directory=faqs), make, 50)
