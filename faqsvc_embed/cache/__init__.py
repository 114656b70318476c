"""The cache: records and what is known of them, when to refresh them, and where they outlive the process.

Begin with `Reader.look_up` in `reader`: it answers from `memory`, or starts a fetch in `fetcher`. `entries`
decides what a response changes; it is pure, with an injected clock. `stores` hold records beyond the process,
and `folder` has the records of the host's own files.
"""
