"""What the package needs of the process it runs in: an event loop on a thread, forks, and bounded logging.

Begin with `background_loop`. Nothing here knows what an FAQ is, and nothing starts before its first use.
"""
