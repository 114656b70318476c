"""The Jinja environments in which an FAQ is rendered: the package's own, or one with the host's overrides."""

from collections.abc import Callable, MutableMapping
from functools import cache
from typing import Any, Final

from jinja2 import BaseLoader, ChoiceLoader, Environment, PackageLoader, Template, TemplateNotFound

TEMPLATE: Final = "faqsvc/faq.html"
OVERRIDABLE: Final = (TEMPLATE, *(f"faqsvc/{name}.html" for name in ("block", "details", "open")))

_DELIMITERS: Final = (
    *(f"{name}_{end}_string" for name in ("block", "variable", "comment") for end in ("start", "end")),
    *("line_statement_prefix", "line_comment_prefix"),
)


@cache
def package_environment() -> Environment:
    """Return the environment with the package's templates alone, which all embeds of a process share."""
    # An unlimited cache is a plain dictionary, without a lock that a forked child would find locked.
    return Environment(autoescape=True, loader=package_loader(), auto_reload=False, cache_size=-1)


def load() -> None:
    """Compile the package's templates, so that no page has to."""
    for name in OVERRIDABLE:
        package_environment().get_template(name)


def package_loader() -> PackageLoader:
    return PackageLoader("faqsvc_embed")


def has_overrides(host: Environment, loader: BaseLoader) -> bool:
    """Return whether the host's loader finds one of the package's templates."""
    return any(_finds(host, loader, name) for name in OVERRIDABLE)


def _finds(host: Environment, loader: BaseLoader, name: str) -> bool:
    try:
        loader.get_source(host, name)
    except TemplateNotFound:
        return False
    except Exception:  # the template is broken; rendering it reports that
        return True
    return True


def override_environment(host: Environment, loader: BaseLoader) -> Environment:
    """Return an environment for the host's templates of an FAQ: its globals and filters, always escaped.

    It is synchronous, so that one rendering serves synchronous and asynchronous callers.
    """
    host_syntax = host.overlay(
        autoescape=True,
        enable_async=False,
        finalize=None,
        cache_size=-1,
        bytecode_cache=None,  # a shared cache would mix the code of this environment and the host's
    )
    host_syntax.template_class = Template
    package_syntax = with_package_syntax(host_syntax)
    host_syntax.loader = package_syntax.loader = ChoiceLoader(
        [BoundLoader(loader, host_syntax), BoundLoader(package_loader(), package_syntax)]
    )
    return package_syntax


def with_package_syntax(host: Environment) -> Environment:
    """Return an overlay of an environment that parses the package's templates with Jinja's own delimiters."""
    standard = Environment()  # noqa: S701  # nothing is rendered with it
    overlay = host.overlay(
        trim_blocks=False,
        lstrip_blocks=False,
        keep_trailing_newline=False,
        bytecode_cache=None,
        **{name: getattr(standard, name) for name in _DELIMITERS},
    )
    overlay.template_class = Template
    return overlay


class BoundLoader(BaseLoader):
    """Loads templates for one environment, even if another environment refers to them."""

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
        return self._loader.get_source(self._environment, template)

    def list_templates(self) -> list[str]:
        return self._loader.list_templates()
