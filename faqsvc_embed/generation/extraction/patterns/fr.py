"""French."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"est[- ]ce qu|qu['’]est[- ]ce",
        r"(?:comment|combien|quand|où|pourquoi|que|qui|quels?|quelles?) (?:\w+ )?"
        r"(?:puis|peut|peux|faire|faut|est|sont|dois|doit|coûte|coûtent|fonctionne|de temps)\b",
        r"(?:puis|peut|dois|pouvez|avez|êtes|proposez|livrez|acceptez|faut)-(?:je|on|il|vous)\b",
    ),
    question_openings=(
        r"(?:comment|pourquoi|combien|quand|où|quels?|quelles?|que|qui|qu['’]|est-ce|puis|peut|dois)\b",
        r"\w+-(?:vous|je|on|il)\b",
    ),
    calls_to_action=(
        r"(?:une|des|vous avez (?:une|des|encore des|d['’]autres)|encore des|d['’]autres|plus de)"
        r" (?:autres? )?questions?\b[^.]{0,20}\?",
        r"prêt(?:e|s|es|\(e\))? à\b|pourquoi (?:nous|choisir|notre)\b",
        r"(?:vous avez )?besoin d(?:e|['’](?:aide|une?|informations?|assistance))\b|envie d[e'’]",
        r"comment (?:pouvons|peut)[- ](?:nous|on) vous aider",
        r"cet(?:te)? (?:article|page|réponse) .*(?:utile|aidé)",
        r"(?:retour )?(?:en )?haut(?: de (?:la )?page)?$",
        r"intéress|vous n['’]avez pas trouvé",
        r"mot de passe oublié|pas encore (?:de compte|inscrit)",
    ),
    faq_titles=(
        r"foire aux questions",
        r"questions? (?:fréquen|frequen|et réponses|courantes|les plus)",
        r"vos questions",
    ),
    help_centres=(
        "centre d['’]aide",
        "base de connaissances",
    ),
    other_titles=(
        "^à propos",
        "qui sommes[- ]nous",
        "confidentialité",
        "(?:politique|gestion) (?:de|des|relative aux) cookies",
        "mentions légales",
        "(?:comment )?candidate[rz]",
        "recrutement",
    ),
    section_titles=(
        "sommaire",
        "table des matières",
        "introduction",
        "conclusion",
        "résumé",
        "recherche",
        "menu",
        r"voir aussi|liens utiles|(?:articles?|pages?) (?:liée?s|connexes|similaires)|"
        r"pour aller plus loin|en savoir plus",
        r"contact(?:ez[- ]nous)?|à propos.*|mentions légales|newsletter.*|catégories?|commentaires?|"
        r"nous suivre|suivez[- ]nous.*",
    ),
    interview_titles=(r"\b(?:entretien|interview)\b", r"\brencontre avec\b"),
    page_ends=(
        r"fermer$",
        r"(?:en savoir plus|lire la suite|voir plus)$",
        r"(?:dernière )?(?:mise à jour|modification|modifié|mis à jour)\b.{0,60}$",
        r"(?:retour|revenir) (?:au|à la|en|à l['’])\s*(?:sommaire|haut|liste|index|début).{0,20}$",
    ),
    question_labels=("Q", "Question"),
    answer_labels=("R", "Réponse"),
    question_columns=("questions?",),
    answer_columns=("r[ée]ponses?",),
    help_links=("aide", "assistance"),
    shop_links=("livraison", "retour", "tarif", "contact"),
)
