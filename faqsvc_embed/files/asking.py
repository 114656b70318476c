"""Recognises lines that ask, and titles that say that a file is an FAQ."""

import re
from typing import Final

_MAX_LINE: Final = 500
"""Characters of a line that are read, from its end."""
_MARKS: Final = ("?", "？", "؟", "⸮")
_ENDS: Final = re.compile(
    "(?:ですか|ますか|せんか|でしょうか|のか|るか|たか|たいです|教えてください|[吗嗎呢么麼]|싶어요|궁금합니다|나요|까요|가요|은가|는가|인가요|습니까|니까)\\Z"
)
"""The words that end a question in Japanese, Chinese and Korean."""
_GREEK: Final = re.compile("[\u0370-\u03ff\u1f00-\u1fff][;\u037e]")
_BEGINS: Final = re.compile(
    r"[\W\d_]{0,20}"
    r"(?:(?:how|what|why|when|where|who|whom|whose|which|whats|what's|can i|can we|can you|could i|do i"
    r"|do you|does|is it|is there|are there|are you|am i|should i|may i|must i|will i"
    r"|wie|was|warum|wann|wo|wer|welche[rsmn]?|wozu|wieso|weshalb|woher|wohin|kann ich|muss ich|darf ich"
    r"|comment|pourquoi|quand|où|qui|quel(?:le)?s?|combien|que faire|est-ce|puis-je|qu'est-ce"
    r"|cómo|como|qué|por qué|cuándo|cuánto|cuál(?:es)?|dónde|quién|puedo"
    r"|come|perché|quanto|dove|posso|как|почему|что|зачем|где|когда|можно ли|сколько|кто)\b"
    r"|[^。]{0,60}(?:为什么|為什麼|怎么办|怎麼辦)"
    r"|¿|如何|怎么|怎麼|怎样|怎樣|是否|什么是|什麼是|能否|どうやって|なぜ|어떻게|왜 )",
    re.I,
)
_PROBLEM: Final = re.compile(
    r"\b(?:can(?:no|['’])t|could ?n[o'’]t|unable|fail(?:s|ed|ing|ures?)?|crash\w*|stuck|missing|invalid"
    r"|slow(?:er)?|(?:not|no longer) \w*(?:ed|ing|s|found)|nicht|keine?[nrs]?|fehl(?:er|geschlagen)?"
    r"|\w*probl[eè]me[ns]?|\w*abst[uü]rze?|(?:ne |n['’])\w+ (?:pas|plus)|impossible|erreur|échec|échoue"
    r"|no (?:puedo|puede|se|me|funciona|aparece|carga|abre)|error (?:al|en|de|ao)|não \w+|erro|fal[hl]a)\b"
    r"|(?<=\w )(?:do|does|did|is|are|was|has|have|will|wo)(?:n['’]t| not)\b"
    r"|\A\W*\w*(?:error|exception|warning)[:：]|[无無]法|失[败敗效]|[報报][错錯]|[错錯][误誤](?!处理|码)"
    r"|[无無]效|崩[溃潰]|[乱亂][码碼]|不(?:[显顯]示|能|到|了|生效|出|存在|[动動])|[没沒]有"
    r"|(?:ない|ません|エラー)(?=\W|\Z)|수 없|안 [가-힣]|않[는음아습]|오류|에러|실패",
    re.I,
)
"""A problem, which asks how to solve it."""
_OF_PROBLEMS: Final = re.compile(
    r"trouble|probl[eèé]m|probleem|проблем|неполад|(?:known|common) (?:issue|error)|fehler(?:suche|behebung)"
    r"|störung|dépannage|errores|erreurs|トラブル|困った|故障|疑难|疑難|[报報][错錯]|[错錯][误誤]|문제|오류",
    re.I,
)
"""A title of a list of problems."""
_FAQ: Final = re.compile(
    r"(?<![a-z])f\.?a\.?q\.?s?(?![a-z])"
    r"|q\s*(?:&|and|und|＆)\s*a\b|frequent|asked|\bquestions\b|\bfragen\b|pregunt[ae]s|perguntas|domande"
    r"|\bvragen\b|spørsmål|spørgsmål|\bfrågor|pytania|вопрос|întrebări|intrebari|sorular|câu hỏi|otázky"
    r"|kysymy|자주\s*묻|질문|よくある|質問|常见问题|常見問題|常见疑问|问与答|問與答|问答|問答|疑难|الأسئلة|أسئلة",
    re.I,
)
_HOW: Final = re.compile(
    r"how|(?:what|when|where) (?:it|this|to|we|you)\b"
    r"|comment|c[oó]mo|wie|как|如何|怎么|怎麼|怎样|怎樣|どうやって",
    re.I,
)
_GUIDE: Final = re.compile(
    r"\W*(?:how (?:to|do i|can i) )?(?:features|overview|(?:pre)?requi\w+|install\w*|usage|quick ?start"
    r"|set-?up(?: instructions)?|getting started|(?:file|project|repository) (?:structure|layout)"
    r"|contribut\w+(?: to\b.*)?|licen[cs]e|change ?log|configuration|development|deployment|tests?|testing"
    r"|roadmap|credits|how it works|see also|project info|tech(?:nology)? stack"
    r"|instala\w+|uso|licencia|caracter[ií]sticas\b.*|estructura del proyecto|lizenz|utilisation)\W*",
    re.I,
)
"""Headings of guides and of descriptions of programs."""
_ABOUT_FAQS: Final = re.compile(
    r"\bFAQs?[- ](?:Page|Section|Component|Module|Plugin|Widget|Schema|System|Template|Feature|Accordion|Bot"
    r"|Seite|Artikel|Bereich|Modul)|\w[ ]FAQ[ ][A-Z]"
)


def begins_as_guide(text: str) -> bool:
    """Return whether a text asks by its first word alone, as headings of guides do: `How to begin`."""
    return not clearly_asks(text) and _HOW.match(text.strip(" *_`#")) is not None


def asks(text: str) -> bool:
    """Return whether a line of plain text asks: by its mark, or by the word that it begins with."""
    text = text.strip()
    is_marked = any(f"{mark} " in text[-_MAX_LINE:] for mark in _MARKS)  # as in "Why? And how"
    return is_marked or ends_asking(text) or _BEGINS.match(text) is not None


def ends_asking(text: str) -> bool:
    """Return whether a text ends with the mark of a question, or in Asian languages with the word for it."""
    end = text.strip()[-_MAX_LINE:]
    while end and not (end[-1].isalnum() or end[-1] in (*_MARKS, ";", "\u037e")):
        end = end[:-1]
    return end.endswith(_MARKS) or (_ENDS.search(end) or _GREEK.match(end[-2:])) is not None


def clearly_asks(text: str, title: str = "") -> bool:
    """Return whether a heading asks by a mark, or names a problem, and not only by its first word.

    Below a title of something else, such as release notes, a problem is no question.
    """
    is_problem = (not title or _OF_PROBLEMS.search(title)) and _PROBLEM.search(text)
    return bool(is_problem) or any(mark in text for mark in _MARKS) or ends_asking(text)


def says_faq(title: str) -> bool:
    """Return whether a title says that what follows are questions and answers."""
    return _FAQ.search(title) is not None


def is_of_guide(heading: str) -> bool:
    """Return whether a heading is one that guides and programs have, such as Installation or FAQ Page."""
    return (_GUIDE.fullmatch(heading) or _ABOUT_FAQS.search(heading)) is not None
