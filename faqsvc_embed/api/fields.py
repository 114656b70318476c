"""The types of request fields, with their limits.

The limits keep a record below the 1 MiB that clients read. Client and service share them, so that the client
refuses what the service would refuse.
"""

from typing import Annotated, Final, Literal

from msgspec import Meta

from faqsvc_embed.api.slugs import ACCEPTED, MAX_SLUG
from faqsvc_embed.wire import ITEM_ID, ITEM_ID_FORM, MAX_INTRODUCTION, MAX_SECTION

MAX_BODY: Final = 1_000_000
"""Bytes."""
MAX_ITEMS: Final = 1_000
MAX_QUESTION: Final = 1_000
MAX_ANSWER: Final = 20_000
MAX_NAME: Final = 200
MAX_URL: Final = 2_000

NOT_EMPTY: Final = r"^[^\u0000]*[^\u0000\s][^\u0000]*$"
"""Some text, without U+0000, which databases cannot store."""
WEB_ADDRESS: Final = (
    r"^[Hh][Tt][Tt][Pp][Ss]?://[A-Za-z0-9._~\u00a1-\u1fff\u3040-\ud7ff-]+"
    r"(:([0-9]{1,4}|[1-5][0-9]{4}|6[0-4][0-9]{3}|65[0-4][0-9]{2}|655[0-2][0-9]|6553[0-5]))?"
    r"([/?#][^\u0000-\u0020\u0022<>\\\u007f-\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]*)?$"
)
"""http or https, a host in any script, no user name or password, and no white space, control
character, quotation mark, angle bracket or backslash."""
SLUG: Final = r"^(?!\.{1,2}$)[^\u0000-\u001f\u007f-\u009f/\\]+$"

# `accepted` completes "… is accepted" in the message for a text that does not match the pattern.
Slug = Annotated[
    str,
    Meta(min_length=1, max_length=MAX_SLUG, pattern=SLUG, examples=["pricing"], extra={"accepted": ACCEPTED}),
]
WebsiteURL = Annotated[
    str,
    Meta(
        max_length=MAX_URL,
        pattern=WEB_ADDRESS,
        examples=["https://www.tea.example"],
        extra={"accepted": "an address such as https://www.example.com"},
    ),
]
Name = Annotated[str, Meta(max_length=MAX_NAME, pattern=NOT_EMPTY)]
Question = Annotated[str, Meta(max_length=MAX_QUESTION, pattern=NOT_EMPTY)]
Answer = Annotated[str, Meta(max_length=MAX_ANSWER, pattern=NOT_EMPTY)]
Introduction = Annotated[str, Meta(max_length=MAX_INTRODUCTION, pattern=NOT_EMPTY)]
Section = Annotated[str, Meta(max_length=MAX_SECTION, pattern=NOT_EMPTY)]
ItemId = Annotated[str, Meta(pattern=ITEM_ID, examples=["shipping"], extra={"accepted": ITEM_ID_FORM})]
Lang = Literal["en", "ko", "ja", "zh", "es", "fr", "de"]
