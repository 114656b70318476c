"""Engines: how the pages of a site become questions and answers.

`protocol` defines what an engine is. `extractive` returns the questions and answers that a site already has.
`openai_compatible` has a language model write them, and `grounding` drops what the site does not support.
"""
