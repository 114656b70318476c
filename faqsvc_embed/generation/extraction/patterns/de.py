"""German."""

from faqsvc_embed.generation.extraction.patterns.language import Language

VERB = (
    "ist|sind|kann|können|muss|müssen|darf|soll|wird|werden|hat|habe|haben|gibt|kostet|kosten|funktioniert"
    "|passiert|geht|bekomme|erhalte|mache|finde|lange|viel|viele|oft|hoch|läuft|melde|bestelle"
    "|kündige|ändere|dürfen|dauert|lautet|benötige|brauche|liefert"
)

PATTERNS = Language(
    question_grammar=(
        r"(?:wie|was|wann|wo|warum|wieso|wer|wen|wem|womit|woher|wohin|welche[rsmn]?|wofür|wozu)"
        rf" (?:\w+ )?(?:{VERB})\b",
        r"(?:kann|können|muss|müssen|darf|dürfen|soll|gibt|ist|sind|wird|werden|habe|haben|hat|"
        r"bekomme|brauche)"
        r" (?:ich|man|sie|wir|es|er|ihr|du|der|die|das|eine?|meine?|auch)\b",
    ),
    question_openings=(
        r"(?:wie|was|wann|wo|warum|wieso|weshalb|wer|welche[rsmn]?|womit|wofür)\b",
        r"(?:kann|können|muss|müssen|darf|gibt|ist|sind|wird|hat|habe|haben|bekomme|brauche)\b",
    ),
    calls_to_action=(
        r"(?:noch |weitere |haben sie |hast du |sie haben |du hast |immer |offene |eine |andere )*"
        r"fragen?\b[^.]{0,30}\?",
        r"(?:bereit|lust|neugierig|interesse|interessiert|überzeugt)\b[^.]{0,60}\?",
        r"(?:nicht |keine antwort |nichts )(?:passendes )?gefunden\b",
        r"(?:wie|womit) können wir (?:ihnen |dir )?helfen",
        r"warum (?:wir|uns|mit uns|kunden)\b",
        r"(?:ihre|deine|eure) frage (?:war |ist |wurde )?(?:hier |noch )*nicht\b",
        r"(?:brauchen sie|brauchst du|benötigen sie)(?: \w+)? hilfe|hilfe (?:benötigt|gefällig)",
        r"(?:zurück )?nach oben$",
        r"war d(?:as|iese).*hilfreich",
        r"passwort vergessen|schon (?:kunde|registriert)",
    ),
    faq_titles=(
        r"(?:häufig|oft|meist)\w*\s+(?:gestellte\w*\s+)?fragen",
        r"haeufige fragen",
        r"fragen (?:und|&) antworten",
    ),
    help_centres=(
        "hilfe-?(?:center|bereich|seite)",
        "wissensdatenbank",
        "support-?center",
    ),
    other_titles=(
        "^über uns",
        "datenschutz",
        "cookie-(?:richtlinie|hinweis)",
        "impressum",
        "bewerbung",
        "stellenangebot",
        "karriere",
    ),
    section_titles=(
        "inhalt(?:sverzeichnis|sübersicht)?",
        "übersicht",
        "einleitung",
        "fazit",
        "zusammenfassung",
        "suche",
        "menü",
        r"(?:weitere|verwandte|ähnliche) .*|siehe auch|nützliche links|kontakt.*|über uns|impressum|"
        r"datenschutz.*",
        r"newsletter.*|kategorien?|themen|kommentare|hilfe|support|rechtliches|unternehmen|"
        r"folgen sie uns|auf dieser seite",
    ),
    interview_titles=(r"\binterview", r"\bim gespräch\b"),
    page_ends=(
        r"schließen$",
        r"(?:mehr (?:lesen|erfahren|anzeigen)|weiterlesen)$",
        r"(?:zuletzt |letzte )(?:geändert|aktualisiert|bearbeitet|änderung|aktualisierung).{0,60}$",
        r"(?:zurück|zum|nach) (?:zum |zur )?(?:seitenanfang|anfang|oben|übersicht|inhalt|liste)\b.{0,20}$",
        r"(?:stand|aktualisiert am):? .{0,30}$",
    ),
    question_labels=("F", "Frage"),
    answer_labels=("A", "Antwort"),
    question_columns=("fragen?",),
    answer_columns=("antwort(?:en)?",),
    help_links=("hilfe", "fragen", "antwort"),
    shop_links=("versand", "lieferung", "preise", "kontakt"),
)
