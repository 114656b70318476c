"""FAQs in any Jinja environment: `faq`, `use_faq`, `faq_schema`, the tag `{% faq %}`, and macros."""

from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from typing import Any, Final

from jinja2 import BaseLoader, ChoiceLoader, Environment, Template, Undefined, nodes, pass_context
from jinja2.environment import TemplateModule
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from markupsafe import Markup

from faqsvc_embed.embed import FAILED, FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.page.border import guarded
from faqsvc_embed.page.document import DOCUMENT, Document, begin_document, begin_stream
from faqsvc_embed.page.options import Caller, split_arguments
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.presenter import Presenter
from faqsvc_embed.rendering.templates import BoundLoader, package_loader, with_package_syntax
from faqsvc_embed.runtime.bounded_log import LogOnce

__all__ = ["install"]

Options = dict[str, Any]

_log: Final = LogOnce()
_NO_SLUG: Final = "the tag 'faq' has no slug: write {% faq \"pricing\" %}"
_NOT_NAMED: Final = 'the tag \'faq\' takes named options with commas: write {% faq "pricing", lang="de" %}'


def install(environment: Environment, embed: FAQEmbed) -> None:
    """Add the globals, the tag and `faqsvc/macros.html` to an environment.

    If the environment's loader finds a `faqsvc/faq.html`, it is rendered instead of the package's. In an
    environment with `enable_async`, `faq` and `use_faq` are coroutines. A second embed replaces the first.

    Raises:
        ConfigurationError: it is not a Jinja environment, or not an embed.
    """
    _check_types(environment, embed)
    host_loader = environment.loader
    if isinstance(host_loader, _WithPackage):
        host_loader = host_loader.host
    embed.presenter.renderer.use_host(environment, host_loader)
    presenter, is_async = embed.presenter, environment.is_async
    guard: Any = presenter.aguarded if is_async else presenter.guarded
    render = presenter.arender if is_async else presenter.render
    text = presenter.atext if is_async else presenter.text
    schema, failed = presenter.schema, presenter.failed
    calls = {
        "faq": _global(guard, render, Markup(), failed),
        "tag": _global(guard, text, Markup(), failed),
        "use_faq": _global(guard, _checked_use_faq(presenter, environment), FAILED),
        "faq_schema": _global(presenter.guarded, schema, Markup(), failed, names=("faq",)),
    }
    for name, call in calls.items():
        # The tag calls a filter, and a macro hides the global of its name.
        environment.filters[f"faqsvc_{name}"] = call
        if name != "tag":
            environment.globals[name] = call
    environment.add_extension(FAQTag)
    if not issubclass(environment.template_class, DocumentTemplate):
        environment.template_class = type(
            "DocumentTemplate", (DocumentTemplate, environment.template_class), {}
        )
    package = BoundLoader(package_loader(), with_package_syntax(environment))
    environment.loader = _WithPackage(host_loader, package)


def _check_types(environment: object, embed: object) -> None:
    if not isinstance(environment, Environment):
        hint = ": pass its env attribute" if hasattr(environment, "env") else ""
        kind = type(environment).__name__
        raise ConfigurationError(f"install() takes a jinja2.Environment first, not {kind}{hint}")
    if not isinstance(embed, FAQEmbed):
        raise ConfigurationError(f"install() takes a FAQEmbed second, not {type(embed).__name__}")


class _WithPackage(ChoiceLoader):
    """The host's loader, followed by the package's."""

    host: BaseLoader | None = None

    def __init__(self, host: BaseLoader | None, package: BaseLoader) -> None:
        super().__init__([host, package] if host is not None else [package])
        self.host = host

    def __getattr__(self, name: str) -> Any:
        """Return what the host has added to its loader: Sphinx reads the folders of its themes there."""
        return getattr(self.host, name)


def _checked_use_faq(presenter: Presenter, environment: Environment) -> Callable[..., Any]:
    """Return `use_faq` with a warning if templates of the host print its texts unescaped."""
    use_faq: Callable[..., Any] = presenter.ause_faq if environment.is_async else presenter.use_faq

    def checked(*arguments: Any) -> Any:
        if environment.autoescape is False:
            presenter.resolver.log.warning(
                "autoescape",
                "the Jinja environment has autoescape=False: FAQs are escaped, but what your templates print "
                "of use_faq() is not; use autoescape=True or jinja2.select_autoescape()",
            )
        return use_faq(*arguments)

    return checked


def _global(
    guard: Callable[..., Any],
    show: Callable[..., Any],
    nothing: object,
    on_error: Callable[[Exception], object] | None = None,
    names: Sequence[str] = ("slug", "lang"),
) -> Callable[..., Any]:
    """Return a global that shows something, or returns `nothing` if that fails; Jinja awaits a coroutine.

    `names` are those of its positional arguments.
    """

    def show_with(arguments: tuple[Any, ...], options: Options, caller: Caller) -> Any:
        subject, options = split_arguments(arguments, options, names)
        # An undefined variable means the default.
        defined = {name: value for name, value in options.items() if not isinstance(value, Undefined)}
        return show(None if isinstance(subject, Undefined) else subject, defined, caller)

    @pass_context
    def call(context: Context, /, *arguments: Any, **options: Any) -> Any:
        caller = Caller(context.name, context.parent.get("csp_nonce"))
        do: Callable[..., Any] = show_with
        subject: Any = arguments
        if not options and len(arguments) == 1 and isinstance(arguments[0], str):  # as most calls are
            do, subject = show, arguments[0]
        return guard(do, subject, options, caller, otherwise=nothing, about=arguments, on_error=on_error)

    return call


