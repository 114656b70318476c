"""Checks that pages are never blank, broken or late while the FAQ service fails.

Register the plug-in in a `conftest.py` and use its fixture; the test runs once for each fault.

    pytest_plugins = ["faqsvc_embed.testing.plugin"]

    def test_the_price_page_survives(faq_chaos):
        app = create_app(**faq_chaos.settings)
        faq_chaos.check(app, "/prices")

`app` is a WSGI or an ASGI application. While the test runs, the settings are also in the environment, as
`FAQSVC_BASE_URL` and so on. For some of the faults, or one of your own, use `Chaos`:

    def test_the_price_page_survives_a_broken_proxy():
        with Chaos(Fault("broken proxy", behaviours.status(502))) as chaos:
            chaos.check(create_app(**chaos.settings), "/prices")

Start with `check`. `server` and `behaviours` are the faulty service, and `faults` lists its faults.
"""

from faqsvc_embed.testing.chaos import behaviours
from faqsvc_embed.testing.chaos.check import Chaos
from faqsvc_embed.testing.chaos.exchange import Behaviour, Exchange, ReceivedRequest
from faqsvc_embed.testing.chaos.faults import FAULTS, Fault
from faqsvc_embed.testing.chaos.server import FaultyServer
from faqsvc_embed.testing.chaos.trial import PageCheckFailed

__all__ = [
    "FAULTS",
    "Behaviour",
    "Chaos",
    "Exchange",
    "Fault",
    "FaultyServer",
    "PageCheckFailed",
    "ReceivedRequest",
    "behaviours",
]
