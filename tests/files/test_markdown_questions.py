"""Questions in Markdown, however people mark them."""

import re
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest

from faqsvc_embed.files import Document
from faqsvc_embed.files.markdown_cost import MAX_QUOTATIONS
from faqsvc_embed.files.markdown_reader import read_markdown
from tests.files.support import MARKDOWN, PAIRS, items_of, read
from tests.support.growth import grows_linearly


@pytest.mark.parametrize(
    "content",
    [
        "# Prices\n\n## What does it cost?\n\nNothing.\n\n## May I cancel? ##\nAny time.\n",
        "# Prices\n## General\n### What does it cost?\nNothing.\n## More\n### May I cancel?\nAny time.\n",
        "# Prices\n\n**Q:** What does it cost?\n**A:** Nothing.\n\nQ: May I cancel?\n\nA: Any time.\n",
        "# Prices\n- **Q1. What does it cost?**\n- **A1.** Nothing.\n\n**Question 2:** May I cancel?\n"
        "**Answer:** Any time.\n",
        "# Prices\n\n**What does it cost?**\n\nNothing.\n\n**May I cancel?**\nAny time.\n",
        "# Prices\r\n\r\n## What does it cost?\r\nNothing.\r\n## May I cancel?\r\nAny time.\r\n",
        "# Prices\n## Have questions?\n\n**Q:** What does it cost?\n**A:** Nothing.\n\n**Q:** May I "
        "cancel?\n**A:** Any time.\n",
        "# Prices\n## Have questions?\n### What does it cost?\nNothing.\n### May I cancel?\nAny time.\n",
        "# Prices\n## What does it cost?\nNothing.\n## More\n### May I cancel?\nAny time.\n",
        "# Prices\n## 1. What does it cost?\nNothing.\n## 2. May I cancel?\nAny time.\n",
        "# Prices\n## Q1: What does it cost?\nA: Nothing.\n## Q2: May I cancel?\n**A:** Any time.\n",
        "# Prices\n## Money\n**What does it cost?**\n\nNothing.\n## Contract\n**May I cancel?**\n\nAny "
        "time.\n",
        "# Prices\n\n| No. | Question | Answer |\n| --- | -------- | ------ |\n| 1 | What does it cost? | "
        "Nothing. |\n| 2 | **May I cancel?** | Any time. |\n",
        "# Prices\n1. **What does it cost?**\n   Nothing.\n2. **May I cancel?**\n   Any time.\n",
        "# Prices\n- **What does it cost?** Nothing.\n- **May I cancel?** Any time.\n",
        "# Prices\n\n1. What does it cost?\n\n   Nothing.\n\n2. May I cancel?\n\n   Any time.\n",
        "Prices\n======\n\nWhat does it cost?\n------------------\nNothing.\n\nMay I cancel?\n"
        "-------------\nAny time.\n",
        "Prices\n======\n\nCosts\n-----\n\n### What does it cost?\nNothing.\n\n### May I cancel?\nAny "
        "time.\n",
        "# Prices\n<!-- internal:\n## do not publish? -->\n## What does it cost? {#cost}\nNothing.\n<!-- "
        'check -->\n---\n<a id="cancel"></a>\n## [May I cancel?](#cancel) <a name="x"></a>\nAny time. '
        "<!-- or not -->\n\n[Back to top](#prices)\n",
        "# Prices\n<details>\n<summary><b>What does it cost?</b></summary>\n\nNothing.\n</details>\n"
        "<details><summary>May I cancel?</summary>Any time.</details>\n",
    ],
)
def test_questions_are_found_however_they_are_marked(tmp_path: Path, content: str) -> None:
    document = read(tmp_path, "faq.md", content)
    items = [{name: item[name] for name in ("question", "answer")} for item in document.items]
    assert replace(document, items=items) == Document(title="Prices", answer_format="markdown", items=PAIRS)


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
        ("**❓ Q:** What does it cost?", "**💡 A:** Nothing."),
        ("【Q】What does it cost?", "【A】Nothing."),
        ("Q - What does it cost?", "A - Nothing."),
        ("**Frage 1. What does it cost?**", "Antwort 1. Nothing."),
        ("> [!faq]- What does it cost?", "> Nothing."),
        ("What does it cost?\\", "Nothing."),
        ("Otázka: What does it cost?", "Odpověď: Nothing."),
        ("س: What does it cost?", "ج: Nothing."),
        ("**Câu hỏi:** What does it cost?\n", "**Trả lời:** Nothing."),
        ("K: What does it cost?", "V: Nothing."),
        ("### **T1:** What does it cost?", "**J1:** Nothing."),
        ("## X | What does it cost?\n", "**Y** \\| Nothing."),
        ("#### Question 1\n\nWhat does it cost?\n", "#### Answer 1\n\nNothing."),
        ("**Q1** What does it cost?\n", "**A1** Nothing."),
        ("**Soru:**\n\nWhat does it cost?\n", "**Cevap:**\n\nNothing."),
    ],
)
def test_labels_are_in_any_of_the_languages(question: str, answer: str) -> None:
    text = f"{question}\n{answer}\n\n{question.replace('What does it cost', 'May I cancel')}\n{answer}\n"
    assert items_of(text) == [("What does it cost?", "Nothing."), ("May I cancel?", "Nothing.")]


@pytest.mark.parametrize(
    "signs", ["一、 二、", "（1） （2）", "１． ２．", "① ②", "1️⃣_ 2️⃣_", "#1_ #2_", "1_-_ 2_-_", "01/_ 02/_"]
)
def test_numbers_before_questions_are_left_out(signs: str) -> None:
    first, second = signs.split()
    text = f"# FAQ\n\n## {first}Is it hot?\nYes.\n\n## {second}Why?\nSo.\n".replace("_", " ")
    assert items_of(text) == [("Is it hot?", "Yes."), ("Why?", "So.")]


@pytest.mark.parametrize(
    "written", ["v{}.6 or v7?", "${} off?", "{}% off?", "{}+ users?", "{}1(k) plans?", "{}-factor login?"]
)
def test_a_number_in_a_question_is_part_of_it(written: str) -> None:
    asked = [written.format(number) for number in (2, 3, 4)]
    text = "# FAQ\n\n" + "".join(f"## {question}\nSo.\n\n" for question in asked)
    assert [question for question, _ in items_of(text)] == asked


def test_an_answer_below_a_label_may_ask_at_its_end() -> None:
    text = "Q: Opening hours\nFrom ten to four.\nAny questions?\n\nQ: Is it hot?\nYes.\n"
    assert items_of(text) == [
        ("Opening hours", "From ten to four.\nAny questions?"),
        ("Is it hot?", "Yes."),
    ]


def test_a_label_without_an_answer_label_is_text() -> None:
    text = "**What does it cost?**\nNothing.\nP: in the yard.\n\n**May I cancel?**\nAny time.\n"
    assert items_of(text) == [
        ("What does it cost?", "Nothing.\nP: in the yard."),
        ("May I cancel?", "Any time."),
    ]


def test_a_plain_question_may_be_below_a_shorter_title_and_is_no_part_of_an_answer() -> None:
    asked = "Does the tea pot leak at the top?\nDry it.\n\nDoes it beep?\nWait.\n"
    assert items_of(f"Tea pots\n{asked}")[0] == ("Does the tea pot leak at the top?", "Dry it.")
    for answer in ("You have tea. And cake. Which is hot?", "You ask: is that hot?"):
        assert items_of(f"Is it hot?\n{answer}\n\n{asked}")[0] == ("Is it hot?", answer)


def test_two_words_in_turn_below_headings_that_ask_are_no_labels() -> None:
    code = "```\nUser: Is it?\nBot: Yes.\n```"
    assert items_of(f"## Is it hot?\n{code}\n\n## Is it cold?\n{code}\n") == [
        ("Is it hot?", code),
        ("Is it cold?", code),
    ]
    text = "## Hot?\n- Cause: tea.\n- Fix: milk.\n\n## Cold?\n- Cause: who knows?\n- Fix: none.\n"
    assert [question for question, _ in items_of(text)] == ["Hot?", "Cold?"]
    text = "# FAQ\n\n## Q: Hot?\n**Note:** Tea.\n\n## Q: Cold?\n**Note:** Milk.\n"
    assert items_of(text) == [("Hot?", "**Note:** Tea."), ("Cold?", "**Note:** Milk.")]


@pytest.mark.parametrize("mark", ["**", ""], ids=["bold", "plain"])
def test_two_words_in_turn_below_other_questions_are_kept(mark: str) -> None:
    answer = "Check: Is it on?\nFix: Turn it on."
    asked = "\n\n".join(f"{mark}Why is it {name}?{mark}\n\n{answer}" for name in ("dark", "loud"))
    words = "\n".join(map("\n".join, items_of(f"# FAQ\n\n{asked}\n\n{mark}May I return it?{mark}\n\nYes.\n")))
    assert words.count("Check:") == words.count("Fix:") == 2


def test_a_title_in_a_tag_of_one_letter_is_a_heading() -> None:
    boxes = "".join(f'<p class="title">Is it {name}?</p>\n\nYes.\n\n' for name in ("hot", "red"))
    assert items_of(f"# FAQ\n\n{boxes}") == [("Is it hot?", "Yes."), ("Is it red?", "Yes.")]


