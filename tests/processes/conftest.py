"""A real Valkey for fleets of processes."""

from tests.stores.conftest import valkey

__all__ = ["valkey"]
