"""A limit on the steps for a page, and so on the time that a hostile page costs."""

from typing import Final

MAX_STEPS: Final = 1_000_000
"""Steps for one page. A step is one visit of one element; ordinary pages take 20 to 40 for each element."""
CHARACTERS_PER_STEP: Final = 32
"""Characters whose reading counts as one step."""
STEPS_PER_ELEMENT: Final = 5
"""Steps to create an element, or to write the text of one."""
STEPS_TO_CONVERT: Final = 8
"""Steps to convert `CHARACTERS_PER_STEP` characters of structured data to text."""


class PageTooComplex(Exception):
    """Reading a page takes more steps than its budget has."""


class StepBudget:
    """The steps that remain for a page."""

    def __init__(self) -> None:
        self.remaining: int = MAX_STEPS

    def spend(self, steps: int) -> None:
        """Count steps.

        Raises:
            PageTooComplex: fewer steps remain.
        """
        self.remaining -= steps
        if self.remaining < 0:
            raise PageTooComplex
