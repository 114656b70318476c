"""The cache: entries in memory, when they are refreshed, and a store that survives the process.

Start with `Reader.look_up` in `reader`: it returns an entry from `memory`, or a `fetch`, which `fetcher`
runs; a `breaker` spares pages a source that does not respond. `entry` decides how a response changes an
entry, with pure functions and an injected clock; `report` counts and logs it. `shared` has the rules of a
store, and `stored` what it keeps, over a `backend`: `sqlite` or `redis`. `source` is the interface of a
source, and `metrics` reports to OpenTelemetry.
"""
