"""The command `faqsvc`. All of its commands use `options`, `output` and `errors`.

A command imports the service and the readers of files when it runs. So `faqsvc --help` is quick, and a
missing optional dependency stops only the commands that need it. Start with `get` in `faqs`.
"""

from copy import copy

import click

from faqsvc_embed.cli.check import check
from faqsvc_embed.cli.db import db
from faqsvc_embed.cli.edit import edit
from faqsvc_embed.cli.errors import CommandGroup
from faqsvc_embed.cli.extract import extract, generate
from faqsvc_embed.cli.faqs import delete, get, history, list_, preview, restore, revert
from faqsvc_embed.cli.keys import keys
from faqsvc_embed.cli.log import log
from faqsvc_embed.cli.people import desk, people
from faqsvc_embed.cli.publish import publish
from faqsvc_embed.cli.pull import pull
from faqsvc_embed.cli.serve import mcp, serve
from faqsvc_embed.cli.sites import sites

__all__ = ["main"]


@click.group(cls=CommandGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="faqsvc-embed")
def main() -> None:
    """FAQs, published once and embedded anywhere.

    \b
    Check a folder of files:
      faqsvc check faqs
    Run a service of your own:
      faqsvc keys create
      faqsvc serve
    Publish an FAQ and read it:
      export FAQSVC_BASE_URL=http://127.0.0.1:8700 FAQSVC_API_KEY=fs_live_...
      faqsvc publish pricing.md --website-url https://heron.example --website-name Heron
      faqsvc get pricing
    Change it, and list its revisions:
      faqsvc edit pricing
      faqsvc history pricing

    Exit status: 0 for success; 1 for a failure, with one line on standard error; 2 for a mistake in the
    command line.

    The API key is read from FAQSVC_API_KEY only, because other users of a machine can see the arguments of a
    command.
    """


_FILES = (check, extract, publish, pull)
_SERVICE = (get, list_, edit, history, revert, delete, restore, preview, generate)
_OPERATION = (serve, desk, db, sites, people, keys, log, mcp)
for _command in (*_FILES, *_SERVICE, *_OPERATION):
    main.add_command(_command)

# The word of the desk, REST and the tools. It is hidden, because it is no command of its own.
_unpublish = copy(delete)
_unpublish.hidden = True
main.add_command(_unpublish, "unpublish")
