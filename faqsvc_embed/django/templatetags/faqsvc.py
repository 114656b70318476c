"""The tags `{% faq %}`, `{% use_faq %}` and `{% faq_schema %}`, after `{% load faqsvc %}`.

Outside of a request, nothing completes the text of a template. Each tag then prints only what the page lacks.
"""

from collections.abc import Mapping
from typing import Any, Final

import msgspec
from django.template import Context, Library
from markupsafe import Markup

from faqsvc_embed.django.apps import faqs_from
from faqsvc_embed.django.nonce import ATTRIBUTE, as_text
from faqsvc_embed.models import FAQState
from faqsvc_embed.page.context import Page, is_part, joined_page, rendering_page, request_page
from faqsvc_embed.page.options import split_arguments

PAGE: Final = "faqsvc_page"
"""The key of the page in the render context."""

register = Library()


class _Template(msgspec.Struct, frozen=True):
    """The template that contains a tag, with the variables that are needed."""

    name: str | None
    parent: Mapping[str, Any]


@register.simple_tag(takes_context=True)
def faq(context: Context, /, *arguments: Any, **options: Any) -> Markup:
    """Print an FAQ: `{% faq "pricing" lang="ko" heading_level=3 %}`."""
    slug, options = split_arguments(arguments, options)
    page = _page(context)
    markup = faqs_from().presenter.render(page, slug, _defined(options), _template(context))
    return _as_part(page, markup)


@register.simple_tag(takes_context=True)
def use_faq(context: Context, /, *arguments: Any, **options: Any) -> FAQState:
    """Get the state of an FAQ, for your own markup: `{% use_faq "pricing" as state %}`."""
    slug, options = split_arguments(arguments, options)
    presenter = faqs_from().presenter
    page, options = _page(context), _defined(options)
    presenter.options.check_names(options, ("lang",), slug, _template(context))
    return page.defer_state(presenter.states.get(page, slug, options.get("lang"), None))


@register.simple_tag(takes_context=True)
def faq_schema(context: Context, /, *arguments: Any, **options: Any) -> Markup:
    """Print the FAQPage of an FAQ, or of all FAQs with `schema=False`: `{% faq_schema %}`."""
    faq, options = split_arguments(arguments, options, ("faq",))
    presenter, options, template = faqs_from().presenter, _defined(options), _template(context)
    presenter.options.check_names(options, ("nonce",), "", template)
    page = _page(context)
    return _as_part(page, presenter.schema(page, faq or None, options.get("nonce"), template))


def _page(context: Context) -> Page:
    """Return the current page; outside of a request and a joined page, each rendered template is one."""
    page = request_page() or rendering_page() or joined_page() or context.render_context.get(PAGE)
    if page is None:
        page = context.render_context[PAGE] = Page()
    return page


def _as_part(page: Page, markup: Markup) -> Markup:
    """Return what a tag prints, without elements that the page has, unless the page is completed later."""
    return markup if is_part() else Markup(page.complete_part(markup))  # parts of it are removed


def _defined(options: dict[str, Any]) -> dict[str, Any]:
    """Return options without empty strings, because Django renders a missing variable as one."""
    return {name: value for name, value in options.items() if not (isinstance(value, str) and not value)}


def _template(context: Context) -> _Template:
    origin = getattr(context.template, "origin", None)
    return _Template(getattr(origin, "template_name", None), {ATTRIBUTE: as_text(context.get(ATTRIBUTE))})