@pytest.mark.parametrize(
    "box", ['<div class="question">\n  <i>{}</i>\n</div>', '  <button class="faq-question">{}</button>']
)
def test_a_box_of_a_question_in_html_is_a_heading(box: str) -> None:
    questions = ["Hot?", *(f"I am {one}" for one in ("cold", "old", "dry", "tired", "lost", "late"))]
    texts = [f'{box.format(one)}\n<div class="answer">So {one}.</div>\n' for one in questions]
    document = read_markdown('# FAQ\n\n## Tea\n\n<div class="list">\n' + "\n".join(texts))
    assert [(item["section"], item["question"]) for item in document.items] == [("Tea", q) for q in questions]
    assert all(f"So {item['question']}." in item["answer"] for item in document.items)


def test_a_box_of_a_question_with_other_blocks_in_it_is_read_by_its_own_headings() -> None:
    boxes = "\n".join(
        f'<div class="question">\n<h3>{one}</h3>\n<p>So.</p>\n</div>' for one in ("Hot?", "Cold?")
    )
    assert [question for question, _ in items_of(f"# FAQ\n\n{boxes}\n")] == ["Hot?", "Cold?"]


def test_a_copy_of_some_questions_in_front_matter_is_left_out_with_a_note() -> None:
    front = "---\ntitle: FAQ\nfaqSchema:\n  - question: Is it hot?\n    answer: Short.\n---\n"
    document = read_markdown(f"{front}\n## Is it hot?\n\nLong.\n\n## Is it cold?\n\nNo.\n")
    assert [item["answer"] for item in document.items] == ["Long.", "No."]
    assert [note for note in document.notes if note.startswith("line 4: ")]
    document = read_markdown(f"{front}\nOnly a text.\n")
    assert [item["answer"] for item in document.items] == ["Short."]


def test_each_item_knows_its_line() -> None:
    text = "---\ntitle: >\n  Prices\n---\n<!-- a\ncomment -->\n## One?\nYes.\n\nTwo\nlines?\n----\nNo.\n"
    assert read_markdown(text.replace("## One?", "One?\n----")).positions == ["line 7", "line 11"]


def test_a_file_can_have_nothing_but_questions_at_level_1(tmp_path: Path) -> None:
    content = "# What does it cost?\nNothing.\n\n# May I cancel?\nAny time.\n"
    assert read(tmp_path, "faq.md", content) == MARKDOWN


def test_a_heading_without_a_question_mark_is_a_question_beside_others() -> None:
    text = "## What does it cost?\nNothing.\n## Shipping\nBy bike.\n### By post\nNo.\n## Who?\nWe.\n"
    assert items_of(text)[1] == ("Shipping", "By bike.\n### By post\nNo.")


@pytest.mark.parametrize("sign", ["-", "1."])
def test_a_list_item_that_begins_bold_is_a_question_only_beside_others(sign: str) -> None:
    text = f"{sign} **What?** Tea.\n{sign} **Refunds:** Write to us.\n{sign} **When?** Now.\n"
    assert items_of(text)[1] == ("Refunds", "Write to us.")
    text = f"**What?**\n\n{sign} **Tea:** Hot.\n{sign} **Milk:** Cold.\n\n**When?**\n\nNow.\n"
    assert [question for question, _ in items_of(text)] == ["What?", "When?"]


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


def places_of(text: str) -> list[tuple[str, str | None, str | None]]:
    """Return the questions of a file with their sections and ids."""
    items = read_markdown(text).items
    return [(item["question"], item.get("section"), item.get("id")) for item in items]


def test_questions_below_a_heading_without_text_are_its_section() -> None:
    text = (
        "# Help\n## First?\nYes.\n## Orders\n### Where is it? {#where}\nHere.\n### Delivery times\nDays.\n"
        "## *Payment* & more\n\n### How?\nBy card.\n## Last\nSo.\n"
    )
    document = read_markdown(text)
    assert document.title == "Help"
    assert places_of(text) == [
        ("First?", None, None),
        ("Where is it?", "Orders", "where"),
        ("Delivery times", "Orders", None),
        ("How?", "Payment & more", None),
        ("Last", None, None),
    ]
    assert list(document.notes) == []


def test_the_other_columns_of_a_table_are_sections_or_named() -> None:
    document = read_markdown("| Question | Views | Topic | Answer |\n|-|-|-|-|\n| Why? | 12 | Tea | So. |\n")
    assert document.items == [{"question": "Why?", "answer": "So.", "section": "Tea"}]
    assert document.unknown == ["Views"]


def test_sections_may_be_headings_of_level_1() -> None:
    text = "# Buying\n## Why?\nSo.\n# Orders\n## Where?\nHere.\n"
    assert read_markdown(text).title is None
    assert places_of(text) == [("Why?", "Buying", None), ("Where?", "Orders", None)]
    assert places_of(text.replace("Buying", "FAQ")) == [("Why?", None, None), ("Where?", "Orders", None)]


def test_a_numbered_heading_that_says_faq_is_one_of_the_sections() -> None:
    text = "## 1. FAQ\n### Why?\nSo.\n## 2. Orders\n### It is late\nWait.\n### It leaks\nDry it.\n"
    assert places_of(text) == [
        ("Why?", "FAQ", None),
        ("It is late", "Orders", None),
        ("It leaks", "Orders", None),
    ]


@pytest.mark.parametrize("name", ["U.S. orders", "I.T. help", "No 1 in town", "5★ hotels", "24/7 help"])
def test_a_section_keeps_what_only_looks_like_its_number(name: str) -> None:
    assert places_of(f"# FAQ\n## {name}\n### Why?\nSo.\n") == [("Why?", name, None)]


def test_a_heading_that_says_faq_beside_its_questions_is_the_title() -> None:
    document = read_markdown(
        "---\ntitle: FAQ\n---\n## Frequent questions\nAsk us.\n## Tea\nHot.\n## Cake\nCold.\n"
    )
    assert document.introduction == "Ask us."
    assert [item["question"] for item in document.items] == ["Tea", "Cake"]


def test_a_box_around_headings_that_ask_is_their_section() -> None:
    boxes = "".join(
        f'{{{{< topic title="{name}" >}}}}\n### Is it {name}?\nYes.\n{{{{< /topic >}}}}\n'
        for name in ("Tea", "Cake")
    )
    assert places_of(f"# FAQ\n\n{boxes}") == [("Is it Tea?", "Tea", None), ("Is it Cake?", "Cake", None)]


def test_a_box_around_boxes_is_a_section_that_ends_with_it() -> None:
    box = "<details><summary>{}</summary>\n\n{}\n\n</details>\n".format
    text = (
        box("Who?", "We.") + box("Prices", box("Why?", "So.") + box("When?", "Now.")) + box("Where?", "Here.")
    )
    assert places_of(f"# FAQ\n\n{text}") == [
        ("Who?", None, None),
        ("Why?", "Prices", None),
        ("When?", "Prices", None),
        ("Where?", None, None),
    ]


def test_headings_directly_below_a_question_are_named_with_their_lines() -> None:
    text = "# FAQ\n## Why?\nSo.\n## Who?\nWe.\n## Mishaps\n### It leaks\nDry it.\n### Where is it?\nHere.\n"
    text += "### It beeps\nWait.\n"
    document = read_markdown(text)
    assert [item["question"] for item in document.items] == ["Why?", "Who?", "Mishaps"]
    assert re.findall(r"line (\d+)", " ".join(document.notes)) == ["6", "7", "9", "11"]


def test_a_bold_or_labelled_line_that_asks_below_a_heading_that_asks_is_named_with_its_line() -> None:
    text = "# FAQ\n## Why?\nSo.\n\n**May I cancel?**\n\nYes.\n## Who?\nWe:\n- **whose cup is it?**\n"
    document = read_markdown(text + "\n1. **Question:** Is it hot?**Answer:** No.\n")
    assert [item["question"] for item in document.items] == ["Why?", "Who?"]
    assert re.findall(r"line (\d+): this line asks", " ".join(document.notes)) == ["5", "12"]


def test_a_sentence_below_the_heading_of_a_section_hides_no_question() -> None:
    text = "# Tea\n## Orders\nAll.\n### May I cancel?\nYes.\n### Is there a receipt?\nYes.\n## Why?\nSo."
    document = read_markdown(text)
    assert places_of(text)[:2] == [("May I cancel?", "Orders", None), ("Is there a receipt?", "Orders", None)]
    assert [note for note in document.notes if note.startswith("line 3:")]


def test_a_question_is_kept_whose_answer_begins_with_one_in_bold_or_with_headings() -> None:
    text = (
        "## How do I return it?\n**Still unopened?** Send it.\n"
        "## How can I pay?\n### By card\nYes.\n## Why?\nSo.\n"
    )
    assert items_of(text) == [
        ("How do I return it?", "**Still unopened?** Send it."),
        ("How can I pay?", "### By card\nYes."),
        ("Why?", "So."),
    ]


@pytest.mark.parametrize("space", ["", " ", "\u00a0", "\u3000", "\t"])
def test_a_heading_needs_no_usual_space(space: str) -> None:
    assert items_of(f"##{space}How?\nSo.\n\n## Why?\nSo.\n") == [("How?", "So."), ("Why?", "So.")]


