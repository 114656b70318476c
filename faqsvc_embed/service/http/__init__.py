"""The HTTP code that all routes of the service share.

`operation.py` declares and dispatches operations, `requests.py` reads what they state, `conditional.py` and
`problems.py` make responses, and `limits.py` says who may ask how much. `changes.py` follows the change log.
"""
