"""The demo: a print shop's website with FAQs in seven languages, built with each framework.

`flask_app`, `starlette_app`, `fastapi_app` and `django_app` are examples of how to use the library: start
there. `site` has what they share, and `demo` runs them, together with an FAQ service.
"""
