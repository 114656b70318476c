"""FAQs, sites and API keys in a database: SQLite for one machine, PostgreSQL for several.

`open_storage()` and `Storage` in `storage.py` are the place to begin. `schema.py` has the tables,
`migrations/` how existing databases get them. `publications.py` is what readers see, `history.py` what
owners see, and `writer.py` what changes either.
"""

from faqsvc_embed.service.storage.api_keys import APIKeyInfo, APIKeys, UnknownAPIKey
from faqsvc_embed.service.storage.database import DEFAULT_URL, StorageUnavailable
from faqsvc_embed.service.storage.sites import Site, UnknownSite
from faqsvc_embed.service.storage.storage import Storage, open_storage, read_storage

__all__ = [
    "DEFAULT_URL",
    "APIKeyInfo",
    "APIKeys",
    "Site",
    "Storage",
    "StorageUnavailable",
    "UnknownAPIKey",
    "UnknownSite",
    "open_storage",
    "read_storage",
]
