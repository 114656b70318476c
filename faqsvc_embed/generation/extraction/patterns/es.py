"""Spanish."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:cómo|cuándo|cuánt[oa]s?|dónde|cuál|cuáles|por qué|quién|qué) "
        r"(?:es|son|está|están|puedo|puede|pueden|hago|hacer|debo|tengo|cuesta|cuestan|tarda|pasa"
        r"|funciona|hay|se)\b",
    ),
    question_openings=(
        "¿",
        r"(?:cómo|qué|cuándo|cuánt[oa]s?|dónde|cuál|cuáles|por qué|quién|puedo)\b",
    ),
    calls_to_action=(
        r"¿?\s*(?:aún |todavía )?(?:tienes?|tenéis|tiene) "
        r"(?:(?:aún |más |alguna|otras?|todavía )\s*)*(?:preguntas?|dudas?)",
        r"¿?\s*(?:más |otras |alguna )?(?:preguntas|dudas)\s*\?",
        r"¿?\s*list[oa]s? para",
        r"¿?\s*por qué (?:elegirnos|nosotros|elegir)",
        r"¿?\s*necesitas? (?:más )?ayuda|¿?\s*no encuentras",
        r"¿?\s*(?:te|le) (?:ha )?(?:resultó|sido|fue) útil",
        r"¿?\s*(?:en qué|cómo) podemos ayudar",
        r"¿?\s*olvidaste|volver arriba$",
    ),
    faq_titles=(
        r"preguntas (?:más )?(?:frecuentes|comunes|habituales)",
        r"preguntas y respuestas",
        r"dudas frecuentes",
    ),
    help_centres=(
        "centro de (?:ayuda|soporte|asistencia)",
        "base de conocimientos?",
    ),
    other_titles=(
        "^sobre nosotros",
        "quiénes somos",
        "^nosotros",
        "privacidad",
        "política de cookies",
        "aviso legal",
        "cómo (?:postular|inscribirse)",
        "inscripción",
    ),
    section_titles=(
        "índice",
        "contenidos?",
        "introducción",
        "conclusi(?:ón|ones)",
        "resumen",
        "búsqueda",
        "menú",
        r"ver también|enlaces (?:útiles|de interés|relacionados)|artículos relacionados|más información",
        r"contacto|contáctanos|sobre nosotros|quiénes somos|aviso legal|newsletter.*|categorías?|"
        r"comentarios|síguenos.*",
    ),
    interview_titles=(r"\bentrevista",),
    page_ends=(
        r"cerrar$",
        r"(?:leer|ver|saber) más$",
        r"(?:última )?(?:actualización|modificación|actualizado|modificado)\b.{0,60}$",
        r"(?:volver|regresar|ir) (?:al|a la|a) (?:inicio|índice|principio|lista|arriba).{0,20}$",
    ),
    question_labels=("P", "Pregunta"),
    answer_labels=("R", "Respuesta"),
    question_columns=("preguntas?",),
    answer_columns=("respuestas?",),
    help_links=("ayuda", "preguntas", "dudas"),
    shop_links=("env[ií]o", "devolu", "precio", "contacto"),
)
