"""Every word of a file that is read stands in its document, or at a line that a note names."""

import json
import re
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from flask import Flask, render_template_string
from hypothesis import given, settings
from hypothesis import strategies as st

from faqsvc_embed import FAQ
from faqsvc_embed.errors import PublishRejected
from faqsvc_embed.files import WRITERS, Document, Folder
from faqsvc_embed.files.formats import READERS
from faqsvc_embed.files.markdown_reader import read_markdown
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.rendering import answers
from tests.support.growth import grows_linearly

Form = Callable[[str, str], str]
"""Writes a question and an answer."""

FORMS: dict[str, Form] = {
    "headings": lambda question, answer: f"### {question}\n{answer}\n",
    "bold": lambda question, answer: f"**{question}**\n\n{answer}\n",
    "labels": lambda question, answer: f"**Q:** {question}\n**A:** {answer}\n",
    "details": lambda question, answer: f"<details>\n<summary>{question}</summary>\n\n{answer}\n</details>\n",
    "boxes": lambda question, answer: f'??? question "{question}"\n    {answer}\n',
    "containers": lambda question, answer: f"::: details {question}\n{answer}\n:::\n",
    "terms": lambda question, answer: f"{question}\n:   {answer}\n",
    "html": lambda question, answer: f"<h3>{question}</h3>\n\n{answer}\n",
    "quotations": lambda question, answer: f"> **{question}**\n>\n> {answer}\n",
    "shortcodes": lambda question, answer: f'{{{{< faq "{question}" >}}}}\n{answer}\n{{{{</ faq >}}}}\n',
    "components": lambda question, answer: f'<Accordion title="{question}">\n\n{answer}\n\n</Accordion>\n',
}
_NOTED = re.compile(r"(?m)^line (\d+): the text(?: to line (\d+))?")
_sections = st.lists(st.tuples(st.booleans(), st.integers(1, 3)), min_size=1, max_size=3)


@pytest.mark.parametrize("form", FORMS)
@given(sections=_sections, has_introduction=st.booleans(), has_end=st.booleans())
@settings(max_examples=20)
def test_each_word_is_in_the_document_or_named(
    form: str, sections: list[tuple[bool, int]], has_introduction: bool, has_end: bool
) -> None:
    numbers = count()
    parts = ["# FAQ\n"]
    parts += [f"Word{next(numbers)} above.\n"] if has_introduction else []
    for has_sentence, questions in sections:
        parts.append(f"## Section word{next(numbers)}\n")
        parts += [f"A sentence, word{next(numbers)}.\n"] if has_sentence else []
        for _ in range(questions):
            question = f"Is it word{next(numbers)}?"
            parts.append(FORMS[form](question, f"It is word{next(numbers)}."))
    parts += [f"## Contact\n\nWrite to word{next(numbers)}.\n"] if has_end else []
    text = "\n".join(parts)
    document = read_markdown(text)
    shown = " ".join([document.introduction or "", *(" ".join(item.values()) for item in document.items)])
    noted = [(int(found[0]), int(found[1] or 0)) for found in _NOTED.findall("\n".join(document.notes))]
    lines = enumerate(text.split("\n"), 1)
    unnoted = "\n".join(line for n, line in lines if not any(a <= n <= (b or a) for a, b in noted))
    expected = sum(questions for _, questions in sections)
    assert expected <= len(document.items) <= expected + has_end
    assert all(item.get("section") for item in document.items[:expected])
    lost = [word for word in re.findall(r"(?i)\bword\d+", unnoted) if word.lower() not in shown.lower()]
    assert lost == []


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("ending", WRITERS)
def test_what_was_read_is_written_as_a_file_that_reads_the_same(form: str, ending: str) -> None:
    text = "# FAQ\n\nAbout *tea*.\n\n## Buying\n" + "\n".join(
        FORMS[form](f"Is it {name}?", f"**Yes**, [{name}](https://tea.example).")
        for name in ("green", "black")
    )
    faq = read_markdown(text).to_faq("tea")
    assert len(faq.items) == 2
    assert READERS[ending](WRITERS[ending](Document.from_faq(faq))).to_faq("tea") == faq


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("## Why?\nSo.\n\n#### And why not?\nSo.\n\n## Who?\nWe.\n", 4, "level 4"),
        ("## Why [here](https://a.example)?\nSo.\n", 1, "link"),
        ("---\ntitle: Prices\n---\n# Costs\n\n## Why?\nSo.\n", 4, "Prices"),
        ("## Why?\nSee [it]({{ '/a' | url }}/b).\n", 2, "'/a'"),
        ('## Why?\nSo.\n{% embed url="a" %}\n', 3, "embed"),
        ("## Why?\nSo.\n\n## Tea\n\n## Who?\nWe.\n", 4, "answer"),
    ],
    ids=[
        *("a heading that asks within an answer", "a link in a question", "another title"),
        *("a template in an address", "a line for a generator", "a question without an answer"),
    ],
)
def test_what_a_reader_of_the_file_would_miss_is_named_with_its_line(text: str, line: int, said: str) -> None:
    assert [note for note in read_markdown(text).notes if note.startswith(f"line {line}: ") and said in note]


