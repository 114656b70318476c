"""FAQs in any Jinja environment: `faq`, `use_faq`, `faq_schema`, the tag `{% faq %}`, and macros of them."""

from collections.abc import Callable
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, Final

from jinja2 import ChoiceLoader, Environment, PackageLoader, Template, nodes, pass_context
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context
from markupsafe import Markup

from faqsvc_embed import page as pages
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.page import Page
from faqsvc_embed.records import FAQ, FAQState
from faqsvc_embed.rendering import Renderer

PAGE: Final = "faqsvc_page"
"""The name under which a rendering carries its page where no request has one."""


def install(environment: Environment, embed: FAQEmbed) -> None:
    """Add the globals, the tag and `faqsvc/macros.html` to an environment, served by `embed`.

    A `faqsvc/faq.html` that the environment's loader finds is rendered in the place of ours. In an
    environment with `enable_async` the globals await instead of blocking.
    """
    embed.renderer = Renderer(environment)
    calls = _AsyncCalls(embed) if environment.is_async else _Calls(embed)
    functions = {"faq": calls.faq, "use_faq": calls.use_faq, "faq_schema": calls.faq_schema}
    environment.globals.update(functions, faqsvc=SimpleNamespace(**functions))
    environment.add_extension(FAQTag)
    ours = PackageLoader("faqsvc_embed")
    environment.loader = ChoiceLoader([environment.loader, ours]) if environment.loader else ours
    environment.template_class = type("PagedTemplate", (_PagedTemplate, environment.template_class), {})


class _Calls:
    """The globals of an environment that renders synchronously."""

    def __init__(self, embed: FAQEmbed) -> None:
        self._embed = embed

    @pass_context
    def faq(self, context: Context, slug: str, **options: Any) -> Markup:
        page = _page(context)
        token = pages.begin(page)
        try:
            return self._embed.render(slug, **_with_nonce(options, context, page))
        finally:
            pages.end(token)

    @pass_context
    def use_faq(self, context: Context, slug: str, **options: Any) -> FAQState:
        page = _page(context)
        token = pages.begin(page)
        try:
            return _noted(self._embed.use_faq(slug, **options), page)
        finally:
            pages.end(token)

    @pass_context
    def faq_schema(self, context: Context, faq: FAQ | FAQState | None = None, nonce: Any = None) -> Markup:
        page = _page(context)
        if isinstance(faq, FAQState):
            if faq.data is None:
                return Markup()
            faq = faq.data
        return page.schema(faq, _with_nonce({"nonce": nonce}, context, page)["nonce"])


class _AsyncCalls(_Calls):
    """The globals of an environment with `enable_async`, which awaits whatever they return."""

    @pass_context
    async def faq(self, context: Context, slug: str, **options: Any) -> Markup:  # type: ignore[override]
        page = _page(context)
        token = pages.begin(page)
        try:
            return await self._embed.arender(slug, **_with_nonce(options, context, page))
        finally:
            pages.end(token)

    @pass_context
    async def use_faq(self, context: Context, slug: str, **options: Any) -> FAQState:  # type: ignore[override]
        page = _page(context)
        token = pages.begin(page)
        try:
            return _noted(await self._embed.ause_faq(slug, **options), page)
        finally:
            pages.end(token)


def _noted(state: FAQState, page: Page) -> FAQState:
    """A host that shows an FAQ with markup of its own has it in a `faq_schema()` further down."""
    if state.data is not None:
        page.defer(state.data)
    return state


def _with_nonce(options: dict[str, Any], context: Context, page: Page) -> dict[str, Any]:
    """Find the nonce: the argument, else the framework's, else a `csp_nonce` of the template's."""
    nonce = options.get("nonce") or (page.nonce() if page.nonce is not None else None)
    if not nonce:
        nonce = context.get("csp_nonce")
        nonce = nonce() if callable(nonce) else nonce
    options["nonce"] = str(nonce) if nonce else None
    return options


# Which page a call belongs to. A request has one; where there is none, each rendering gets its own, which
# its includes and parents share. A macro imported without context sees no rendering: it takes the last one.
_latest: ContextVar[Page | None] = ContextVar("faqsvc_latest_rendering", default=None)


def _page(context: Context) -> Page:
    return pages.current() or context.get(PAGE) or _latest.get() or Page()


class _PagedTemplate(Template):
    """A template whose rendering carries a page."""

    def new_context(
        self, vars: dict[str, Any] | None = None, shared: bool = False, locals: Any = None
    ) -> Context:
        # `shared` is an include, and without variables it is an import: neither begins a rendering.
        if vars is not None and not shared and pages.current() is None:
            page = Page()
            _latest.set(page)
            return super().new_context({**vars, PAGE: page}, shared, locals)
        return super().new_context(vars, shared, locals)


class FAQTag(Extension):
    """`{% faq "pricing", lang="ko" %}`: what `{{ faq("pricing", lang="ko") }}` prints, without copying it."""

    tags = {"faq"}  # noqa: RUF012  # Jinja's own interface

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        slug = parser.parse_expression()
        options = list[nodes.Keyword]()
        while parser.stream.skip_if("comma"):
            name = parser.stream.expect("name")
            parser.stream.expect("assign")
            options.append(nodes.Keyword(name.value, parser.parse_expression(), lineno=name.lineno))
        call = self.call_method("_faq", [nodes.ContextReference(), slug], options, lineno=line)
        # A call block writes out what it is given; an expression would copy the Markup twice.
        return nodes.CallBlock(call, [], [], []).set_lineno(line)

    def _faq(self, context: Context, slug: str, caller: Callable[[], str], **options: Any) -> Any:
        faq = self.environment.globals["faqsvc"].faq  # type: ignore[attr-defined]
        return faq(context, slug, **options)
