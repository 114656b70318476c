"""Arabic."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(r"(?:هل|كيف|متى|أين|لماذا|كم|من هو|من هي|ما هي|ما هو|ماذا|ما الفرق)\s",),
    question_openings=(r"(?:هل|كيف|متى|أين|لماذا|كم|من|ما|ماذا|أي)\s",),
    calls_to_action=(
        "(?:هل )?(?:لديك|لديكم|عندك) (?:أي |المزيد من ال|سؤال|أسئلة|استفسار)",
        "(?:هل )?(?:لم تجد|تحتاج إلى مساعدة)|العودة إلى الأعلى",
    ),
    faq_titles=(
        "الأسئلة (?:الشائعة|المتكررة|الأكثر)",
        "أسئلة (?:شائعة|متكررة|وأجوبة)",
        "سؤال وجواب",
    ),
    help_centres=("مركز المساعدة",),
    other_titles=(
        "^من نحن",
        "سياسة الخصوصية",
    ),
    section_titles=(
        "المحتويات",
        "مقدمة",
        "خاتمة",
        "اتصل بنا",
        "من نحن",
        "تواصل معنا",
    ),
    interview_titles=(
        "مقابلة",
        "حوار مع",
    ),
    page_ends=(
        r"إغلاق$",
        r"آخر تحديث\b.{0,60}$",
    ),
    question_labels=(
        "س",
        "سؤال",
    ),
    answer_labels=(
        "ج",
        "جواب",
    ),
    question_columns=(
        "السؤال",
        "سؤال",
    ),
    answer_columns=(
        "الجواب",
        "الإجابة",
        "جواب",
    ),
    help_links=(
        "مساعدة",
        "أسئلة",
    ),
    shop_links=(
        "شحن",
        "إرجاع",
        "أسعار",
    ),
)
