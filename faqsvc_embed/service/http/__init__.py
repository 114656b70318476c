"""The HTTP code that all routes of the service share.

`operation.py` declares and dispatches operations, `requests.py` reads requests, `responses.py` makes
responses, and `limits.py` has authentication and rate limits. `changes.py` reads the change log.
"""
