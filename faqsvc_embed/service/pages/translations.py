"""The texts of the hosted pages, in seven languages."""

from datetime import date
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
    date_format: str
    months: str
    """The names of the months, with spaces between them."""
    ask: str
    """The sentence that leads to the website, whose name replaces `%s`."""
    markdown: str
    """The link to the Markdown of the page."""
    start: str
    """The link from an error to the start page."""

    def date(self, day: date) -> str:
        """Return a date as people write it."""
        return self.date_format.format(day=day.day, month=self.months.split()[day.month - 1], year=day.year)


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
        "{day} {month} {year}",
        "January February March April May June July August September October November December",
        "Your question is not here? Ask %s.",
        "This page as Markdown",
        "Go to the start page",
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
        "{year}년 {month} {day}일",
        "1월 2월 3월 4월 5월 6월 7월 8월 9월 10월 11월 12월",
        "찾는 질문이 없나요? %s에 문의해 주세요.",
        "이 페이지를 Markdown으로 보기",
        "홈으로 이동",
    ),
    "ja": Messages(
        "日本語",
        "言語",
        "よくある質問",
        "まだ質問はありません。",
        "FAQが見つかりません",
        "移動されたか、アドレスが間違っている可能性があります。",
        "このFAQはご覧いただけなくなりました",
        "運営者が公開を終了しました。",
        "現在ご利用いただけません",
        "しばらくしてからもう一度お試しください。",
        "最終更新日",
        "{year}年{month}{day}日",
        "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
        "お探しの質問がない場合は、%sにお問い合わせください。",
        "このページをMarkdownで表示",
        "トップページへ",
    ),
    "zh": Messages(
        "中文",
        "语言",
        "常见问题",
        "这里还没有问题。",
        "未找到此常见问题页面",
        "页面可能已被移动，或者地址输入有误。",
        "此常见问题页面已不再提供",
        "发布者已将其撤下。",
        "暂时无法访问",
        "请稍后再试。",
        "最后更新于",
        "{year}年{month}{day}日",
        "1月 2月 3月 4月 5月 6月 7月 8月 9月 10月 11月 12月",
        "没有找到您的问题？请咨询 %s。",
        "以 Markdown 格式查看本页",
        "前往首页",
    ),
    "es": Messages(
        "Español",
        "Idiomas",
        "Preguntas y respuestas",
        "Aquí todavía no hay preguntas.",
        "No se ha encontrado esta página de preguntas",
        "Puede que se haya movido o que la dirección tenga una errata.",
        "Esta página de preguntas ya no está disponible",
        "Su propietario la ha retirado.",
        "No disponible en este momento",
        "Inténtelo de nuevo dentro de un minuto.",
        "Última actualización:",
        "{day} de {month} de {year}",
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "¿No encuentra su pregunta? Consulte a %s.",
        "Esta página en Markdown",
        "Ir a la página de inicio",
    ),
    "fr": Messages(
        "Français",
        "Langues",
        "Questions et réponses",
        "Il n’y a pas encore de questions ici.",
        "FAQ introuvable",
        "Elle a peut-être été déplacée, ou l’adresse contient une faute de frappe.",
        "Cette FAQ n’est plus disponible",
        "Son propriétaire l’a retirée.",
        "Indisponible pour le moment",
        "Veuillez réessayer dans une minute.",
        "Dernière mise à jour :",
        "{day} {month} {year}",
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "Vous ne trouvez pas votre question ? Demandez à %s.",
        "Cette page en Markdown",
        "Aller à la page d’accueil",
    ),
    "de": Messages(
        "Deutsch",
        "Sprachen",
        "Fragen und Antworten",
        "Hier gibt es noch keine Fragen.",
        "FAQ nicht gefunden",
        "Sie ist vielleicht umgezogen, oder in der Adresse steckt ein Tippfehler.",
        "Diese FAQ ist nicht mehr verfügbar",
        "Der Betreiber hat sie entfernt.",
        "Im Moment nicht erreichbar",
        "Bitte versuchen Sie es in einer Minute noch einmal.",
        "Zuletzt geändert am",
        "{day}. {month} {year}",
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Ihre Frage ist nicht dabei? Fragen Sie %s.",
        "Diese Seite als Markdown",
        "Zur Startseite",
    ),
}
