"""The cache: entries in memory, when they are refreshed, and stores that survive the process.

Start with `Reader.look_up` in `reader`: it returns an entry from `memory`, or starts a fetch in `fetcher`.
`entries` decides how a response changes an entry, with pure functions and an injected clock. `stores` keep
records after the process ends, and `source` is the interface of a source.
"""
