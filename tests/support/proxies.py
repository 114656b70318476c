"""A real nginx and a real Caddy with the configurations of the documentation, on free ports."""

import shutil
import socket
import ssl
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Final

import httpx2
import pytest
import trustme

from tests.benchmarks.loading import free_port

EXAMPLES: Final = Path(__file__).parents[2] / "docs/examples/operations"
NAME: Final = "faq.example.com"

_NGINX: Final = """
daemon off;
worker_processes 1;
pid {place}/nginx.pid;
error_log {place}/error.log;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {place}/body;
    proxy_temp_path {place}/proxy;
    fastcgi_temp_path {place}/fastcgi;
    uwsgi_temp_path {place}/uwsgi;
    scgi_temp_path {place}/scgi;
    include {place}/site.conf;
}}
"""


_CADDY: Final = """
{{
    admin off
    auto_https disable_redirects
    default_bind 127.0.0.1
    grace_period 1s
    http_port {http_port}
    https_port {https_port}
    storage file_system {place}
}}
"""


@dataclass(frozen=True)
class Front:
    """A running proxy, and a client of it."""

    port: int
    private_port: int
    """For Prometheus."""
    context: ssl.SSLContext

    def request(self, method: str, path: str, **options: Any) -> httpx2.Response:
        """Send a request to `https://faq.example.com`."""
        headers = {"Host": NAME, **options.pop("headers", {})}
        with httpx2.Client(verify=self.context, trust_env=False, timeout=30) as client:
            return client.request(
                method,
                f"https://127.0.0.1:{self.port}{path}",
                headers=headers,
                extensions={"sni_hostname": NAME},
                **options,
            )


@contextmanager
def nginx(
    place: Path, server: Path | str, replica: str | None = None, sign_in: str | None = None
) -> Iterator[Front]:
    """Run nginx in front of a Unix socket, or of a HOST:PORT.

    Reads go to the HOST:PORT of a `replica`. An oauth2-proxy at `sign_in` signs people in.
    """
    binary = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/opt/homebrew/bin")
    if binary is None:
        pytest.skip("no nginx on this machine")
    context = _certificate(place)
    http_port, https_port, private_port = (free_port() for _ in range(3))
    replacements = {
        "127.0.0.1:8701": f"127.0.0.1:{private_port}",
        "listen 80;": f"listen 127.0.0.1:{http_port};",
        "listen 443 ssl;": f"listen 127.0.0.1:{https_port} ssl;",
        "/etc/ssl/faq.example.com.pem": f"{place}/site.pem",
        "/etc/ssl/private/faq.example.com.key": f"{place}/site.pem",
    }
    upstream = {"unix:/run/faqsvc/http.sock": f"unix:{server}" if isinstance(server, Path) else server}
    reads = ""
    if replica is not None:
        replacements["proxy_pass http://faqsvc;"] = "proxy_pass http://$faqsvc_for;"
        reads = _replaced("replica.conf", {**upstream, "10.0.0.12:8700": replica})
    if sign_in is not None:
        conf = _replaced("sign-in.conf", {"127.0.0.1:4180": sign_in})
        (place / "sign-in.conf").write_text(conf, encoding="utf-8")
        replacements["server_name faq.example.com;\n    ssl_certificate "] = (
            f"server_name faq.example.com;\n    include {place}/sign-in.conf;\n    ssl_certificate "
        )
    site = _replaced("nginx.conf", {**replacements, **upstream})
    (place / "site.conf").write_text(reads + site, encoding="utf-8")
    (place / "nginx.conf").write_text(_NGINX.format(place=place), encoding="utf-8")
    with _running([binary, "-c", str(place / "nginx.conf")], https_port):
        yield Front(https_port, private_port, context)


@contextmanager
def caddy(place: Path, unix_socket: Path) -> Iterator[Front]:
    """Run Caddy in front of a Unix socket."""
    binary = shutil.which("caddy")
    if binary is None:
        pytest.skip("no Caddy on this machine")
    context = _certificate(place)
    ports, private_port = {"http_port": free_port(), "https_port": free_port()}, free_port()
    replacements = {
        "127.0.0.1:8701": f"127.0.0.1:{private_port}",
        f"{NAME} {{": f"{NAME} {{\n\ttls {place}/site.pem {place}/site.pem",
        "/run/faqsvc/http.sock": str(unix_socket),
    }
    site = _replaced("Caddyfile", replacements)
    (place / "Caddyfile").write_text(_CADDY.format(place=place, **ports) + site, encoding="utf-8")
    command = [binary, "run", "--adapter", "caddyfile", "--config", str(place / "Caddyfile")]
    with _running(command, ports["https_port"]):
        yield Front(ports["https_port"], private_port, context)


def _certificate(place: Path) -> ssl.SSLContext:
    """Write a certificate and its key to `site.pem`, and return what trusts it."""
    authority, context = trustme.CA(), ssl.create_default_context()
    authority.configure_trust(context)
    certificate = authority.issue_cert(NAME)
    certificate.private_key_and_cert_chain_pem.write_to_path(str(place / "site.pem"))
    return context


def _replaced(name: str, replacements: dict[str, str]) -> str:
    """Return a documented configuration with other ports and paths."""
    text = (EXAMPLES / name).read_text(encoding="utf-8")
    for old, new in replacements.items():
        assert old in text
        text = text.replace(old, new)
    return text


@contextmanager
def _running(command: list[str], port: int) -> Iterator[None]:
    with tempfile.TemporaryFile("w+") as log:
        process = subprocess.Popen(command, stderr=log)
        try:
            _wait_for(port, process, log)
            yield
        finally:
            process.terminate()
            process.wait(timeout=60)


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: IO[str]) -> None:
    deadline = time.monotonic() + 60
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None:
            log.seek(0)
            raise AssertionError(log.read())
        assert time.monotonic() < deadline
        time.sleep(0.02)
