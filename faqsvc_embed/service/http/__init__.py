"""HTTP, as every route of the service needs it.

`endpoint.py` dispatches by method and `problems.py` has the form of every error. The other modules each do
one step of a request: rate limits, authentication, bodies, content negotiation, conditional responses.
"""
