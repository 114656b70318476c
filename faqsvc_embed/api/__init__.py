"""The REST contract of the service: what requests say, what responses mean, and the HTTP client.

Start with `read_request` in `requests` and `parse_response` in `responses`, which do no I/O; `transport`
does all of it. Requests with an API key are in `publish_request`.
"""
