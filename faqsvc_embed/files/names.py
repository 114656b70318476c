"""The words for `question` and `answer` in the seven languages, in columns, labels and fields."""

from typing import Final

QUESTION_NAMES: Final = (
    *("question", "questions", "q"),
    *("frage", "fragen", "f"),
    *("pregunta", "preguntas", "p"),
    *("질문", "문의", "質問", "问题", "問題", "问", "問"),
)
ANSWER_NAMES: Final = (
    *("answer", "answers", "a"),
    *("antwort", "antworten"),
    *("respuesta", "respuestas", "r", "réponse", "réponses", "reponse", "reponses"),
    *("답변", "답", "대답", "回答", "答え", "答案", "答"),
)


def plain_name(name: object) -> str:
    """Return a name in lower case, without spaces and punctuation, to compare it with others."""
    return "".join(c for c in str(name).lower() if c not in " _-*:@")


def find_columns(header: list[str]) -> tuple[int, int] | None:
    """Return the indexes of the columns with the questions and the answers, or None if one is missing."""
    names = [plain_name(name) for name in header]
    question = next((names.index(name) for name in (*QUESTION_NAMES, "faq") if name in names), None)
    answer = next((names.index(name) for name in ANSWER_NAMES if name in names), None)
    return None if question is None or answer is None else (question, answer)


_LANGUAGES: Final = {
    **dict.fromkeys(("frage", "fragen", "antwort", "antworten"), "de"),
    **dict.fromkeys(("pregunta", "preguntas", "respuesta", "respuestas"), "es"),
    **dict.fromkeys(("réponse", "réponses", "reponse", "reponses"), "fr"),
    **dict.fromkeys(("질문", "문의", "답변", "답", "대답"), "ko"),
    **dict.fromkeys(("質問", "答え"), "ja"),
    **dict.fromkeys(("问题", "问", "答案"), "zh"),
}


def language_of(*names: str) -> str | None:
    """Return the language of column names if they are words of exactly one of the seven languages."""
    languages = {_LANGUAGES[plain] for name in names if (plain := plain_name(name)) in _LANGUAGES}
    return languages.pop() if len(languages) == 1 else None
