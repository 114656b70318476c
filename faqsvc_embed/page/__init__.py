"""The page of a request and the documents that are printed for it.

Start with `Presenter.render` in `presenter`, which handles a call from a template: `options` resolves it, and
`printer` prints the FAQ, or leaves one of the `placeholders`. `context` has the current page and document;
`headers` changes the headers of the response.
"""
