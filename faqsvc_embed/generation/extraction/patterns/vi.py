"""Vietnamese."""

from faqsvc_embed.generation.extraction.patterns.language import Language

PATTERNS = Language(
    question_grammar=(
        "(?:làm thế nào|làm sao|tại sao|vì sao|khi nào|bao giờ|ở đâu|bao nhiêu|có thể|ai) .+",
        ".*(?: không| là gì| thế nào| bao lâu| bao nhiêu| ở đâu)$",
    ),
    question_openings=(r"(?:làm thế nào|làm sao|tại sao|vì sao|khi nào|ai|có)\b",),
    calls_to_action=(
        "bạn (?:còn|có|vẫn còn) (?:thêm )?(?:câu hỏi|thắc mắc)",
        "cần (?:trợ giúp|hỗ trợ)|về đầu trang",
    ),
    faq_titles=(
        "câu hỏi thường gặp",
        "hỏi đáp",
        "hỏi và đáp",
    ),
    help_centres=("trung tâm trợ giúp",),
    other_titles=(
        "^về chúng tôi",
        "chính sách bảo mật",
    ),
    section_titles=(
        "mục lục",
        "giới thiệu",
        "kết luận",
        "liên hệ",
        "về chúng tôi",
    ),
    interview_titles=("phỏng vấn",),
    question_labels=("Hỏi",),
    answer_labels=("Đáp",),
    question_columns=("câu hỏi",),
    answer_columns=("trả lời",),
    help_links=(
        "trợ giúp",
        "hỗ trợ",
    ),
    shop_links=(
        "giao hàng",
        "đổi trả",
        "giá",
    ),
)
