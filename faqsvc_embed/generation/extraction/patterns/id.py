"""Indonesian and Malay."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        r"(?:apa|apakah|bagaimana|kapan|di ?mana|mengapa|kenapa|siapa|berapa|bolehkah|bisakah|adakah) \w+",
    ),
    question_openings=(
        r"(?:apa|apakah|bagaimana|kapan|di ?mana|mengapa|kenapa|siapa|berapa|bolehkah|bisakah|adakah)\b",
    ),
    calls_to_action=(
        r"(?:masih )?(?:punya|ada|memiliki) pertanyaan\b[^.]{0,20}\?",
        "butuh bantuan|kembali ke atas",
    ),
    faq_titles=(
        "pertanyaan (?:yang )?(?:sering|umum)",
        "tanya jawab",
        "soalan lazim",
    ),
    help_centres=("pusat bantuan",),
    other_titles=(
        "^tentang kami",
        "kebijakan privasi",
    ),
    section_titles=(
        "daftar isi",
        "pendahuluan",
        "kesimpulan",
        "kontak",
        "hubungi kami",
        "tentang kami",
        "lihat juga|artikel terkait",
    ),
    interview_titles=(r"\bwawancara",),
    page_ends=(
        r"tutup$",
        r"terakhir (?:diperbarui|diubah)\b.{0,60}$",
    ),
    question_columns=("pertanyaan",),
    answer_columns=("jawaban",),
    help_links=(
        "bantuan",
        "pertanyaan",
    ),
    shop_links=(
        "pengiriman",
        "pengembalian",
        "harga",
    ),
)
