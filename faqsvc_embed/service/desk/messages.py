"""What the desk says after a form was sent."""

from typing import Final

DONE: Final = {
    "draft": "The draft is saved. Readers cannot see it before it is published.",
    "published": "Published. Pages that show this FAQ are updated within seconds.",
    "restored": "It is back, with its history.",
    "discarded": "The draft is discarded. It stays in the history.",
    "binned": "The draft is in the bin for 30 days. A publisher can restore it there.",
    "right": "Noted: this translation is up to date.",
    "same": "Nothing has changed since the last save.",
}
DELETED: Final = "This was deleted while you were writing. Save again to create it again."
BINNED: Final = "This text is in the bin. Restore it there, in another tab, and save again here."
SEALED: Final = (
    "It was deleted for ever, and the slug cannot be used again. Choose another slug, or ask an admin."
)
UNTRANSLATED: Final = (
    "It is not translated, but questions below it are. Translate it or copy it. If you remove it, those below"
    " it move up, each beside another question."
)
UNPUBLISHED: Final = (
    "This FAQ was unpublished, and a new translation would make it public again. Save a draft, or first"
    " publish the FAQ again."
)
TAKEN: Final = "An FAQ with this slug already exists. Choose another slug, or leave it empty."
