"""Engines: how the pages of a site become questions and answers.

`protocol` defines what an engine is. `extractive` returns what the site already answers; `openai_compatible`
asks a language model, and `grounding` drops what the site does not support.
"""
