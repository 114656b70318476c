"""FAQs, sites and API keys in a database: SQLite for one machine, PostgreSQL for several.

Start with `open_storage()` and `Storage` in `storage.py`. `schema.py` has the tables, and `migrations/`
upgrades existing databases. `publications.py` reads published FAQs, `overview.py` lists those of a site, and
`revisions.py` their history. The life cycle of an FAQ is in three files: `writer.py` writes and publishes,
`removal.py` unpublishes, deletes and restores, and both do so by the steps of a transaction in `edit.py`.
"""

from faqsvc_embed.runtime.extras import needs_extra

with needs_extra("service"):
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
