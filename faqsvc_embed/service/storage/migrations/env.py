"""Run the migrations on the connection that `upgrade.py` gives to Alembic.

SQLite, whose readers never wait, gets all of them in one transaction; PostgreSQL one for each.
"""

from alembic import context

connection = context.config.attributes["connection"]
is_sqlite = connection.dialect.name == "sqlite"
context.configure(connection=connection, transactional_ddl=True, transaction_per_migration=not is_sqlite)
if is_sqlite:
    context.run_migrations()  # in the transaction of the connection
else:
    with context.begin_transaction():
        context.run_migrations()
