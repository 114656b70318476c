"""Swedish."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:hur|vad|när|var|varför|vem|vilken|vilket|vilka) (?:\w+ )?(?:är|kan|ska|måste|gör|får|har|"
        r"kostar|fungerar|händer|länge|mycket|många)\b",
        r"(?:kan|får|måste|är|har|ska|finns) (?:jag|man|ni|du|vi|det|den|de|min)\b",
    ),
    question_openings=(r"(?:hur|vad|när|var|varför|vem|vilk\w+|kan|får|måste|är|har|ska|finns)\b",),
    calls_to_action=(
        r"(?:har du )?(?:fler |några |andra |en )*fråg(?:a|or)\b[^.]{0,20}\?",
        "behöver du hjälp|tillbaka till toppen|redo att",
    ),
    faq_titles=(
        "vanliga frågor",
        "frågor (?:och|&|o) svar",
    ),
    help_centres=("hjälpcenter",),
    other_titles=(
        "^om oss",
        "integritetspolicy",
    ),
    section_titles=(
        "innehåll(?:sförteckning)?",
        "inledning",
        "kontakt(?:a oss)?",
        "om oss",
        "se även|relaterade .*",
    ),
    interview_titles=(r"\bintervju",),
    page_ends=(
        r"stäng$",
        r"senast (?:uppdaterad|ändrad)\b.{0,60}$",
    ),
    question_labels=("Fråga",),
    answer_labels=("Svar",),
    question_columns=("fråg(?:a|or)",),
    answer_columns=("svar",),
    help_links=(
        "hjälp",
        "frågor",
        "kundtjänst",
    ),
    shop_links=(
        "leverans",
        "frakt",
        "retur",
        "priser",
    ),
)
