"""The environment of a host as templates of ours need it: they are read and escaped alike in all."""

from collections.abc import Callable, MutableMapping
from types import CodeType
from typing import Any, NamedTuple

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, Template
from jinja2.compiler import CodeGenerator
from markupsafe import Markup, escape


class Environments(NamedTuple):
    """Those in which a block is rendered; they differ by delimiters, and find the same templates."""

    theirs: Environment
    """For templates of the host."""
    ours: Environment


def plain(loader: BaseLoader) -> Environments:
    """Return the environments for a block where there is no host."""
    environment = Environment(autoescape=True, loader=loader, auto_reload=False)
    environment.template_class = Printed
    environment.globals = {}  # ours need none, and Jinja goes through all of them for each block
    return Environments(environment, environment)


def for_blocks(host: Environment, loader: BaseLoader | None, ours_loader: BaseLoader) -> Environments:
    """Return the environments for a block; `loader` finds templates of the host, and they come first."""
    theirs = host.overlay(
        trim_blocks=False,
        lstrip_blocks=False,
        keep_trailing_newline=False,
        autoescape=True,
        enable_async=False,
        finalize=None,
        bytecode_cache=None,  # the host's knows a template by its source, and would mix ours up with theirs
    )
    theirs.template_class = Printed
    theirs.code_generator_class = CodeGenerator  # what makes native values escapes nothing
    theirs.concat = "".join  # type: ignore[method-assign]  # it is called as a function
    ours = in_our_syntax(theirs)
    loaders: list[BaseLoader] = [LoaderIn(loader, theirs)] if loader else []
    theirs.loader = ours.loader = ChoiceLoader([*loaders, LoaderIn(ours_loader, ours)])
    return Environments(theirs, ours)


def in_our_syntax(host: Environment) -> Environment:
    """Return the environment of a host as it has to be for templates of ours."""
    plain = Environment()  # noqa: S701  # nothing is rendered with it
    return host.overlay(
        block_start_string=plain.block_start_string,
        block_end_string=plain.block_end_string,
        variable_start_string=plain.variable_start_string,
        variable_end_string=plain.variable_end_string,
        comment_start_string=plain.comment_start_string,
        comment_end_string=plain.comment_end_string,
        line_statement_prefix=plain.line_statement_prefix,
        line_comment_prefix=plain.line_comment_prefix,
        trim_blocks=False,
        lstrip_blocks=False,
        keep_trailing_newline=False,
        bytecode_cache=None,
    )


class Printed(Template):
    """A template that prints values without making Markup of each first, which took most of the time."""

    @classmethod
    def from_code(
        cls,
        environment: Environment,
        code: CodeType,
        globals: MutableMapping[str, Any],
        uptodate: Callable[[], bool] | None = None,
    ) -> Template:
        template = super().from_code(environment, code, globals, uptodate)
        names = template.root_render_func.__globals__
        if names.get("escape") is escape:  # what Jinja's code calls where it prints
            names["escape"] = printed
        return template


def printed(value: object) -> str:
    """Return what `markupsafe.escape` makes of a value, as Markup or not: it is only joined with the rest."""
    if type(value) is Markup:
        return value
    # A pattern would look at each character by itself.
    if type(value) is str and not (
        "<" in value or "&" in value or ">" in value or '"' in value or "'" in value
    ):
        return value
    return str(value) if type(value) is int else escape(value)


class OurTemplates(PackageLoader):
    """Loads the templates of a package, which stay as they are: no page looks at their files."""

    def get_source(self, environment: Environment, template: str) -> tuple[str, str, None]:
        source, name, _ = super().get_source(environment, template)
        return source, name, None


class LoaderIn(BaseLoader):
    """Loads templates that are written for a certain environment, whichever asks for them."""

    def __init__(self, loader: BaseLoader, environment: Environment) -> None:
        self._loader = loader
        self._environment = environment

    def load(
        self, environment: Environment, name: str, globals: MutableMapping[str, Any] | None = None
    ) -> Template:
        return self._loader.load(self._environment, name, globals)

    def get_source(
        self, environment: Environment, template: str
    ) -> tuple[str, str | None, Callable[[], bool] | None]:
        return self._loader.get_source(environment, template)

    def list_templates(self) -> list[str]:
        return self._loader.list_templates()
