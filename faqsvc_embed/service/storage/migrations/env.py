"""Run the migrations on the connection that `maintenance.py` gives to Alembic, all in its transaction."""

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
context.run_migrations()