def test_a_heading_in_an_answer_gets_the_space_that_it_lacks() -> None:
    assert items_of("## How?\nSo.\n\n###By hand\nSo.\n") == [("How?", "So.\n\n### By hand\nSo.")]


def test_an_answer_takes_along_its_footnotes() -> None:
    text = "## Why?\nSo.[^1]\n\n## Who?\nWe.\n\n[^1]: Indeed, and\n    always.\n"
    assert items_of(text) == [("Why?", "So.[^1]\n\n[^1]: Indeed, and\n    always."), ("Who?", "We.")]
    assert list(read_markdown(text).notes) == []


@pytest.mark.parametrize(
    "text",
    [
        '??? question "What does it cost?"\n    Nothing.\n\n??? question "May I cancel?"\n    Any time.\n',
        "??? question What does it cost?\n    Nothing.\n\n???+ May I cancel?\n    Any time.\n",
        "::: details What does it cost?\nNothing.\n:::\n\n::: details May I cancel?\nAny time.\n:::\n",
        "What does it cost?\\\nNothing.\n\nMay I cancel?\\\nAny time.\n",
        '!!! question "What does it cost?"\n    Nothing.\n\n!!! faq "May I cancel?"\n    Any time.\n',
        "Q: What does it cost?\\\nA: Nothing.\\\nQ: May I cancel?\\\nA: Any time.\n",
        "**What does it cost?**\\\nNothing.\\\n**May I cancel?**\\\nAny time.\n",
        "What does it cost?\n:   Nothing.\n\nMay I cancel?\n\n:   Any time.\n",
        "%accordion%What does it cost?%accordion%\n\nNothing.\n\n%/accordion%\n\n%accordion%May I cancel?"
        "%accordion%\n\nAny time.\n\n%/accordion%\n",
        "1. > Q: What does it cost?\n   >\n   > A: Nothing.\n\n"
        "2. > Q: May I cancel?\n   >\n   > A: Any time.\n",
        "`What does it cost?`\n\nNothing.\n\n`May I cancel? `\n\nAny time.\n",
        "✦ What does it cost?\n\nNothing.\n\n✦ May I cancel?\n\nAny time.\n",
        '<Accordion title="What does it cost?">\nNothing.\n</Accordion>\n<Accordion title="May I cancel?">\n'
        "Any time.\n</Accordion>\n",
        "<h3>What does it cost?</h3>\n\nNothing.\n\n<h3>May I cancel?</h3>\n\nAny time.\n",
        "<details>\n<summary>\nWhat does it cost?\n</summary>\nNothing.\n</details>\n\n<details>\n<summary>"
        "May I cancel?</summary>\nAny time.\n</details>\n",
        "- What does it cost?\n  - Nothing.\n- May I cancel?\n  - Any time.\n",
        "***What does it cost?***\n\nNothing.\n\n***May I cancel?***\n\nAny time.\n",
        "Ｑ：What does it cost?\nＡ：Nothing.\n\nＱ：May I cancel?\nＡ：Any time.\n",
        "**Q.** What does it cost?\n**A.** Nothing.\n\n**Q.** May I cancel?\n**A.** Any time.\n",
        "## ❓ What does it cost?\nNothing.\n## ❓ May I cancel?\nAny time.\n",
        "## What does it cost? {: #cost }\nNothing.\n## May I cancel? [#](#cancel)\nAny time.\n",
        "What does it cost?\n\nNothing.\n\nMay I cancel?\n\nAny time.\n",
        "<p>Q1. What does it cost?</p>\n<p>A1. Nothing.</p>\n\n"
        "<p>Q2. May I cancel?</p>\n<p>A2. Any time.</p>\n",
        '<p style="a"><b>What does it cost?</b></p>\n\nNothing.\n\n'
        "<p><b>May I cancel?</b></p>\n\nAny time.\n",
        '{{< box_open title="What does it cost?" >}}\n\nNothing.\n\n{{< box_close >}}\n\n'
        '{{< box_open title="May I cancel?" >}}\n\nAny time.\n\n{{< box_close >}}\n',
        '{{< faq "What does it cost?" >}}\nNothing.\n{{</ faq >}}\n\n'
        '{{< faq "May I cancel?" >}}\nAny time.\n{{</ faq >}}\n',
        '{{% details title="What does it cost?" closed="true" %}}\nNothing.\n{{% /details %}}\n\n'
        '{{% details title="May I cancel?" closed="true" %}}\nAny time.\n{{% /details %}}\n',
        "## Q1 What does it cost?\nNothing.\n## Q2 May I cancel?\nAny time.\n",
        "**Q** : What does it cost?\n**A** : Nothing.\n\n**Q** : May I cancel?\n**A** : Any time.\n",
        "<div>\n  <h3>What does it cost?</h3>\n\n    <p>Nothing.</p>\n\n"
        "    <h3>May I cancel?</h3>\n\n    <p>Any time.</p>\n</div>\n",
        "1. What does it cost? Nothing.\n2. May I cancel? Any time.\n",
        "> []{#a}*What does\n> it cost?*\n>\n> Nothing.\n\n> []{#b}*May I *cancel*?*\n>\n> Any time.\n",
        "<h3><a href='#a'>\n<button type='button'>What does it cost?</button>\n</a></h3>\n\nNothing.\n\n"
        "<h3>May I cancel?</h3>\n\nAny time.\n",
        "<details><summary><b>Q: What does it cost?</b></summary>\n\n**A:** Nothing.\n</details>\n"
        "<details><summary><b>Q: May I cancel?</b></summary>\n\n**A:** Any time.\n</details>\n",
        "Q: What does it cost? A: Nothing.\n\nQ: May I cancel? A: Any time.\n",
        "## What does it cost? <span style={{color:'red'}}><Icon /></span>\nNothing.\n\n"
        "## May I cancel?\nAny time.\n",
        "### Q: What does it cost?\n### A: Nothing.\n\n### Q: May I cancel?\n### A: Any time.\n",
        "<em>What does it cost?</em>\n\nNothing.\n\n<em>May I cancel?</em>\n\nAny time.\n\n",
        "> Q: What does it cost?\n\nA: Nothing.\n\n> May I cancel?\n\nA: Any time.\n",
        "**Q:** What does\nit cost?\n\n**A:** Nothing.\n\n**Q:** May I\ncancel?\n\n**A:** Any time.\n",
        "<ul>\n    <li><b>Q: What does it cost?</b>\n<p><b>A:</b> Nothing.</p></li>\n"
        "    <li><b>Q: May I cancel?</b>\n<p><b>A:</b> Any time.</p></li>\n</ul>\n",
        "**A、 What does it cost?**\n\nNothing.\n\n**B、\u3000May I cancel?**\n\nAny time.\n",
        '??? info "FAQ: What does it cost?"\n    Nothing.\n\n??? info "FAQ: May I cancel?"\n    Any time.\n',
        '<div class="cards" markdown>\n\n-   :tea-cup: __What does it cost?__\n\n    Nothing.\n\n'
        "-  :tea-pot:{ .big } __May I cancel?__\n\n    Any time.\n\n</div>\n",
        "## What does it cost? [#cost]\nNothing.\n## :tea:{ .ask } May I cancel?\nAny time.\n",
        '??? frage "What does it cost?"\n    Nothing.\n??? frage "May I cancel?"\n    Any time.\n\n'
        '!!! tip "Any more?"\n',
        '??? question q-tea "What does it cost?"\n    Nothing.\n'
        '??? question q-tea "May I cancel?"\n    Any time.\n',
        "+ ## **What does it cost?**\n\n  Nothing.\n\n+ ## **May I cancel?**\n\n  Any time.\n",
        "<details><summary><h2>Prices</h2></summary>\n"
        "<details><summary><h3>What does it cost?</h3></summary>\n\nNothing.\n</details>\n"
        "<details><summary><h4>May I cancel?</h4></summary>\n\nAny time.\n</details>\n"
        "</details>\n",
        "<details>\n  <summary>What does it cost?</summary>\n\n    Nothing.\n\n</details>\n\n"
        "<details>\n  <summary>May I cancel?</summary>\n\n    Any time.\n\n</details>\n",
        '??? question "What does it cost?"\\\nNothing.\n\n??? question "May I cancel?"\\\nAny time.\n',
        "__Q:__ What\ndoes it cost?\n\nNothing.\n\n__Q:__ May I\ncancel?\n\nAny time.\n",
        "**What does it cost?** <br> Nothing.\n<br><br>**May I cancel?**<br>Any time.\n",
        '<Grid>\n    <Ask title="What does it cost?">\n\n      Nothing.\n    </Ask>\n\n'
        '    <Ask title="May I cancel?">\n\n      Any time.\n    </Ask>\n</Grid>\n',
    ],
)
def test_questions_are_found_in_the_dialects_of_markdown(text: str) -> None:
    items = [
        (question.replace("*", ""), re.sub("^- |</?(?:p|div|li|ul|FAQ)>", "", answer).strip())
        for question, answer in items_of(text)
    ]
    assert items == [("What does it cost?", "Nothing."), ("May I cancel?", "Any time.")]


