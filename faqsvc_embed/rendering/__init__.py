"""Rendering: makes HTML, JSON-LD and CSS from a record and a style, independent of pages and networks.

Start with `Renderer.fragment` in `renderer`. `answers` and `markdown` make the HTML of answers, and
`json_ld` is the only serializer of JSON-LD.
"""
