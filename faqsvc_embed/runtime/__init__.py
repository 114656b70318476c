"""The process around the package: a background event loop, fork safety, daemon threads and bounded logging.

Start with `background_loop`. This package knows nothing of FAQs. Threads start at first use.
"""
