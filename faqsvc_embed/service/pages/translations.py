"""The texts of the hosted pages, in seven languages."""

from typing import Final, NamedTuple


class Messages(NamedTuple):
    """The texts of a page in one language."""

    language: str
    """The name of the language."""
    languages: str
    faq: str
    """The title of an FAQ that has none."""
    no_questions: str
    not_found: str
    not_found_reason: str
    gone: str
    gone_reason: str
    unavailable: str
    unavailable_reason: str
    updated: str
    """The text before the date of the last change."""
    preview: str
    """The notice on a page that shows a draft."""
    refused_preview: str
    """The notice on a page if the preview token is not valid."""


MESSAGES: Final = {
    "en": Messages(
        "English",
        "Languages",
        "Questions and answers",
        "There are no questions here yet.",
        "FAQ not found",
        "It may have moved, or the address may be mistyped.",
        "This FAQ is no longer available",
        "Its owner has taken it down.",
        "Not available at the moment",
        "Please try again in a minute.",
        "Last updated",
        "Preview: not published yet",
        "This is the published version: the preview link has expired, or belongs to another FAQ.",
    ),
    "ko": Messages(
        "한국어",
        "언어",
        "자주 묻는 질문",
        "아직 질문이 없습니다.",
        "이 주소에는 FAQ가 없습니다",
        "다른 곳으로 옮겨졌거나 주소가 잘못 입력되었을 수 있습니다.",
        "이 FAQ는 더 이상 제공되지 않습니다",
        "운영자가 게시를 중단했습니다.",
        "지금은 이용할 수 없습니다",
        "잠시 후 다시 시도해 주세요.",
        "최종 수정일",
        "미리보기: 아직 게시되지 않음",
        "게시된 버전입니다. 미리보기 링크가 만료되었거나 다른 FAQ의 링크입니다.",
    ),
    "ja": Messages(
        "日本語",
        "言語",
        "よくある質問",
        "まだ質問はありません。",
        "ここにFAQはありません",
        "移動したか、アドレスに誤りがあるかもしれません。",
        "このFAQはご覧いただけなくなりました",
        "運営者が公開を終了しました。",
        "現在ご利用いただけません",
        "しばらくしてからもう一度お試しください。",
        "最終更新日",
        "プレビュー：まだ公開されていません",
        "公開版を表示しています。プレビューリンクの期限が切れているか、別のFAQのリンクです。",
    ),
    "zh": Messages(
        "中文",
        "语言",
        "常见问题",
        "这里还没有问题。",
        "此处没有常见问题页面",
        "它可能已被移走，或者地址输入有误。",
        "此常见问题页面已不再提供",
        "发布者已将其撤下。",
        "暂时无法访问",
        "请稍后再试。",
        "最后更新于",
        "预览：尚未发布",
        "此处显示已发布的版本：预览链接已过期，或属于另一个常见问题。",
    ),
    "es": Messages(
        "Español",
        "Idiomas",
        "Preguntas y respuestas",
        "Aquí todavía no hay preguntas.",
        "Aquí no hay ninguna página de preguntas",
        "Puede que se haya movido o que la dirección tenga una errata.",
        "Esta página de preguntas ya no está disponible",
        "Su propietario la ha retirado.",
        "No disponible en este momento",
        "Inténtelo de nuevo dentro de un minuto.",
        "Última actualización:",
        "Vista previa: aún sin publicar",
        "Esta es la versión publicada: el enlace de vista previa ha caducado o es de otras preguntas.",
    ),
    "fr": Messages(
        "Français",
        "Langues",
        "Questions et réponses",
        "Il n’y a pas encore de questions ici.",
        "Il n’y a pas de FAQ ici",
        "Elle a peut-être été déplacée, ou l’adresse contient une faute de frappe.",
        "Cette FAQ n’est plus disponible",
        "Son propriétaire l’a retirée.",
        "Indisponible pour le moment",
        "Veuillez réessayer dans une minute.",
        "Dernière mise à jour :",
        "Aperçu : pas encore publié",
        "Version publiée : le lien d’aperçu a expiré ou concerne une autre FAQ.",
    ),
    "de": Messages(
        "Deutsch",
        "Sprachen",
        "Fragen und Antworten",
        "Hier gibt es noch keine Fragen.",
        "Hier gibt es keine FAQ",
        "Sie ist vielleicht umgezogen, oder in der Adresse steckt ein Tippfehler.",
        "Diese FAQ ist nicht mehr verfügbar",
        "Der Betreiber hat sie entfernt.",
        "Im Moment nicht erreichbar",
        "Bitte versuchen Sie es in einer Minute noch einmal.",
        "Zuletzt geändert am",
        "Vorschau: noch nicht veröffentlicht",
        "Dies ist die veröffentlichte Fassung: Der Link zur Vorschau ist abgelaufen oder fremd.",
    ),
}
