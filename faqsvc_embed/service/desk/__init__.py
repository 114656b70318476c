"""The desk: the web interface in which editors write, publish and unpublish the FAQs of a site.

The server renders every page and every action is a form, so the desk works without scripts. Start with
`routes.py`, which has the paths. A handler gets a `Visit` and returns a page (`visit.py`). `sign_in.py` finds
out who is signed in; `editor.py` and `draft.py` have the page on which FAQs are written, `faqs.py` and
`settings.py` have the others.
"""
