"""Is a text a question? In the seven languages of the service, by its mark or by its grammar."""

import re
from typing import Final

LONGEST: Final = 300
"""Characters of a question."""

_AUXILIARY: Final = (
    "is|are|was|were|do|does|did|can|could|should|would|will|shall|may|must|has|have|had|am"
    "|isn't|aren't|don't|doesn't|can't|won't"
)
_ENGLISH_SUBJECT: Final = "i|you|we|it|they|he|she|there|this|that|these|those|my|your|our|the|an?|any|all"
_GERMAN_VERB: Final = (
    "ist|sind|kann|können|muss|müssen|darf|soll|wird|werden|hat|habe|haben|gibt|kostet|kosten|funktioniert"
    "|passiert|geht|bekomme|erhalte|mache|finde|lange|viel|viele|oft|hoch|läuft|melde|bestelle|kündige|ändere"
)
GRAMMAR: Final = {
    "en": (
        rf"(?:what|which|whose)(?: (?!{_ENGLISH_SUBJECT})[\w'-]+){{0,3}} (?:{_AUXILIARY})\b",
        rf"(?:how|when|where|why|who|whom) (?:{_AUXILIARY})\b",
        r"(?:what|when|where|who|how)['’](?:s|re) (?!new\b|next\b)",
        r"how (?:to|much|many|long|often|far|fast|old|big|soon|late|early)\b",
        rf"(?:{_AUXILIARY}) (?:{_ENGLISH_SUBJECT})\b",
    ),
    "de": (
        rf"(?:wie|was|wann|wo|warum|wieso|wer|wen|wem|womit|woher|wohin|welche[rsmn]?|wofür"
        rf"|wozu) (?:\w+ )?(?:{_GERMAN_VERB})\b",
        r"(?:kann|können|muss|müssen|darf|dürfen|soll|gibt|ist|sind|wird|werden|habe|haben|hat"
        r"|bekomme|brauche)"
        r" (?:ich|man|sie|wir|es|er|ihr|du|der|die|das|eine?|meine?|auch)\b",
    ),
    "fr": (
        r"est[- ]ce qu|qu['’]est[- ]ce",
        r"(?:comment|combien|quand|où|pourquoi|que|qui|quels?|quelles?) (?:\w+ )?"
        r"(?:puis|peut|peux|faire|faut|est|sont|dois|doit|coûte|coûtent|fonctionne|de temps)\b",
        r"(?:puis|peut|dois|pouvez|avez|êtes|proposez|livrez|acceptez|faut)-(?:je|on|il|vous)\b",
    ),
    "es": (
        r"(?:cómo|cuándo|cuánt[oa]s?|dónde|cuál|cuáles|por qué|quién|qué) "
        r"(?:es|son|está|están|puedo|puede|pueden|hago|hacer|debo|tengo|cuesta|cuestan|tarda|pasa"
        r"|funciona|hay|se)\b",
    ),
    "ko": (r".*(?:나요|까요|은가요|는가요|인가요|가요|습니까|입니까|합니까|됩니까|건가요|무엇인지)[.。]?$",),
    "ja": (
        r".*(?:です|ます|でしょう|ません|でした|ました|できる|よい|いい|の)か[.。]?$",
        r".*(?:には|どうすれば)いいの?ですか$",
    ),
    "zh": (
        r".{1,15}(?:怎么(?:办|算|样|走|用|收费|收取)|多少钱?|多久|几天|几点|在哪里?|是什么)$",
        r"(?:如何|怎么|怎样|为什么|什么时候|多久|多少|是否|能否|可否|哪里|哪些).+|.+[吗嗎]$",
    ),
}
"""How a sentence is built that asks, though it may end without a mark."""

_OPENINGS: Final = {
    "en": rf"(?:what|when|where|why|who|which|how|{_AUXILIARY}|if)\b",
    "de": (
        r"(?:wie|was|wann|wo|warum|wieso|weshalb|wer|welche[rsmn]?|womit|wofür|kann|können|muss"
        r"|müssen|darf|gibt|ist|sind"
        r"|wird|hat|habe|haben|bekomme|brauche)\b"
    ),
    "fr": (
        r"(?:comment|pourquoi|combien|quand|où|quels?|quelles?|que|qui|qu['’]|est-ce|puis|peut"
        r"|dois|\w+-(?:vous|je|on|il))\b"
    ),
    "es": r"¿|(?:cómo|qué|cuándo|cuánt[oa]s?|dónde|cuál|cuáles|por qué|quién|puedo)\b",
    "cjk": (
        r".*(?:方法|방법|とは|たい(?:のですが)?|てほしい|(?:でき|わから)(?:ない|ません))$"
        r"|.*[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7a3].*[?？]$"
    ),
}

