"""FAQs in any Jinja environment: `faq`, `use_faq`, `faq_schema`, the tag `{% faq %}`, and macros of them."""

from collections import ChainMap
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import SimpleNamespace
from typing import Any, ClassVar, Final

from jinja2 import BaseLoader, ChoiceLoader, Environment, Template, Undefined, nodes, pass_context
from jinja2.environment import TemplateModule
from jinja2.ext import Extension
from jinja2.parser import Parser
from jinja2.runtime import Context, new_context
from markupsafe import Markup

from faqsvc_embed.cache.reader import in_event_loop
from faqsvc_embed.embed import FAQEmbed
from faqsvc_embed.models import FAQ, FAQState
from faqsvc_embed.page import context as pages
from faqsvc_embed.page.context import Page
from faqsvc_embed.rendering.encoded import joined
from faqsvc_embed.rendering.environments import LoaderIn, OurTemplates, Printed, in_our_syntax
from faqsvc_embed.rendering.renderer import Renderer

TAG: Final = "faqsvc_tag"
"""The filter that makes an FAQ of a slug."""
PAGE: Final = "faqsvc_page"
"""The name under which a rendering carries its page where no request has one."""
OWN_RENDERS: Final = (Template.render, Template.render_async)
"""How Jinja renders, before anybody instruments it."""
IS_PART: Final = "faqsvc_is_part"
"""The name that says that a template is imported, or included without context."""


def install(environment: Environment, embed: FAQEmbed) -> None:
    """Add the globals, the tag and `faqsvc/macros.html` to an environment, served by `embed`.

    A `faqsvc/faq.html` that the environment's loader finds is rendered in the place of ours; one that is
    added while ours is in use is found at the next start, as Jinja keeps what it has found. In an
    environment with `enable_async` the globals await instead of blocking. A second embed takes the place of
    the first, in templates that were loaded before, too.
    """
    theirs = environment.loader.theirs if isinstance(environment.loader, _WithOurs) else environment.loader
    environment.loader = theirs  # what renders blocks looks for templates of the host, and only of the host
    renderer = Renderer(environment, embed.showing.answers, encodes=embed.settings.splice)
    embed.showing.render_with(renderer)
    embed.is_ready = False  # the new renderer's templates are not compiled
    calls = _AsyncCalls(embed) if environment.is_async else _Calls(embed)
    functions = {"faq": calls.faq, "use_faq": calls.use_faq, "faq_schema": calls.faq_schema}
    environment.globals.update(functions, faqsvc=SimpleNamespace(**functions))
    environment.filters[TAG] = calls.faq
    environment.add_extension(FAQTag)
    if not issubclass(environment.template_class, _PagedTemplate):
        environment.template_class = type("PagedTemplate", (_PagedTemplate, environment.template_class), {})
    setattr(environment.template_class, "splices", embed.settings.splice)  # noqa: B010  # for mypy, Template's
    ours = LoaderIn(OurTemplates("faqsvc_embed"), in_our_syntax(environment))
    environment.loader = _WithOurs(theirs, ours)


class _WithOurs(ChoiceLoader):
    """The loader of a host, if it has one, and behind it ours."""

    def __init__(self, theirs: BaseLoader | None, ours: BaseLoader) -> None:
        super().__init__([theirs, ours] if theirs else [ours])
        self.theirs = theirs


class _Calls:
    """The globals of an environment that renders synchronously."""

    def __init__(self, embed: FAQEmbed) -> None:
        self._embed = embed
        self._at_hand = embed.showing.at_hand  # of which nearly every page is a call

    @pass_context
    def faq(self, context: Context, slug: str, **options: Any) -> Markup:
        page = _page(context)
        if not options and (at_hand := self._at_hand(page, slug, context.parent)) is not None:
            return at_hand
        showing = self._embed.showing
        options = showing.known(_defined(options))
        nonce = showing.nonce(options.pop("nonce", None), page, context.parent)
        return showing.render(page, slug, nonce=nonce, **options)

    @pass_context
    def use_faq(self, context: Context, slug: str, *, lang: str | None = None, **others: Any) -> FAQState:
        page = _page(context)
        self._embed.showing.known(others, "use_faq", ("lang",))
        lang = None if isinstance(lang, Undefined) else lang
        state = self._embed.use_faq_on(page, slug, lang)
        _defer(self._marked_up(state), page)
        return state

    @pass_context
    def faq_schema(
        self, context: Context, faq: FAQ | FAQState | None = None, nonce: Any = None, **others: Any
    ) -> Markup:
        page = _page(context)
        self._embed.showing.known(others, "faq_schema", ("faq", "nonce"))
        if (nothing := self._embed.showing.not_for_schema(page, faq)) is not None:
            return nothing
        marked_up = self._marked_up(faq)
        nonce = self._embed.showing.nonce(nonce, page, context.parent)
        is_long = page.fills_slots and page.takes_long(marked_up) and in_event_loop()
        if page.has_open_slots or is_long:  # the FAQs of open slots come first, and belong into it
            return page.leave_slot(lambda: page.aschema(marked_up, nonce))
        return page.schema(marked_up, nonce)

    def _marked_up(self, faq: FAQ | FAQState | None) -> FAQ | None:
        record = _record(faq)
        return None if record is None else self._embed.showing.answers.marked_up(record)


