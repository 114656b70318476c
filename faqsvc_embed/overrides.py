"""What a host has put in the place of our templates, and whether what it renders is the same for everyone.

A block is rendered once and shown to many visitors. Ours depend on nothing but what they are given; one of
the host's may ask for the request, the session, or whoever is logged in, and is rendered for each page.
"""

from collections.abc import Callable, Iterable

from jinja2 import BaseLoader, Environment, TemplateNotFound, nodes
from jinja2.filters import FILTERS
from jinja2.tests import TESTS

GIVEN = frozenset(("faq", "items", "title", "title_level", "question_level", "variant", "group"))
"""What a block is rendered from; anything else in a template comes from elsewhere."""

_OF_EXTENSIONS = (nodes.ExtensionAttribute, nodes.EnvironmentAttribute, nodes.ImportedName)


class Overrides:
    """The templates of the host that a block is rendered by, as they were when this was made."""

    def __init__(self, environment: Environment, ours: BaseLoader, names: Iterable[str]) -> None:
        self.may_be_held = True
        self._environment = environment
        self._reading = environment.overlay()
        self._reading.globals = {}  # else what a template asks of the host's globals is not found out
        self._ours = ours
        self._are_current = list[Callable[[], bool]]()
        waiting, seen = list(names), set[str]()
        while waiting:
            if (name := waiting.pop()) not in seen:
                seen.add(name)
                waiting += self._look_at(name)

    @property
    def may_change(self) -> bool:
        """A template of the host's is read again when it was edited."""
        return bool(self._environment.auto_reload and self._are_current)

    @property
    def have_changed(self) -> bool:
        """One of them has been edited."""
        return not all(is_current() for is_current in self._are_current)

    def _look_at(self, name: str) -> Iterable[str]:
        """Take one template into account, and return those it refers to."""
        loader = self._environment.loader
        if loader is None:
            return ()
        try:
            source, _, is_current = loader.get_source(self._environment, name)
        except Exception:  # `ignore missing`, or whoever renders it will say so
            self.may_be_held = False
            return ()
        if source == self._source_of_ours(name):
            return ()
        from jinja2 import meta  # only a host that has a template of its own needs it

        if is_current is not None:
            self._are_current.append(is_current)
        try:
            tree = self._reading.parse(source, name)
        except Exception:  # whoever renders it will say so
            self.may_be_held = False
            return ()
        references = list(meta.find_referenced_templates(tree))
        if None in references or not meta.find_undeclared_variables(tree) <= GIVEN:
            self.may_be_held = False  # None is a name that is computed
        if not self._is_plain(tree):
            self.may_be_held = False
        return [self._environment.join_path(other, name) for other in references if other is not None]

    def _source_of_ours(self, name: str) -> str | None:
        try:
            return self._ours.get_source(self._environment, name)[0]
        except TemplateNotFound:
            return None

    def _is_plain(self, tree: nodes.Template) -> bool:
        """Tell whether all filters, tests and tags of a template are those of Jinja itself."""
        filters = {node.name for node in tree.find_all(nodes.Filter)}
        tests = {node.name for node in tree.find_all(nodes.Test)}
        return (
            "random" not in filters
            and all(self._environment.filters.get(name) is FILTERS.get(name) for name in filters)
            and all(self._environment.tests.get(name) is TESTS.get(name) for name in tests)
            and next(tree.find_all(_OF_EXTENSIONS), None) is None
        )
