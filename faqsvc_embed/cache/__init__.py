"""The cache: entries in memory, when they are refreshed, and a store that survives the process.

The modules in the order in which a call uses them:

- `reader`: `Reader.look_up` returns the state of an FAQ, or a fetch to wait for.
- `memory`: the entries. `entry`: how a response changes an entry, with pure functions and an injected clock.
- `fetcher`: runs one `fetch` for each FAQ at a time. It reads the store, asks the `source`, caches the
  outcome, and saves it. A circuit breaker spares pages a source that does not respond.
- `shared`: the rules of a store, over a `backend`: `sqlite` or `redis`.
- `report`: counts and logs. `metrics`: reports to OpenTelemetry.
"""
