"""Rendering: a record and a style give HTML, JSON-LD and CSS. Nothing here knows of pages or networks.

Begin with `Renderer.fragment` in `renderer`. Answers become HTML in `answers` and `markdown`, questions get
their ids in `element_ids`, and `json_ld` is the only serializer of JSON-LD.
"""
