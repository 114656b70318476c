"""What visitors and search engines find in a page, and a fragment as an HTML5 parser reads it."""

import json
import re
from typing import Any, NamedTuple

import html5lib
import turbohtml

from faqsvc_embed import FAQ, to_json_ld


class Summary(NamedTuple):
    """The FAQs of a page, with the elements that a page has once."""

    faqs: list[list[str]]
    """The questions of each FAQ that is shown."""
    styles: int
    """Inline stylesheets, of the component and of themes."""
    faq_pages: list[list[str]]
    """The questions of each FAQPage in JSON-LD, where nodes with the same `@id` are one."""


def summary(html: str | bytes) -> Summary:
    """Return what a page shows; fail if two elements of it have the same id."""
    tree = turbohtml.parse(html)
    ids = [element.attrs["id"] for element in tree.select("[id]")]
    assert len(ids) == len(set(ids)), "two elements have the same id"
    return Summary(
        [
            [question.text for question in faq.select(".faqsvc-question")]
            for faq in tree.select("section.faqsvc")
        ],
        len(tree.select("style")),
        [[question["name"] for question in node["mainEntity"]] for node in faq_pages(html)],
    )


def page_of(*faqs: FAQ) -> Summary:
    """Return the summary of a page that shows these FAQs as it should: styles once, and one FAQPage."""
    shown = [[item.question.strip() for item in faq.items] for faq in faqs]
    different = [faq for at, faq in enumerate(faqs) if faq not in faqs[:at]]
    marked_up = [name for faq in different for name in dict.fromkeys(i.question.strip() for i in faq.items)]
    return Summary(shown, 1 if faqs else 0, [marked_up] if faqs else [])


def faq_pages(html: str | bytes) -> list[dict[str, Any]]:
    """Return the FAQPages of a page, each once, without the ids: nodes with the same `@id` are one."""
    pages = dict[str, dict[str, Any]]()
    for number, script in enumerate(json_ld(html)):
        page = pages.setdefault(script.pop("@id", str(number)), {**script, "mainEntity": {}})
        for at, question in enumerate(script["mainEntity"]):
            page["mainEntity"].setdefault(question.pop("@id", f"{number} {at}"), question)
            question["acceptedAnswer"].pop("@id", None)
    return [{**page, "mainEntity": list(page["mainEntity"].values())} for page in pages.values()]


def nodes_of(faq: FAQ) -> dict[str, Any]:
    """Return the FAQPage that a page has for its only FAQ: the language is on each question."""
    node = to_json_ld(faq)
    lang = {"inLanguage": node.pop("inLanguage")} if "inLanguage" in node else {}
    return {**node, "mainEntity": [{**question, **lang} for question in node["mainEntity"]]}


def json_ld(html: str | bytes) -> list[dict[str, Any]]:
    """Return every JSON-LD node of a page."""
    scripts = turbohtml.parse(html).select('script[type="application/ld+json"]')
    return [json.loads(script.text) for script in scripts]


def nonces(html: str | bytes) -> list[str | None]:
    """Return the nonces of the styles, links and scripts of a page, in order."""
    elements = turbohtml.parse(html).select("style, link, script")
    return [_text(element.attrs.get("nonce")) for element in elements]


def text_of(html: str | bytes, selector: str) -> list[str]:
    """Return the texts of the elements that a CSS selector finds."""
    return [element.text for element in turbohtml.parse(html).select(selector)]


def attributes(html: str | bytes, selector: str, name: str) -> list[str | None]:
    """Return an attribute of each element that a CSS selector finds."""
    return [_text(element.attrs.get(name)) for element in turbohtml.parse(html).select(selector)]


def _text(value: str | list[str] | None) -> str | None:
    """Return an attribute as it was written; the parser splits lists of tokens such as `class`."""
    return " ".join(value) if isinstance(value, list) else value


def contents(html: str | bytes) -> list[str]:
    """Return the text of each FAQ, without its stylesheet and its scripts."""
    text = html.decode() if isinstance(html, bytes) else html
    return text_of(re.sub(r"(?s)\n<(style|script)\b[^>]*>.*?</\1>", "", text), "section.faqsvc")


class Parsed:
    """The tree of a fragment; `errors` are the codes of its parse errors."""

    def __init__(self, html: str) -> None:
        parser = html5lib.HTMLParser(tree=html5lib.getTreeBuilder("etree"), namespaceHTMLElements=False)
        self.root: Any = parser.parseFragment(html)
        # Control characters in a text are parse errors, and part of the text all the same.
        self.errors = [code for _, code, _ in parser.errors if code != "invalid-codepoint"]

    @property
    def elements(self) -> list[Any]:
        """Every element, in document order."""
        return [e for e in self.root.iter() if isinstance(e.tag, str) and e is not self.root]

    def tagged(self, *tags: str) -> list[Any]:
        """Return the elements with one of these tags."""
        return [element for element in self.elements if element.tag in tags]

    def texts(self, class_name: str) -> list[str]:
        """Return the words of the elements of a class."""
        found = [e for e in self.elements if class_name in e.get("class", "").split()]
        return [words("".join(element.itertext())) for element in found]

    @property
    def words(self) -> str:
        """All words of the fragment."""
        return words("".join(self.root.itertext()))


def words(text: str) -> str:
    """Return a text as a page shows it, with runs of white space made one space."""
    return " ".join(text.replace("\0", "\ufffd").split())
