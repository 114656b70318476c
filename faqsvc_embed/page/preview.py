"""The preview of a draft on the host's own page: `https://host/prices?faq_preview=TOKEN`.

The token is sent to the service in a header, for this response only. The draft is never cached, and the
response has `Cache-Control: no-store`. Templates print the published FAQ, so that no cache inside the host
stores the draft. The draft replaces it before the response is sent.
"""

import re
from typing import Final
from urllib.parse import parse_qsl

from markupsafe import Markup

from faqsvc_embed.api.contract import PREVIEW_PARAMETER
from faqsvc_embed.errors import FAQError
from faqsvc_embed.models import FAQ
from faqsvc_embed.rendering.fragments import ElementOptions, style_element

BANNER_CSS: Final = (
    ".faqsvc-preview{box-sizing:border-box;max-inline-size:46em;margin:1.5em 0 0;padding:.6em .9em;"
    "border-inline-start:4px solid currentColor;font-weight:600;"
    "background:color-mix(in srgb,currentColor 10%,transparent)}"
)
_TOKEN: Final = r"[A-Za-z0-9_.~-]{8,512}"  # noqa: S105  # the pattern of one
DRAFT: Final = {
    "en": "Preview: the newest version. It may not be published yet.",
    "ko": "미리보기: 최신 버전입니다. 아직 게시되지 않았을 수 있습니다.",
    "ja": "プレビュー：最新版です。まだ公開されていない場合があります。",
    "zh": "预览：最新版本，可能尚未发布。",
    "es": "Vista previa: la versión más reciente. Puede que aún no esté publicada.",
    "fr": "Aperçu : la version la plus récente. Elle n’est peut-être pas encore publiée.",
    "de": "Vorschau: die neueste Fassung. Sie ist vielleicht noch nicht veröffentlicht.",
}
REFUSED: Final = {
    "en": "This is the published version: the preview link has expired, or belongs to another FAQ.",
    "ko": "게시된 버전입니다. 미리보기 링크가 만료되었거나 다른 FAQ의 링크입니다.",
    "ja": "公開版を表示しています。プレビューリンクの期限が切れているか、別のFAQのリンクです。",
    "zh": "此处显示已发布的版本：预览链接已过期，或属于另一个常见问题。",
    "es": "Versión publicada: el enlace de vista previa ha caducado o es de otra página de preguntas.",
    "fr": "Version publiée : le lien d’aperçu a expiré ou concerne une autre FAQ.",
    "de": "Veröffentlichte Fassung: Der Vorschau-Link ist abgelaufen oder gehört zu einer anderen FAQ.",
}
_FAILED: Final = {
    "en": "This is the published version: the draft cannot be loaded now.",
    "ko": "게시된 버전입니다. 지금은 초안을 불러올 수 없습니다.",
    "ja": "公開版を表示しています。現在、下書きを読み込めません。",
    "zh": "此处显示已发布的版本：目前无法加载草稿。",
    "es": "Esta es la versión publicada: el borrador no se puede cargar ahora.",
    "fr": "Version publiée : le brouillon ne peut pas être chargé pour le moment.",
    "de": "Dies ist die veröffentlichte Fassung: Der Entwurf kann gerade nicht geladen werden.",
}


def find_preview(query_string: str) -> "Preview | None":
    """Return the preview for the token in the query string of a request, or None."""
    token = next((value for name, value in parse_qsl(query_string) if name == PREVIEW_PARAMETER), "")
    return Preview(token) if token else None


class Preview:
    """The drafts that one response shows, and those that its token cannot read."""

    def __init__(self, token: str) -> None:
        self._token = token if re.fullmatch(_TOKEN, token) else None
        self._refused: dict[str, FAQError | None] = {}
        self._has_said_why = False
        self._drafts: dict[int, FAQ] = {}
        """The drafts on this page, and parts of them, by identity."""

    def __repr__(self) -> str:
        return "Preview(…)"

    def token_for(self, slug: object) -> str | None:
        """Return the token with which to read a draft; None if the published record is shown."""
        return self._token if isinstance(slug, str) and slug not in self._refused else None

    def refuse(self, slug: str, error: FAQError | None) -> None:
        """Note that the published record is shown; `error` says why."""
        self._refused[slug] = error

    def accept(self, draft: FAQ) -> None:
        """Note that a record is a draft."""
        self._drafts[id(draft)] = draft

    def is_draft(self, faq: FAQ) -> bool:
        """Return whether a record is a draft on this page, or a part of one."""
        return id(faq) in self._drafts

    def banner(self, slug: str, lang: str | None, elements: ElementOptions) -> Markup:
        """Return the line above an FAQ, in the language of the page if it is one of the seven.

        If the token reads no draft of any FAQ, one line of the page says so.
        """
        if self.token_for(slug) is not None:
            texts, kind = DRAFT, "draft"
        elif self._drafts or self._has_said_why:
            return Markup()
        else:
            self._has_said_why = True
            error = self._refused.get(slug)
            is_refused = error is None or error.status in (403, 404, 410)
            texts, kind = (REFUSED if is_refused else _FAILED), "refused"
        lang = lang if lang in texts else "en"
        css = "" if elements.styles == "none" else style_element(BANNER_CSS, elements.nonce)
        return Markup(
            '<section>{}<p class="faqsvc-preview faqsvc-preview-{}" role="note" lang="{}">{}</p></section>'
        ).format(Markup(css), kind, lang, texts[lang])  # css contains nothing else
