"""The language of a file in a folder: stated, or else that of its texts if it is certain."""

import json
import re
from pathlib import Path

import pytest

from faqsvc_embed import FAQEmbed
from faqsvc_embed.files import Folder

GERMAN = (
    "## Was kostet der Tee?\nNichts.\n## Kann ich ihn zurückgeben?\nJa, und zwar immer.\n"
    "## Wann kommt er?\nMorgen.\n"
)
KOREAN = "## 배송은 며칠 걸리나요?\n이틀입니다.\n"


@pytest.mark.parametrize(("text", "lang"), [(GERMAN, "de"), (KOREAN, "ko"), ("## Tee?\nTee.\n", "en")])
def test_a_file_without_a_language_has_that_of_its_texts(tmp_path: Path, text: str, lang: str) -> None:
    (tmp_path / "tea.md").write_text(text, encoding="utf-8")
    with FAQEmbed(directory=tmp_path, lang="en") as embed:
        page = str(embed.render("tea"))
    found = re.search(r'<script type="application/ld\+json">(.*?)</script>', page)
    assert found is not None
    page_language = json.loads(found[1])["mainEntity"][0]["inLanguage"]
    assert page_language == lang
    assert f'lang="{lang}"' in page


def test_a_stated_language_is_the_language(tmp_path: Path) -> None:
    (tmp_path / "tea.md").write_text(f"---\nlang: fr\n---\n{GERMAN}", encoding="utf-8")
    (tmp_path / "pot.es.md").write_text(GERMAN, encoding="utf-8")
    assert [file.faq.lang for file in Folder(tmp_path).files if file.faq] == ["es", "fr"]


def test_a_language_that_is_none_of_the_seven_is_not_taken_for_one_of_them(tmp_path: Path) -> None:
    text = (
        "## Hva koster det?\nIngenting på denne siden.\n\n## Kan jeg si opp?\nJa, når som helst, i alle år.\n"
    )
    (tmp_path / "faq.md").write_text(
        text + "\n## Hvor er dere?\nVi er i Bergen, men også i Oslo og Tromsø.\n"
    )
    assert [file.faq and file.faq.lang for file in Folder(tmp_path).files] == [None]
