"""`faqsvc mcp`: run the tool server."""

import re

import click

from faqsvc_embed.cli.errors import failure


def _address(_: click.Context, __: click.Parameter, value: str | None) -> tuple[str, int] | None:
    """Return host and port of an address such as 127.0.0.1:8765 or [::1]:8765."""
    if value is None:
        return None
    found = re.fullmatch(r"(?:\[([0-9a-fA-F:]+)\]|([^:\[\]/]+)):([0-9]{1,5})", value)
    if found is None or int(found[3]) > 65535:
        raise click.BadParameter(f"{value!r} is not HOST:PORT, such as 127.0.0.1:8765")
    return found[1] or found[2], int(found[3])


@click.command()
@click.option(
    "--http",
    "address",
    metavar="HOST:PORT",
    callback=_address,
    help="Serve streamable HTTP at this address instead of standard input; port 0 picks a free one.",
)
@click.option(
    "--allow-host",
    "hosts",
    metavar="HOST",
    multiple=True,
    help="With --http: a name by which a proxy in front is reached, and which it passes on. Can be repeated.",
)
def mcp(address: tuple[str, int] | None, hosts: tuple[str, ...]) -> None:
    """Run the tool server for MCP clients.

    It uses standard input and output. Its tools read, list, generate, publish, change and unpublish FAQs.
    FAQSVC_BASE_URL is the address of the service; writing needs FAQSVC_API_KEY. To configure a client:

    \b
      {"mcpServers": {"faqsvc": {"command": "faqsvc", "args": ["mcp"],
        "env": {"FAQSVC_BASE_URL": "https://faq.example.com", "FAQSVC_API_KEY": "<API_KEY>"}}}}

    With --http, each request brings its own API key, in the header X-Plugin-Key or as a bearer token, and
    FAQSVC_API_KEY is not used. Put a proxy with TLS in front of any address that others can reach. An address
    of this machine refuses requests for other hosts: name those of the proxy with --allow-host.

    Exit status: 0 when the client or Ctrl-C ends it, 1 if the address is in use.
    """
    if hosts and address is None:
        raise click.UsageError("--allow-host needs --http")
    if address is None:
        from faqsvc_embed.mcp.server import main

        main()
        return
    from faqsvc_embed.mcp import http
    from faqsvc_embed.runtime.serving import Address, reason_of

    try:
        checked = Address(*address).checked()
    except OSError as error:
        raise failure(f"cannot listen on {address[0]}:{address[1]}: {reason_of(error)}") from error
    http.serve_http(checked, hosts, lambda: click.echo(f"{checked}{http.PATH}"))
