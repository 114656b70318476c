"""The records of the service as frozen values, with snake_case names here and camelCase names in JSON.

`items` and `records` have the values, and `wire` reads and checks them as JSON. `parts` chooses what a page
shows of an FAQ, and `element_ids` names the elements of its questions.
"""

from faqsvc_embed.models.items import Item
from faqsvc_embed.models.records import (
    ANSWER_FORMATS,
    FAQ,
    AnswerFormat,
    FAQState,
    Source,
    StateSource,
    origin,
    part_of,
    shown,
)

__all__ = [
    "ANSWER_FORMATS",
    "FAQ",
    "AnswerFormat",
    "FAQState",
    "Item",
    "Source",
    "StateSource",
    "origin",
    "part_of",
    "shown",
]