def test_an_element_whose_class_says_title_is_a_section() -> None:
    titles = (
        f'<div class="faq-title">{name}</div>\n\n**Is it {name}?**\n\nYes.\n' for name in ("Tea", "Cake")
    )
    assert [item["section"] for item in read_markdown("# FAQ\n\n" + "\n".join(titles)).items] == [
        "Tea",
        "Cake",
    ]


def test_links_to_questions_are_contents_in_html_too() -> None:
    contents = "### Tea\n<a href='/faq/#why'>Why?</a>\n\n"
    document = read_markdown(f"---\ntitle: FAQ\n---\n{contents}## Tea\n\n### Why?\nSo.\n\n### Who?\nWe.\n")
    assert [(item["question"], item["section"]) for item in document.items] == [
        ("Why?", "Tea"),
        ("Who?", "Tea"),
    ]


def test_contents_may_be_in_groups() -> None:
    contents = "- Tea\n    - [Why?](#why)\n    - [Who?](#who)\n"
    text = f"# FAQ\n\n## Overview\n{contents}\n## Why?\nSo.\n\n## Who?\nWe.\n"
    assert [question for question, _ in items_of(text)] == ["Why?", "Who?"]


def test_a_title_above_contents_and_questions_of_its_level_stays_the_title() -> None:
    document = read_markdown("# FAQ\n- [Why?](#why)\n- [Who?](#who)\n\n# Why?\nSo.\n\n# Who?\nWe.\n")
    assert (document.title, document.introduction) == ("FAQ", None)


@pytest.mark.parametrize(
    "contents",
    [
        "1. TOC\n{:toc}",
        "* contents\n{: toc }",
        "<details open>\n  <summary>\n    All\n  </summary>\n  {: .text-delta }\n1. TOC\n{:toc}\n</details>",
    ],
)
def test_contents_that_a_generator_makes_are_no_introduction(contents: str) -> None:
    document = read_markdown(f"# FAQ\n{{: .no_toc }}\n\n{contents}\n\n## Why?\nSo.\n\n## Who?\nWe.\n")
    assert (document.introduction, len(document.items)) == (None, 2)


def test_a_section_may_begin_with_its_contents() -> None:
    text = "# FAQ\n\n## Tea\n- [Why?](#why)\n\n### Why?\nSo.\n\n## Cake\n- [Who?](#who)\n\n### Who?\nWe.\n"
    assert [item["section"] for item in read_markdown(text).items] == ["Tea", "Cake"]


@pytest.mark.parametrize("box", ["{{% hint %}}\n{}\n{{% endhint %}}", "::: tip\n{}\n:::"])
def test_a_heading_in_an_admonition_is_no_question(box: str) -> None:
    document = read_markdown(f"# FAQ\n\n{box.format('## Help us!')}\n\n## Why?\nSo.\n\n## Who?\nWe.\n")
    assert [item["question"] for item in document.items] == ["Why?", "Who?"]
    assert "Help us!" in (document.introduction or "")


@pytest.mark.parametrize(
    "text",
    [
        "::: tip Short :::\n\n## Why?\nSo.\n\n## Who?\nWe.\n",
        '{% hint style="info" %}Short{% endhint %}\n\n## Why?\nSo.\n\n## Who?\nWe.\n',
        "::: tip\nNo end.\n\n## Why?\nSo.\n\n## It leaks\nDry it.\n",
        ":::note\n## Why?\nSo.\n\n## It leaks\nDry it.\n:::\n",
        ":::info\n## Why?\nSo.\n:::\n\n:::info\n## Who?\nWe.\n:::\n",
    ],
)
def test_an_admonition_hides_no_question(text: str) -> None:
    questions = [question for question, _ in items_of(f"# FAQ\n\n{text}")]
    assert questions in (["Why?", "Who?"], ["Why?", "It leaks"])


def test_boxes_without_titles_are_part_of_answers() -> None:
    text = "# FAQ\n\n### It leaks\n??? Info\n    Dry it.\n\n### It beeps\n??? Info\n    Wait.\n"
    assert [question for question, _ in items_of(text)] == ["It leaks", "It beeps"]


def test_siblings_of_questions_are_questions_and_bold_words_in_lists_are_none() -> None:
    words = "- **Pot:** hot\n- **Lid:** cold\n- **Cup:** dry\n"
    text = f"**Why?**\nSo.\n\n**It leaks**<br>\nDry it:\n\n{words}\n**Who?**\nWe.\n"
    assert [question for question, _ in items_of(text)] == ["Why?", "It leaks", "Who?"]


@pytest.mark.parametrize("signs", ["1. **{}**\n\n   ", "> *{}*\n\n", ">  **{}**\n\n"])
def test_numbered_or_quoted_lines_that_begin_each_section_of_an_faq_are_questions(signs: str) -> None:
    leak, beep, chip = (signs.format(text) for text in ("It leaks.", "It beeps.", "Is it chipped?"))
    text = f"# FAQ\n\n## Pots\n\n{leak}Dry it.\n\n{beep}Wait.\n\n## Cups\n\n{chip}Glue it.\n"
    assert places_of(text) == [
        ("It leaks.", "Pots", None),
        ("It beeps.", "Pots", None),
        ("Is it chipped?", "Cups", None),
    ]


@pytest.mark.parametrize(
    "parts",
    [
        "- **Cause:** It is {0}.\n- **Fix:** Wait.\n",
        "1. **Open {0}**\n2. **Fill {0}**\n",
        "### What to do\nKeep it {0}.\n\n### Cause\nWear.\n",
    ],
)
def test_lines_that_begin_each_section_may_be_the_parts_of_its_answer(parts: str) -> None:
    text = f"# FAQ\n\n## It leaks\n\n{parts.format('old')}\n## It beeps\n\n{parts.format('hot')}"
    assert [question for question, _ in items_of(text)] == ["It leaks", "It beeps"]


def test_headings_that_repeat_by_chance_or_ask_are_questions() -> None:
    tea, cake = "### Where to buy\nHere.\n### It burns\nWait.\n", "### Where to buy\nThere.\n"
    assert len(items_of(f"# FAQ\n## Tea\n{tea}## Cake\n{cake}### Prices\nLow.\n")) == 4
    assert len(items_of("# FAQ\n## Tea\nHot.\n## Cake\nCold.\n## Tea\nDry.\n")) == 3
    tea = "### It does not boil\nWait.\n### The lid is stuck\nPull.\n"
    assert len(items_of(f"# Troubleshooting\n## Pots\n{tea}## Kettles\n{tea}")) == 4


def test_bold_lines_before_the_first_that_asks_are_questions() -> None:
    text = "# FAQ\n\n**It leaks.**\nDry it.\n\n**It beeps.**\nWait.\n\n**Lid?**\nYes.\n\n**Hot**\nWait.\n"
    assert [question for question, _ in items_of(text)] == ["It leaks.", "It beeps.", "Lid?", "Hot"]
    words = "**Pot**\n\nHot.\n\n**Lid**\n\nCold.\n\n**Cup**\n\nDry.\n"
    assert [question for question, _ in items_of(f"# FAQ\n\n**Why?**\nSo.\n\n{words}")] == ["Why?"]
    faults = "**No power:**\n\nWait.\n\n**The lid is stuck:**\n\nPull.\n\n**Old pots:**\n\nSell.\n"
    assert len(items_of(f"# FAQ\n\n**Is it hot?**\n\nYes.\n\n{faults}")) == 4
    parts = "\n\nSee:\n\n**Included**\n\nTea.\n\n**Not included**\n\nCake.\n\n"
    assert len(items_of(f"# FAQ\n\n**What is in it?**{parts}**And for children?**{parts}")) == 2


@pytest.mark.parametrize(
    "text",
    [
        "# Problems and solutions\n\n## Why it leaks\nSo.\n\n## How to dry it\nSo.\n",
        "# 茶壶\n\n## 盖子为什么打不开\n太热。\n\n## 壶上为什么有裂纹\n太冷。\n",
        "# Kettle: known issues\n\n## The lid does not open\nPull.\n\n## Lid stuck after cleaning\nWait.\n",
        "# Probleme der Kanne\n\n## Der Deckel öffnet sich nicht\nZiehen.\n\n## Fehler E7\nWarten.\n",
        "## Le couvercle ne ferme pas\nTirez.\n\n## Erreur E7\nAttendez.\n",
        "# Solución de problemas\n\n## No puedo abrir la tapa\nTire.\n\n## Error al calentar\nEspere.\n",
        "# 急須のトラブル\n\n## ふたが開かない\n引く。\n\n## 温度が表示されません\n待つ。\n",
        "# 문제 해결\n\n## 뚜껑을 열 수 없음\n당긴다.\n\n## 불이 켜지지 않음\n기다린다.\n",
        "# 茶壶故障\n\n## 盖子无法打开\n拉。\n\n## 加热失败\n等。\n",
        "# Common errors\n\n## Missing lid\nPull.\n\n## Slow heating\nWait.\n",
        "# Erreurs\n\n## Échec du chauffage\nAttendez.\n\n## Impossible de verser\nTirez.\n",
        "# Errores\n\n## Falla la tapa\nTire.\n\n## Error en la base\nEspere.\n",
        "# 常见报错\n\n## 盖子不动\n拉。\n\n## 没有水\n等。\n",
        "# 오류\n\n## 가열 실패\n기다린다.\n\n## 에러 7\n당긴다.\n",
        "# Installation\n\n## Does it need power?\nYes.\n\n## Does it need a plug?\nYes.\n",
    ],
    ids=[
        "first words",
        "words within",
        "en",
        "de",
        "fr",
        "es",
        "ja",
        "ko",
        "zh",
        "en errors",
        "fr errors",
        "es errors",
        "zh errors",
        "ko errors",
        "below the title of a guide",
    ],
)
def test_headings_that_ask_without_a_mark_or_name_problems_make_an_faq(text: str) -> None:
    assert len(items_of(text)) == 2


