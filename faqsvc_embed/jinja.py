"""FAQs in any Jinja environment: `faq`, `use_faq`, `faq_schema`, the tag `{% faq %}`, and macros."""

from collections.abc import AsyncGenerator, Iterator, Mapping
from typing import Any, Final

from jinja2 import BaseLoader, ChoiceLoader, Environment, Template, Undefined, nodes, pass_context
from jinja2.environment import TemplateModule
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from markupsafe import Markup

from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.errors import ConfigurationError
from faqsvc_embed.models import FAQState
from faqsvc_embed.page.border import guarded
from faqsvc_embed.page.context import Rendering, begin_document, begin_stream
from faqsvc_embed.page.document import Document
from faqsvc_embed.page.options import split_arguments
from faqsvc_embed.page.page import Page
from faqsvc_embed.page.presenter import Presenter
from faqsvc_embed.rendering.templates import BoundLoader, package_loader, with_package_syntax
from faqsvc_embed.runtime.bounded_log import LogOnce

__all__ = ["install"]

GLOBALS: Final = ("faq", "use_faq", "faq_schema")
"""Also registered as filters `faqsvc_…`: the tag calls a filter, and a macro hides the global of its name."""

_log: Final = LogOnce()


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
    functions = _AsyncGlobals(embed.presenter) if environment.is_async else _Globals(embed.presenter)
    for name in GLOBALS:
        environment.globals[name] = environment.filters[f"faqsvc_{name}"] = getattr(functions, name)
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

    def __init__(self, host: BaseLoader | None, package: BaseLoader) -> None:
        super().__init__([host, package] if host is not None else [package])
        self.host = host


class _Globals:
    """The globals of a synchronous environment."""

    def __init__(self, presenter: Presenter) -> None:
        self._presenter = presenter

    @pass_context
    def faq(self, context: Context, /, *arguments: Any, **options: Any) -> Markup:
        """Return the FAQ of a slug: `faq(slug, lang)`, and options."""
        presenter = self._presenter
        slug, options = split_arguments(arguments, options)
        return presenter.render(presenter.document(), slug, _defined(options), context)

    @pass_context
    def use_faq(self, context: Context, /, *arguments: Any, **options: Any) -> FAQState:
        """Return the state of an FAQ, for a template with markup of its own: `use_faq(slug, lang)`."""
        slug, lang = self._reading(context, arguments, options)
        return self._presenter.use_faq(self._presenter.document(), slug, lang)

    @pass_context
    def faq_schema(self, context: Context, /, *arguments: Any, **options: Any) -> Markup:
        """Return the FAQPage of an FAQ, or of all FAQs printed without JSON-LD: `faq_schema(faq)`."""
        presenter = self._presenter
        faq, options = split_arguments(arguments, options, ("faq",))
        presenter.options.check_names(options, ("nonce",), "", context)
        nonce = _none_if_undefined(options.get("nonce"))
        return presenter.schema(presenter.document(), _none_if_undefined(faq), nonce, context)

    def _reading(
        self, context: Context, arguments: tuple[Any, ...], options: dict[str, Any]
    ) -> tuple[Any, str | None]:
        if context.environment.autoescape is False:
            self._presenter.options.log.warning(
                "autoescape",
                "the Jinja environment has autoescape=False: FAQs are escaped, but what your templates print "
                "of use_faq() is not; use autoescape=True or jinja2.select_autoescape()",
            )
        slug, options = split_arguments(arguments, options)
        self._presenter.options.check_names(options, ("lang",), slug, context)
        return slug, _none_if_undefined(options.get("lang"))


class _AsyncGlobals(_Globals):
    """The globals of an environment with `enable_async`, which awaits their results."""

    @pass_context
    async def faq(  # type: ignore[override]
        self, context: Context, /, *arguments: Any, **options: Any
    ) -> Markup:
        presenter = self._presenter
        slug, options = split_arguments(arguments, options)
        return await presenter.arender(presenter.document(), slug, _defined(options), context)

    @pass_context
    async def use_faq(  # type: ignore[override]
        self, context: Context, /, *arguments: Any, **options: Any
    ) -> FAQState:
        slug, lang = self._reading(context, arguments, options)
        return await self._presenter.ause_faq(self._presenter.document(), slug, lang)


