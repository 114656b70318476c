"""The HTML elements around the items of an FAQ: style, link, script and section."""

from typing import Final

import msgspec
from markupsafe import escape

from faqsvc_embed.languages import lookup
from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering import assets
from faqsvc_embed.rendering.style import Style
from faqsvc_embed.settings.validators import Styles

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


class ElementOptions(msgspec.Struct, frozen=True, gc=False, cache_hash=True):
    """How a page prints stylesheets and scripts."""

    styles: Styles = "inline"
    nonce: str | None = None
    """The nonce of the Content-Security-Policy."""
    folder: str | None = None
    """The URL path of the package's static files; if it is None, styles and scripts are inline."""


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
