"""The schema of the first release, in which `schema.py` creates it: there is nothing to upgrade.

Databases of development versions have this number. They lack two foreign keys, and have the view `editions`,
the table `schema_version` and the column `faqs.owner`, which nothing uses.
"""

revision = "0007"
down_revision = None
