"""The messages of the desk after a form was sent."""

from typing import Final

DONE: Final = {
    "draft": "The draft is saved. Readers cannot see it before it is published.",
    "published": "Published. Pages that show this FAQ are updated within seconds.",
    "restored": "The FAQ is restored, with its history.",
    "discarded": "The draft is discarded. It stays in the history.",
    "binned": "The draft is in the bin for 30 days. A publisher can restore it there.",
    "right": "This translation is marked as up to date.",
    "same": "Nothing has changed since the last save.",
}
DELETED: Final = "This FAQ was deleted while you were writing. Save again to create it again."
BINNED: Final = "This FAQ is in the bin. Restore it there in another tab, then save again here."
SEALED: Final = (
    "This FAQ was deleted for ever, and its slug cannot be used again. Choose another slug, or ask an admin."
)
UNTRANSLATED: Final = (
    "This question is not translated, but questions below it are. Translate it or copy it. If you remove it,"
    " the translations below move up, beside the wrong questions."
)
UNPUBLISHED: Final = (
    "This FAQ was unpublished, and a new translation would make it public again. Save a draft, or publish"
    " the FAQ again first."
)
TAKEN: Final = "An FAQ with this slug already exists. Choose another slug, or leave it empty."
