"""What is on a page and belongs to no FAQ: navigation, cookie banners, comments, advertisements."""

from typing import Final

from faqsvc_embed.generation.extraction.text import strings
from faqsvc_embed.generation.extraction.tree import HEADINGS, Element, words

ROLES: Final = words(
    "alert alertdialog banner combobox complementary contentinfo dialog listbox menu menubar "
    "navigation search toolbar tooltip"
)
WORDS: Final = words(
    "breadcrumb breadcrumbs comment comments cookie cookies cookiebot consent didomi disqus gdpr "
    "minicart modal navbar newsletter offcanvas onetrust pagination popup related reviews share "
    "sharing sidebar testimonial testimonials toc usercentrics"
)
ANSWERS: Final = frozenset({"answer", "answers", "faq", "faqs"})
TEMPLATES: Final = frozenset({"template", "tpl", "placeholder", "prototype", "skeleton", "mustache"})
CALLS: Final = frozenset(
    {"hero", "cta", "banner", "promo", "jumbotron", "quiz", "survey", "poll", "search", "slider"}
)
"""Words of sections whose headings ask in order to sell, or to be answered by the reader."""


def mark_noise(top: Element) -> None:
    """Mark what no question or answer is in, and all that is below it."""
    kept = _around_the_content(top)
    for element in top.walk():
        if element.parent is not None and element.parent.noise:
            element.noise = True
        elif id(element) not in kept:
            element.noise = _is_noise(element)


def _around_the_content(top: Element) -> set[int]:
    """Return what holds the page's main part or first heading: whatever it is called, it is no noise."""
    kept = {id(top)}
    for element in top.walk():
        if element.tag in ("body", "main", "h1") or element.role == "main":
            kept.add(id(element))
            for above in element.ancestors():
                if id(above) in kept:
                    break
                if element.tag != "h1" or above.tag not in ("header", "nav", "aside"):
                    kept.add(id(above))
    return kept


def _is_noise(element: Element) -> bool:
    if words(element.attrs.get("class", "")) & TEMPLATES:
        return True
    if element.words & ANSWERS:  # some builders put answers into `<nav class="faq-answer">`
        return False
    if element.tag == "nav" and element.role != "navigation":
        return not _is_answer(element)
    if element.tag in ("nav", "aside", "dialog", "form") or element.role in ROLES:
        return True
    if element.tag in ("header", "footer"):
        return not any(
            above.tag in ("main", "section", "article", "details", "li") for above in element.ancestors()
        )
    return bool(element.words & WORDS)


def _is_answer(nav: Element) -> bool:
    """Tell whether a `<nav>` is only what a drop-down shows: text, nothing to open, and few links."""
    inside = list(nav.walk())
    links = sum(len("".join(strings(element))) for element in inside if element.tag == "a")
    opens = any(element.tag in ("summary", "button", *HEADINGS) for element in inside)
    return not opens and links < 0.5 * len("".join(strings(nav)).strip())


def is_call(question: Element) -> bool:
    """Tell whether a heading is in a section that advertises or asks the reader."""
    return any(
        element.words & CALLS and not element.words & ANSWERS for element in (question, *question.ancestors())
    )


def leads_elsewhere(element: Element) -> bool:
    """Tell whether all of a text is a link to another page, which has the answer then."""
    links = [inner for inner in element.walk() if inner.tag == "a"]
    if len(links) != 1 or links[0].attrs.get("href", "").startswith(("#", "javascript:")):
        return False
    linked, everything = ("".join(strings(one)).split() for one in (links[0], element))
    return bool(links[0].attrs.get("href")) and linked == everything
