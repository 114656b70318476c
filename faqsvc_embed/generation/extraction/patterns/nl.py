"""Dutch."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:hoe|wat|wanneer|waar|waarom|wie|welke?|hoeveel|waarmee) (?:\w+ )?(?:is|zijn|kan|kunnen|"
        r"moet|moeten|wordt|worden|heb|hebben|doe|gaat|kost|werkt|krijg|lang|veel)\b",
        r"(?:kan|moet|mag|heb|is|zijn|krijg|kunnen) (?:ik|jullie|u|je|het|er|we|wij|de|mijn)\b",
    ),
    question_openings=(r"(?:hoe|wat|wanneer|waar|waarom|wie|welke?|hoeveel|kan|moet|mag|is|zijn)\b",),
    calls_to_action=(
        r"(?:heb (?:je|jij)|heeft u|hebt u)?\s*(?:nog |andere |een |meer |verdere )*vra(?:ag|"
        r"gen)\b[^.]{0,20}\?",
        "hulp nodig|terug naar boven|klaar om",
    ),
    faq_titles=(
        "veel ?gestelde vragen",
        "vragen en antwoorden",
    ),
    help_centres=(
        "helpcentrum",
        "helpcenter",
    ),
    other_titles=(
        "^over ons",
        "privacyverklaring",
        "cookie(?:beleid|verklaring)",
        "vacatures",
    ),
    section_titles=(
        "inhoud(?:sopgave)?",
        "inleiding",
        "conclusie",
        "contact",
        "over ons",
        "zie ook|nuttige links|gerelateerde .*",
    ),
    interview_titles=(
        r"\binterview",
        r"\bin gesprek met\b",
    ),
    page_ends=(
        r"sluiten$",
        r"(?:laatst |laatste )(?:bijgewerkt|gewijzigd|update)\b.{0,60}$",
    ),
    question_labels=("Vraag",),
    answer_labels=("Antwoord",),
    question_columns=("vra(?:ag|gen)",),
    answer_columns=("antwoord(?:en)?",),
    help_links=(
        "hulp",
        "vragen",
        "klantenservice",
    ),
    shop_links=(
        "verzend",
        "retour",
        "prijzen",
        "contact",
    ),
)