def _record(faq: FAQ | FAQState | None) -> FAQ | None:
    return faq.data if isinstance(faq, FAQState) else faq


def _defer(marked_up: FAQ | None, page: Page) -> None:
    """A host that shows an FAQ with markup of its own has it in a `faq_schema()` further down."""
    if marked_up is not None:
        page.defer(marked_up)


def _defined(options: dict[str, Any]) -> dict[str, Any]:
    """Return options without those that are not defined where they come from: the default stands for them."""
    return {name: value for name, value in options.items() if not isinstance(value, Undefined)}


class _AsyncCalls(_Calls):
    """The globals of an environment with `enable_async`, which awaits whatever they return."""

    @pass_context
    async def faq(  # type: ignore[override]
        self, context: Context, slug: str, **options: Any
    ) -> Markup:
        page, showing = _page(context), self._embed.showing
        options = showing.known(_defined(options))
        nonce = showing.nonce(options.pop("nonce", None), page, context.parent)
        return await showing.arender(page, slug, nonce=nonce, **options)

    @pass_context
    async def use_faq(  # type: ignore[override]
        self, context: Context, slug: str, *, lang: str | None = None, **others: Any
    ) -> FAQState:
        page = _page(context)
        self._embed.showing.known(others, "use_faq", ("lang",))
        lang = None if isinstance(lang, Undefined) else lang
        state = await self._embed.ause_faq_on(page, slug, lang)
        _defer(await self._amarked_up(state), page)
        return state

    @pass_context
    async def faq_schema(  # type: ignore[override]
        self, context: Context, faq: FAQ | FAQState | None = None, nonce: Any = None, **others: Any
    ) -> Markup:
        page, showing = _page(context), self._embed.showing
        showing.known(others, "faq_schema", ("faq", "nonce"))
        if (nothing := showing.not_for_schema(page, faq)) is not None:
            return nothing
        nonce = showing.nonce(nonce, page, context.parent)
        return await page.aschema_in_turn(await self._amarked_up(faq), nonce)

    async def _amarked_up(self, faq: FAQ | FAQState | None) -> FAQ | None:
        record = _record(faq)
        return None if record is None else await self._embed.showing.answers.amarked_up(record)


# Which page a call belongs to. A request has one; where there is none, each rendering gets its own, which
# its includes and parents share. A macro imported without context sees no rendering: it takes the last one.
_latest: ContextVar[list[Page] | None] = ContextVar("faqsvc_latest_rendering", default=None)
_shown: ContextVar[dict[str, bool] | None] = ContextVar("faqsvc_shown", default=None)
"""What is noted of FAQs while a template is imported, or included without context."""


def _page(context: Context) -> Page:
    if (shown := _shown.get()) is not None:
        shown["an FAQ"] = True
    page = pages.CURRENT.get()  # as in `current()`
    if page is not None and not page.is_over:
        return page
    shelf: list[Page] | None = context.parent.get(PAGE)
    if shelf is None:
        shelf = _latest.get()
    if shelf is None:
        return Page()
    if not shelf:
        shelf.append(Page())
    return shelf[0]


@contextmanager
def _noting() -> Iterator[dict[str, bool]]:
    """Note whether FAQs are shown meanwhile; if so, they are in whatever this is a part of, too."""
    whole, shown = _shown.get(), dict[str, bool]()
    _shown.set(shown)
    try:
        yield shown
    finally:
        _shown.set(whole)
        if whole is not None:
            whole.update(shown)


