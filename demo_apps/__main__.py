"""The command `python -m demo_apps`."""

import argparse
import signal
import sys
import threading

from demo_apps import gallery, site
from demo_apps.check import check
from demo_apps.demo import PORT, Demo, running_demo
from demo_apps.servers import PortTaken


def main(arguments: list[str] | None = None) -> int:
    """Run the demo until Ctrl-C, or check it; return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m demo_apps",
        description="Run an FAQ service, and a website with FAQs in every framework.",
    )
    parser.add_argument("--check", action="store_true", help="open every page, print what is on it, and stop")
    parser.add_argument(
        "--port",
        type=int,
        default=PORT,
        help="port of the service, the websites use the next ones; 0 picks free ports (default: %(default)s)",
    )
    options = parser.parse_args(arguments)
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    try:
        with running_demo(options.port) as demo:
            if options.check:
                return 0 if check(demo) else 1
            greet(demo)
            threading.Event().wait()
    except PortTaken as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print()
    return 1 if options.check else 0


def greet(demo: Demo) -> None:
    """Print where everything is, and how to publish an FAQ."""
    print("The website of Heron & Ink, with FAQs in seven languages:\n")
    for name, address in demo.websites.items():
        print(f"  {name:13}{address}/")
        for page in site.PAGES[1:] if name != "Jinja" else ():  # which has only the first page, as a file
            print(f"  {'':13}{address}{page.path}")
    print(
        f"""
  {"side by side":13}{demo.side_by_side}/
  {"gallery":13}{demo.websites["Flask"]}{gallery.PAGE.path}
  {"hosted page":13}{demo.service}/faq/pricing
  {"record":13}{demo.service}/api/v1/faq/pricing?lang=ko
  {"llms.txt":13}{demo.service}/llms.txt
  {"desk":13}{demo.sign_in}

Open the page "side by side", and the desk, whose link signs you in once, within an hour. Edit the FAQ
"pricing" there and publish it: every website follows within two seconds.

Publish an FAQ of your own, in another terminal:

  export FAQSVC_BASE_URL={demo.service}
  export FAQSVC_API_KEY={demo.api_key}
  printf 'question,answer\\nIs it free?,Yes.\\n' > faq.csv
  faqsvc publish faq.csv --website-url https://example.com --website-name Example

It is stored, like the key, until the demo stops. Ctrl-C stops it.""",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
