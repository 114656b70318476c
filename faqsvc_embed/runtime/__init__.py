"""What the package needs of the process it runs in: an event loop on a thread, forks, and bounded logging.

Start with `background_loop`. This package is independent of FAQs. Threads start at first use.
"""
