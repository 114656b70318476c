"""The names of fields, columns, labels and slots in files: one table for all formats."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final

from faqsvc_embed.files.asking import asks

Columns = tuple[str, str]
"""The names of the fields of a question and of its answer."""
_SEVERAL: Final = 2
LANGUAGE_NAME: Final = re.compile(
    "(?:[a-z]{2}|ast|bho|ceb|ckb|cmn|fil|gsw|haw|hmn|hsb|kab|kok|nds|sah|sco|yue)"
    "(?:[-_][A-Za-z]{2,4}|[A-Z][A-Za-z]{1,3})?"
)
"""The key of a language, such as `en`, `fil`, `pt-BR` and `zhHans`. Other keys of three letters are words."""


def _words(*texts: str) -> tuple[str, ...]:
    """Return the names in texts, in which `_` is a blank within a name."""
    return tuple(word.replace("_", " ") for word in " ".join(texts).split())


QUESTION_LABELS: Final = _words(
    "question questions ques q ｑ frage fragen f pregunta preguntas p pergunta domanda d intrebare întrebare",
    "질문 문의 質問 问题 問題 问 問 вопрос в vraag v pytanie spørsmål spørgsmål fråga soru hỏi",
    "câu_hỏi otázka kérdés kysymys ερώτηση питання запитання въпрос pitanje pertanyaan tanya soalan",
    "سؤال السؤال س سوال پرسش שאלה प्रश्न প্রশ্ন คำถาม",
)
"""Labels of questions. A single letter counts only if answers have labels, too."""
ANSWER_LABELS: Final = _words(
    "answer answers ans a ａ antwort antworten respuesta respuestas r réponse réponses reponse reponses",
    "답변 답 대답 回答 答え 答案 答 ответ о resposta risposta raspuns răspuns antwoord odpowiedź svar cevap",
    "đáp trả_lời odpověď odpoveď válasz vastaus απάντηση відповідь отговор odgovor jawaban jawab jawapan",
    "جواب الجواب الإجابة إجابة ج پاسخ תשובה उत्तर উত্তর คำตอบ",
)
GENERAL: Final = _words(
    "title name heading header summary titre nom titel überschrift título titulo nombre nome titolo nazwa",
    "tytuł название заголовок 제목 이름 名前 名称 名稱 标题 標題 タイトル label trigger",
)
_SPECIFIC: Final = QUESTION_LABELS + _words(
    "questiontext ご質問 domande vragen pytania perguntas вопросы frågor sorular",
    "câuhỏi faq",
)
QUESTION_FIELDS: Final = _SPECIFIC + GENERAL
"""The names of a question in records; the general ones need texts that ask."""
ANSWER_FIELDS: Final = ANSWER_LABELS + _words(
    "acceptedanswer answermarkdown answertext answerhtml text body content contents response reply",
    "description html details value ご回答 解答 risposte antwoorden odpowiedzi",
    "desc respostas ответы cevaplar yanıt yanıtlar trảlời",
)
LIST_FIELDS: Final = _words("items list lists bullets points steps listitems answerlist additional")
"""The names of a list, or of a further text, that continues an answer."""
_LABELS: Final = dict.fromkeys(QUESTION_LABELS, False) | dict.fromkeys(ANSWER_LABELS, True)
_TITLES: Final = dict.fromkeys(GENERAL, False) | dict.fromkeys((*ANSWER_FIELDS, *LIST_FIELDS, "step"), True)
"""Words in names of fields that belong together, and whether the field has an answer."""
SECTION_FIELDS: Final = _words(
    "section category categories group topic topics theme sectiontitle subheader kategorie rubrik thema",
    "sección seccion categoría categoria tema catégorie categorie rubrique thème kategori type категория",
    "раздел 카테고리 분류 구분 カテゴリ カテゴリー 分類 分类 类别 類別",
    "bereich argomento sezione onderwerp rubriek kategoria dział collection",
)
GROUP_NAMES: Final = SECTION_FIELDS + GENERAL
"""The names of the field that names a group of records."""
_YES: Final = _words("true yes y 1 on ja sí oui")
_NO: Final = _words("false no n 0 off nein non")
_STATES: Final = _words(
    "0 draft drafts pending unpublished notpublished private hidden inactive disabled archived deleted trash",
    "scheduled inreview entwurf borrador brouillon 下書き 草稿 비공개",
)
_HIDES: Final = {
    **dict.fromkeys(_words("draft hidden disabled archived deleted"), _YES),
    **dict.fromkeys(_words("published public veröffentlicht publié 公開 공개여부"), _NO),
    **dict.fromkeys(_words("status state poststatus visibility estado"), _STATES),
    "publishedat": ("", "none", "null"),
}
"""The values of fields that say that an entry is not public.

