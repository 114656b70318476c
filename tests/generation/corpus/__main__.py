"""Opens a page of the corpus in a browser: `python -m tests.generation.corpus NAME`."""

import sys
import tempfile
import webbrowser
from pathlib import Path

from tests.generation.corpus import PARTS, pages

found = [page for part in PARTS for page in pages(part) if page.name in sys.argv[1:]]
if not found:
    sys.exit("usage: python -m tests.generation.corpus NAME, such as bem.es")
for page in found:
    file = Path(tempfile.gettempdir()) / f"{page.name}.html"
    file.write_text(page.html, encoding="utf-8")
    print(file)
    webbrowser.open(file.as_uri())
