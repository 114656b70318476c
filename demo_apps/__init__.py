"""The demo: a print workshop's site with FAQs in seven languages, once for every framework.

`python -m demo_apps` starts the FAQ service and one host a framework; `--check` looks at every page.
"""
