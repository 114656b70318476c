"""Questions in Markdown, however people mark them."""

from pathlib import Path

import pytest

from faqsvc_embed.files import Document
from faqsvc_embed.files.markdown_reader import read_markdown
from tests.files.support import MARKDOWN, PAIRS, items_of, read


@pytest.mark.parametrize(
    "content",
    [
        """# Prices

Some words.

## What does it cost?

Nothing.

## May I cancel? ##
Any time.
""",
        """# Prices
## General
### What does it cost?
Nothing.
## More
### May I cancel?
Any time.
""",
        """# Prices

**Q:** What does it cost?
**A:** Nothing.

Q: May I cancel?

A: Any time.
""",
        """# Prices
- **Q1. What does it cost?**
- **A1.** Nothing.

**Question 2:** May I cancel?
**Answer:** Any time.
""",
        """# Prices

**What does it cost?**

Nothing.

**May I cancel?**
Any time.
""",
        "# Prices\r\n\r\n## What does it cost?\r\nNothing.\r\n## May I cancel?\r\nAny time.\r\n",
        """# Prices
## Have questions?

**Q:** What does it cost?
**A:** Nothing.

**Q:** May I cancel?
**A:** Any time.
""",
        """# Prices
## Have questions?
### What does it cost?
Nothing.
### May I cancel?
Any time.
""",
        """# Prices
## What does it cost?
Nothing.
## More
### May I cancel?
Any time.
""",
        """# Prices
## 1. What does it cost?
Nothing.
## 2. May I cancel?
Any time.
""",
        """# Prices
## Q1: What does it cost?
A: Nothing.
## Q2: May I cancel?
**A:** Any time.
""",
        """# Prices
## Money
**What does it cost?**

Nothing.
## Contract
**May I cancel?**

Any time.
""",
        """# Prices

| No. | Question | Answer |
| --- | -------- | ------ |
| 1 | What does it cost? | Nothing. |
| 2 | **May I cancel?** | Any time. |
""",
        """# Prices
1. **What does it cost?**
   Nothing.
2. **May I cancel?**
   Any time.
""",
        """# Prices
- **What does it cost?** Nothing.
- **May I cancel?** Any time.
""",
        """# Prices

1. What does it cost?

   Nothing.

2. May I cancel?

   Any time.
""",
        """Prices
======

What does it cost?
------------------
Nothing.

May I cancel?
-------------
Any time.
""",
        """# Prices
<!-- internal:
## do not publish? -->
## What does it cost? {#cost}
Nothing.
<!-- check -->
---
<a id="cancel"></a>
## [May I cancel?](#cancel) <a name="x"></a>
Any time. <!-- or not -->

[Back to top](#prices)
""",
        """# Prices
<details>
<summary><b>What does it cost?</b></summary>

Nothing.
</details>
<details><summary>May I cancel?</summary>Any time.</details>
""",
    ],
    ids=[
        "headings", "sections", "labels", "bold labels", "bold lines", "windows",
        "labels below a heading that asks", "headings below one that asks", "headings of two levels",
        "numbers", "labels in headings", "bold in sections", "a table", "bold in a list",
        "bold before the answer", "a list", "underlined", "comments, ids, anchors, rules", "details",
    ],
)  # fmt: skip
def test_questions_are_found_however_they_are_marked(tmp_path: Path, content: str) -> None:
    assert read(tmp_path, "faq.md", content) == Document(
        title="Prices", answer_format="markdown", items=PAIRS
    )


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Q: What does it cost?", "A: Nothing."),
        ("**Question :** What does it cost?\n", "**Réponse :** Nothing."),
        ("**Question\u00a0: What does it cost?**", "R: Nothing."),
        ("F: What does it cost?", "A: Nothing."),
        ("Frage 1: What does it cost?", "Antwort: Nothing."),
        ("P: What does it cost?", "R: Nothing."),
        ("Pregunta: What does it cost?", "Respuesta: Nothing."),
        ("질문: What does it cost?", "답변: Nothing."),
        ("質問：What does it cost?", "回答：Nothing."),
        ("Q. What does it cost?", "A. Nothing."),
        ("问：What does it cost?", "答：Nothing."),
    ],
)
def test_labels_are_in_any_of_the_languages(question: str, answer: str) -> None:
    text = f"{question}\n{answer}\n\n{question.replace('What does it cost', 'May I cancel')}\n{answer}\n"
    assert items_of(text) == [("What does it cost?", "Nothing."), ("May I cancel?", "Nothing.")]


def test_a_label_without_an_answer_label_is_text() -> None:
    text = "**What does it cost?**\nNothing.\nP: in the yard.\n\n**May I cancel?**\nAny time.\n"
    assert items_of(text) == [
        ("What does it cost?", "Nothing.\nP: in the yard."),
        ("May I cancel?", "Any time."),
    ]


def test_each_item_knows_its_line() -> None:
    text = "---\ntitle: >\n  Prices\n---\n<!-- a\ncomment -->\n## One?\nYes.\n\nTwo\nlines?\n----\nNo.\n"
    assert read_markdown(text.replace("## One?", "One?\n----")).positions == ["line 7", "line 11"]


def test_a_file_can_have_nothing_but_questions_at_level_1(tmp_path: Path) -> None:
    content = "# What does it cost?\nNothing.\n\n# May I cancel?\nAny time.\n"
    assert read(tmp_path, "faq.md", content) == MARKDOWN


def test_a_heading_without_a_question_mark_is_a_question_beside_others() -> None:
    text = "## What does it cost?\nNothing.\n## Shipping\nBy bike.\n### By post\nNo.\n"
    assert items_of(text) == [("What does it cost?", "Nothing."), ("Shipping", "By bike.\n### By post\nNo.")]


def test_a_row_of_hyphens_below_an_answer_makes_no_heading_of_it() -> None:
    text = "## What does it cost?\n\nNothing.\n---\n\n## May I cancel?\n\nAny time.\n---\n"
    assert read_markdown(text) == MARKDOWN


def test_a_label_below_a_question_heading_is_part_of_the_answer() -> None:
    letter = "It reads:\n\nQ: What is my number?\nA: 7."
    text = f"## What is on the letter?\n{letter}\n\n## Which vitamins?\nTwo:\n\nA. one\nB. two\n"
    assert items_of(text) == [
        ("What is on the letter?", letter),
        ("Which vitamins?", "Two:\n\nA. one\nB. two"),
    ]
