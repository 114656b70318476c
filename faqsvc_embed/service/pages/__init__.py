"""The hosted pages: an FAQ as HTML or Markdown, and the page for an FAQ that does not exist.

The FAQ itself is rendered by `faqsvc_embed.rendering`; the templates here add the page around it, with the
texts of `translations.py`.
"""
