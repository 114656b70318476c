"""The hosted pages: an FAQ as HTML or Markdown, and the page for an FAQ that does not exist.

`faqsvc_embed.rendering` renders the FAQ itself. The templates here add the page around it, with the texts of
`translations.toml`.
"""
