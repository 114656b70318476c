"""The few words of the service's own pages, in its seven languages."""

from typing import Final, NamedTuple


class Words(NamedTuple):
    """What a page says around an FAQ in one language."""

    language: str
    """The language, in itself."""
    languages: str
    faq: str
    """What stands for a title that is missing."""
    nothing_yet: str
    not_found: str
    not_found_why: str


WORDS: Final = {
    "en": Words(
        "English",
        "Languages",
        "Questions and answers",
        "There are no questions here yet.",
        "There is no FAQ here",
        "It may have moved, or the address may have a typing mistake in it.",
    ),
    "ko": Words(
        "한국어",
        "언어",
        "자주 묻는 질문",
        "아직 질문이 없습니다.",
        "이 주소에는 FAQ가 없습니다",
        "다른 곳으로 옮겨졌거나 주소가 잘못 입력되었을 수 있습니다.",
    ),
    "ja": Words(
        "日本語",
        "言語",
        "よくある質問",
        "まだ質問はありません。",
        "ここにFAQはありません",
        "移動したか、アドレスに誤りがあるかもしれません。",
    ),
    "zh": Words(
        "中文",
        "语言",
        "常见问题",
        "这里还没有问题。",
        "此处没有常见问题页面",
        "它可能已被移走，或者地址输入有误。",
    ),
    "es": Words(
        "Español",
        "Idiomas",
        "Preguntas y respuestas",
        "Aquí todavía no hay preguntas.",
        "Aquí no hay ninguna página de preguntas",
        "Puede que se haya movido o que la dirección tenga una errata.",
    ),
    "fr": Words(
        "Français",
        "Langues",
        "Questions et réponses",
        "Il n’y a pas encore de questions ici.",
        "Il n’y a pas de FAQ ici",
        "Elle a peut-être été déplacée, ou l’adresse contient une faute de frappe.",
    ),
    "de": Words(
        "Deutsch",
        "Sprachen",
        "Fragen und Antworten",
        "Hier gibt es noch keine Fragen.",
        "Hier gibt es keine FAQ",
        "Sie ist vielleicht umgezogen, oder in der Adresse steckt ein Tippfehler.",
    ),
}
"""By language, in the order of the specification."""
