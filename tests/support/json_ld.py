"""Reads the JSON-LD of a page as the standard says, with a processor: JSON-LD 1.1, flattened."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import turbohtml
from pyld import jsonld

ADDRESS: Final = "https://shop.example/prices"
CONTEXT: Final = Path(__file__).parent / "schema_org_context.json"


def graph(html: str | bytes) -> list[dict[str, Any]]:
    """Return all nodes of the scripts of a page, read together; nodes with one `@id` are one."""
    scripts = turbohtml.parse(html).select('script[type="application/ld+json"]')
    options = {"base": ADDRESS, "documentLoader": _load}
    expanded = list[Any]()
    for number, script in enumerate(scripts):
        # A blank node of one script is not that of another.
        nodes = jsonld.expand(json.loads(script.text), options)
        expanded += json.loads(
            json.dumps(jsonld.flatten(nodes, None, options)).replace('"_:', f'"_:script{number}-')
        )
    flattened: list[dict[str, Any]] = jsonld.flatten(expanded, None, options)
    return flattened


def of_type(nodes: list[dict[str, Any]], name: str) -> Iterator[dict[str, Any]]:
    """Yield the nodes of a type of schema.org."""
    return (node for node in nodes if f"http://schema.org/{name}" in node.get("@type", ()))


def values(node: dict[str, Any], name: str) -> list[str]:
    """Return the texts, or the ids of the nodes, that a property has."""
    return [value.get("@value", value.get("@id")) for value in node.get(f"http://schema.org/{name}", ())]


def _load(url: str, options: object) -> dict[str, Any]:
    assert url.rstrip("/") == "https://schema.org", url
    context = json.loads(CONTEXT.read_text(encoding="utf-8"))
    return {"contentType": "application/ld+json", "contextUrl": None, "documentUrl": url, "document": context}
