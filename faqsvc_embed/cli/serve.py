"""`faqsvc serve` and `faqsvc mcp`: run the service, and the tool server."""

import atexit
import os
import re
import shutil
import sys
import tempfile
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.cli.errors import failure
from faqsvc_embed.cli.options import check_named, database_option
from faqsvc_embed.cli.output import note
from faqsvc_embed.settings.validators import is_loopback_http

if TYPE_CHECKING:
    from faqsvc_embed.runtime.serving import Address
    from faqsvc_embed.service.storage import Storage


@click.command()
@database_option
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=8700,
    show_default=True,
    help="Port to listen on; 0 picks a free one.",
)
@click.option("--uds", metavar="PATH", help="Unix socket to listen on instead, for a proxy in front.")
@click.option(
    "--trusted-proxy",
    "proxies",
    metavar="ADDRESS",
    multiple=True,
    envvar="FAQSVC_TRUSTED_PROXIES",
    show_envvar=True,
    help="Address or network of a proxy; its X-Forwarded-For and -Proto are trusted. Can be repeated.",
)
@click.option(
    "--sign-in-header",
    metavar="NAME",
    envvar="FAQSVC_SIGN_IN_HEADER",
    show_envvar=True,
    help="Header in which a trusted proxy names the person at the desk, such as X-Forwarded-Email.",
)
@click.option("--access-log/--no-access-log", default=False, help="Log a line for each request.")
@click.option(
    "--metrics/--no-metrics", default=False, help="Serve /metrics for Prometheus, to anyone who can connect."
)
@click.option(
    "--base-url",
    metavar="URL",
    envvar="FAQSVC_BASE_URL",
    show_envvar=True,
    help="Public address of the service, for links. Default: the address of each request.",
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Number of processes."
)
@click.option(
    "--writes-per-minute",
    type=click.IntRange(1),
    help="Maximum writes of one site per minute, over all processes. Default: 600.",
)
@click.option(
    "--reads-per-minute",
    type=click.IntRange(1),
    help="Maximum uncached requests of one address per minute, in each process. Default: 120000.",
)
def serve(
    database: str,
    host: str,
    port: int,
    uds: str | None,
    workers: int,
    proxies: tuple[str, ...],
    **options: Any,
) -> None:
    """Run the FAQ service until Ctrl-C.

    \b
      faqsvc serve --database sqlite:////var/lib/faqs.db --port 8700
      faqsvc serve --database postgresql://faqs@db/faqs --workers 4 --base-url https://faq.example.com
      faqsvc serve --uds /run/faqsvc/http.sock --access-log --metrics
    """
    from faqsvc_embed.service import server
    from faqsvc_embed.service.storage import open_storage

    check_named(database)
    server.check_proxies(proxies)
    given = {name: value for name, value in options.items() if value is not None}
    if workers > 1 and given["metrics"]:
        _share_metrics()  # before prometheus-client is imported, which reads the variable
    storage = open_storage(database)
    _make_app(storage, **given)  # here, too, so that a mistake is reported once
    storage.close()
    address = _checked_address(host, port, uds)

    def announce() -> None:
        click.echo(f"faqsvc listens on {uds or address}")
        if "base_url" not in given and not uds and not is_loopback_http(str(address)):
            note("Links begin with the Host of each request, which any client can set: use --base-url")
        if base := given.get("base_url") or (not uds and address):
            click.echo(
                f"Editors write at {str(base).rstrip('/')}/desk: `faqsvc desk` prints a link that signs in"
            )

    make_app = partial(_make_app, database, **given)
    server.serve(make_app, address, workers=workers, proxies=proxies, announce=announce)


def _checked_address(host: str, port: int, uds: str | None = None) -> "Address":
    """Return the address to listen on; raise a failure if it cannot be used."""
    from faqsvc_embed.runtime.serving import Address, reason_of

    try:
        return Address(host, port, Path(uds).absolute() if uds else None).checked()
    except OSError as error:
        raise failure(f"cannot listen on {uds or f'{host}:{port}'}: {reason_of(error)}") from error


def _make_app(database: "str | Storage", **options: Any) -> Any:
    """Return the service, and configure the log of this process."""
    from faqsvc_embed.service.app import create_app
    from faqsvc_embed.service.http.access_log import configure_logging

    configure_logging()
    return create_app(database, **options)


def _share_metrics() -> None:
    """Let worker processes share their metrics in files, as prometheus-client does with this variable."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="faqsvc-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)


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
        from faqsvc_embed.mcp.stdio import main

        if sys.stdin.isatty():
            note("This waits for the messages of an MCP client, which starts it itself; Ctrl-C ends it")
        main()
        return
    from faqsvc_embed.mcp import http

    checked = _checked_address(*address)
    http.serve_http(checked, hosts, lambda: click.echo(f"{checked}{http.PATH}"))