def test_a_section_of_problems_beside_one_of_questions_may_have_a_text() -> None:
    use = "## Use\n### Is it hot?\nYes.\n### Is it old?\nNo.\n## Use\n### Why?\nSo.\n### Who?\nWe.\n"
    faults = "## Faults\nLook here.\n### It is stuck\nPull.\n### It beeps\nWait.\n### It smells\nAir it.\n"
    items = read_markdown(f"# FAQ\n{use}{faults}## How it goes on\n- [Terms](/terms)\n").items
    assert [item.get("section") for item in items] == [*["Use"] * 4, *["Faults"] * 3, None]
    prices = (
        "## How to pay\nBy card.\n## Refunds\nSoon.\n## Cards\n### Is it hot?\nYes.\n### Is it old?\nNo.\n"
    )
    assert len(items_of(f"# FAQ\n{prices}## Cash\n### Why?\nSo.\n### Who?\nWe.\n")) == 6


@pytest.mark.parametrize("form", ["## {}", "**{}**\n"], ids=["headings", "bold lines"])
def test_a_heading_without_text_between_questions_is_a_section(form: str) -> None:
    lines = ["Tea", "", "Why?", "So.\n", "Cake", "", "It crumbles", "Eat it.\n", "Who?", "We.\n"]
    answers = ("", "So.\n", "Eat it.\n", "We.\n")
    text = "\n".join(line if line in answers else form.format(line) for line in lines)
    items = read_markdown(f"# FAQ\n\n{text}").items
    sections = [(item.get("section"), item["question"], item["answer"]) for item in items]
    assert sections == [("Tea", "Why?", "So."), ("Cake", "It crumbles", "Eat it."), ("Cake", "Who?", "We.")]


def test_one_heading_without_text_among_questions_is_no_section() -> None:
    text = "# FAQ\n\n## Why?\nSo.\n\n## Tea\n\n## Who?\nWe.\n"
    assert places_of(text) == [("Why?", None, None), ("Who?", None, None)]


def test_a_heading_without_text_is_a_section_if_one_below_it_asks() -> None:
    mishaps = "## Mishaps\n\n### It leaks\nDry it.\n\n### Who helps?\nWe.\n\n### It beeps\nWait.\n"
    text = f"# FAQ\n\n## Why?\nSo.\n\n{mishaps}"
    items = read_markdown(text).items
    sections = [(item.get("section"), item["question"]) for item in items]
    assert sections == [
        (None, "Why?"),
        *(("Mishaps", name) for name in ("It leaks", "Who helps?", "It beeps")),
    ]


def test_a_heading_beside_sections_that_ask_is_a_question() -> None:
    inner = "### Where?\nHere.\n\n### When?\nNow.\n\n### Why?\nSo.\n"
    text = f"# FAQ\n\n## Who?\nWe.\n\n{inner}\n## It leaks\nDry it.\n\n## Any more?\nAsk us.\n"
    questions = [question for question, _ in items_of(text)]
    assert questions == ["Who?", "Where?", "When?", "Why?", "It leaks", "Any more?"]


def test_a_question_that_is_struck_out_keeps_its_words() -> None:
    assert items_of("# FAQ\n\n## ~~Is <cite>it</cite> *late*?~~\nNo.\n")[0][0] == "Is it late?"


def test_a_section_that_says_questions_is_no_title_below_the_stated_one() -> None:
    rest = "## Who?\nWe.\n\n## Where?\nHere.\n\n### Since when?\nMay.\n"
    text = f"---\ntitle: FAQ\n---\n## General questions\n\n### Why?\nSo.\n\n{rest}"
    assert read_markdown(text).items[0]["section"] == "General questions"


def test_one_bold_question_below_many_headings_is_part_of_an_answer() -> None:
    text = "# FAQ\n\n## Payment\nBy card.\n\n**With a receipt?**\nYes.\n\n## Call\nSo.\n\n## Prices\nLow.\n"
    assert [question for question, _ in items_of(text)] == ["Payment", "Call", "Prices"]


def test_an_answer_may_be_a_link_to_another_question() -> None:
    text = "# FAQ\n\n## Why?\n\nSee [who](#who)\n\n## Who?\n\nWe.\n"
    assert [question for question, _ in items_of(text)] == ["Why?", "Who?"]


def test_a_heading_that_asks_above_others_keeps_its_answer() -> None:
    text = "# FAQ\n\n## What is it?\nTea.\n\n### Is it hot?\nYes.\n\n### Is it sweet?\nNo.\n"
    assert places_of(text) == [(name, None, None) for name in ("What is it?", "Is it hot?", "Is it sweet?")]
    assert items_of(text)[0] == ("What is it?", "Tea.")


def test_headings_in_the_answers_of_labelled_questions_are_no_sections() -> None:
    answer = "So.\n\n### By hand\n\nSo."
    text = f"# FAQ\n\n## Tea\n\n**Q:** How?\n\n**A:** {answer}\n\n**Q:** Why?\n\n**A:** {answer}\n"
    assert [(item["question"], item["section"], item["answer"]) for item in read_markdown(text).items] == [
        ("How?", "Tea", answer),
        ("Why?", "Tea", answer),
    ]


def test_the_tag_that_ends_a_bold_question_may_begin_the_line_of_its_answer() -> None:
    text = "<ol>\n<li><b>What is it?\n</b>A pot.</li>\n<li><b>Is it\nnew?</b>\nYes.</li>\n</ol>\n"
    assert [(question, answer.split("<")[0]) for question, answer in items_of(text)] == [
        ("What is it?", "A pot."),
        ("Is it new?", "Yes."),
    ]


def test_an_answer_may_be_as_bold_as_its_question() -> None:
    text = "# FAQ\n\n**Is it hot?**\n\n**Yes.**\n\nVery.\n\n**Is it cold?**\n\nNo.\n"
    assert items_of(text) == [("Is it hot?", "**Yes.**\n\nVery."), ("Is it cold?", "No.")]


def test_bold_lines_that_ask_in_boxes_are_part_of_their_texts() -> None:
    box = "<details>\n<summary>{}?</summary>\n\n**Who?**\n\nWe.\n\n**When?**\n\nNow.\n\n</details>\n"
    assert [question for question, _ in items_of("# FAQ\n\n" + box.format("A") + box.format("B"))] == [
        "A?",
        "B?",
    ]


def test_a_box_may_begin_with_a_heading() -> None:
    box = "<details>\n<summary>{}</summary>\n\n### So\n\nText.\n\n</details>\n"
    assert items_of("# FAQ\n\n" + box.format("Why?") + box.format("Who?")) == [
        ("Why?", "### So\n\nText."),
        ("Who?", "### So\n\nText."),
    ]


def test_an_attribute_of_a_component_says_that_it_is_a_question() -> None:
    text = '<Box question="Tea">\nHot.\n</Box>\n\n<Box question="Cake">\nCold.\n</Box>\n'
    assert items_of(text) == [("Tea", "Hot."), ("Cake", "Cold.")]


def test_indented_text_is_code_beside_a_component() -> None:
    code = "Like this:\n\n    Q: Why?\n    A: So.\n    Q: Who?\n    A: We."
    text = f"<Note>\n\nHot.\n\n</Note>\n\n## How?\n\n{code}\n\n## Is it free?\n\nYes.\n"
    assert items_of(f"# FAQ\n\n{text}") == [("How?", code), ("Is it free?", "Yes.")]
    text = f"## Which?\nUse `List<String>`.\n\n## How?\n{code}\n\n## Is it free?\nYes.\n"
    assert read_markdown(f"# FAQ\n\n{text}").notes == []


def test_the_text_of_a_box_may_be_indented_by_spaces_and_tabs() -> None:
    text = '??? note "Why?"\n    So.\n\tIndeed.\n\n??? note "Who?"\n    We.\n'
    assert items_of(text) == [("Why?", "So.\n\tIndeed."), ("Who?", "We.")]


def test_the_tags_above_the_title_of_a_box_are_no_introduction() -> None:
    text = "# FAQ\n\nHello.\n\n<details open>\n\n<summary>\nWhy?\n</summary>\n\nSo.\n\n</details>\n"
    assert read_markdown(text).introduction == "Hello."


def test_an_import_within_code_does_not_make_a_file_mdx() -> None:
    text = "## Why?\n\n```js\nimport a from 'a'\n```\n\nRun:\n\n    # install\n\n## Who?\nWe.\n"
    assert [question for question, _ in items_of(text)] == ["Why?", "Who?"]