@pytest.mark.parametrize(
    ("ending", "text", "place"),
    [
        (
            ".json",
            '[{"q": "Why?", "a": "So."}, {"q": "How?", "a": ""}, {"q": "Who?", "a": "We."}]',
            "items[1]",
        ),
        (".yml", "- q: Why?\n  a: So.\n- q: How?\n  a:\n- q: Who?\n  a: We.\n", "line 3"),
        (".csv", "question,answer\nWhy?,So.\nHow?,\nWho?,We.\n", "row 3"),
        (".csv", "question,answer\nWhy?,So.\n,Here.\nWho?,We.\n", "row 3"),
        (".md", "# FAQ\n\n## Why?\nSo.\n\n## How?\n\n## Who?\nWe.\n", "line 6"),
    ],
    ids=["JSON", "YAML", "CSV", "an answer without a question", "Markdown"],
)
def test_a_question_without_an_answer_is_left_out_of_any_file(ending: str, text: str, place: str) -> None:
    document = READERS[ending](text)
    assert [item.question for item in document.to_faq("a").items] == ["Why?", "Who?"]
    assert [note for note in document.all_notes() if note.startswith(f"{place}: ")]


def test_a_question_without_an_answer_is_a_problem_in_a_file_that_states_its_format() -> None:
    answers = {"Why?": "So.", "How?": "", "Who?": "We."}
    items = [{"question": question, "answer": answer} for question, answer in answers.items()]
    with pytest.raises(PublishRejected):
        READERS[".json"](json.dumps({"answerFormat": "text", "items": items})).to_faq("a")


def test_unknown_fields_are_named_with_what_is_similar() -> None:
    front = read_markdown("---\ntitel: Prices\nintroducton: x\nweight: 3\n---\n## Why?\nSo.\n")
    records = READERS[".json"]('[{"question": "Why?", "answer": "So.", "sectoin": "A"}]')
    notes = "; ".join((*front.all_notes(), *records.all_notes()))
    assert [
        name
        for name in ("(did you mean introduction?)", "weight;", "(did you mean section?)")
        if name not in notes
    ] == []


def leftover_lines(answer: str) -> list[int]:
    """Return the lines of an answer that have markup that readers would see as typed."""
    faq = FAQ.from_dict({"slug": "a", "items": [{"question": "Why?", "answer": answer}]})
    return [found.line for _, found in answers.leftovers(faq)]


def test_a_leftover_is_named_once_with_its_own_line() -> None:
    assert leftover_lines("So.\n\n[^1] and [^2]\n\n{{ a }}\n{{ a }}") == [3, 5, 6]
    assert leftover_lines("See `**` or ** so.\n** So.") == [1, 2]


@pytest.mark.parametrize(
    "typed",
    [
        *("So. ::: tip", "So. !!! note Read it.", "So. ## More", "== Hot", "@tab:active Hot"),
        *("H~2~O", "4 x^2^ is", "Ca^2+^.", "So $a^2 + b$ is", "Call it $n$."),
        *("Press ++ctrl+a++ now", "See [[Prices]].", "It is ==new== now", "Tea &amp; ice", "It isn\\'t"),
    ],
)
def test_boxes_headings_and_signs_of_a_dialect_within_a_line_are_leftovers(typed: str) -> None:
    assert leftover_lines(f"So.\n{typed}") == [2]


def test_a_table_without_a_header_is_a_leftover() -> None:
    assert leftover_lines("So:\n\n| Tea | hot |\n| Ice | cold |\n\nA | B, a|b|c") == [3, 4]


def test_the_code_of_an_icon_is_a_leftover() -> None:
    assert leftover_lines("So.\n:smile: Yes, at 10:30:15.\nstd::a::b a:b:c, :/root:x:") == [2]


@pytest.mark.parametrize(
    "typed",
    [
        "So !!! Thanks",
        "What??? Info",
        "Dial *#06## now",
        "std::string",
        "1 :: 2",
        "i++ or ++j",
        "a == b == c",
        "$5 and $10_a, ~5 min, 9~12, x^2+y^2, Hi ^_^ o^_^o",
        "$HOME/a_b and $PATH, 2^10, US$5, $5^$6, {$a} ~/x ~a~",
    ],
)
def test_what_people_write_is_no_leftover(typed: str) -> None:
    assert leftover_lines(typed) == []


@pytest.mark.parametrize("sign", ["\n## ", "\n::: a", "[^1]\n", "[^", "\n<h2>", "{{ x }}\n", "-++"])
def test_finding_leftovers_costs_no_more_than_the_length(sign: str) -> None:
    assert grows_linearly(leftover_lines, lambda count: sign * count, 500)


def test_a_leftover_in_an_introduction_is_named_with_its_line() -> None:
    document = read_markdown("# FAQ\n\nHello.\n\nSee {{ price }}, [x](/x).\n\n## Why?\nSo.\n")
    ((place, found),) = answers.leftovers(document.to_faq("a"))
    assert (document.place(place, found.line), str(found)) == (
        "line 5",
        "a template (`{{ price }}`) is shown as typed",
    )


def test_leftovers_are_named_in_introductions_and_on_debug_pages(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(
        "---\nlang: en\n---\n# FAQ\n\nSee {{ price }}.\n\n## Why?\nIt is {% x %}.\n\n"
        "## Where?\nSo:\n\\[Here]\\[https://a.example].\n"
    )
    (file,) = Folder(tmp_path).files
    assert file.faq is not None
    assert [(place, one.line) for place, one in answers.leftovers(file.faq)] == [(-1, 1), (0, 1), (1, 2)]
    app = Flask(__name__)
    FAQExtension(app, directory=str(tmp_path))
    app.debug = True
    with app.test_request_context("/"):
        assert "x %}" in render_template_string('{{ faq("a") }}').partition("<section")[0]
