"""`faqsvc check`: what is wrong with a folder, line by line, with an exit status for CI."""

import json
from pathlib import Path

import pytest
from click.testing import Result

from tests.cli.support import faqsvc
from tests.folder.support import PREISE, PRICING, folder


def check(faqs: Path, *arguments: str) -> Result:
    return faqsvc("check", str(faqs), *arguments)


def places(result: Result, faqs: Path) -> list[str]:
    """Return the places of the problems that a failed check prints, without the summary below them."""
    assert (result.exit_code, result.stderr) == (1, "")
    lines = [line for line in result.stdout.splitlines()[:-1] if not line.endswith("(note)")]
    return [line.removeprefix(f"{faqs}/").partition(": ")[0] for line in lines]


def test_a_good_folder_passes(tmp_path: Path) -> None:
    result = check(folder(tmp_path, pricing__md=PRICING, pricing__de__md=PREISE))
    assert (result.exit_code, len(result.stdout.splitlines()), result.stderr) == (0, 1, "")


def test_every_problem_is_a_line_with_its_place(tmp_path: Path) -> None:
    faqs = folder(
        tmp_path,
        a__md="## Why?\n\n## How?\n\nSo.\n\n## Who?\n",
        b__csv="question,answer\nWhy?,\n",
        c__yaml="items: [",
        pricing__md=PRICING,
        pricing__json='{"items": [{"q": "What?", "a": "That."}]}',
    )
    assert places(check(faqs), faqs) == ["a.md:1", "a.md:7", "b.csv:2", "c.yaml:1", "pricing.json"]


def test_one_file_is_checked_alone_whatever_its_name(tmp_path: Path) -> None:
    faqs = folder(tmp_path, pricing__md=PRICING, pricing__de__md=PREISE, a__md="## Why?\n", old__html="<p>x")
    (faqs / "README.md").write_text("# FAQ\n\n## Why?\n\n[So]().\n")
    result = check(faqs / "pricing.md")
    assert (result.exit_code, len(result.stdout.splitlines()), result.stderr) == (0, 1, "")
    assert places(check(faqs / "a.md"), faqs) == ["a.md:1"]
    assert places(check(faqs / "README.md"), faqs) == ["README.md:5"]
    assert check(faqs / "old.html").exit_code == 1


@pytest.mark.parametrize("german", ["## Was?\n\nDas.\n", PREISE + "\n## Warum?\n\nDarum.\n"])
def test_a_translation_has_as_many_questions_as_its_faq_unless_it_is_a_draft(
    tmp_path: Path, german: str
) -> None:
    faqs = folder(tmp_path, pricing__md=PRICING, pricing__de__md=german)
    assert places(check(faqs), faqs) == ["pricing.de.md"]
    result = check(folder(tmp_path, pricing__de__md=f"---\ndraft: true\n---\n{german}"))
    assert (
        result.exit_code,
        result.stdout.count("(note)"),
        "is a draft" in result.stdout,
    ) == (0, 1, True)


def test_a_missing_translation_is_a_note(tmp_path: Path) -> None:
    faqs = folder(tmp_path, pricing__md=PRICING, pricing__de__md=PREISE, terms__md=PRICING)
    result = check(faqs)
    assert result.exit_code == 0
    assert result.stdout.startswith(f"{faqs}/terms.md: ")


def test_an_unknown_language_and_what_a_folder_ignores_are_notes(tmp_path: Path) -> None:
    ignored = {"old__html": "<h2>Why?</h2><p>So.</p>", "old__xlsx": "x", "a__png": "x", "_b__txt": "x"}
    faqs = folder(tmp_path, pricing__md="## Why?\n\nSo.\n", readme__txt="x", **ignored)
    for name in ("de/pricing.md", "images/a.png"):
        (faqs / name).parent.mkdir()
        (faqs / name).write_text(PREISE)
    *notes, _ = check(faqs).stdout.splitlines()
    names = ("pricing.md", "de", "old.html", "old.xlsx")
    assert [note.partition(": ")[0] for note in notes] == [f"{faqs}/{name}" for name in names]
    assert "faqsvc extract" in notes[2]


def test_several_files_are_checked_as_git_hooks_name_them(tmp_path: Path) -> None:
    faqs = folder(tmp_path, pricing__md=PRICING, pricing__de__md=PREISE, a__md="## Why?\n", b__csv="x\n")
    result = check(faqs / "pricing.md", str(faqs / "pricing.de.md"))
    assert (result.exit_code, result.stdout) == (0, "1 FAQ in 2 files: no problems\n")
    assert places(check(faqs / "b.csv", str(faqs / "a.md")), faqs) == ["b.csv", "a.md:1"]
    found = json.loads(check(faqs / "b.csv", str(faqs / "a.md"), "--json").stdout)
    assert len(found["problems"]) == 2


