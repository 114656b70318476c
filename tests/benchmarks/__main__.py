"""Runs all measurements and prints them: `python -m tests.benchmarks`."""

from tests.benchmarks import asgi
from tests.benchmarks.extraction import extraction
from tests.benchmarks.imports import imports
from tests.benchmarks.lookups import lookups
from tests.benchmarks.pages import render, whole_request
from tests.benchmarks.service import service
from tests.benchmarks.sidebyside import table

print(table("render_template, a page with a held FAQ of 20 items", render()))
print(table("A whole Flask request in process, 20 items", whole_request()))
print(table("The look-up of a held FAQ", lookups()))
print(table("A whole Starlette request in process, 20 items", asgi.whole_request()))
print(table("The Starlette application alone, without client or server, 20 items", asgi.application()))
print(table("The Starlette application alone, no FAQ on the page", asgi.without_faqs()))
print(imports())
print(extraction())
print(service())
