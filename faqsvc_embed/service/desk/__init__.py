"""The desk: the web interface in which editors write, publish and unpublish the FAQs of a site.

Every page is rendered on the server and every action is a form, so that all of it works without scripts.
`routes.py` has the paths and is the place to begin; `session.py` signs editors in, `editor.py` and `draft.py`
are where FAQs are written.
"""
