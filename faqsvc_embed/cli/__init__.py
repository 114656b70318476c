"""The `faqsvc` command.

What a command needs is imported when it runs: `faqsvc --help` is to be there at once, and an extra that
is not installed is to be missed by its own commands only.
"""

import click

from faqsvc_embed.cli.failures import Commands
from faqsvc_embed.cli.pulling import pull
from faqsvc_embed.cli.reading import get
from faqsvc_embed.cli.serving import keys, mcp, serve
from faqsvc_embed.cli.writing import generate, publish

__all__ = ["main"]


@click.group(cls=Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="faqsvc-embed")
def main() -> None:
    """FAQs, published once and embedded anywhere.

    \b
    Run a service of your own:
      faqsvc keys create
      faqsvc serve
    Publish to it, and read what is there:
      export FAQSVC_BASE_URL=http://127.0.0.1:8700 FAQSVC_API_KEY=fs_live_...
      faqsvc publish faq.md --website-url https://heron.example --website-name Heron
      faqsvc get heron-x7k2

    The API key is read from FAQSVC_API_KEY only: arguments of a command are seen by everybody on a machine.
    """


for command in (get, pull, publish, generate, serve, keys, mcp):
    main.add_command(command)
