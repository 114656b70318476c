"""The directive `generated`: inserts a part of the reference that is read from the code."""

from pathlib import Path
from typing import Any

from docutils import nodes
from docutils.statemachine import StringList
from parts import PACKAGE, PARTS
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective


class Generated(SphinxDirective):
    """Inserts a part of the reference: ```` ```{generated} settings ````."""

    required_arguments = 1

    def run(self) -> list[nodes.Node]:
        for path in (*PACKAGE.rglob("*.py"), Path(__file__).with_name("parts.py")):
            self.env.note_dependency(str(path))
        parent = nodes.section()
        lines = StringList(list(PARTS[self.arguments[0]]()), source=f"generated {self.arguments[0]}")
        self.state.nested_parse(lines, self.content_offset, parent, match_titles=True)
        return parent.children


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("generated", Generated)
    return {"version": "1", "parallel_read_safe": True}