@pytest.mark.parametrize(
    ("name", "content", "line", "named"),
    [
        ("terms.md", "---\nlang: en\n---\n## Terms\nHello.\n### Why?\n\nSo.\n### Who?\nWe.\n", 5, "Hello."),
        ("terms.md", "---\nlang: en\n---\n## Why?\n\nSo.\n\nUse {{ name }}.\n", 8, "{{ name }}"),
        ("terms.md", "---\nlang: en\n---\n## Why {{ name }}?\n\nSo.\n\n## How?\nYes.\n", 4, "{{ name }}"),
        ("terms.yaml", "lang: en\nitems:\n- q: Why?\n  a: So.\n  section: '{{ x }}'\n", 3, "{{ x }}"),
        ("terms.md", "---\nlang: en\n---\n## Why?\n\nSo.\n\n## Why?\nYes.\n", 9, "asks the same"),
        ("terms.csv", "question,answer,colour\nWhy?,So.,red\n", None, "colour"),
        ("terms.csv", 'q,a\nWhy?,So.\nHow?,"=HYPERLINK(""/x"")"\n', 3, "HYPERLINK"),
        ("terms.csv", "q,a\nWhy?,So.\nHow?,NULL\n", 3, "NULL"),
        ("terms.csv", "q,a\nWhy?,So._x000D_\n", 2, "x000D"),
        ("terms.csv", "q,a\nWhy?,So.\\nAnd so.\nHow?,Use \\n to break a line.\n", 2, "\\n"),
        ("terms.csv", "q,a\nWhy?,Itâ€™s so.\n", 2, "encoding"),
        (
            "terms.md",
            "---\nlang: en\n---\n## Why?\n\n![](/why.png)\n\n## How?\n\nSo.\n",
            6,
            "alternative text",
        ),
    ],
    ids=[
        "text of a section",
        "a template",
        "in a question",
        "in a section",
        "a repeated question",
        "a column",
        "a formula",
        "no value",
        "a carriage return",
        "a line break",
        "a wrong encoding",
        "an image alone",
    ],
)
def test_what_is_left_out_or_shown_as_typed_is_a_note_with_its_place(
    tmp_path: Path, name: str, content: str, line: int | None, named: str
) -> None:
    faqs = folder(tmp_path, **{name.replace(".", "__"): content})
    result = check(faqs)
    notes = [one for one in result.stdout.splitlines() if named in one]
    place = f"{faqs}/{name}" + (f":{line}: " if line else ": ")
    assert (result.exit_code, [one.startswith(place) for one in notes]) == (0, [True])


def test_links_and_images_that_no_page_would_show_are_problems_with_their_lines(tmp_path: Path) -> None:
    text = (
        "## Where?\n\nHere.\n\n\n## How?\n\nSee\n[this](help.html) or [that](/help).\n\n"
        "**Why?**\n![x](https://x.example/y.png)\n"
    )
    exact = f"---\nanswerFormat: markdown\n---\n{text}"
    faqs = folder(tmp_path, a__md=text, b__md=exact, c__md="- **Why?** [So](so)\n- **How?** So.\n")
    assert places(check(faqs), faqs) == ["a.md:9", "a.md:12", "b.md:12", "b.md:15", "c.md:1"]


def test_a_program_reads_json(tmp_path: Path) -> None:
    faqs = folder(tmp_path, a__md="## Why?\n", b__md=PRICING, pricing__md=PRICING, pricing__de__md=PREISE)
    result = check(faqs, "--json")
    assert result.exit_code == 1
    report = json.loads(result.stdout)
    assert [(one["file"], one["line"]) for one in report["problems"]] == [(f"{faqs}/a.md", 1)]
    assert [one["file"] for one in report["notes"]] == [f"{faqs}/b.md"]
    assert json.loads(check(folder(tmp_path, a__md=PRICING), "--json").stdout)["problems"] == []


def test_an_empty_folder_has_no_problems_and_is_named(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert (result.exit_code, f"{tmp_path}: " in result.stdout) == (0, True)


def test_a_file_is_checked_once_although_its_folder_is_named_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    faqs = folder(tmp_path, a__md="## Why?\n")
    assert check(faqs, str(faqs / "a.md"), f"{faqs}/").stdout == check(faqs).stdout
    monkeypatch.chdir(faqs)
    assert check(Path(), "a.md").stdout == check(Path()).stdout.replace(f"{faqs}/", "")
    assert check(Path()).exit_code == 1
    Path("README.md").write_text("## Whose?\n")
    assert "README.md:1" in check(Path(), "README.md").stdout


def test_control_characters_of_names_do_not_reach_the_terminal(tmp_path: Path) -> None:
    result = check(folder(tmp_path, **{"a\x1b[2J__md": PRICING}))
    assert (result.exit_code, "\x1b" in result.stdout) == (1, False)


@pytest.mark.parametrize(("questions", "marks"), [(2, 4_000), (100, 300)])
def test_answers_with_too_much_formatting_are_named(tmp_path: Path, questions: int, marks: int) -> None:
    """They are shown as text, because the parser would take too long."""
    text = "".join(f"## Question {n}?\n\nAnswer {n}. {'*a* ' * (marks // 2)}\n\n" for n in range(questions))
    faqs = folder(tmp_path, faq__md=text)
    assert places(check(faqs), faqs)[0] == "faq.md:3"
