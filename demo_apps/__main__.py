"""Start the service and every host, on this machine only, until Ctrl-C; with `--check`, look and end."""

import argparse
import errno
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from urllib.parse import urlsplit

from demo_apps import site
from demo_apps.check import check
from demo_apps.gallery import PAGE as GALLERY
from demo_apps.hosts import HOSTS
from demo_apps.seeding import running_service


def main() -> int:
    """Run the demo; return the exit status."""
    parser = argparse.ArgumentParser(prog="python -m demo_apps", description=__doc__)
    parser.add_argument("--check", action="store_true", help="open every page, say what is on it, and end")
    arguments = parser.parse_args()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with running_demo() as (service, hosts):
            if arguments.check:
                return 0 if check(hosts) else 1
            greet(service, hosts)
            while True:
                time.sleep(3600)
    except KeyboardInterrupt:
        print(flush=True)
        return 1 if arguments.check else 0
    except PortTaken as error:
        print(error, file=sys.stderr)
        return 1


class PortTaken(Exception):
    """Another program listens where the demo would."""


@contextmanager
def running_demo() -> Iterator[tuple[str, dict[str, str]]]:
    """Start everything; lend the address of the service, and that of each host by its name.

    Raises:
        PortTaken: one of the ports is.
    """
    with ExitStack() as stack:
        port = urlsplit(site.SERVICE).port or 0
        with _naming(port):
            service = stack.enter_context(running_service(port))
        hosts = {}
        for host in HOSTS:
            with _naming(host.port):
                hosts[host.name] = stack.enter_context(host.running(service))
        yield service, hosts


@contextmanager
def _naming(port: int) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        raise PortTaken(f"Port {port} is taken: end what listens there, and start the demo again.") from None


def greet(service: str, hosts: dict[str, str]) -> None:
    """Say where everything is."""
    print("The FAQs of Heron & Ink, in seven languages:\n")
    for name, address in hosts.items():
        print(f"  {name:9} {address}/")
        for page in site.PAGES[1:]:
            print(f"  {'':9} {address}{page.path}")
    print(f"\n  {'gallery':9} {hosts['Flask']}{GALLERY.path}")
    print(f"  {'service':9} {service}/api/v1/faq/pricing?lang=ko")
    print("\nCtrl-C ends it.", flush=True)


if __name__ == "__main__":
    sys.exit(main())
