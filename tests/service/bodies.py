"""What publishers send."""

from typing import Any


def publication(**changes: Any) -> dict[str, Any]:
    """Return the body of the specification's example, with some fields replaced or added."""
    return {
        "websiteUrl": "https://www.tea.example",
        "websiteName": "Tea & Sons",
        "items": [
            {"question": "What does it cost?", "answer": "Nothing."},
            {"question": "May I cancel?", "answer": "Any time."},
        ],
        **changes,
    }
