"""One response: what it has printed of FAQs, and how it leaves, with styles once and one FAQPage.

Begin with `Presenter.render` in `presenter`, which follows a call from a template to its HTML. `context` has
the current page, `elements` makes its elements unique, `body`, `asgi` and `wsgi` do so in what is sent.
"""
