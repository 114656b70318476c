"""The migrations of the database schema, in order in `versions/`. Alembic runs them."""
