"""Runs all measurements and prints them: `python -m tests.benchmarks`."""

from tests.benchmarks.extraction import extraction
from tests.benchmarks.imports import imports
from tests.benchmarks.lookups import lookups
from tests.benchmarks.pages import render, whole_request
from tests.benchmarks.sidebyside import table

print(table("render_template, a page with a held FAQ of 20 items", render()))
print(table("A whole Flask request in process, 20 items", whole_request()))
print(table("The look-up of a held FAQ", lookups()))
print(imports())
print(extraction())
