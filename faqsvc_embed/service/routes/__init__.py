"""The routes of the service: one module for each path, all of them listed in `app.py`.

A handler takes the `ServiceContext` and the request, and returns a response or raises a `Problem`.
`openapi_operations.py` describes the routes for `/openapi.json`.
"""