_ASKED_BACK: Final = {
    "en": (
        r"(?:still |got |have |any |more |other |further |general |you |do )*(?:have )?(?:an?y? "
        r"|more |other |further )*"
        r"questions?\b(?! (?:about|on|for|is|are|can|do)\b)[^.]{0,20}$",
        r"(?:can['’]?t|cannot|couldn['’]t|did(?:n['’]t| not)|don['’]t) (?:you )?(?:find|see)\b",
        r"(?:how|what) can we (?:help|do for you)\b",
        r"(?:do you |still )*(?:need|want|looking for|require)(?: some| more| any| further| extra)*"
        r" (?:a hand|help|assistance|support|info|information)\b",
        r"need (?:an?|some|more) [^?]{1,30}\?$",
        r"(?:are you )?(?:ready|looking|tired|struggling|curious|interested|thinking|dreaming|excited)"
        r" (?:to|for|of|about|with|in)\b",
        r"(?:are you )?(?:ready|curious|interested|excited|convinced|sold|sound (?:good|familiar))\s*\?",
        r"(?:do you )?(?:want|wanna|would you like|like) to"
        r" (?:learn|know|see|find out|hear|get|try|talk|join|chat|work)\b",
        r"why (?:choose|us\b|our|we\b|buy from|work with|shop with|join|trust|(?:our )?customers"
        r"|people|teams|companies)",
        r"(?:not sure|unsure|undecided|confused|stuck|lost)\b[^?]{0,40}\?",
        r"(?:was|is|did) th(?:is|e) (?:page |article |answer |information |content )?"
        r"(?:helpful|useful|help|solve|answer)",
        r"did you (?:know|find|like|enjoy)\b|what are you waiting for|what people (?:say|are saying)",
        r"what['’]?s (?:new|next)\b|who we are|what we do|how it works$|like what you see",
        r"let['’]s (?:talk|chat|go)|contact us|get in touch|talk to us|leave a (?:reply|comment)",
        r"forgot(?:ten)? (?:your )?password\b|already (?:a member|have an account)|new (?:here|to)\b",
        r"no account|don['’]t have an account",
        r"what(?: do)? you(?:['’]ll)? (?:get|learn|think)\b|what (?:would you like|do you want) to\b",
        r"what are you looking for|want more\b|(?:back to |to the )?top$",
    ),
    "de": (
        r"(?:noch |weitere |haben sie |hast du |sie haben |du hast |immer |offene |weitere |eine |andere )*"
        r"fragen?\b[^.]{0,30}\?",
        r"(?:bereit|lust|neugierig|interesse|interessiert|überzeugt)\b[^.]{0,60}\?",
        r"(?:nicht |keine antwort |nichts )(?:passendes )?gefunden\b|(?:wie"
        r"|womit) können wir (?:ihnen |dir )?helfen",
        r"warum (?:wir|uns|mit uns|kunden)\b|(?:brauchen sie|brauchst du) hilfe|hilfe (?:benötigt|gefällig)",
        r"(?:zurück )?nach oben$|war d(?:as|iese).*hilfreich|passwort vergessen|schon (?:kunde|registriert)",
    ),
    "fr": (
        r"(?:une|des|vous avez (?:une|des|encore des|d['’]autres)|encore des|d['’]autres|plus de)"
        r" (?:autres? )?questions?\b[^.]{0,20}\?",
        r"prêt(?:e|s|es|\(e\))? à\b|pourquoi (?:nous|choisir|notre)\b|besoin d['’](?:aide"
        r"|un coup)|envie d[e'’]",
        r"comment (?:pouvons|peut)[- ](?:nous|on) vous aider|cet(?:te)? (?:article|page"
        r"|réponse) .*(?:utile|aidé)",
        r"(?:retour )?(?:en )?haut(?: de (?:la )?page)?$|intéress|vous n['’]avez pas trouvé",
        r"mot de passe oublié|pas encore (?:de compte|inscrit)",
    ),
    "es": (
        r"¿?\s*(?:aún |todavía )?(?:tienes?|tenéis|tiene) (?:(?:aún |más |alguna|otras?"
        r"|todavía )\s*)*(?:preguntas?|dudas?)",
        r"¿?\s*(?:más |otras |alguna )?(?:preguntas|dudas)\s*\?|¿?\s*list[oa]s? para",
        r"¿?\s*por qué (?:elegirnos|nosotros|elegir)|¿?\s*necesitas? (?:más )?ayuda|¿?\s*no encuentras",
        r"¿?\s*(?:te|le) (?:ha )?(?:resultó|sido|fue) útil|¿?\s*(?:en qué|cómo) podemos ayudar"
        r"|¿?\s*olvidaste|volver arriba$",
    ),
    "ko": (
        r".*(?:더 궁금|궁금한 점이|궁금하신|문의사항이|질문이 (?:더 )?있으|도움이 (?:되셨|필요|되었))",
        r".*(?:시작할 준비|찾지 못하)|(?:맨 )?위로$",
        r"왜 .{0,12}(?:선택|인가)",
    ),
    "ja": (
        r".*(?:ご不明な点|お困り(?:です|では)|お悩みではありませんか|解決しましたか|役に立ちましたか|選ばれる理由)",
        r".*(?:まだ質問|お探しですか|ご質問がありますか|始めませんか|してみませんか)|(?:ページ)?トップへ(?:戻る)?$",
    ),
    "zh": (
        r".*(?:还有(?:其他)?(?:问题|疑问)|需要(?:更多)?帮助|没有找到|有帮助吗|准备好|为什么选择|想了解更多|為什麼選擇)|(?:返回|回到)顶部$",
    ),
}
"""What a page asks its reader, to be clicked or answered: no question that the page answers."""

