"""A rendered FAQ: one section with its stylesheet, its questions and its JSON-LD."""

from collections.abc import Iterator
from typing import Any, Final, Self

import msgspec
from markupsafe import Markup, escape

from faqsvc_embed.languages import lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering import assets
from faqsvc_embed.rendering.answers import LOWEST_HEADING
from faqsvc_embed.settings import Settings
from faqsvc_embed.settings.validators import Look, Styles, Variant
from faqsvc_embed.theme import Theme

WHOLE_SCRIPT: Final = "whole script"
LONG_SCRIPT: Final = "script of long FAQs"
"""The part of the script that every variant but `disclosure` needs."""
SCRIPTS: Final = frozenset((WHOLE_SCRIPT, LONG_SCRIPT))
CLOSING_TAG: Final = "\n</section>"
MAX_FORMS: Final = 2
"""Forms of the whole HTML that a fragment keeps."""

_TEXTS: Final = {
    "en": ("Contents", "Search questions", "# found", "Copy link", "Copied", "Open all", "Close all"),
    "ko": ("목차", "질문 검색", "#개 찾음", "링크 복사", "링크를 복사했습니다", "모두 펼치기", "모두 접기"),
    "ja": (
        "目次", "質問を検索", "該当：#件", "リンクをコピー", "リンクをコピーしました", "すべて開く",
        "すべて閉じる",
    ),
    "zh": ("目录", "搜索问题", "找到 # 个问题", "复制链接", "链接已复制", "全部展开", "全部收起"),
    "es": (
        "Contenido", "Buscar preguntas", "Resultados: #", "Copiar enlace", "Enlace copiado", "Abrir todo",
        "Cerrar todo",
    ),
    "fr": (
        "Sommaire", "Rechercher", "Résultats : #", "Copier le lien", "Lien copié", "Tout ouvrir",
        "Tout fermer",
    ),
    "de": (
        "Inhalt", "Fragen suchen", "# gefunden", "Link kopieren", "Link kopiert", "Alle öffnen",
        "Alle schließen",
    ),
}  # fmt: skip
"""The name of the index, and the texts of the script, by language; a number takes the place of `#`."""
_RIGHT_TO_LEFT: Final = ("ar", "dv", "fa", "he", "ps", "sd", "ug", "ur", "yi")


class Style(msgspec.Struct, frozen=True, cache_hash=True):
    """How an FAQ looks. It is a part of the cache key of a fragment."""

    theme: Theme = Theme()
    show_title: bool = True
    heading_level: int | None = 2
    variant: Variant = "details"
    exclusive: bool = False
    look: Look = "lines"

    @classmethod
    def of(cls, settings: Settings) -> "Style":
        return cls(**{name: getattr(settings, name) for name in cls.__struct_fields__})

    @property
    def question_level(self) -> int | None:
        """The level of a question's heading, one below the title."""
        return None if self.heading_level is None else min(self.heading_level + 1, LOWEST_HEADING)


