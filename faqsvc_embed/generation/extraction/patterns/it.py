"""Italian."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:come|quando|quanto|quanti|quante|dove|perché|chi|che cosa|cosa|qual|quale|quali) (?:è|"
        r"sono|si|posso|può|devo|fare|funziona|costa|costano|tempo|faccio)\b",
        r"(?:cos|com|dov|qual)['’]è\b",
    ),
    question_openings=(
        r"(?:come|quando|quant[oaie]|dove|perché|chi|cosa|che|quali?|posso|è possibile|si può)\b",
    ),
    calls_to_action=(
        r"(?:hai|avete|ha) (?:ancora |altre |delle |qualche )*(?:domand[ae]|dubbi)[^.]{0,20}\?",
        r"(?:hai )?bisogno di (?:aiuto|assistenza)|torna (?:su|all['’]inizio)|pront[oaie] (?:a|per)\b",
    ),
    faq_titles=(
        "domande (?:più )?frequenti",
        "domande e risposte",
    ),
    help_centres=(
        "centro assistenza",
        "centro di supporto",
    ),
    other_titles=(
        "^chi siamo",
        "privacy",
        "cookie policy",
        "lavora con noi",
    ),
    section_titles=(
        "indice",
        "sommario",
        "introduzione",
        "conclusion[ei]",
        "contatti",
        "contattaci",
        "chi siamo",
        "vedi anche|link utili|articoli correlati",
    ),
    interview_titles=(r"\bintervista",),
    page_ends=(
        r"chiudi$",
        r"(?:ultimo aggiornamento|aggiornato|ultima modifica)\b.{0,60}$",
    ),
    question_labels=("Domanda",),
    answer_labels=("Risposta",),
    question_columns=("domand[ae]",),
    answer_columns=("rispost[ae]",),
    help_links=(
        "aiuto",
        "assistenza",
        "domande",
    ),
    shop_links=(
        "spedizion",
        "resi",
        "prezzi",
        "contatti",
    ),
)
