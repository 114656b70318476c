"""Polish."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:jak|co|kiedy|gdzie|dlaczego|kto|ile|jaki|jaka|jakie|który|która|które) (?:\w+ )?(?:jest|"
        r"są|mogę|można|muszę|należy|trwa|kosztuje|działa|zrobić|to)\b",
        r"czy\s",
    ),
    question_openings=(r"(?:jak|co|kiedy|gdzie|dlaczego|kto|ile|jaki\w*|któr\w+|czy)\b",),
    calls_to_action=(
        r"(?:masz |macie )?(?:jeszcze |inne |dodatkowe |więcej )*pyta(?:nia|nie|ń)\b[^.]{0,20}\?",
        "potrzebujesz pomocy|do góry",
    ),
    faq_titles=(
        "najcz[eę][sś]ciej zadawane pytania",
        "cz[eę]sto zadawane pytania",
        "pytania i odpowiedzi",
        "częste pytania",
    ),
    help_centres=("centrum pomocy",),
    other_titles=(
        "^o nas",
        "polityka prywatności",
    ),
    section_titles=(
        "spis treści",
        "wstęp",
        "podsumowanie",
        "kontakt",
        "o nas",
        "zobacz (?:też|także)|powiązane .*",
    ),
    interview_titles=(
        r"\bwywiad",
        r"\brozmowa z\b",
    ),
    page_ends=(
        r"zamknij$",
        r"ostatnia (?:aktualizacja|zmiana)\b.{0,60}$",
    ),
    question_labels=("Pytanie",),
    answer_labels=("Odpowiedź",),
    question_columns=("pytani[ea]",),
    answer_columns=("odpowied(?:ź|zi)",),
    help_links=(
        "pomoc",
        "pytania",
    ),
    shop_links=(
        "dostaw",
        "zwrot",
        "cennik",
        "kontakt",
    ),
)
