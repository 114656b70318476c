"""Portuguese."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:como|quando|quanto|quantos|quantas|onde|por que|quem|o que|qual|quais) (?:é|são|eu|posso|"
        r"pode|devo|fazer|funciona|custa|faço|está|tempo|acontece)\b",
    ),
    question_openings=(
        r"(?:como|quando|quant[oa]s?|onde|por ?qu[eê]|quem|o que|qual|quais|posso|é possível)\b",
    ),
    calls_to_action=(
        r"(?:ainda |você )*(?:tem|têm|ficou com) (?:mais |outras |alguma |ainda )*(?:pergunta|"
        r"dúvida)s?[^.]{0,20}\?",
        "(?:precisa de|quer) ajuda|pront[oa] para|voltar ao topo",
    ),
    faq_titles=(
        "perguntas (?:mais )?frequentes",
        "perguntas e respostas",
        "dúvidas (?:mais )?frequentes",
    ),
    help_centres=(
        "central de ajuda",
        "centro de ajuda",
    ),
    other_titles=(
        "^sobre nós",
        "quem somos",
        "privacidade",
        "política de cookies",
        "como se inscrever",
    ),
    section_titles=(
        "índice",
        "sumário",
        "introdução",
        "conclusão",
        "contato",
        "contacto",
        "sobre nós",
        "veja também|links úteis|artigos relacionados",
    ),
    interview_titles=(r"\bentrevista",),
    page_ends=(
        r"fechar$",
        r"(?:última atualização|atualizado|última modificação)\b.{0,60}$",
    ),
    question_labels=("Pergunta",),
    answer_labels=("Resposta",),
    question_columns=("perguntas?",),
    answer_columns=("respostas?",),
    help_links=(
        "ajuda",
        "dúvidas",
        "perguntas",
    ),
    shop_links=(
        "envio",
        "entrega",
        "devolu",
        "preço",
        "contato",
    ),
)
