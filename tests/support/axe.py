"""What axe finds on a page of a real browser."""

from typing import Any, Final

from axe_playwright_python.base import AXE_SCRIPT
from playwright.sync_api import Page

OF_COLOURS: Final = ("color-contrast", "link-in-text-block")
"""The rules whose results depend on colours."""
FIND: Final = """options => axe.run(options).then(({violations}) => violations.map(
    ({id, nodes}) => [id, ...nodes.map(node => node.html + '\\n' + node.failureSummary)]))"""


def violations(page: Page, *rules: str) -> list[Any]:
    """Return what violates all rules, or these. The script, half a megabyte, is sent once to a page."""
    if not page.evaluate("'axe' in window"):
        page.evaluate(AXE_SCRIPT)
    options = {"resultTypes": ["violations"], **({"runOnly": rules} if rules else {})}
    found: list[Any] = page.evaluate(FIND, options)
    return found
