"""Two FAQs, and the Jinja environments and Flask applications that show them."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Final

import pytest
from flask import Flask, render_template_string
from jinja2 import DictLoader, Environment

from faqsvc_embed import FAQ, FAQEmbed
from faqsvc_embed.flask import FAQExtension
from faqsvc_embed.jinja import install
from faqsvc_embed.testing import fake_embed
from tests.support import samples
from tests.support.slow import slow_embed

A: Final = FAQ.from_dict(samples.pricing())
B: Final = FAQ.from_dict(samples.record("legal", ("Wer?", "Wir – „wir“ & <du>."), title="Legal"))
FAQS: Final = {"pricing": A, "legal": B}
ONE: Final = '{% faq "pricing" %}'
TWO: Final = '{{ faq("pricing") }}<hr>{% faq "legal" %}'

Make = Callable[..., FAQEmbed]
embeds = pytest.mark.parametrize("make", [fake_embed, slow_embed], ids=["cached", "uncached"])
renders = pytest.mark.parametrize(
    "render",
    [
        lambda embed, *args, **options: embed.render(*args, **options),
        lambda embed, *args, **options: asyncio.run(embed.arender(*args, **options)),
    ],
    ids=["sync", "async"],
)


def embed(**settings: Any) -> FAQEmbed:
    return fake_embed(FAQS, **settings)


def environment(
    faqs: FAQEmbed | None = None,
    templates: Mapping[str, str] | None = None,
    *,
    kind: type[Environment] = Environment,
    **options: Any,
) -> Environment:
    """Return an environment of a host, with FAQs; `options` are Jinja's."""
    host = kind(**{"autoescape": True, "loader": DictLoader(templates or {}), **options})
    install(host, faqs or embed())
    return host


def flask_app(view: Callable[[], Any] | str = TWO, faqs: FAQEmbed | None = None, **options: Any) -> Flask:
    """Return an application with one page at /, by a view or a template; its errors are raised."""
    app = Flask("host", **options)
    app.testing = True
    FAQExtension(app, embed=faqs or embed())
    app.add_url_rule("/", "home", view if callable(view) else lambda: render_template_string(view))
    return app
