"""The HTTP code that all routes of the service share.

`operation.py` declares and dispatches operations, `requests.py` checks requests, and `responses.py` makes
responses. `changes.py` reads the change log.
"""
