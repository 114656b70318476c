"""Writes what assistants read, from the pages of the documentation: `python docs/agents.py`.

`llms.txt` lists all pages with their first sentence. The skill in the package has the examples and tables
that a coding assistant needs most.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Final

DOCS: Final = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_ext"))

from parts import PARTS  # noqa: E402  # beside the extension of Sphinx

LLMS: Final = DOCS / "llms.txt"
SKILL: Final = DOCS.parent / "faqsvc_embed" / ".agents" / "skills" / "faqsvc-embed" / "SKILL.md"
SECTIONS: Final = {
    "": "Overview",
    "how-to": "How-to pages",
    "reference": "Reference",
    "explanation": "Explanation",
}
HEADING: Final = r"(?m)^(#+) (.+)$"

SUMMARY: Final = """\
FAQs, from files or from a service, on the pages of Flask, Django, Starlette, FastAPI and Jinja applications, rendered on the server, with FAQPage JSON-LD.\
"""
SKILL_BEGINNING: Final = """\
---
name: faqsvc-embed
description: Show FAQs, from files or from an FAQ service, on pages of Flask, Django, Starlette, FastAPI and Jinja applications with the Python
  package faqsvc-embed. Use it to add an FAQ to a page, to theme, translate, cache or test it, or to publish FAQs.
---

# faqsvc-embed

One line in a template shows an FAQ: `{{ faq("pricing") }}`. `pricing` is the slug of an FAQ: of the file
`faqs/pricing.md` with `directory="faqs"`, or of the service at `base_url`.

Rules:

- Do not write FAQPage markup by hand. `faq()` prints it, once for a page.
- Do not catch exceptions around `faq()`. A page never fails because of an FAQ; `strict=True` raises in tests.
- Do not mark the result of `faq()` or `render()` as safe. It is `Markup` already.
- In an event loop, await the methods that begin with `a`, such as `arender`. Templates may call `faq()` if `FAQMiddleware` is there.
- Make one embed for an application, and give the same one to `install()` and to `FAQMiddleware`.
- Reading needs no API key. Writing reads it from `FAQSVC_API_KEY`; do not put it into code, arguments or logs.
- In tests, use `fake_embed()` instead of a network.
"""
SKILL_PARTS: Final = (
    ("how-to/folder.md", "A folder of FAQs", "A folder of FAQs"),
    ("how-to/folder.md", "Names", "Names of files"),
    ("how-to/flask.md", "One application", "Flask"),
    ("how-to/django.md", "One line in a template", "Django"),
    ("how-to/starlette.md", "Starlette and FastAPI", "Starlette"),
    ("how-to/starlette.md", "FastAPI", "FastAPI"),
    ("how-to/jinja.md", "Jinja and static sites", "Any Jinja environment"),
    ("reference/templates.md", "In your templates", "In templates"),
    ("reference/settings.md", "Settings", "Settings"),
    ("how-to/languages.md", "Languages", "Languages"),
    ("how-to/content-security-policy.md", "Content-Security-Policy", "Content-Security-Policy"),
    ("how-to/testing.md", "Without a network", "Tests"),
    ("how-to/publish-files.md", "A Markdown file", "Publishing"),
)
"""Pages, the headings whose text the skill has, and the headings there."""


def pages() -> Iterator[Path]:
    """Yield the pages, section by section."""
    for section in SECTIONS:
        for path in sorted((DOCS / section).glob("*.md")):
            if path.name not in ("index.md", "changelog.md"):
                yield path


def title_of(page: str) -> str:
    """Return the first heading of a page."""
    found = re.search(HEADING, page)
    return found[2].replace("`", "") if found else ""


def summary_of(page: str) -> str:
    """Return the first sentence of the first paragraph of a page, empty if it begins with something else."""
    text = re.split(HEADING, page, maxsplit=1)[-1]
    for paragraph in re.split(r"\n{2,}", text.strip()):
        if re.match(r"[A-Z`]", paragraph) and not paragraph.startswith("```"):
            sentence = re.match(r"(.+?[.:])(?:\s|$)", " ".join(paragraph.split()))
            plain = re.sub(r"\[\]\([^)]*\)|\[([^]]+)\]\([^)]*\)", r"\1", sentence[1] if sentence else "")
            return plain.rstrip(":.") + "." if plain else ""
    return ""


def llms() -> str:
    """Return the content of llms.txt."""
    lines = ["# faqsvc-embed", "", f"> {SUMMARY}", ""]
    section = None
    for path in pages():
        directory = path.parent.relative_to(DOCS).as_posix().strip(".")
        if directory != section:
            section = directory
            lines += ["", f"## {SECTIONS[directory]}", ""]
        text = path.read_text(encoding="utf-8")
        address = f"_sources/{path.relative_to(DOCS).as_posix()}.txt"
        lines.append(f"- [{title_of(text)}]({address}): {summary_of(text)}".rstrip(": "))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)) + "\n"


def part_of(page: str, heading: str) -> str:
    """Return the text below a heading, up to the next one."""
    parts = re.split(HEADING, without_code_headings(page))
    for at in range(2, len(parts), 3):
        if parts[at] == heading:
            return parts[at + 1].replace("\0", "#").strip()
    raise LookupError(f"there is no heading {heading!r}")


def without_code_headings(page: str) -> str:
    """Hide the number signs at the beginning of lines in code blocks, which are no headings."""
    return re.sub(r"(?ms)^```.*?^```$", lambda block: re.sub(r"(?m)^#", "\0", block[0]), page)


def skill() -> str:
    """Return the content of the skill."""
    parts = [SKILL_BEGINNING.rstrip()]
    for name, heading, title in SKILL_PARTS:
        text = part_of((DOCS / name).read_text(encoding="utf-8"), heading)
        text = re.sub(r"(?m)^!\[.*\n+", "", text)
        text = re.sub(r"```\{generated\} (\w+)\n```", lambda part: "\n".join(PARTS[part[1]]()), text)
        text = re.sub(r"(?<!!)\[([^]]+)\]\([^):]*\.md[^)]*\)", r"\1", text)
        text = re.sub(r"\{\w+\}`~?(?:\w+\.)*(\w+)(?: <[^>]*>)?`", r"`\1`", text)
        parts += [f"## {title}", "\n\n".join(filter(None, map(without_references, text.split("\n\n"))))]
    return "\n\n".join(parts) + "\n"


def without_references(paragraph: str) -> str:
    """Return a paragraph without the sentences that refer to another page."""
    if "[](" not in paragraph:
        return paragraph
    return " ".join(s for s in re.split(r"(?<=\.)\s+", paragraph) if "[](" not in s)


def main() -> None:
    """Write both."""
    LLMS.write_text(llms(), encoding="utf-8")
    SKILL.parent.mkdir(parents=True, exist_ok=True)
    SKILL.write_text(skill(), encoding="utf-8")


if __name__ == "__main__":
    main()
