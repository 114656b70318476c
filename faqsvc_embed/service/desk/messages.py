"""The messages of the desk."""

from typing import Final

DONE: Final = {
    "saved": "Saved.",
    "removed": "The person is removed.",
    "revoked": "The key is revoked.",
    "unpublished": "Unpublished. Pages stop showing it within seconds.",
    "again": "Published again. Pages show it within seconds.",
    "deleted": "The FAQ is in the bin. A publisher can restore it for 30 days.",
    "purged": "The FAQ is deleted for ever, with all its texts.",
    "lifted": "The slug can be used again.",
    "draft": "The draft is saved. Readers cannot see it before it is published.",
    "published": "Published. Pages that show this FAQ are updated within seconds.",
    "restored": "The FAQ is restored, with its history.",
    "discarded": "The draft is discarded. It stays in the history.",
    "binned": "The draft is in the bin for 30 days. A publisher can restore it there.",
    "right": "This translation is marked as up to date.",
    "same": "Nothing has changed since the last save.",
}
"""Messages after an action, by the parameter `done` in the address to which its form redirects."""
NAME: Final = "Write a name of 1 to 100 characters, without line breaks."
EMAIL: Final = "Write an email address such as mia@example.com."
COLOR: Final = "Write a colour such as #0a7a5c or rgb(10 122 92), or a CSS name such as teal."
DELETED: Final = "This FAQ was deleted while you were writing. Save again to create it again."
BINNED: Final = "This FAQ is in the bin. Restore it there in another tab, then save again here."
UNTRANSLATED: Final = (
    "This question is not translated, but questions below it are. Translate it, or press Copy. If you remove"
    " it, the translations below it belong to the wrong questions."
)
UNPUBLISHED: Final = (
    "This FAQ was unpublished, and a new translation would make it public again. Save the translation as a"
    " draft, or publish the FAQ again first."
)
TAKEN: Final = "An FAQ with this slug already exists. Choose another slug, or leave it empty."