@pytest.mark.parametrize(
    "answer",
    ["Import isn't available.\nAsk us.", "import a file with 'Add'.\nIt is read.", "Export let settings go."],
)
def test_a_sentence_that_begins_like_a_statement_of_mdx_is_shown(answer: str) -> None:
    assert items_of(f"## Why?\n\n{answer}\n") == [("Why?", answer)]


def test_labels_of_questions_are_enough_below_headings_that_do_not_ask() -> None:
    text = "# FAQ\n## No tea\n**Q: I have no tea**\n\nBuy some.\n\n## No cake\n**Q: It is gone**\n\nSo sad.\n"
    assert items_of(text) == [("I have no tea", "Buy some."), ("It is gone", "So sad.")]


def test_headings_without_a_label_beside_those_with_one_are_no_questions() -> None:
    text = "# FAQ\n## Tea\nAll.\n## Q: Is it hot?\nYes.\n## Q: It leaks\nDry it.\n## Q: It beeps\nWait.\n"
    document = read_markdown(text + "## Address\nHere.\n")
    assert [item["question"] for item in document.items] == ["Is it hot?", "It leaks", "It beeps"]
    assert "line 10" in str(document.notes)
    cups = "## Pots\n### Q: Hot?\nYes.\n### Q: Old?\nNo.\n## Cups\n### It leaks\nSee:\n#### Glue\nIt is.\n"
    assert items_of(f"# FAQ\n{cups}")[2] == ("It leaks", "See:\n#### Glue\nIt is.")


def test_a_table_in_an_answer_is_part_of_it() -> None:
    table = "| label | description |\n| - | - |\n| sides | as many as you like |"
    text = f"## Which shapes are there?\n\n{table}\n\n## Why?\n\nSo.\n"
    assert items_of(text) == [("Which shapes are there?", table), ("Why?", "So.")]


def test_docsify_writes_the_id_of_a_heading_behind_it() -> None:
    assert places_of(
        "# FAQ\n\n## What does it cost? :id=cost\n\nNothing.\n\n## Is it solved? [#12]\nYes.\n"
    ) == [
        ("What does it cost?", None, "cost"),
        ("Is it solved? [#12]", None, None),
    ]


def test_an_id_that_no_address_can_have_is_left_out_and_named() -> None:
    found = read_markdown("# FAQ\n\n## Why? {#why?}\nSo.\n\n## Who? {#who}\nWe.\n")
    assert [(item["question"], item.get("id")) for item in found.items] == [("Why?", None), ("Who?", "who")]
    assert any("line 3" in note and "'why?'" in note for note in found.notes)


def test_statements_of_mdx_are_left_out_and_named_and_its_comments_are_left_out() -> None:
    code = "import A from '@site/a';\nexport const Sign = () => (\n<svg>\n</svg>\n);"
    found = read_markdown(
        f"# FAQ\n\n{code}\n  \n## Why? {{/* #why */}}\n\n{{/* later */}}\nSo.\n\n## Who?\nWe.\n"
    )
    assert [(i["question"], i["answer"], i.get("id")) for i in found.items] == [
        ("Why?", "So.", "why"),
        ("Who?", "We.", None),
    ]
    assert (found.introduction, list(found.notes)) == (
        None,
        [
            "line 3: not shown: import A from '@site/a';",
            "line 4: not shown, up to line 7: export const Sign = () => (",
        ],
    )


def test_the_code_of_an_icon_is_no_part_of_a_question() -> None:
    text = "# :books: FAQ\n\n## Is it? :mdi-warning:\nSo.\n\n## :smile: Is 10:30:15 :root:hover late?\nNo.\n"
    assert [question for question, _ in items_of(text)] == ["Is it?", "Is 10:30:15 :root:hover late?"]


def test_quoted_headings_are_questions() -> None:
    text = "FAQ\n===\n\n> ### What is it?\n\nA pot.\n\n> ### What does it cost?\n\nNothing.\n"
    assert items_of(text) == [("What is it?", "A pot."), ("What does it cost?", "Nothing.")]


def test_labels_of_questions_are_parts_of_answers_unless_answers_have_labels_too() -> None:
    text = "# FAQ\n\n## 1. It leaks\n**Question**: Water comes out.\n\nDry it.\n\n"
    text += "## 2. It beeps\n**Question**: It does so at night.\n\nTurn it off.\n"
    assert [question for question, _ in items_of(text)] == ["It leaks", "It beeps"]
    text = text.replace("Dry it", "**Answer**: Dry it").replace("Turn", "**Answer**: Turn")
    assert places_of(text) == [
        ("Water comes out.", "It leaks", None),
        ("It does so at night.", "It beeps", None),
    ]


def test_lines_directly_above_lists_are_questions_if_other_such_lines_ask() -> None:
    text = "# FAQ\n\nHow do I begin?\n- Press it.\n\nI want more.\n- Turn it.\n\nHow do I end?\n- Let go.\n"
    assert [question for question, _ in items_of(text)] == [
        "How do I begin?",
        "I want more.",
        "How do I end?",
    ]


def test_questions_and_answers_may_be_lines_without_blank_lines_between_them() -> None:
    text = "Prices\n\nWhat does it cost?\nNothing.\nMay I cancel?\nYes. You\nmay.\nWho are you?\nUs.\n"
    assert items_of(text) == [
        ("What does it cost?", "Nothing."),
        ("May I cancel?", "Yes. You\nmay."),
        ("Who are you?", "Us."),
    ]


def test_a_heading_that_asks_among_lines_that_ask_is_a_question() -> None:
    text = "How do I pay?\nBy card.\n\n## Do you sell tea?\nYes.\n\nWhere are you?\nHere.\n"
    assert items_of(text)[1] == ("Do you sell tea?", "Yes.")


def test_numbered_questions_may_have_lists_as_answers() -> None:
    text = "# FAQ\n\n1. What does it cost?\n- Nothing.\n- Or tea.\n- Or a cake.\n"
    text += "\n2. May I go?\n- Yes.\n- Or stay.\n"
    assert items_of(text)[0] == ("What does it cost?", "- Nothing.\n- Or tea.\n- Or a cake.")


def test_headings_that_do_not_ask_are_questions_in_a_section_with_other_levels() -> None:
    text = "# FAQ\n\n## Start\n\n### It is dark\nWait.\n\n### It is loud\nWait.\n\n## Use\n\n### Tea\n\n"
    text += "#### How hot?\nHot.\n\n#### Who pours?\nWe.\n"
    assert places_of(text) == [
        ("It is dark", "Start", None),
        ("It is loud", "Start", None),
        ("How hot?", "Tea", None),
        ("Who pours?", "Tea", None),
    ]


def test_a_heading_that_asks_above_several_questions_is_their_section() -> None:
    text = "# Who?\nWe.\n\n# How do I apply?\n\n## When do I apply?\nNow.\n\n## Where do I apply?\nHere.\n"
    assert places_of(text)[1:] == [
        ("When do I apply?", "How do I apply?", None),
        ("Where do I apply?", "How do I apply?", None),
    ]


def test_one_line_that_asks_within_an_answer_does_not_hide_the_headings() -> None:
    text = "---\ntitle: FAQ\n---\n### It is damaged\nOpen it.\n\nHow to open it?\n\nSo.\n\n### Slow\nWait.\n"
    assert [question for question, _ in items_of(text)] == ["It is damaged", "Slow"]


def test_scripts_and_style_sheets_are_left_out_and_named() -> None:
    text = (
        "# FAQ\n\nHello.\n\n<script>\nwhy = 'so?';\n</script>\n\n## Why?\n\nSo.\n\n<style>\nb {}\n</style>\n"
    )
    found = read_markdown(text)
    assert (found.introduction, items_of(text)) == ("Hello.", [("Why?", "So.")])
    assert list(found.notes) == [
        "line 5: not shown, up to line 7: <script>",
        "line 13: not shown, up to line 15: <style>",
    ]


def test_a_template_in_the_address_of_a_definition_does_not_end_those_below_it() -> None:
    definitions = "[a]: https://tea.example/{{< param tag >}}/a\n[b]: /b\n"
    found = read_markdown(f"## Why?\n\n[So][b].\n\n## Who?\n\nWe.\n\n{definitions}")
    assert [item["answer"] for item in found.items] == ["[So][b].\n\n[b]: /b", "We."]
    assert [note for note in found.notes if note.startswith("line 9: ") and "param tag" in note]


def test_a_sign_before_bold_text_is_no_part_of_a_question() -> None:
    text = "## ⚠ **It [leaks]**\nSo.\n\n## ⚠ **Why?**\nSo.\n\n## Who?\nWe.\n"
    assert [question for question, _ in items_of(text)] == ["It [leaks]", "Why?", "Who?"]
    assert items_of("Is it hot? +\n\nYes.\n\nWhy? +\n\nSo.\n\nWho? +\n\nWe.\n")[0] == ("Is it hot?", "Yes.")


def test_a_plain_line_that_asks_may_stand_directly_below_a_heading() -> None:
    text = "# FAQ\n\n## Buying\nIs it green?\n\nYes.\n\nIs it black?\n\nNo.\n"
    assert items_of(text) == [("Is it green?", "Yes."), ("Is it black?", "No.")]


