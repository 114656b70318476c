"""Run the migrations on the connection that `upgrade.py` gives to Alembic.

On SQLite, whose readers never wait, all run in one transaction; on PostgreSQL, each has its own.
"""

from alembic import context

_connection = context.config.attributes["connection"]
_is_sqlite = _connection.dialect.name == "sqlite"
context.configure(connection=_connection, transactional_ddl=True, transaction_per_migration=not _is_sqlite)
if _is_sqlite:
    context.run_migrations()  # in the transaction of the connection
else:
    with context.begin_transaction():
        context.run_migrations()
