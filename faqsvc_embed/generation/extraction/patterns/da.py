"""Danish and Norwegian."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:hvordan|hvad|hva|hvornår|når|hvor|hvorfor|hvem|hvilken|hvilke[nt]?) (?:\w+ )?(?:er|kan|"
        r"skal|må|gør|gjør|får|har|koster|fungerer|virker|sker|skjer|lang|lenge|længe|meget|mye|"
        r"mange)\b",
        r"(?:kan|må|skal|er|har|får|findes|finnes) (?:jeg|man|I|du|vi|det|den|de|der|min)\b",
    ),
    question_openings=(
        r"(?:hvordan|hva|hvad|hvornår|når|hvor|hvorfor|hvem|hvilk\w+|kan|skal|må|er|har|får)\b",
    ),
    calls_to_action=(
        r"(?:har du )?(?:flere |andre |et |nogle |noen )*sp(?:ø|ö)rgsmål\b[^.]{0,20}\?",
        r"(?:har du )?(?:flere |andre |et |noen )*spørsmål\b[^.]{0,20}\?",
        "(?:har du )?(?:stadig )?brug for hjælp|trenger du hjelp|til toppen",
    ),
    faq_titles=(
        "ofte stillede spørgsmål",
        "ofte stilte spørsmål",
        "vanlige spørsmål",
        "spørgsmål (?:og|&) svar",
        "spørsmål (?:og|&) svar",
    ),
    help_centres=(
        "hjælpecenter",
        "hjelpesenter",
        "brukerstøtte",
    ),
    other_titles=(
        "^om os",
        "privatlivspolitik",
        "personvern",
    ),
    section_titles=(
        "indhold(?:sfortegnelse)?",
        "innhold",
        "indledning",
        "innledning",
        "kontakt(?: os| oss)?",
        "om os",
        "om oss",
        "se også|relaterede .*|relaterte .*",
    ),
    interview_titles=(
        r"\binterview",
        r"\bintervju",
    ),
    page_ends=(
        r"luk$",
        r"(?:sidst|sist) (?:opdateret|oppdatert|ændret|endret)\b.{0,60}$",
    ),
    question_columns=(
        "spørgsmål",
        "spørsmål",
    ),
    answer_columns=("svar",),
    help_links=(
        "hjælp",
        "hjelp",
        "spørgsmål",
        "spørsmål",
    ),
    shop_links=(
        "levering",
        "fragt",
        "frakt",
        "retur",
        "priser",
    ),
)