class DocumentTemplate(Template):
    """A template. Each rendering of it, with all that it includes and extends, is a document."""

    def render(self, *args: Any, **kwargs: Any) -> str:
        outer, document = DOCUMENT.get(), guarded(begin_document, otherwise=None)
        try:
            return super().render(*args, **kwargs)
        finally:
            DOCUMENT.set(outer)
            if document is not None:
                document.is_over = True  # a copy of this context may still have it

    async def render_async(self, *args: Any, **kwargs: Any) -> str:
        outer, document = DOCUMENT.get(), guarded(begin_document, otherwise=None)
        try:
            return await super().render_async(*args, **kwargs)
        finally:
            DOCUMENT.set(outer)
            if document is not None:
                document.is_over = True  # a copy of this context may still have it

    def generate(self, *args: Any, **kwargs: Any) -> Iterator[str]:
        parts = super().generate(*args, **kwargs)
        guarded(begin_stream, parts, otherwise=None)
        return parts

    def generate_async(self, *args: Any, **kwargs: Any) -> AsyncGenerator[str, object]:
        parts = super().generate_async(*args, **kwargs)
        guarded(begin_stream, parts, otherwise=None)
        return parts

    # Jinja renders a template that is included or imported without context once, and caches the result.

    def make_module(self, vars: dict[str, Any] | None = None, *args: Any, **kwargs: Any) -> TemplateModule:
        outer, kept = DOCUMENT.get(), None if vars is not None else guarded(_begin_kept, otherwise=None)
        try:
            return super().make_module(vars, *args, **kwargs)
        finally:
            DOCUMENT.set(outer)
            if kept is not None:
                guarded(_end_kept, kept, self.name, otherwise=None)

    async def make_module_async(
        self, vars: dict[str, Any] | None = None, *args: Any, **kwargs: Any
    ) -> TemplateModule:
        outer, kept = DOCUMENT.get(), None if vars is not None else guarded(_begin_kept, otherwise=None)
        try:
            return await super().make_module_async(vars, *args, **kwargs)
        finally:
            DOCUMENT.set(outer)
            if kept is not None:
                guarded(_end_kept, kept, self.name, otherwise=None)


def _begin_kept() -> Document:
    """Begin a document that Jinja caches: on a page of its own, it has neither placeholders nor drafts."""
    document = Document(Page(slugs={}))
    DOCUMENT.set(document)
    return document


def _end_kept(document: Document, name: str | None) -> None:
    document.is_over = True
    if document.page.slugs:
        _log.warning(
            f"kept {name}",
            "Jinja keeps the FAQs of template %r as they are now, because it is included or imported without "
            "context: include it with context, or call faq() in a macro",
            name,
        )


class FAQTag(Extension):
    """`{% faq "pricing", lang="ko" %}`: prints what `{{ faq("pricing", lang="ko") }}` prints."""

    tags: set[str] = {"faq"}  # noqa: RUF012  # Jinja's own interface

    def parse(self, parser: Parser) -> nodes.Node:
        line, slug, options = next(parser.stream).lineno, None, list[nodes.Keyword]()
        if parser.stream.current.type == "block_end":
            parser.fail(_NO_SLUG, line)
        is_named = has_more = parser.stream.look().type == "assign"  # {% faq slug="pricing" %}
        if not is_named:
            slug, has_more = parser.parse_expression(), parser.stream.skip_if("comma")
        while has_more and parser.stream.look().type == "assign":
            name = parser.stream.expect("name")
            parser.stream.skip()
            value = parser.parse_expression()
            if is_named and name.value == "slug":
                slug = value
            else:
                options.append(nodes.Keyword(name.value, value, lineno=name.lineno))
            has_more = parser.stream.skip_if("comma")
        if slug is None:
            parser.fail(_NO_SLUG, line)
        if has_more or parser.stream.current.type != "block_end":
            parser.fail(_NOT_NAMED, line)
        # A filter, because calling it is faster than calling a function in an expression. Its text is HTML
        # already, and escaping would copy it twice; but a `finalize` of the host may have to know that.
        call = "faqsvc_tag" if parser.environment.finalize is None else "faqsvc_faq"
        output = nodes.Output([nodes.Filter(slug, call, [], options, None, None)])
        if parser.environment.finalize is not None:
            return output.set_lineno(line)
        unescaped = [nodes.Keyword("autoescape", nodes.Const(False))]
        return nodes.ScopedEvalContextModifier(unescaped, [output]).set_lineno(line)
