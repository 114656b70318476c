"""A real Valkey for fleets of processes."""

from tests.cache.stores.conftest import valkey

__all__ = ["valkey"]
