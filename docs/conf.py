"""Builds the documentation: `sphinx-build -W --keep-going -n docs BUILD`, with the extra `docs`."""

import logging
import sys
from importlib.metadata import version as installed_version
from pathlib import Path

from pygments.lexers.special import TextLexer
from sphinx.application import Sphinx

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "_ext"))

for logger in ("alembic", "httpx2"):  # the table of routes is fetched from a service
    logging.getLogger(logger).setLevel(logging.WARNING)

project = "faqsvc-embed"
author = "The faqsvc-embed authors"
project_copyright = author
version = release = installed_version("faqsvc-embed")

extensions = [
    "generated",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_ext", "examples"]

myst_enable_extensions = ["attrs_block", "colon_fence", "deflist"]
myst_heading_anchors = 3

default_role = "code"
nitpick_ignore_regex = [("py:.*", ".*")]
"""Annotations name types of other projects, whose documentation is not linked."""

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True
python_use_unqualified_type_names = True

pygments_dark_style = "github-dark"
html_theme = "furo"
html_title = "faqsvc-embed"
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["llms.txt"]
html_copy_source = True
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5563", "color-brand-content": "#0b5563"},
    "dark_css_variables": {"color-brand-primary": "#6cc5d4", "color-brand-content": "#6cc5d4"},
}

copybutton_exclude = ".linenos, .gp"


def setup(app: Sphinx) -> None:
    """Let code blocks name formats that Pygments has no lexer for."""
    app.add_lexer("csv", TextLexer)
