"""The REST contract of the service: what requests say, what responses mean, and the HTTP client.

To follow a read, start with `read_request` in `requests` and `parse_response` in `responses`, which do no
I/O; `transport` sends everything. To follow a write, start with the structs in `contract`: `fields` has the
types of their fields, `validation` checks a body, `changes` applies a PATCH to a `content`, and
`publish_request` and `publish_response` are the client's side.
"""