`active` is not among them: it also says which answer is open.
"""

DOCUMENT_FIELDS: Final = {
    "slug": "slug",
    "title": "title",
    "introduction": "introduction",
    "websiteName": "website_name",
    "websiteUrl": "website_url",
    "lang": "lang",
    "answerFormat": "answer_format",
    "items": "items",
    "cta": "cta",
    "pageUrl": "page_url",
    "draft": "draft",
    "revision": "revision",
}
"""The fields of a document, by their names in the REST contract."""

_WORD: Final = re.compile("[0-9]+|[A-Z]+(?![a-z])|[A-Z]?[^\\W\\d_A-Z]+")
"""A word of a name: `pay_q2`, `payQuestion2` and `q2-pay` have two words and a number."""
_LANGUAGE: Final = re.compile(
    r"(?:[_\-. (](?!id\b)(?i:([a-z]{2})(?:[_-][a-z]{2})?)\)?"
    r"|(?<=[a-z])(?!At|By|Id|In|No|Nr|Of|On|To|Up)([A-Z][a-z]))\Z"
)
"""A language at the end of a name, as in `question_en`, `Answer (DE)` and `titleFr`, not in `answerBy`."""


def plain_name(name: object) -> str:
    """Return a name in lower case, without spaces and punctuation, to compare it with others."""
    return "".join(c for c in str(name).lower() if c not in " _-*:@#\u00a0\u3000\ufeff")


PLAIN_FIELDS: Final = {plain_name(name): field for name, field in DOCUMENT_FIELDS.items()}
PLAIN_FIELDS.update(faqs="items", questions="items", language="lang", intro="introduction")
FRONT_MATTER_NAMES: Final = frozenset({*map(plain_name, DOCUMENT_FIELDS), "language", "website"})
"""Names of fields, as `plain_name` returns them, by which front matter is recognised."""


def hidden_by(entry: Mapping[str, Any]) -> str | None:
    """Return the name of the field that says that an entry is not public, such as `draft: true`."""
    values = {str(name): (_HIDES.get(plain_name(name).removeprefix("is")), entry[name]) for name in entry}
    return next((name for name, (hides, one) in values.items() if hides and plain_name(one) in hides), None)


def differ_by_number(name: str, other: str) -> bool:
    """Return whether two names differ only by numbers, such as `question` and `question2`."""
    digits = dict.fromkeys(map(ord, "0123456789"))
    return plain_name(name).translate(digits) == plain_name(other).translate(digits)


def find_field(names: Iterable[str], wanted: Iterable[str]) -> str | None:
    """Return the first of the `wanted` names that is one of `names`, or, if none is, a part of one."""
    names = list(names)
    plain = {plain_name(name): name for name in reversed(names)}
    wanted = tuple(wanted)
    if found := next((plain[want] for want in wanted if want in plain), None):
        return found
    own = [(match, name) for name in names if (match := _LANGUAGE.search(name))]
    own.sort(key=lambda one: (one[0][1] or one[0][2]).lower() != "en")  # as `text_in` prefers English
    parts = [(name[: match.start()], name) for match, name in own]
    for name in names:
        words = [word for word in re.split(r"[\s_\-./]+", name) if word[1:]]
        if words and plain_name(words[-1]) in SECTION_FIELDS:  # `faq_category` is no question
            words = words[-1:]
        parts += [(word, name) for word in words]
    found_in = {plain_name(word): name for word, name in reversed(parts)}
    return next((found_in[want] for want in wanted if want in found_in), None)


def pairs_of(names: Iterable[str], labels: Mapping[str, bool] = _LABELS) -> dict[str, tuple[str, ...]]:
    """Return the fields with the answers of each question, by names with labels such as `pay_q` and `a_pay`.

    An answer may be spread over fields with more numbers: `answer 2.1` and `answer 2.2` are of `question 2`.
    If no question has an answer of its label, only answers may have one: `pay` and `pay_answer`.
    """
    words = {name: tuple(word.lower() for word in _WORD.findall(name)) for name in names}
    roles = {name: role for name in words if (role := _role_of(name, labels)) is not None}
    answers = {name: rest for name, (is_answer, rest) in roles.items() if is_answer}
    labelled, exact = {role[1]: name for name, role in roles.items() if not role[0]}, {*answers.values()}
    for asked in (labelled, {own: name for name, own in words.items()}):
        pairs = defaultdict[str, list[str]](list)
        for name, rest in answers.items():
            place = rest
            while place not in asked and "".join(place[-1:]).isdigit():
                place = place[:-1]
            if place in asked and (place == rest or place not in exact):
                pairs[asked[place]].append(name)
        if pairs:
            return {name: tuple(pairs[name]) for name in words if name in pairs}
    return {}


def asking_pairs(texts: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return the fields with the answers of each question, also of `pay_title` and `pay_text` if all ask.

    A single pair counts if it is numbered, as `q1` and `a1`, and asks.
    """
    pairs = pairs_of(texts)
    asking = [name for name in pairs if asks(str(texts[name]))]
    if len(pairs) >= _SEVERAL or any(name[-1:].isdigit() for name in asking):
        return pairs
    pairs = pairs_of(texts, _TITLES)
    return pairs if len(pairs) >= _SEVERAL and all(asks(str(texts[name])) for name in pairs) else {}


