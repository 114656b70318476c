"""`faqsvc serve`: run the service."""

import atexit
import os
import shutil
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
def serve(database: str, workers: int, proxies: tuple[str, ...], **options: Any) -> None:
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
    host, port, uds = (options.pop(name) for name in ("host", "port", "uds"))
    given = {name: value for name, value in options.items() if value is not None}
    if workers > 1 and given["metrics"]:
        _share_metrics()  # before prometheus-client is imported, which reads the variable
    storage = open_storage(database)
    _make_app(storage, **given)  # here, too, so that a mistake is reported once
    storage.close()
    try:
        address = server.Address(host, port, Path(uds).absolute() if uds else None).checked()
    except OSError as error:
        raise failure(f"cannot listen on {uds or f'{host}:{port}'}: {server.reason_of(error)}") from error

    def announce() -> None:
        click.echo(f"faqsvc listens on {uds or address}")
        if "base_url" in given:
            click.echo(f"Links begin with {given['base_url']} (--base-url or FAQSVC_BASE_URL)")
        elif not uds and not is_loopback_http(str(address)):
            note("Links begin with the Host of each request, which any client can set: use --base-url")
        if base := given.get("base_url") or (not uds and address):
            click.echo(
                f"Editors write at {str(base).rstrip('/')}/desk: `faqsvc desk` prints a link that signs in"
            )

    make_app = partial(_make_app, database, **given)
    server.serve(make_app, address, workers=workers, proxies=proxies, announce=announce)


def _make_app(database: "str | Storage", **options: Any) -> Any:
    """Return the service, and configure the log of this process."""
    from faqsvc_embed.service.app import create_app
    from faqsvc_embed.service.telemetry.requests import configure_logging

    configure_logging()
    return create_app(database, **options)


def _share_metrics() -> None:
    """Let worker processes share their metrics in files, as prometheus-client does with this variable."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        folder = tempfile.mkdtemp(prefix="faqsvc-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
