"""The oldest schema that can be upgraded, that of development versions.

Their databases lack two foreign keys, and have the view `editions`, the table `schema_version` and the column
`faqs.owner`, which nothing uses.
"""

revision = "0007"
down_revision = None
