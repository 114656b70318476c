"""`faqsvc preview`: show an FAQ file, or the newest revision of an FAQ, as it looks on a page."""

import sys
from collections.abc import Iterable
from pathlib import Path
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode, urlsplit
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import click
from markupsafe import escape

from faqsvc_embed.api.contract import PREVIEW_PARAMETER
from faqsvc_embed.cli.errors import failure, silence_log
from faqsvc_embed.cli.options import FilePath, base_url_option, json_option, lang_option, open_client
from faqsvc_embed.cli.output import print_result, print_text

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

HOST: Final = "127.0.0.1"
_PAGE: Final = """\
<!doctype html>
<html lang="{lang}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>{title}</title>
<style>:root {{ color-scheme: light dark; font-family: system-ui, sans-serif }}
body {{ max-width: 46rem; margin: 2rem auto; padding: 0 1rem }}</style>
{content}
<script>
const version = "{version}", items = [...document.querySelectorAll("details")];
const opened = (sessionStorage.getItem("open") || "").split(",");
items.forEach((item, index) => item.open = opened.includes(String(index)));
setInterval(async () => {{
  const response = await fetch("/version").catch(() => null);
  if (!response || !response.ok || await response.text() === version) return;
  sessionStorage.setItem("open", items.flatMap((item, index) => item.open ? [index] : []));
  location.reload();
}}, 500);
</script>
"""


@click.command()
@click.argument("target", metavar="FILE|SLUG", type=FilePath())
@click.option(
    "--page", metavar="URL", help="A page of yours that shows SLUG. Default: the FAQ's page at the service."
)
@lang_option
@json_option
@base_url_option
def preview(target: str, page: str | None, lang: str | None, **options: Any) -> None:
    """Show a file or an FAQ as it looks on a page.

    The command prints the address. The page of FILE is served on this machine, and opens in a browser if this
    is a terminal. It reloads when the file is saved, and shows errors in the file. Press Ctrl-C to stop it.

    The address for SLUG shows its newest revision, which may be a draft. It works for an hour, for everyone
    who has it. The API key is read from FAQSVC_API_KEY.

    \b
      faqsvc preview faqs/pricing.md
      faqsvc preview pricing --page https://heron.example/prices

    Exit status: 0; 1 if there is no such FILE or SLUG.
    """
    silence_log()
    if not is_file_name(target):
        preview_slug(target, page, lang, **options)
        return
    if page is not None:
        raise click.UsageError("--page is only for SLUG; a FILE is shown on its own page")
    path = Path(target)
    if not path.is_file():
        raise failure(
            f"{target}: is a folder; name a file in it" if path.is_dir() else f"{target}: no such file"
        )
    serve(FilePreview(path))


def is_file_name(target: str) -> bool:
    """Return whether an argument means a file rather than a slug."""
    from faqsvc_embed.files import READERS

    path = Path(target)
    return path.suffix.lower() in READERS or path.name != target or path.exists()


def preview_slug(slug: str, page: str | None, lang: str | None, as_json: bool, base_url: str | None) -> None:
    """Print the address that shows the newest revision of an FAQ, on a page of the host or of the service."""
    if page is not None and urlsplit(page).scheme not in ("http", "https"):
        raise click.BadParameter(
            f"{page!r} is not an address such as https://heron.example/prices", param_hint="--page"
        )
    with open_client(base_url) as client:
        made = client.preview_faq(slug, lang=lang)
        url = page or f"{client.settings.base_url}/faq/{quote(slug, safe='')}"
    query = {PREVIEW_PARAMETER: made.token, **({"lang": lang} if lang and page is None else {})}
    parts = urlsplit(url)
    address = parts._replace(query="&".join(filter(None, (parts.query, urlencode(query))))).geturl()
    expires_at = made.expires_at.isoformat()
    data = {"slug": slug, "url": address, "token": made.token, "expiresAt": expires_at}
    print_result(as_json, data, address)


class FilePreview:
    """The page that shows one file, as a WSGI application."""

    def __init__(self, path: Path) -> None:
        from faqsvc_embed.embed import FAQEmbed

        self.path = path
        # Rendering a record sends no request, so the address does not matter.
        self._embed = FAQEmbed("https://faq.invalid", directory=None, store=None)

    def version(self) -> str:
        """Return a text that changes with the file."""
        try:
            status = self.path.stat()
        except OSError:
            return "none"
        return f"{status.st_mtime_ns}-{status.st_size}-{status.st_ino}"

    def page(self) -> str:
        """Return the page, or the problems of a file that cannot be read."""
        from faqsvc_embed.files.folder import read_faq_file
        from faqsvc_embed.rendering.elements import problem_element

        version = self.version()
        file = read_faq_file(self.path)
        content = "\n".join(problem_element(str(problem)) for problem in file.problems)
        if file.faq is not None:
            content = self._embed.render(file.faq)
        lang = file.faq.lang if file.faq is not None else None
        return _PAGE.format(
            lang=escape(lang or "en"), title=escape(self.path.name), content=content, version=version
        )

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Respond if the Host header names this machine; otherwise it may be DNS rebinding."""
        routes = {"/": (self.page, "text/html"), "/version": (self.version, "text/plain")}
        route = routes.get(environ["PATH_INFO"])
        if route is None or environ.get("HTTP_HOST", "").partition(":")[0] not in (HOST, "localhost"):
            start_response("404 Not Found", [("Content-Type", "text/plain")])
            return [b"Not found"]
        make, media_type = route
        headers = [("Content-Type", f"{media_type}; charset=utf-8"), ("Cache-Control", "no-store")]
        start_response("200 OK", headers)
        return [make().encode("utf-8", "replace")]


def serve(shown: FilePreview) -> None:
    """Serve a preview to this machine until it is interrupted, on a free port, and print its address."""
    with make_server(HOST, 0, shown, server_class=_Server, handler_class=_Handler) as server:
        address = f"http://{HOST}:{server.server_port}/"
        print_text(address)
        sys.stdout.flush()
        if sys.stdout.isatty():
            import webbrowser

            webbrowser.open(address)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            click.echo(err=True)  # below the ^C of a terminal


class _Server(ThreadingMixIn, WSGIServer):
    """A server with a thread for each connection: browsers open connections that they do not use."""

    daemon_threads = True

    def handle_error(self, request: object, client_address: object) -> None:
        """Print a traceback, unless the browser has closed the connection."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(WSGIRequestHandler):
    """A handler without a log: the page asks for its version twice a second."""

    def log_message(self, *_: object) -> None:
        """Print nothing."""