_ANNOUNCEMENTS: Final = {
    "en": (
        r"\bfaqs?\b|frequently[\s-]asked|\bq\s*(?:&|and|\+)\s*as?\b|common questions"
        r"|questions (?:and|&) answers"
        r"|questions? (?:people|customers|guests|visitors|we|you)|your questions|(?:popular|top) questions"
    ),
    "de": r"(?:häufig|oft|meist)\w*\s+(?:gestellte\w*\s+)?fragen|fragen (?:und|&) antworten|haeufige fragen",
    "fr": r"foire aux questions|questions? (?:fréquen|frequen|et réponses|courantes|les plus)|vos questions",
    "es": r"preguntas (?:más )?(?:frecuentes|comunes|habituales)|preguntas y respuestas|dudas frecuentes",
    "ko": r"자주\s*(?:묻는|하는|찾는)\s*질문|질문과 답변|자주하는질문",
    "ja": r"よくある(?:ご)?質問|ご?質問と回答|q＆a",
    "zh": r"常见(?:问题|疑问)|常見(?:問題|疑問)|问答|問答|问与答|疑难解答",
}

_FILLED_IN = re.compile(r"\{\{|\{%|\$\{|<%|%%|\blorem ipsum\b", re.IGNORECASE)


def _any_of(patterns: dict[str, tuple[str, ...]]) -> re.Pattern[str]:
    return re.compile("|".join(one for language in patterns.values() for one in language), re.IGNORECASE)


_GRAMMAR = _any_of(GRAMMAR)
_OPENING = re.compile("|".join(_OPENINGS.values()), re.IGNORECASE)
_COME_ON = _any_of(_ASKED_BACK)
_ANNOUNCES = re.compile("|".join(_ANNOUNCEMENTS.values()), re.IGNORECASE)


def ends_as_question(text: str) -> bool:
    """Tell whether a text has the mark of a question: at its end, or `¿` at its start."""
    return 3 <= len(text) <= LONGEST and (
        text.rstrip(" \"'”»)」』").endswith(("?", "？", "؟")) or text.startswith("¿")
    )


def is_question(text: str) -> bool:
    """Tell whether a text is a question by its mark, or by the way its sentence is built."""
    if ends_as_question(text):
        return True
    return 3 <= len(text) <= LONGEST and not text.endswith(("!", ":")) and _GRAMMAR.match(text) is not None


def asks(text: str) -> bool:
    """Tell whether a line of text is a question: by its mark, or built as one and no sentence that ends."""
    return is_question(text) and not text.endswith((".", "…"))


def opens_as_question(text: str, *, strictly: bool = False) -> bool:
    """Tell whether a text begins as questions do; unless `strictly`, a question mark is enough."""
    if not strictly and is_question(text):
        return True
    return 3 <= len(text) <= LONGEST and (_OPENING.match(text) or _GRAMMAR.match(text)) is not None


def is_come_on(text: str) -> bool:
    """Tell whether a text only asks its reader: `Ready to start?`, `Still have questions?`."""
    return len(text) <= LONGEST and _COME_ON.match(text) is not None


def names_faq(text: str) -> bool:
    """Tell whether a title, a heading or an address announces questions and answers."""
    return _ANNOUNCES.search(text[:LONGEST]) is not None


def is_filled_in_later(text: str) -> bool:
    """Tell whether a text is a template's, whose words a script would put there."""
    return _FILLED_IN.search(text) is not None
