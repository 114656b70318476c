"""The tags `{% faq %}`, `{% use_faq %}` and `{% faq_schema %}`, after `{% load faqsvc %}`."""

from collections.abc import Callable
from typing import Any, Final, TypeVar

from django.template import Context, Library
from markupsafe import Markup

from faqsvc_embed.django.apps import faqs_from
from faqsvc_embed.django.middleware import NONCE, as_text
from faqsvc_embed.embed import FAILED
from faqsvc_embed.models import FAQState
from faqsvc_embed.page.border import guarded
from faqsvc_embed.page.document import Document, joined_document
from faqsvc_embed.page.options import Caller, split_arguments
from faqsvc_embed.page.page import NO_PAGE
from faqsvc_embed.page.presenter import Presenter

T = TypeVar("T")
Arguments = tuple[Any, ...]
Options = dict[str, Any]
Show = Callable[[Presenter, Any, Options, Caller], T]
"""A method of the presenter: it shows a slug or a record."""

DOCUMENT: Final = "faqsvc_document"
"""The key of the document in the render context of its top-level template."""
DISCARDED: Final = "_DJANGO_COMPONENTS_GEN_FILL"
"""A variable that django-components sets while it renders the body of a component only to find its fills."""

register: Library = Library()


@register.simple_tag(takes_context=True)
def faq(context: Context, /, *arguments: Any, **options: Any) -> Markup:
    """Print an FAQ: `{% faq "pricing" lang="ko" heading_level=3 %}`."""
    return _guarded(Presenter.render, Markup(), context, arguments, options)


@register.simple_tag(takes_context=True)
def use_faq(context: Context, /, *arguments: Any, **options: Any) -> FAQState:
    """Get the state of an FAQ, for your own markup: `{% use_faq "pricing" as state %}`."""
    return _guarded(Presenter.use_faq, FAILED, context, arguments, options)


@register.simple_tag(takes_context=True)
def faq_schema(context: Context, /, *arguments: Any, **options: Any) -> Markup:
    """Print the FAQPage of an FAQ, or of all FAQs printed without JSON-LD: `{% faq_schema %}`."""
    return _guarded(Presenter.schema, Markup(), context, arguments, options)


def _guarded(show: Show[T], nothing: T, context: Context, arguments: Arguments, options: Options) -> T:
    """Return what a tag shows, or `nothing` if that fails."""
    embed = guarded(faqs_from, otherwise=None)
    if embed is None:
        return nothing
    presenter: Any = embed.presenter
    on_error = None if nothing is FAILED else presenter.failed
    work = (_shown, show, presenter, context, arguments, options)
    result: T = presenter.guarded(*work, otherwise=nothing, about=arguments, on_error=on_error)
    return result


def _shown(
    show: Show[T], presenter: Presenter, context: Context, arguments: Arguments, options: Options
) -> T:
    is_schema = show == Presenter.schema
    subject, options = split_arguments(arguments, options, ("faq",) if is_schema else ("slug", "lang"))
    if isinstance(subject, str):
        # A literal is a SafeString, which str() leaves as it is and pathlib refuses before Python 3.12.
        subject = str.__str__(subject) or (None if is_schema else "")
    return show(presenter, subject, _defined(options), _caller(context))


def _document(context: Context) -> Document:
    """Return the document of the top-level template: Django pushes the state of that template first."""
    if DISCARDED in context:
        return Document(NO_PAGE)
    states: list[Any] = context.render_context.dicts
    document: Document = joined_document() or states[:2][-1].setdefault(DOCUMENT, Document(NO_PAGE))
    return document


def _defined(options: Options) -> Options:
    """Return options without empty strings, because Django renders a missing variable as one."""
    return {name: value for name, value in options.items() if not (isinstance(value, str) and not value)}


def _caller(context: Context) -> Caller:
    origin = getattr(context.template, "origin", None)
    name, nonce = getattr(origin, "template_name", None), as_text(context.get(NONCE))
    return Caller(name, nonce, _document(context))
