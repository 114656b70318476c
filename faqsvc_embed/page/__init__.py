"""The page of a request and the documents that are printed for it.

Start with `Presenter.text` in `presenter`, which makes HTML of a call: `options` resolves it, the `page`
looks its FAQ up, and the `document` prints it, or the page leaves one of the `placeholders`. `border` keeps
our exceptions from the host, and `headers` changes the headers.
"""