def _defined(options: dict[str, Any]) -> dict[str, Any]:
    """Return options without undefined variables, which mean the default."""
    return options and {name: value for name, value in options.items() if not isinstance(value, Undefined)}


def _none_if_undefined(value: Any) -> Any:
    return None if isinstance(value, Undefined) else value


class DocumentTemplate(Template):
    """A template. Each rendering of it, with all that it includes and extends, is a document."""

    def render(self, *args: Any, **kwargs: Any) -> str:
        rendering = guarded(begin_document, otherwise=None)
        try:
            return super().render(*args, **kwargs)
        finally:
            if rendering is not None:
                guarded(rendering.end, otherwise=None)

    async def render_async(self, *args: Any, **kwargs: Any) -> str:
        rendering = guarded(begin_document, otherwise=None)
        try:
            return await super().render_async(*args, **kwargs)
        finally:
            if rendering is not None:
                guarded(rendering.end, otherwise=None)

    def generate(self, *args: Any, **kwargs: Any) -> Iterator[str]:
        parts = super().generate(*args, **kwargs)
        guarded(begin_stream, parts, otherwise=None)
        return parts

    def generate_async(self, *args: Any, **kwargs: Any) -> AsyncGenerator[str, object]:
        parts = super().generate_async(*args, **kwargs)
        guarded(begin_stream, parts, otherwise=None)
        return parts

    # Jinja renders a template that is included or imported without context once, and caches the result.

    def make_module(
        self,
        vars: dict[str, Any] | None = None,
        shared: bool = False,
        locals: Mapping[str, Any] | None = None,
    ) -> TemplateModule:
        kept = guarded(_begin_kept, otherwise=None) if vars is None else None
        try:
            return super().make_module(vars, shared, locals)
        finally:
            if kept is not None:
                guarded(_end_kept, *kept, self.name, otherwise=None)

    async def make_module_async(
        self,
        vars: dict[str, Any] | None = None,
        shared: bool = False,
        locals: Mapping[str, Any] | None = None,
    ) -> TemplateModule:
        kept = guarded(_begin_kept, otherwise=None) if vars is None else None
        try:
            return await super().make_module_async(vars, shared, locals)
        finally:
            if kept is not None:
                guarded(_end_kept, *kept, self.name, otherwise=None)


def _begin_kept() -> tuple[Rendering, Page]:
    """Begin a document that Jinja caches, so that it may contain neither placeholders nor drafts."""
    page = Page(slugs={})
    return Rendering(Document(page=page)), page


def _end_kept(rendering: Rendering, page: Page, name: str | None) -> None:
    rendering.end()
    if page.slugs:
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
        line = next(parser.stream).lineno
        arguments: list[nodes.Expr] = []
        options: list[nodes.Keyword] = []
        if parser.stream.look().type == "assign":  # {% faq slug="pricing" %}
            options.append(self._option(parser))
        else:
            arguments.append(parser.parse_expression())
        while parser.stream.skip_if("comma"):
            options.append(self._option(parser))
        slugs = [option.value for option in options if option.key == "slug"] if not arguments else []
        if not (arguments or slugs):
            parser.fail("the tag 'faq' has no slug", line)
        options = [option for option in options if option.key != "slug" or arguments]
        # A filter, because calling it is faster than calling a function in an expression.
        call = nodes.Filter((arguments + slugs)[0], "faqsvc_faq", [], options, None, None)
        return nodes.Output([call]).set_lineno(line)

    @staticmethod
    def _option(parser: Parser) -> nodes.Keyword:
        name = parser.stream.expect("name")
        parser.stream.expect("assign")
        return nodes.Keyword(name.value, parser.parse_expression(), lineno=name.lineno)
