"""The process around the package: a background event loop, fork safety, daemon threads and bounded logging.

Start with `background_loop`, on which all I/O of embeds and clients runs. This package knows nothing of
FAQs. Threads start at first use. `serving` is for servers only: it runs an application in worker processes.
"""