class _PagedTemplate(Printed):
    """A template whose rendering has a place for a page; the page is made when an FAQ is."""

    splices: ClassVar[bool] = False
    """What is rendered knows the bytes of its first FAQ; as the embed is set that was installed last."""

    # What a rendering printed that fails half-way leaves with no response: the page of its error begins anew.

    def render(self, *args: Any, **kwargs: Any) -> str:
        page, around = pages.current(), _latest.get()
        begins = page is not None and page.is_blank
        try:
            if not self.splices or self.environment.is_async or not _is_jinjas_own(super().render):
                return super().render(*args, **kwargs)
            context = self.new_context(dict(*args, **kwargs))
            try:
                return _spliced(list(self.root_render_func(context)), context)
            except Exception:
                self.environment.handle_exception()  # which raises it again, with the lines of the template
        except Exception:
            if page is not None and begins:
                page.begin_again()
            raise
        finally:
            _latest.set(around)

    async def render_async(self, *args: Any, **kwargs: Any) -> str:
        page, around = pages.current(), _latest.get()
        begins = page is not None and page.is_blank
        try:
            if not self.splices or not self.environment.is_async or not _is_jinjas_own(super().render_async):
                return await super().render_async(*args, **kwargs)
            context = self.new_context(dict(*args, **kwargs))
            printed: Any = self.root_render_func(context)
            try:
                return _spliced([part async for part in printed], context)
            except Exception:
                self.environment.handle_exception()
        except Exception:
            if page is not None and begins:
                page.begin_again()
            raise
        finally:
            _latest.set(around)

    def new_context(
        self, vars: dict[str, Any] | None = None, shared: bool = False, locals: Any = None
    ) -> Context:
        # `shared` is an include, and without variables it is an import: neither begins a rendering.
        if vars is not None and not shared and IS_PART not in vars:
            shelf: list[Page] = []
            _latest.set(shelf)
            vars[PAGE] = shelf
        # Jinja walks its ChainMap of globals twice for each rendering; a dict is a tenth of the cost, and
        # pays for what is added here.
        flat: dict[str, Any] = {}
        for layer in reversed(self._layers()):
            flat.update(layer)
        return new_context(self.environment, self.name, self.blocks, vars, shared, flat, locals)

    # Jinja keeps for ever what a template printed that is imported, or included without context. An FAQ in it
    # belongs to one page: to the first, it may have come too late, and to others, it would be no news.

    def _get_default_module(self, ctx: Context | None = None) -> TemplateModule:
        names = self._names_from(ctx)
        if self.environment.is_async:
            return super()._get_default_module(ctx)  # which says that this cannot be
        if self._module is not None and not names:
            return self._module
        with _noting() as shown:
            module = self.make_module({**names, IS_PART: True})
        return module if names or shown else self._kept(module)

    async def _get_default_module_async(self, ctx: Context | None = None) -> TemplateModule:
        names = self._names_from(ctx)
        if self._module is not None and not names:
            return self._module
        with _noting() as shown:
            module = await self.make_module_async({**names, IS_PART: True})
        return module if names or shown else self._kept(module)

    def _names_from(self, importing: Context | None) -> dict[str, Any]:
        """Return the globals that only the importing template has."""
        if importing is None:
            return {}
        return {name: importing.parent[name] for name in importing.globals_keys.difference(*self._layers())}

    def _layers(self) -> list[MutableMapping[str, Any]]:
        """Return the globals as what they are made of: Jinja's ChainMap looks each name up in Python."""
        return self.globals.maps if isinstance(self.globals, ChainMap) else [self.globals]

    def _kept(self, module: TemplateModule) -> TemplateModule:
        self._module = module
        return module


def _is_jinjas_own(render: Any) -> bool:
    """Tell whether templates are rendered as Jinja does: by no class of the host, and nobody looking on."""
    return getattr(render, "__func__", None) in OWN_RENDERS


def _spliced(parts: list[str], context: Context) -> str:
    """Join what a template printed to a text that knows the bytes of its first FAQ."""
    page = _page(context)
    first = page.shown.blocks[0] if page.shown.blocks else None
    if first is None or first.encoded is None or context.environment.concat is not Environment.concat:
        return context.environment.concat(parts)
    return joined(parts, first.alone, first.encoded)


class FAQTag(Extension):
    """`{% faq "pricing", lang="ko" %}`: what `{{ faq("pricing", lang="ko") }}` prints."""

    tags = {"faq"}  # noqa: RUF012  # Jinja's own interface

    def parse(self, parser: Parser) -> nodes.Node:
        line = next(parser.stream).lineno
        slug = parser.parse_expression()
        options: list[nodes.Keyword] = []
        while parser.stream.skip_if("comma"):
            name = parser.stream.expect("name")
            parser.stream.expect("assign")
            options.append(nodes.Keyword(name.value, parser.parse_expression(), lineno=name.lineno))
        # A filter is called at a fifth of what a function in an expression takes.
        return nodes.Output([nodes.Filter(slug, TAG, [], options, None, None)]).set_lineno(line)
