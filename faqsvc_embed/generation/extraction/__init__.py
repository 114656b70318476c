"""Extraction: the questions and answers that a page has, read from its HTML.

Start with `extractor.extract()`, which takes a parsed page and returns its content. `structured_data`,
`explicit_markup` and `heuristics` find candidates in the tree of `dom`, the most reliable ones first;
`candidates` chooses among them. `patterns` has the words and grammar of each language.
"""