@pytest.mark.parametrize(
    "text",
    [
        "# Tea\n\nA pot.\n\n## Features\nHot.\n\n## Installation\nBoil.\n\n## Licence\nNone.\n",
        "# Guide\n\n## Before you begin\nBoil.\n\n## Is it hot?\nYes.\n\n## Pour\nSo.\n\n## Drink\nSo.\n",
    ],
    ids=["readme", "guide"],
)
def test_a_file_that_is_no_faq_is_refused_with_what_was_found(text: str) -> None:
    with pytest.raises(ValueError, match=r"line [35]: .*(Features|Before you begin)"):
        read_markdown(text)
    titled = text.replace("# Tea", "# Tea: FAQ").replace("# Guide", "# Frequent questions")
    assert items_of(
        titled.replace("Features", "Sizes").replace("Installation", "Making").replace("Licence", "Price")
    )


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("# Kettle\n\n## FAQ\n\n### It leaks\nTighten it.\n\n### It beeps\nWait.\n", "Kettle"),
        (
            "# Questions and answers\n\n## It leaks\nWhen hot, wait.\n\n## It beeps\nWait.\n",
            "Questions and answers",
        ),
        ("## Kettle FAQ\n\n## Why does it leak?\nIt is hot.\n\n## It beeps\nWait.\n", "Kettle FAQ"),
        ("### Kettle\n\n## FAQ\n\n### It leaks\nTighten it.\n\n### It beeps\nWait.\n", "Kettle"),
        ("# Preguntes freqüents\n\n## Té\nSí.\n\n## Cafè\nNo.\n", "Preguntes freqüents"),
        ("# 客户端FAQ\n\n### 窗口没反应\n等一下。\n\n### 没有声音\n打开它。\n", "客户端FAQ"),
        ('# FAQ\n\n??? note "Sizes"\n    All.\n\n??? note "Prices"\n    Low.\n', "FAQ"),
        ("**Our FAQ**<br>\nAsk us.\n\n**Is it hot?**\n\nYes.\n\n**It beeps**\n\nWait.\n", "Our FAQ"),
    ],
    ids=[
        "section",
        "title",
        "first heading",
        "lower heading",
        "Catalan",
        "beside a Chinese word",
        "boxes",
        "bold",
    ],
)
def test_a_heading_that_says_faq_makes_questions_of_those_below_it(text: str, title: str) -> None:
    document = read_markdown(text)
    assert (document.title, len(document.items)) == (title, 2)


def test_bold_lines_below_one_that_says_faq_are_sections() -> None:
    text = "**General questions**\n\n**Is it hot?**\n\nYes.\n\n**Cake**\n\n**Is it cold?**\n\nNo.\n"
    assert items_of(text) == [("Is it hot?", "Yes."), ("Is it cold?", "No.")]


def test_a_heading_with_the_title_of_the_front_matter_is_no_section() -> None:
    text = "---\ntitle: Kettle\n---\n## Kettle FAQ\n\n## Why does it leak?\nHot.\n\n## It beeps\nWait.\n"
    document = read_markdown(text)
    assert [*document.items[0]] == [*document.items[1]] == ["question", "answer"]
    assert "this title is not shown" in document.notes[0]


def test_a_heading_below_the_questions_is_no_title() -> None:
    document = read_markdown("Q: Why?\nA: So.\n\nQ: Who?\nA: We.\n\n# Contact\n\nWrite to us.\n")
    assert (document.title, len(document.items)) == (None, 2)
    assert [note for note in document.notes if note.startswith("line 7:")]


def test_a_heading_with_a_long_text_among_questions_is_a_question() -> None:
    text = "# FAQ\n\n## Hot?\nYes.\n\n## Tests\n{}\n\n### Who tests?\nWe.\n### When?\nNow.\n\n## Why?\nSo.\n"
    long = "\n\n".join(f"Step {number}." for number in range(20))
    assert items_of(text.format(long))[1] == ("Tests", f"{long}\n\n### Who tests?\nWe.\n### When?\nNow.")
    assert places_of(text.format("Short."))[1][:2] == ("Who tests?", "Tests")


def test_a_question_above_a_line_that_asks_is_no_section() -> None:
    text = "# FAQ\n\n## What is tea?\nA drink.\n\nNew here?\n[Start](/a).\n\n## Why?\nSo.\n\n## How?\nHot.\n"
    assert [question for question, _ in items_of(text)] == ["What is tea?", "Why?", "How?"]


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: FAQ\n---\n\n### This page is made from a list\n\nIt only fills the menu.\n",
        "# FAQ\n\n## Contents\n\n- **Tea**\n  - [Why?](tea.md#why)\n  - [Who?](tea.md#who)\n",
        "# Tea\n\nA plant.\n\n**Do you like it?**\n\nWrite to us.\n",
    ],
    ids=["moved", "contents of other files", "a bold line"],
)
def test_one_heading_that_does_not_ask_is_no_faq(text: str) -> None:
    with pytest.raises(ValueError, match=r"^line \d+: "):
        read_markdown(text)


def test_a_file_whose_title_asks_is_an_faq_of_one_question() -> None:
    assert items_of("# Is it free?\n\nYes.\n") == [("Is it free?", "Yes.")]
    assert items_of("---\nquestion: Is it free\n---\nYes.\n") == [("Is it free", "Yes.")]
    assert items_of("---\nquestion: Is it free\nAnswer: Yes.\n---\n") == [("Is it free", "Yes.")]


@pytest.mark.parametrize("below", ["## Clay\nSo.\n\n## Iron\nSo.\n", "**Is iron good?**\nYes.\n"])
def test_what_is_below_a_title_that_asks_is_its_answer(below: str) -> None:
    assert items_of(f"---\ntitle: Which pot?\n---\nAny.\n\n{below}") == [
        ("Which pot?", f"Any.\n\n{below}".strip())
    ]


def test_the_first_question_may_be_a_heading_of_level_1_below_a_stated_title() -> None:
    text = "---\ntitle: FAQ\n---\n# 1. Why?\nSo.\n\n## 2. Who?\nWe.\n\n## 3. Where?\nHere.\n"
    assert items_of(text) == [("Why?", "So."), ("Who?", "We."), ("Where?", "Here.")]


def test_text_above_the_questions_is_the_introduction() -> None:
    text = "# Tea\n\n- [Why?](#why)\n\nWe sell *tea*, see [why](#why)\n\n---\n\n## Why?\nSo.\n"
    assert read_markdown(text).introduction == "We sell *tea*, see [why](#why)"


def test_front_matter_may_be_toml() -> None:
    document = read_markdown('+++\ntitle = "Prices"\nlang = "en"\nweight = 3\n+++\n\n## Why?\nSo.\n')
    assert (document.title, document.lang, document.unknown) == ("Prices", "en", ["weight"])


@pytest.mark.parametrize(
    "front",
    ["id: faq", "nav:\n  key: Mistakes (FAQ)", "linkTitle: Häufige Fragen"],
    ids=["id", "menu", "title"],
)
def test_front_matter_may_say_that_the_headings_are_questions(front: str) -> None:
    text = "# Mistakes\n\n## It does not start\nPlug it in.\n\n## It beeps\nWait.\n"
    with pytest.raises(ValueError, match="does not look like an FAQ"):
        read_markdown(text)
    assert len(items_of(f"---\n{front}\n---\n{text}")) == 2


def test_front_matter_may_have_the_answer_of_the_title_that_asks() -> None:
    document = read_markdown("---\ntitle: Is it hot?\nanswer: Yes.\n---\n")
    assert document.items == [{"question": "Is it hot?", "answer": "Yes."}]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- **Q**: Why?\n- **A**: So.\n\n- **Q**: How?\n- **A**: Thus.\n\n### More\n\nTea.\n", 7),
        ("# FAQ\n" + "**Why?** So.\n\n" * 7 + "## More?\nWrite.\n\n## Our pages\nOn tea.\n", 19),
    ],
    ids=["in an answer", "a question"],
)
def test_a_heading_among_questions_in_another_form_is_named(text: str, line: int) -> None:
    assert any(note.startswith(f"line {line}:") for note in read_markdown(text).notes)


def test_a_description_or_a_layout_that_mentions_an_faq_makes_no_faq() -> None:
    head = "head:\n  - - meta\n    - name: keywords\n      content: FAQ, tea\n"
    head += f"seo:\n  description: Frequent questions\nsummary: See the FAQ for {'more and ' * 20}more\n"
    front = f"---\ntitle: Us\nlayout: FAQ\ndescription: Frequent questions\nkeywords: [FAQ]\n{head}---\n"
    with pytest.raises(ValueError, match="does not look like an FAQ"):
        read_markdown(f"{front}# Introduction\nTea is old.\n\n# Our shop\nIt is new.\n")


def test_many_quotations_without_blank_lines_are_refused_before_they_are_parsed() -> None:
    quotation = "> # Tea\n-old\n"
    assert len(items_of("## Why?\n" + quotation * MAX_QUOTATIONS)) == 1
    assert len(items_of("## Why?\n" + f"{quotation}\n" * MAX_QUOTATIONS * 2)) == 1
    assert len(items_of("## Why?\n" + "> So.\n" * MAX_QUOTATIONS * 2)) == 1
    with pytest.raises(ValueError, match=rf"^line {MAX_QUOTATIONS * 2 + 2}: more than .* blank line"):
        read_markdown("## Why?\n" + quotation * (MAX_QUOTATIONS + 1))


