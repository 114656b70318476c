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
_OTHERS = (nodes.Extends, nodes.FromImport, nodes.Import, nodes.Include)
"""What refers to another template."""
_APPLYING = {"map": 0, "select": 0, "reject": 0, "selectattr": 1, "rejectattr": 1}
"""Filters that apply a filter or a test, and the place of its name among their arguments."""


class Overrides:
    """The templates of the host that a block is rendered by, as they were when this was made."""

    def __init__(self, environment: Environment, ours: BaseLoader, names: Iterable[str]) -> None:
        self.are_none = True
        self.may_be_held = True
        self._environment = environment
        self._reading = environment.overlay()
        self._reading.globals = {}  # else what a template asks of the host's globals is not found out
        self._ours = ours
        self._are_current = list[Callable[[], bool]]()
        waiting, seen = [(name, True) for name in names], set[tuple[str, bool]]()
        while waiting:
            if (found := waiting.pop()) not in seen:
                seen.add(found)
                waiting += self._look_at(*found)

    @property
    def may_change(self) -> bool:
        """A template of the host's is read again when it was edited."""
        return bool(self._environment.auto_reload and self._are_current)

    @property
    def have_changed(self) -> bool:
        """One of them has been edited."""
        return not all(is_current() for is_current in self._are_current)

    def _look_at(self, name: str, is_given: bool) -> Iterable[tuple[str, bool]]:
        """Take one template into account, and return those it refers to.

        What is imported, or included without context, is given nothing: its `title` is the host's global.
        """
        loader = self._environment.loader
        if loader is None:
            return ()
        try:
            source, _, is_current = loader.get_source(self._environment, name)
        except Exception:  # `ignore missing`, or whoever renders it will say so
            self.are_none = self.may_be_held = False
            return ()
        if is_current is not None:
            self._are_current.append(is_current)
        if source == self._source_of_ours(name):
            self.are_none &= is_current is None  # else it is a copy of ours, which may be edited
            self.may_be_held &= is_given
            return ()
        self.are_none = False
        from jinja2 import meta  # only a host that has a template of its own needs it

        try:
            tree = self._reading.parse(source, name)
        except Exception:  # whoever renders it will say so
            self.may_be_held = False
            return ()
        if not self._is_plain(tree) or meta.find_undeclared_variables(tree) - (GIVEN if is_given else set()):
            self.may_be_held = False
        references = list[tuple[str, bool]]()
        for node in tree.find_all(_OTHERS):
            gives = is_given and getattr(node, "with_context", True)
            for other in meta.find_referenced_templates(nodes.Template([node])):
                if other is None:  # a name that is computed
                    self.may_be_held = False
                else:
                    references.append((self._environment.join_path(other, name), gives))
        return references

    def _source_of_ours(self, name: str) -> str | None:
        try:
            return self._ours.get_source(self._environment, name)[0]
        except TemplateNotFound:
            return None

    def _is_plain(self, tree: nodes.Template) -> bool:
        """Tell whether all filters, tests and tags of a template are those of Jinja itself."""
        filters = list(tree.find_all(nodes.Filter))
        return (
            all(self._is_plain_filter(node.name) for node in filters)
            and all(self._is_plain_test(node.name) for node in tree.find_all(nodes.Test))
            and all(self._applies_plain(node) for node in filters)
            and next(tree.find_all(_OF_EXTENSIONS), None) is None
        )

    def _is_plain_filter(self, name: str) -> bool:
        return name != "random" and self._environment.filters.get(name) is FILTERS.get(name)

    def _is_plain_test(self, name: str) -> bool:
        return self._environment.tests.get(name) is TESTS.get(name)

    def _applies_plain(self, node: nodes.Filter) -> bool:
        """Tell whether what a filter applies by name is Jinja's own, too, and applies nothing further."""
        at = _APPLYING.get(node.name)
        if at is None or (len(node.args) <= at and node.dyn_args is None):
            return True
        named = node.args[at] if len(node.args) > at else None
        if not isinstance(named, nodes.Const) or not isinstance(named.value, str):
            return False  # a name that is computed
        if node.name != "map":
            return self._is_plain_test(named.value)
        return named.value not in _APPLYING and self._is_plain_filter(named.value)
