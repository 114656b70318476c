"""The pages of the desk: templates, static files, and the headers of every response."""

import secrets
from datetime import datetime
from functools import cache, partial
from importlib import resources
from typing import Any, Final
from urllib.parse import quote, unquote, urlsplit

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from faqsvc_embed.api.content import digest_of
from faqsvc_embed.rendering.assets import IMMUTABLE, stylesheet
from faqsvc_embed.service.desk.visit import Visit
from faqsvc_embed.service.pages.translations import MESSAGES

_POLICY: Final = (
    "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
HEADERS: Final = {
    "cache-control": "no-store",
    "content-security-policy": _POLICY,
    # With `no-referrer`, browsers would send `Origin: null` with forms.
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "x-robots-tag": "noindex",
}

DONE: Final = {
    "saved": "Saved.",
    "removed": "The person was removed.",
    "revoked": "The key was revoked.",
    "unpublish": "Unpublished. Pages stop showing it within seconds.",
    "bin": "What you removed is in the bin for 30 days. A publisher can restore it there.",
    "purge": "The FAQ was deleted for ever, with all its texts.",
    "unblocked": "The slug can be used again.",
    "draft": "The draft is saved. Readers cannot see it before it is published.",
    "published": "Published. Pages that show this FAQ are updated within seconds.",
    "restored": "The FAQ was restored, with its history.",
    "discarded": "The draft was discarded. It stays in the history.",
    "right": "This translation is marked as up to date.",
    "same": "Nothing has changed since the last save.",
}
"""Messages after an action, by the parameter `done` in the address to which its form redirects."""
PAGE_SIZE: Final = 50
"""Rows on a page of a list."""
_MEDIA_TYPES: Final = {"desk.css": "text/css", "desk.js": "text/javascript", "editor.js": "text/javascript"}


def render(visit: Visit, template: str, status: int = 0, **context: Any) -> Response:
    """Return a page of the desk. It may show images of the origin `images` in its context.

    `problems` are messages by field, `done` says what a form did, and `note` why it did nothing. `link` and
    `new_key` are shown once.
    """
    done = visit.request.query_params.get("done", "") if visit.request.method == "GET" else ""
    context = {
        "problems": {},
        "done": DONE.get(done, ""),
        "note": "",
        "link": "",
        "new_key": "",
        "root": visit.root,
        "static": static_url(visit.desk),
        **context,
        **visit.shown,
    }
    text = _templates().get_template(template).render(context, visit=visit, session=visit.session)
    # Typed text may contain lone surrogates, which UTF-8 cannot encode.
    images = f"img-src 'self' {context.get('images', '')}".rstrip()
    policy = _POLICY.replace("img-src 'self'", images)
    headers = {**HEADERS, "content-security-policy": policy}
    return Response(text.encode("utf-8", "replace"), status or visit.status, headers, "text/html")


def redirect(visit: Visit, path: str) -> Response:
    """Return a redirect to a path of the desk, which the browser opens with GET."""
    return Response(status_code=303, headers={**HEADERS, "location": f"{visit.root}{path}"})


async def show_static(request: Request) -> Response:
    """GET /desk/static/{digest}/{name}: a static file.

    During an update of several servers, one may be asked for the file of another release. No cache may keep
    its response.
    """
    digest, name = (str(request.path_params[part]) for part in ("digest", "name"))
    if name not in _MEDIA_TYPES:
        return Response(status_code=404, headers=HEADERS)
    cache_control = IMMUTABLE if digest == _digest(name) else "no-store"
    headers = {"cache-control": cache_control, "x-content-type-options": "nosniff"}
    return Response(_static(name), 200, headers, _MEDIA_TYPES[name])


def static_url(root: str) -> dict[str, str]:
    """Return the URL of each static file, which changes with its content."""
    return {name.replace(".", "_"): f"{root}/static/{_digest(name)}/{name}" for name in _MEDIA_TYPES}


@cache
def _static(name: str) -> str:
    text = (resources.files(__package__) / "static" / name).read_text(encoding="utf-8")
    return text + stylesheet() if name == "desk.css" else text


@cache
def _digest(name: str) -> str:
    return digest_of(_static(name))[:12]


@cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("faqsvc_embed.service.desk"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["segment"] = lambda text: quote(text, safe="")
    environment.filters["place"] = _place
    environment.filters["moment"] = _moment
    # The id of a form that creates something, so that sending the form twice creates only one.
    environment.globals["new_once"] = partial(secrets.token_urlsafe, 12)
    environment.globals["languages"] = {lang: messages.language for lang, messages in MESSAGES.items()}
    return environment


def _place(url: str) -> str:
    """Return the host and the path of an address, without its query and fragment."""
    parts = urlsplit(url)
    return unquote(f"{parts.netloc}{parts.path}".removesuffix("/")) or url


def _moment(time: datetime | None) -> Markup:
    """Return a time such as 22 Nov 2026, 16:20 UTC. The script rewrites it in the editor's time zone."""
    if time is None:
        return Markup()
    text = f"{time.day}\u00a0{time:%b}\u00a0{time:%Y}, {time:%H:%M}\u00a0UTC"
    return Markup('<time datetime="{}">{}</time>').format(time.isoformat(timespec="seconds"), text)
