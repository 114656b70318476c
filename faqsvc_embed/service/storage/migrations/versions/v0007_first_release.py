"""The schema of the first release, in which `schema.py` creates it: there is nothing to upgrade.

Databases of development versions have this number.
"""

revision = "0007"
down_revision = None
