"""The migrations of the database schema, run by Alembic; `versions/` has them in their order."""
