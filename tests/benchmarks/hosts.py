"""The hosts that run under a server: Flask and Starlette, by the environment with a service or without."""

import os
import threading
import time
from typing import Final

import httpx2
from flask import Flask, render_template_string
from jinja2 import DictLoader
from starlette.applications import Starlette

from faqsvc_embed import FAQEmbed
from faqsvc_embed.testing import fake_embed
from tests.benchmarks.alternatives import BY_HAND, COMPONENT, data_page
from tests.benchmarks.asgi import starlette_app
from tests.benchmarks.hostpage import SLUG, record
from tests.benchmarks.pages import flask_app

BASE_URL: Final = "BENCHMARK_SERVICE"
COUNT: Final = "BENCHMARK_QUESTIONS"


def _embed() -> FAQEmbed:
    base_url = os.environ.get(BASE_URL)
    if base_url:
        return FAQEmbed(base_url)
    return fake_embed({SLUG: record(int(os.environ.get(COUNT, "20")))})


def flask() -> Flask:
    """Return the page in every way, in Flask."""
    return flask_app(_embed())


def starlette() -> Starlette:
    """Return the page in every way, in Starlette."""
    return starlette_app(_embed())


def by_hand() -> Flask:
    """Return the page as it is written by hand: a cache with a lifetime, a client with a timeout."""
    app = Flask("by_hand")
    app.jinja_loader = DictLoader({**BY_HAND, "component.html": COMPONENT})
    client = httpx2.Client(timeout=5.0)
    lock = threading.Lock()
    kept: dict[str, object] = {}
    fresh_until = 0.0

    def get() -> object:
        nonlocal fresh_until
        with lock:
            if time.monotonic() >= fresh_until:
                kept["faq"] = client.get(f"{os.environ[BASE_URL]}/api/v1/faq/{SLUG}").json()
                fresh_until = time.monotonic() + 1.0
            return kept["faq"]

    app.add_url_rule("/tag.html", "page", lambda: data_page(get()))
    app.add_url_rule("/typed.html", "typed", lambda: render_template_string("<h1>No FAQ here</h1>"))
    return app
