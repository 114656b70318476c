"""The HTTP code that all routes of the service share.

`endpoint.py` dispatches by method, and `problems.py` makes error responses. The other modules each do
one step of a request: rate limits, authentication, bodies, content negotiation, conditional responses.
"""
