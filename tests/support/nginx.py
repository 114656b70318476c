"""A real nginx with the configuration of the documentation, on a free port, with a certificate for tests."""

import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest
import trustme

SITE: Final = Path(__file__).parents[2] / "docs/examples/operations/nginx.conf"
NAME: Final = "faq.example.com"

_MAIN: Final = """
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


@contextmanager
def nginx(place: Path, unix_socket: Path) -> Iterator[tuple[int, Path]]:
    """Run nginx in front of a Unix socket; yield its port for TLS, and the certificate authority."""
    binary = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/opt/homebrew/bin")
    if binary is None:
        pytest.skip("no nginx on this machine")
    authority = trustme.CA()
    certificate = authority.issue_cert(NAME)
    authority.cert_pem.write_to_path(str(place / "authority.pem"))
    certificate.private_key_and_cert_chain_pem.write_to_path(str(place / "site.pem"))
    http_port, https_port = _free_port(), _free_port()
    site = SITE.read_text(encoding="utf-8")
    for old, new in {
        "listen 80;": f"listen 127.0.0.1:{http_port};",
        "listen 443 ssl;": f"listen 127.0.0.1:{https_port} ssl;",
        "/etc/ssl/faq.example.com.pem": f"{place}/site.pem",
        "/etc/ssl/private/faq.example.com.key": f"{place}/site.pem",
        "/run/faqsvc/http.sock": str(unix_socket),
    }.items():
        assert old in site
        site = site.replace(old, new)
    (place / "site.conf").write_text(site, encoding="utf-8")
    (place / "nginx.conf").write_text(_MAIN.format(place=place), encoding="utf-8")
    process = subprocess.Popen([binary, "-c", str(place / "nginx.conf")], stderr=subprocess.PIPE, text=True)
    try:
        _wait_for(https_port, process)
        yield https_port, place / "authority.pem"
    finally:
        process.terminate()
        process.communicate(timeout=10)


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port


def _wait_for(port: int, process: "subprocess.Popen[str]") -> None:
    deadline = time.monotonic() + 10
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