@pytest.mark.parametrize(
    "text",
    [
        "# FAQ system\n\n## Overview\nA.\n\n## Installation\nB.\n\n## Files\nC.\n",
        "# Kettle\n\n## How to contribute\nA.\n\n## How to serve it\nB.\n",
        "# Kettle\n\n## Style\nA.\n\n## Forms\n- Is it red? Say so.\n\n## Tests\nB.\n\n## Last\nC.\n",
        "# FAQ block\n\nWant a block of questions? Then use this code.\n\n```\nfaq\n```\n",
        "# Rooms\n\n## Space\n- Is it big?\n- Is it dry?\n\n## Doors\n- Who opens?\n- Who locks?\n",
        "# Question writing\n\n## Basics\nA.\n\n## Words\nB.\n\n## Marks\nC.\n",
        "# Kettle\n\n## What is Kettle?\nA pot.\n\n## Installation\nBoil.\n",
        "# Kettle\n\n## What it does\nIt boils.\n\n## How to pour\nSo.\n\n## Parts\nA lid.\n",
        "# How to pour tea\n\n1. Boil it.\n2. Is it hot?\n",
        "# Settings\n\n| Variable name | Description |\n|--|--|\n| HEAT | How hot |\n| TEA | Which tea |\n",
        "# Reports\n\n## Good ones\n\n1. When you write\n   be short.\n2. Add a picture.\n",
        "# Contributing to Kettle\n\n## Do you pour?\nDo.\n\n## Do you boil?\nDo.\n\n## Style\nA.\n",
        "# Errors\n\n## Adding an error\nA.\n\n## Do not pour\nB.\n\n## Terminating on error only\nC.\n",
        "# Releases\n\n## Fixed a crash\nA.\n\n## Fixed slow lids\nB.\n",
        "# Hausordnung\n\n## Keine Haftung\nA.\n\n## Was nicht erlaubt ist\nB.\n",
        "---\ntitle: FAQ\n---\nSee the pages on tea.\n\nNothing found?\n\nThen write to us.\n",
        "# FAQ\n\n## It is cold\nLook why.\n\n### No power\nPlug it in.\n\n### No water\nFill it.\n",
    ],
    ids=[
        "headings of a guide",
        "how to",
        "an item of a list",
        "a paragraph",
        "questions without answers",
        "about questions",
        "a readme with a question",
        "headings that begin as questions do",
        "one heading",
        "a table of names",
        "a list item that begins as questions do",
        "a title that says contributing",
        "headings about errors",
        "releases that mend problems",
        "rules that forbid",
        "one line that asks in a text",
        "headings that do not ask below a text",
    ],
)
def test_a_guide_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^line \d+: "):
        read_markdown(text)


def test_questions_in_the_lists_of_answers_are_part_of_them() -> None:
    text = "## Which one?\nAsk:\n- Is it red? Yes.\n- Is it hot? No.\n\n## Where?\nAsk:\n- Is it far? No.\n"
    assert [question for question, _ in items_of(text)] == ["Which one?", "Where?"]


@pytest.mark.parametrize(
    "text",
    [
        "# Growth\n\n## What it needs\nA.\n\n## Makers\nB.\n\n## Why it is new\nC.\n",
        "---\ntitle: How to paint\n---\n## Which tools?\nA.\n\n## Who helps?\nB.\n\n## Tips\nC.\n",
        "# Kettle\n\n## Overview\nA.\n\n## Need help?\nB.\n",
        "# Installation\n\n- **Size:** A number.\n- **Red?:** Yes or no.\n",
    ],
    ids=["first words", "a title", "half of the headings", "an option"],
)
def test_headings_that_ask_by_their_first_word_alone_or_in_a_guide_make_no_faq(text: str) -> None:
    with pytest.raises(ValueError, match="does not look like an FAQ"):
        read_markdown(text)


def test_the_guide_to_an_faq_is_none_although_its_title_says_so() -> None:
    assert len(items_of("# FAQ Acme Shop\n\n## Shipping\nA.\n\n## Payment\nB.\n")) == 2
    for title in ("FAQ Page: Design", "FAQ-Artikel schreiben", "Smart FAQ Tea Assistant"):
        with pytest.raises(ValueError, match="does not look like an FAQ"):
            read_markdown(f"# {title}\n\n## Goal\nA.\n\n## Languages\nB.\n\n## Filters\nC.\n")
    with pytest.raises(ValueError, match="does not look like an FAQ"):
        read_markdown(
            "# FAQ component\n\n## Features\nA.\n\n## Usage\nB.\n\n## Fonts\n- **Q:** Big\n- **A:** Small\n"
        )


@pytest.mark.parametrize(
    "text",
    [
        "---\ntitle: FAQ\n---\n{% for item in all %}\n## {{ item.q }}\n{{ item.a }}\n{% endfor %}\n",
        "# FAQ\n\n## Prices\n{% include list.html %}\n\n## Other\n{% include list.html %}\n",
        "# FAQ\n{% for i in all %}\n## {{ i.q }}\n{{ i.a }}\n{% endfor %}\n\n## More questions?\nWrite.\n",
        "# FAQ\n\n{{< faq all >}}\n\n## More questions?\nWrite.\n",
    ],
)
def test_a_page_whose_texts_come_from_a_template_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"^line \d+: .*(item|include|i\.q|all)"):
        read_markdown(text)


@pytest.mark.parametrize("text", ["{}# Why?\nSo.\n", "# Why?\nSo.\n{}", "# FAQ\n{}## Why?\nSo.\n"])
def test_a_tag_of_a_generator_beside_the_only_question_is_left_out(text: str) -> None:
    tag = "\n{% include faq-nav.html %}\n\n"
    assert items_of(text.format(tag)) == [("Why?", "So.")]


@pytest.mark.parametrize("title", ["---\ntitle: Frequent questions\n---\n", ""], ids=["stated", "not stated"])
def test_headings_of_level_1_that_are_all_called_questions_are_sections(title: str) -> None:
    text = f"{title}# General questions\n\n## Why?\nSo.\n\n# Technical questions\n\n## How?\nSo.\n"
    sections = [item["section"] for item in read_markdown(text).items]
    assert sections == ["General questions", "Technical questions"]


def test_front_matter_may_end_with_dots() -> None:
    assert read_markdown("---\ntitle: Tea\n...\n## Is it hot?\nYes.\n").title == "Tea"


def test_fields_at_the_top_need_no_lines_around_them() -> None:
    document = read_markdown("title: Prices\nlang: de\n\n## Warum?\nSo.\n")
    assert (document.title, document.lang, document.introduction) == ("Prices", "de", None)
    document = read_markdown("path: src/tea\nsource: tea.py\n\n# Prices\n\n## Why?\nSo.\n")
    assert (document.introduction, document.unknown) == (None, ["path", "source"])


def test_the_address_of_a_page_in_front_matter_is_no_slug() -> None:
    assert read_markdown("---\nslug: /help/faq\n---\n## Why?\nSo.\n").slug is None


def test_tags_of_a_page_in_front_matter_are_no_records() -> None:
    head = "head:\n  - - meta\n    - name: keywords\n      content: FAQ, tea\n"
    assert items_of(f"---\ntitle: FAQ\n{head}---\n\n## Why?\nSo.\n") == [("Why?", "So.")]


def test_a_list_of_others_in_front_matter_is_no_list_of_questions() -> None:
    document = read_markdown("---\nquestions:\n  - tea\n  - a@tea.example\n---\n\n## Why?\nSo.\n")
    assert [item["question"] for item in document.items] == ["Why?"]
    assert document.unknown == ["questions"]


@pytest.mark.matrix
@pytest.mark.parametrize(
    "written",
    [
        "## Why {}?\nSo.\n\n",
        "## Tea {}\n\n### Why?\nSo.\n\n",
        "## Tea {}\n\n## Why?\nSo.\n\n",
        '<Tip title="Why {}?">\nSo.\n',
        "<details><summary>Why {}?</summary>\nSo.\n",
        "> **Why {}?**\n> So.\n",
        "## Why {0}?\n[a{0}] [^{0}]\n\n[a{0}]: /a\n[^{0}]: So.\n\n",
        "## Why {}?\n{{/* So.\n\n",
        '<button class="question">{}',
    ],
)
def test_the_work_on_a_file_grows_linearly(written: str) -> None:
    def read(text: str) -> None:
        with suppress(ValueError):
            read_markdown(text)

    assert grows_linearly(read, lambda count: "# FAQ\n\n" + "".join(map(written.format, range(count))), 500)


@pytest.mark.matrix
def test_the_work_on_boxes_in_boxes_grows_linearly() -> None:
    opening, closing = "<details><summary>Tea</summary>\n\n", "</details>\n"
    text = "# FAQ\n\n## Why?\nSo.\n\n{}### Is it hot?\nYes.\n\n{}".format
    assert grows_linearly(read_markdown, lambda count: text(opening * count, closing * count), 500)
