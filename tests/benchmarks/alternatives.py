"""The same page by what people write today, with a FAQ service on a real socket behind each of them."""

from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from threading import Lock
from typing import Any, Final

import httpx2
from flask import Flask, render_template
from jinja2 import DictLoader
from markupsafe import Markup

from faqsvc_embed import FAQEmbed
from faqsvc_embed.flask import FAQExtension
from tests.benchmarks.hostpage import COUNTS, HEAD, NAMES, SLUG, TAIL, VALUES, record, templates
from tests.benchmarks.react import NAME, Unavailable, react
from tests.benchmarks.sidebyside import Contestant, calling, compare
from tests.benchmarks.tables import Table
from tests.benchmarks.upstream import upstream

COMPONENT: Final = """
<section class="faqsvc" id="faq-{{ faq.slug }}" lang="{{ faq.lang }}"><h2>{{ faq.title }}</h2>
{% for item in faq["items"] %}<details class="faqsvc-item"><summary><h3>{{ item.question }}</h3></summary>
<div id="faq-{{ faq.slug }}-{{ loop.index }}">
{% for text in item.answer.split("\n\n") %}<p>{{ text }}</p>{% endfor %}</div></details>{% endfor %}</section>
<script type="application/ld+json">{{ json_ld | tojson }}</script>
"""
"""What one writes by hand: no styles, one theme, one FAQ a page."""

BY_HAND: Final = {
    "data.html": HEAD + '{% include "component.html" %}' + TAIL,
    "markup.html": HEAD + "{{ shown }}" + TAIL,
}

Page = Callable[[], str]


class Missing(Exception):
    """A library to compare with is not installed."""


def alternatives() -> Iterator[Table]:
    """Measure `render_template` with each, within a request."""
    for count in COUNTS:
        with upstream(count=count) as service, FAQEmbed(service.base_url) as embed:
            yield _compared(f"{service.base_url}/api/v1/faq/{SLUG}", embed, count)


def _compared(address: str, embed: FAQEmbed, count: int) -> Table:
    app = Flask("benchmark")
    pages = {**templates(str(embed.render(SLUG))), **BY_HAND, "component.html": COMPONENT}
    app.jinja_loader = DictLoader(pages)
    FAQExtension(app, embed=embed)
    contestants: dict[str, Contestant] = {}
    notes = list[str]()
    with app.test_request_context():  # not yet begun: each rendering is a page of its own
        for name in ("typed.html", "tag.html", "expression.html"):
            contestants[NAMES[name]] = calling(partial(render_template, name, **VALUES))
        for name, make in BY_NAME.items():
            try:
                page = make(app, address)
            except Missing as missing:
                notes.append(f"{name}: skipped, {missing}: pip install 'faqsvc-embed[benchmarks]'")
                continue
            assert "What about question number" in page()
            contestants[name] = calling(page)
        try:
            with react({SLUG: record(count)}) as theirs:
                contestants[f"{NAME}, the component alone"] = theirs[SLUG]
                return compare(_title(count), contestants, rounds=60, turn=0.01, notes=tuple(notes))
        except Unavailable as unavailable:
            notes.append(f"{NAME}: skipped, {unavailable}")
            return compare(_title(count), contestants, rounds=60, turn=0.01, notes=tuple(notes))


def _title(count: int) -> str:
    return f"render_template() against what is written by hand today, {count} questions, warm"


def _needed(module: str) -> Any:
    try:
        return import_module(module)
    except ImportError as error:
        raise Missing(str(error)) from error


def data_page(faq: Any) -> str:
    """Return the page with an FAQ as the service sends it, within a request."""
    questions = [
        {
            "@type": "Question",
            "name": item["question"],
            "acceptedAnswer": {"@type": "Answer", "text": item["answer"]},
        }
        for item in faq["items"]
    ]
    json_ld = {"@context": "https://schema.org", "@type": "FAQPage", "mainEntity": questions}
    return render_template("data.html", faq=faq, json_ld=json_ld, **VALUES)


def _flask_caching(app: Flask, address: str) -> Page:
    cache = _needed("flask_caching").Cache(app, config={"CACHE_TYPE": "SimpleCache"})
    client = httpx2.Client()

    def shown() -> Markup:
        faq = client.get(address).json()
        return Markup(render_template("component.html", faq=faq, json_ld={}))

    memoised = cache.memoize(timeout=3600)(shown)
    return lambda: render_template("markup.html", shown=memoised(), **VALUES)


def _cachetools(app: Flask, address: str) -> Page:
    cachetools = _needed("cachetools")
    client = httpx2.Client()
    get = cachetools.cached(cachetools.TTLCache(1000, 3600), lock=Lock())(lambda: client.get(address).json())
    return lambda: data_page(get())


def _requests_cache(app: Flask, address: str) -> Page:
    session = _needed("requests_cache").CachedSession(backend="memory", cache_control=True)
    return lambda: data_page(session.get(address, timeout=5).json())


def _hishel(app: Flask, address: str) -> Page:
    requests, hishel = _needed("requests"), _needed("hishel.requests")
    session = requests.Session()
    storage = _needed("hishel").SqliteStorage(database_path=":memory:")
    session.mount("http://", hishel.CacheAdapter(storage=storage))
    return lambda: data_page(session.get(address, timeout=5).json())


BY_NAME: Final[dict[str, Callable[[Flask, str], Page]]] = {
    "Flask-Caching: memoised markup": _flask_caching,
    "cachetools.TTLCache and a template": _cachetools,
    "requests-cache and a template": _requests_cache,
    "hishel and a template": _hishel,
}
