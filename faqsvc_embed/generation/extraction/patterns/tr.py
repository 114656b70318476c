"""Turkish."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r".*(?:\bm[ıiuü](?:y[ıiuü]m|s[ıiuü]n(?:[ıiuü]z)?|d[ıiuü]r|y[ıiuü]z)?)$",
        "(?:nasıl|ne zaman|neden|nerede|nereden|hangi|kaç|kim|niçin) .+",
    ),
    question_openings=(
        r"(?:nasıl|ne|neden|nerede|nereden|hangi|kaç|kim|niçin)\b",
        ".*(?:nedir|nasıl yapılır|ne kadar)$",
    ),
    calls_to_action=(
        r"(?:başka |hala |hâlâ )*(?:bir )?sorunuz\b[^.]{0,20}\?",
        "yardıma mı ihtiyacınız|başa dön|yukarı çık",
    ),
    faq_titles=(
        "s[ıi]k(?:ça)? sorulan(?: sorular)?",
        "sorular ve cevaplar",
        "soru[- ]cevap",
        r"\bsss\b",
    ),
    help_centres=("yardım merkezi",),
    other_titles=(
        "^hakkımızda",
        "gizlilik",
    ),
    section_titles=(
        "içindekiler",
        "giriş",
        "sonuç",
        "iletişim",
        "hakkımızda",
        "ayrıca bakınız|ilgili .*",
    ),
    interview_titles=(
        "röportaj",
        "söyleşi",
    ),
    page_ends=(
        r"kapat$",
        r"son güncelleme\b.{0,60}$",
    ),
    question_labels=("Soru",),
    answer_labels=("Cevap",),
    question_columns=(
        "sorular?",
        "soru",
    ),
    answer_columns=(
        "cevap(?:lar)?",
        "yanıt(?:lar)?",
    ),
    help_links=(
        "yardım",
        "sorular",
        "destek",
    ),
    shop_links=(
        "kargo",
        "iade",
        "fiyat",
        "iletişim",
    ),
)
