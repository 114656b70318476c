"""The FAQs of one response: rendering calls, and completing the response with one FAQPage and one stylesheet.

Start with `Presenter.render` in `presenter`, which handles a call from a template. `context` has the current
page. `elements` removes duplicate elements; `body`, `asgi` and `streams` apply it to the body that is sent.
"""
