"""Text extractors, as search engines, assistants and Reader Views use them, find every question and answer.

They read the same page twice: with the FAQ typed in, as headings and paragraphs, and with the markup of an
embed. JSON-LD is left out, so that only the visible words count.
"""

import json
import re
import shutil
import subprocess
from itertools import groupby, product
from pathlib import Path
from typing import get_args

import pytest
from markupsafe import Markup

from faqsvc_embed import FAQ
from faqsvc_embed.models import AnswerFormat
from faqsvc_embed.settings.validators import Look, Variant
from faqsvc_embed.testing import fake_embed

pytestmark = pytest.mark.system

HERE = Path(__file__).parent
EXTRACTORS = (
    "defuddle",
    "html2text",
    "inscriptis",
    "justext",
    "markdownify",
    "markitdown",
    "node-html-markdown",
    "readability",
    "readability-lxml",
    "resiliparse",
    "trafilatura",
    "turndown",
)
LAYOUTS: dict[str, tuple[Variant, Look]] = {
    **{variant: (variant, "lines") for variant in get_args(Variant)},
    **{look: ("details", look) for look in get_args(Look) if look != "lines"},
}
TYPED = "typed"

POSTERS = json.loads((HERE / "posters.json").read_text(encoding="utf-8"))
"""An introduction and four questions in each of four languages.

Their sentences are long, with many small words: jusText takes others for navigation, in a typed page too.
Without the introduction the Japanese page would have fewer than 500 characters: readability-lxml returns one
answer of such a page.
"""


def sentences(answer: str) -> list[str]:
    return [sentence for sentence in re.split(r"(?<=[.。])\s*", answer) if sentence]


def in_format(answer: str, answer_format: AnswerFormat) -> str:
    if answer_format == "text":
        return answer
    first = sentences(answer)[0]
    return f"**{first}**{answer.removeprefix(first)} [→](/prices)"


def faq(lang: str, answer_format: AnswerFormat, sections: tuple[str, ...]) -> FAQ:
    items = [
        {"position": index, "question": question, "answer": in_format(answer, answer_format)}
        | ({"section": sections[index // 2]} if sections else {})
        for index, (question, answer) in enumerate(POSTERS[lang]["questions"])
    ]
    record = {"slug": "pricing", "title": "Heron", "websiteName": "Heron", "lang": lang, "cta": None}
    return FAQ.from_dict({**record, "items": items, "answerFormat": answer_format})


def typed(faq: FAQ) -> Markup:
    """Return an FAQ as its owner would type it: a heading and the answer's own paragraphs."""
    parts = [Markup("<h2>{}</h2>").format(faq.title)]
    for section, items in groupby(faq.items, key=lambda item: item.section):
        parts += [Markup("<h3>{}</h3>").format(section)] if section else []
        level = 4 if section else 3
        parts += [Markup("<h{0}>{1}</h{0}>{2}").format(level, item.question, item.html) for item in items]
    return Markup("<section>{}</section>").format(Markup("").join(parts))


def page(lang: str, content: str) -> str:
    return f"""<!DOCTYPE html>
<html lang="{lang}"><head><meta charset="utf-8"><title>Heron</title></head>
<body><header><nav><a href="/">Heron</a> <a href="/cart">Cart</a></nav></header>
<main><h1>Heron</h1><p>{POSTERS[lang]["introduction"]}</p>{content}</main>
<footer><p>Heron GmbH</p></footer></body></html>"""


def letters(text: str) -> str:
    """Return letters and digits alone: every extractor has its own spaces, bullets and escapes."""
    return re.sub(r"[\W_]+", "", text)


def pages() -> dict[tuple[str, str], str]:
    """Return pages by their FAQ and their layout, with each layout in each language and of each kind."""
    found = dict[tuple[str, str], str]()
    kinds = tuple(product(get_args(AnswerFormat), ((), ("A", "B"))))
    for (of_lang, lang), (of_kind, (answer_format, sections)) in product(
        enumerate(POSTERS), enumerate(kinds)
    ):
        record, kind = faq(lang, answer_format, sections), f"{lang} {answer_format} {len(sections)}"
        found[kind, TYPED] = page(lang, typed(record))
        for of_layout, (layout, (variant, look)) in enumerate(LAYOUTS.items()):
            if (of_lang + of_layout) % len(kinds) == of_kind:
                with fake_embed({"pricing": record}, variant=variant, look=look) as embed:
                    found[kind, layout] = page(lang, embed.render("pricing", schema=False))
    return found


@pytest.fixture(scope="module")
def found(
    readers: Path, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, dict[tuple[str, str], set[str]]]:
    """The questions and sentences that each extractor finds, by page."""
    written = {" / ".join(key): html for key, html in pages().items()}
    shutil.copy(HERE / "extract.mjs", readers)  # Node.js looks for packages beside the script
    texts = dict[str, dict[str, str]]()
    for command in (["node", "extract.mjs"], ["python/bin/python", str(HERE / "extract.py")]):
        done = subprocess.run(
            command,
            cwd=readers,
            input=json.dumps(written),
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
        texts |= json.loads(done.stdout)
    return {
        extractor: {
            (kind, layout): _words(kind, text)
            for name, text in by_page.items()
            for kind, layout in [name.split(" / ")]
        }
        for extractor, by_page in texts.items()
    }


def _words(kind: str, text: str) -> set[str]:
    text = letters(text)
    wanted = [
        words for pair in POSTERS[kind.split()[0]]["questions"] for words in (pair[0], *sentences(pair[1]))
    ]
    return {words for words in wanted if letters(words) in text}


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_an_extractor_finds_what_it_finds_in_the_typed_page(
    extractor: str, found: dict[str, dict[tuple[str, str], set[str]]]
) -> None:
    missing = {
        f"{kind} {layout}": lost
        for (kind, layout), words in found[extractor].items()
        if (lost := found[extractor][kind, TYPED] - words)
    }
    assert missing == {}


@pytest.mark.parametrize("extractor", EXTRACTORS)
def test_the_typed_page_is_one_that_the_extractor_can_read(
    extractor: str, found: dict[str, dict[tuple[str, str], set[str]]]
) -> None:
    read = [len(words) for (kind, layout), words in found[extractor].items() if layout == TYPED]
    assert min(read) > 0