class ElementOptions(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """How a page prints stylesheets and scripts."""

    styles: Styles = "inline"
    nonce: str | None = None
    """The nonce of the Content-Security-Policy."""
    folder: str | None = None
    """The URL path of the package's static files; if it is None, styles and scripts are inline."""


class Rendered(Markup):
    """Rendered HTML, which is printed without a copy: `escape()` copies the text of a `Markup`."""

    __slots__ = ("__html__",)

    def __new__(cls, *args: Any) -> Self:
        markup = super().__new__(cls, *args)
        text = args[0] if args and type(args[0]) is str else str.__str__(markup)
        # `escape()` calls this method, which is one of `str`: no Python function runs.
        markup.__html__ = text.__str__  # type: ignore[assignment, method-assign]
        return markup

    def __reduce__(self) -> tuple[Any, ...]:
        return Markup, (str.__str__(self),)


class Fragment(msgspec.Struct, eq=False):
    """One rendered FAQ: its parts, and the forms of the whole that were printed."""

    opening_tag: str
    content: str
    """Title and questions."""
    json_ld: str
    """The FAQPage, without a script element."""
    css: dict[str, str]
    """The pieces of the stylesheet that it needs, by name. The name of the rules of a theme is its query."""
    script: str
    """The script that it needs: `WHOLE_SCRIPT`, `LONG_SCRIPT`, or empty."""
    problems: tuple[str, ...] = ()
    """Parts of the answers that are not shown, for development."""
    needs: frozenset[str] = frozenset()
    """The names of what a document prints once: those in `css`, and those of the script and its part."""
    forms: dict[tuple[ElementOptions, frozenset[str], bool], str] = {}
    """Whole HTML as it was printed, by what it depends on: usually with all of `needs`, and with none."""

    def __post_init__(self) -> None:
        scripts = SCRIPTS if self.script == WHOLE_SCRIPT else {self.script} - {""}
        self.needs = frozenset(self.css) | scripts

    @property
    def html(self) -> str:
        """The section with its questions alone."""
        return f"{self.opening_tag}{self.content}{CLOSING_TAG}"

    @property
    def size(self) -> int:
        """Bytes in memory, with one form of the whole."""
        return 2 * (self.content.__sizeof__() + self.json_ld.__sizeof__())

    def joined(self, options: ElementOptions, missing: frozenset[str], *, schema: bool) -> str:
        """Return the section with the stylesheets and the script that its document lacks."""
        # The script is above the questions: it changes them before they are painted.
        opening = "\n".join([self.opening_tag, *self._elements(options, missing)])
        json_ld = f"\n{json_ld_element(self.json_ld, options.nonce)}" if schema else ""
        html = "".join([opening, self.content, json_ld, CLOSING_TAG])
        if options.nonce is None and len(self.forms) < MAX_FORMS:
            self.forms[options, missing, schema] = html
        return html

    def _elements(self, options: ElementOptions, missing: frozenset[str]) -> Iterator[str]:
        """Yield the elements of the stylesheets and the script that a document lacks, inline or linked."""
        names, nonce = [name for name in self.css if name in missing], options.nonce
        if names and options.styles == "linked" and options.folder is not None:
            yield link_element(f"{options.folder}/{assets.stylesheet_url(*names)}", nonce)
        elif names:
            # One element, because only the first child of a section may be a style element.
            yield style_element(assets.layered(self.css[name] for name in names), nonce)
        if self.script in missing and options.folder is not None:
            yield linked_script_element(options.folder, nonce)
        elif self.script in missing:
            yield inline_script_element(nonce, is_whole=self.script == WHOLE_SCRIPT)


# Elements


def style_element(css: str, nonce: str | None = None) -> str:
    return f"<style{_nonce(nonce)}>{css}</style>"


def link_element(href: str, nonce: str | None = None) -> str:
    """Return the link to a stylesheet that the host serves."""
    return f'<link rel="stylesheet" href="{escape(href)}"{_nonce(nonce)}>'


def inline_script_element(nonce: str | None = None, *, is_whole: bool = True) -> str:
    """Return the script of the component; only the variant `disclosure` needs the whole."""
    return f"<script{_nonce(nonce)}>{assets.script(is_whole=is_whole)}</script>"


def linked_script_element(folder: str, nonce: str | None = None) -> str:
    """Return the script of the component as a file in a folder of the host."""
    return (
        f'<script src="{escape(folder)}/{assets.script_name()}" defer '
        f'integrity="{assets.script_integrity()}"{_nonce(nonce)}></script>'
    )


def json_ld_element(json_ld: str, nonce: str | None = None) -> str:
    """Return the script element of a FAQPage; empty without a FAQPage."""
    return f'<script type="application/ld+json"{_nonce(nonce)}>{json_ld}</script>' if json_ld else ""


def contents(faq: FAQ) -> str:
    """Return the name of the list of sections, in the language of an FAQ."""
    name = _texts(faq)[0]
    return f"{name}: {faq.title.strip()}" if faq.title.strip() else name


def section_tag(faq: FAQ, style: Style, element_id: str, is_tall: bool) -> str:
    """Return the opening tag of an FAQ's root element; for a tall FAQ, it has the texts for the script."""
    classes = ["faqsvc"]
    if style.variant != "details":
        # Text extractors take an element with the class "disclosure" for a legal notice.
        classes.append("faqsvc-open" if style.variant == "open" else "faqsvc-panels")
        if style.exclusive and style.variant == "disclosure":
            classes.append("faqsvc-exclusive")
    if style.look != "lines":
        classes.append(f"faqsvc-{style.look}")
    if theme_class := assets.theme_css(style.theme).class_name:
        classes.append(theme_class)
    # Without the last two texts, the script adds no button "Open all".
    texts = _texts(faq)[1 : 5 if style.variant == "open" or style.exclusive else 7]
    for_script = f' data-texts="{"|".join(texts)}"' if is_tall else ""
    return f'<section class="{" ".join(classes)}" id="{element_id}"{_language(faq.lang)}{for_script}>'


def problem_element(message: str) -> str:
    """Return the message that a developer sees instead of an FAQ that cannot be shown."""
    return f'<p class="faqsvc-problem" role="note"><strong>faqsvc:</strong> {escape(encodable(message))}</p>'


def encodable(text: str) -> str:
    """Return text without lone surrogates, which a template of the host may have printed."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _texts(faq: FAQ) -> tuple[str, ...]:
    return _TEXTS[lookup(faq.lang or "") or "en"]


def _language(lang: str | None) -> str:
    if lang is None:
        return ' dir="auto"'
    direction = "rtl" if lang.partition("-")[0].lower() in _RIGHT_TO_LEFT else "ltr"
    return f' lang="{escape(lang)}" dir="{direction}"'


def _nonce(nonce: str | None) -> str:
    return f' nonce="{escape(encodable(nonce))}"' if nonce else ""
