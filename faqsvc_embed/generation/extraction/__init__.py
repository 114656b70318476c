"""Extraction: the questions and answers that a page has, read from its HTML.

`extractor.extract()` takes a parsed page and returns its content. `structured_data`, `explicit_markup` and
`heuristics` find candidates, the most reliable first, in the tree of `dom`; `patterns` has the words and
grammar of each language.
"""
