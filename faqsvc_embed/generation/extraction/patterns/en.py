"""English."""

from faqsvc_embed.generation.extraction.patterns.language import Language

AUXILIARY = (
    "is|are|was|were|do|does|did|can|could|should|would|will|shall|may|must|has|have|had|am"
    "|isn't|aren't|don't|doesn't|can't|won't"
)
SUBJECT = "i|you|we|it|they|he|she|there|this|that|these|those|my|your|our|the|an?|any|all"

PATTERNS = Language(
    question_grammar=(
        rf"(?:what|which|whose)(?: (?!{SUBJECT})[\w'-]+){{0,3}} (?:{AUXILIARY})\b",
        rf"(?:how|when|where|why|who|whom) (?:{AUXILIARY})\b",
        r"(?:what|when|where|who|how)['’](?:s|re) (?!new\b|next\b)",
        r"how (?:to|much|many|long|often|far|fast|old|big|soon|late|early)\b",
        rf"(?:{AUXILIARY}) (?:{SUBJECT})\b",
    ),
    question_openings=(rf"(?:what|when|where|why|who|which|how|{AUXILIARY}|if)\b",),
    calls_to_action=(
        r"(?:still |got |have |any |more |other |further |general |you |do )*(?:have )?"
        r"(?:an?y? |more |other |further )*"
        r"questions?\b(?! (?:about|on|for|is|are|can|do)\b)[^.]{0,20}$",
        r"(?:do you )?(?:have|got) (?:a|an|any|other|more|another) (?:\w+ ){0,2}questions?\b",
        r"(?:welcome to|hello|hi|hey)\b",
        r"(?:can['’]?t|cannot|couldn['’]t|did(?:n['’]t| not)|don['’]t) (?:you )?(?:find|see)\b",
        r"(?:how|what) can we (?:help|do for you)\b",
        r"(?:do you |still )*(?:need|want|looking for|require)(?: some| more| any| further| extra)*"
        r" (?:a hand|help|assistance|support|info|information)\b",
        r"need (?:an?|some|more) [^?]{1,30}\?$",
        r"(?:are you )?(?:ready|looking|tired|struggling|curious|interested|thinking|dreaming|excited)"
        r" (?:to|for|of|about|with|in)\b",
        r"(?:are you )?(?:ready|curious|interested|excited|convinced|sold|sound (?:good|familiar))\s*\?",
        r"(?:do you )?(?:want|wanna|would you like|like) to"
        r" (?:learn|know|see|find out|hear|get|try|talk|join|chat|work)\b",
        r"why (?:choose|book|schedule|us\b|our|we\b|buy from|work with|shop with|join|trust"
        r"|(?:our )?customers|people|teams|companies)",
        r"(?:not sure|unsure|undecided|confused|stuck|lost)\b[^?]{0,40}\?",
        r"(?:was|is|did) th(?:is|e) (?:page |article |answer |information |content )?"
        r"(?:helpful|useful|help|solve|answer)",
        r"still (?:not|unsure|confused|looking|wondering|stuck|undecided|need|have|can[’']t)\b[^?]*\?",
        r"did you (?:know|find|like|enjoy)\b|what are you waiting for|what people (?:say|are saying)",
        r"what['’]?s (?:new|next)\b|who we are|what we do|how it works$|like what you see",
        r"let['’]s (?:talk|chat|go)|contact us|get in touch|talk to us|leave a (?:reply|comment)",
        r"forgot(?:ten)? (?:your )?password\b|already (?:a member|have an account)|new (?:here|to)\b",
        r"no account|don['’]t have an account",
        r"what(?: do)? you(?:['’]ll)? (?:get|learn|think)\b|what (?:would you like|do you want) to\b",
        r"what are you looking for|want more\b|(?:back to |to the )?top$",
    ),
    faq_titles=(
        r"\bfaqs?\b",
        r"\bf\.\s?a\.\s?q\b",
        r"frequently[\s-]asked",
        r"\bq\s*(?:&|and|\+)\s*as?\b",
        r"(?:common|popular|top|your) questions",
        r"questions (?:and|&) answers",
        r"questions? (?:people|customers|guests|visitors|we|you)",
    ),
    help_centres=(
        "help cent(?:er|re)",
        "knowledge base",
        "support cent(?:er|re)",
        r"\bhelp ?desk\b",
        r"[|–—-] (?:help|support)\b",
    ),
    other_titles=(
        r"^about\b",
        r"\babout(?: us)?$",
        r"[-–—|:] about\b",
        "privacy",
        "cookie policy",
        "terms (?:of|and)",
        "how to (?:apply|register|enrol)",
        "admissions?",
        "application (?:guide|process)",
        r"\bwho we are\b",
        "our (?:story|team|mission)",
        "careers",
    ),
    section_titles=(
        r"(?:table of )?contents?",
        "index",
        "introduction",
        "overview",
        "summary",
        "conclusions?",
        "references?",
        "navigation",
        "search",
        "menu",
        "share(?: this)?",
        "tags?",
        "categor(?:y|ies)",
        "comments?",
        "topics?",
        r"see also|related\b.*|(?:further|additional) (?:reading|resources|information|help)|(?:more|"
        r"other) (?:help|resources|links)",
        r"(?:useful|quick|important|external) links|on this page|in this (?:article|section)|was this .*",
        r"(?:latest|recent|popular) .*|(?:follow|join|contact|about|email|call|visit) (?:us|me)\b.*|"
        r"contacts?|support|connect|feedback",
        r"(?:subscribe|sign up|log ?in|download|newsletter)\b.*|(?:need|get) (?:more )?(?:help|"
        r"support)\b.*",
        r"(?:company|legal|products?|resources|social|community|archives?|recent posts|footer|"
        r"disclaimer|credits)",
        r"(?:change ?log|acknowledge?ments?|version history|table of contents|list of questions|"
        r"author|about the author)",
    ),
    interview_titles=(r"\binterview", r"\bmeet the\b", r"\bin conversation with\b"),
    page_ends=(
        r"close$",
        r"(?:last |page )*(?:updated|modified|edited|reviewed|changed|revised)\b.{0,60}$",
        r"(?:copyright|©|\(c\))",
        r"(?:edit|improve|view source of) this page",
        r"(?:share|tweet|print|previous|next|(?:read|show|learn|see) more|see also:?)$",
        r"(?:return|back|go|jump) to (?:the )?(?:top|index|contents|questions|list|menu|faq)\b.{0,20}$",
        r"\[?(?:top|back|index|up)\]?$",
    ),
    question_labels=("Q", "Question"),
    answer_labels=("A", "Answer"),
    question_columns=("q", "questions?"),
    answer_columns=("a", "answers?"),
    help_links=("help", "support", "question", "answer", "how-to", "howto", "guide", "knowledge"),
    shop_links=(
        "shipping",
        "delivery",
        "return",
        "refund",
        "pricing",
        "price",
        "plan",
        "contact",
        "about",
        "terms",
    ),
)
