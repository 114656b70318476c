"""`faqsvc serve`, `faqsvc keys`, `faqsvc mcp`: what runs, and who may write to it."""

import contextlib
import signal
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import click

from faqsvc_embed.cli.failures import failure

if TYPE_CHECKING:
    from faqsvc_embed.service.keys import KeyInfo
    from faqsvc_embed.service.storage import Storage


def _database_option(command: Callable[..., None]) -> Callable[..., None]:
    return click.option(
        "--database",
        metavar="URL",
        envvar="FAQSVC_DATABASE_URL",
        default="sqlite:///faqsvc.db",
        show_default=True,
        show_envvar=True,
        help="Where FAQs and keys are kept; a fourth slash begins an absolute path.",
    )(command)


@click.command()
@_database_option
@click.option("--host", default="127.0.0.1", show_default=True, help="The address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8700, show_default=True, help="0 picks a free port."
)
@click.option(
    "--base-url",
    metavar="URL",
    envvar="FAQSVC_BASE_URL",
    show_envvar=True,
    help="Where the public reaches the service; by default what each request says.",
)
@click.option(
    "--workers", type=click.IntRange(1, 64), default=1, show_default=True, help="Processes that serve."
)
@click.option(
    "--writes-per-minute",
    type=click.IntRange(1),
    help="How often one key may write, in each process; by default 600.",
)
@click.option(
    "--reads-per-minute",
    type=click.IntRange(1),
    help="How often one address may read, in each process; by default 120000.",
)
def serve(
    database: str,
    host: str,
    port: int,
    base_url: str | None,
    workers: int,
    writes_per_minute: int | None,
    reads_per_minute: int | None,
) -> None:
    """Run the FAQ service until Ctrl-C.

    \b
      faqsvc serve --database sqlite:////var/lib/faqs.db --port 8700
      faqsvc serve --database postgresql://faqs@db/faqs --workers 4 --base-url https://faq.example.com
    """
    from faqsvc_embed.service import serving
    from faqsvc_embed.service.app import create_app

    limits = {"writes_per_minute": writes_per_minute, "reads_per_minute": reads_per_minute}
    given: dict[str, Any] = {name: limit for name, limit in limits.items() if limit is not None}
    make_app = partial(create_app, database, base_url=base_url, **given)
    app = make_app()  # also for several workers: what is wrong is told here, and once
    try:
        listening = serving.listen(host, port)
    except OSError as error:
        raise failure(f"cannot listen on {host}:{port}: {error.strerror}") from error
    click.echo(f"faqsvc listens on {serving.address(listening)}")
    with contextlib.suppress(KeyboardInterrupt):  # how it is meant to end
        if workers == 1:
            serving.serve(app, listening)
        else:
            serving.serve_many(make_app, listening, workers)
    # Threads may still wait for the database, for seconds; who does not want to wait for them ends them.
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@click.group()
def keys() -> None:
    """Create, list and revoke the API keys that may publish.

    \b
      export FAQSVC_API_KEY=$(faqsvc keys create --name website)
      faqsvc keys list
      faqsvc keys revoke 1a2b3c4d
    """


@keys.command("create")
@_database_option
@click.option("--name", default="", help="What the key is for, shown by `keys list`.")
def create_key(database: str, name: str) -> None:
    """Print a new API key, once: it is not kept in clear and cannot be shown again."""
    keys = _storage(database).keys
    key = keys.create(name)
    try:
        click.echo(key)
    except OSError as error:
        keys.revoke(keys.owner(key) or "")  # nobody has seen it, and nobody will
        raise failure(f"cannot print the key, which is revoked again: {error.strerror}") from error


@keys.command("list")
@_database_option
def list_keys(database: str) -> None:
    """Print one line a key, its id first."""
    for key in _storage(database).keys.list():
        click.echo(_line(key))


@keys.command("revoke")
@_database_option
@click.argument("key_id", metavar="ID")
def revoke_key(database: str, key_id: str) -> None:
    """Refuse the key ID from now on; what it published stays."""
    _storage(database).keys.revoke(key_id)


def _storage(database: str) -> "Storage":
    from faqsvc_embed.service.storage import open_storage

    return open_storage(database)


def _line(key: "KeyInfo") -> str:
    used = f"used {key.last_used_at:%Y-%m-%d %H:%M}" if key.last_used_at else "never used"
    line = f"{key.id}  ...{key.ending}  created {key.created_at:%Y-%m-%d %H:%M}  {used}"
    line += f"  revoked {key.revoked_at:%Y-%m-%d %H:%M}" if key.revoked_at else ""
    return f"{line}  {key.name}".rstrip()


@click.command()
def mcp() -> None:
    """Run the tool server for MCP clients.

    It speaks over standard input and output; its tools read, generate and publish FAQs. FAQSVC_BASE_URL
    says where the service is, and writing needs FAQSVC_API_KEY. A client is told to start it:

    \b
      {"mcpServers": {"faqsvc": {"command": "faqsvc", "args": ["mcp"],
        "env": {"FAQSVC_BASE_URL": "https://faq.example.com", "FAQSVC_API_KEY": "<API_KEY>"}}}}
    """
    from faqsvc_embed.mcp.server import main

    main()
