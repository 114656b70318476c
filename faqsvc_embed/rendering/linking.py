"""A template with its blocks and all that it includes in their places, compiled as one.

A block or an include is a generator of its own, through which each piece of text passes on its way out;
where nobody has put another in its place, that only takes time.
"""

from collections.abc import Mapping

from jinja2 import BaseLoader, Environment, Template, nodes
from jinja2.visitor import NodeTransformer


def linked(environment: Environment, loader: BaseLoader, name: str, given: Mapping[str, str]) -> Template:
    """Return a template as one, for contexts in which these variables have these values.

    What it includes has to be known from them, and none of it extends another.
    """
    tree = _Linker(environment, loader, given).tree(name)
    return environment.template_class.from_code(environment, environment.compile(tree, name), {})


class _Linker(NodeTransformer):
    def __init__(self, environment: Environment, loader: BaseLoader, given: Mapping[str, str]) -> None:
        self._environment = environment
        self._loader = loader
        self._given = given

    def tree(self, name: str) -> nodes.Template:
        """Return what a template is parsed to, with others in it."""
        source, _, _ = self._loader.get_source(self._environment, name)
        tree: nodes.Template = self.visit(self._environment.parse(source, name))
        return tree

    def visit_Name(self, node: nodes.Name) -> nodes.Expr:  # noqa: N802  # as Jinja calls it
        return nodes.Const(self._given[node.name]) if node.name in self._given else node

    def visit_Block(self, node: nodes.Block) -> nodes.Scope:  # noqa: N802
        self.generic_visit(node)
        return nodes.Scope(node.body)

    def visit_Include(self, node: nodes.Include) -> nodes.Scope:  # noqa: N802
        name: str = self.visit(node.template).as_const()
        return nodes.Scope(self.tree(name).body)