def _role_of(name: str, labels: Mapping[str, bool]) -> tuple[bool, tuple[str, ...]] | None:
    """Return whether a field has an answer, and the words of its name without the label, such as `q`.

    The label is the last word before the numbers, or the first. Names without a label are of neither.
    """
    words = [word.lower() for word in _WORD.findall(name)]
    places = [place for place, word in enumerate(words) if not word.isdigit()]
    for at in places[-1:] if _LANGUAGE.search(name) else [*places[-1:], *places[:1]]:
        if (is_answer := labels.get(words[at])) is not None:
            return is_answer, (*words[:at], *words[at + 1 :])
    return None


def find_columns(header: Iterable[str]) -> Columns | None:
    """Return the names of the columns with the questions and the answers, or None if one is missing."""
    question, answer = usual_columns(header)
    return None if question is None or answer is None else (question, answer)


def usual_columns(header: Iterable[str]) -> tuple[str | None, str | None]:
    """Return the names of the columns with the questions and the answers; None for one that is missing."""
    header = list(header)
    question = find_field(header, QUESTION_FIELDS)
    return question, find_field([name for name in header if name != question], ANSWER_FIELDS)


def asking_columns(records: Iterable[Any]) -> Columns | None:
    """Return the names of the fields of questions and answers in records without usual names.

    Most texts of the first ask; the other has a usual name of answers, or the longest texts.
    """
    records = [record for record in records if isinstance(record, Mapping) and not is_translated(record)]
    names = [[*map(str, record)] for record in records]
    if any(find_columns(own) or len(pairs_of(own)) >= _SEVERAL for own in names):
        return None
    texts = dict[str, list[str]]()
    for record in records:
        for key, text in record.items():
            parts = text if isinstance(text, list) else [text]
            texts.setdefault(str(key), []).extend(part for part in parts if isinstance(part, str))
    most = {name: sum(map(asks, own)) for name, own in texts.items()}
    question = max(most, key=most.__getitem__, default="")
    others = {name: sum(map(len, own)) for name, own in texts.items() if name != question}
    answer = find_field(others, ANSWER_FIELDS) or max(others, key=others.__getitem__, default=None)
    if answer is None or most[question] < _SEVERAL or most[question] * 2 < len(records):
        return None
    answer = next(name for name in others if differ_by_number(name, answer))  # `p1` of `p1` and `p2`
    is_named = find_field([answer], ANSWER_FIELDS) is not None
    return (question, answer) if is_named or others[answer] > sum(map(len, texts[question])) else None


def is_general(name: str) -> bool:
    """Return whether a field of questions has a name, such as `Variable name`, that others have too."""
    return find_field([name], GENERAL) is not None and find_field([name], _SPECIFIC) is None


def is_translated(value: Mapping[str, Any]) -> bool:
    """Return whether a mapping has one text in several languages."""
    names = [str(key) for key, inner in value.items() if isinstance(inner, str)]
    return bool(names) and all(map(LANGUAGE_NAME.fullmatch, names))
