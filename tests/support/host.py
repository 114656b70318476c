"""A host application on a real socket, for a real browser."""

import threading
from collections.abc import Iterator

from flask import Flask
from werkzeug.serving import make_server

from tests.support.waiting import wait_until as wait_until

HOST_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Host</title>
<link rel="icon" href="/icon.png">
{% if dark %}<link rel="stylesheet" href="/dark.css">{% endif %}
</head>
<body>
<main id="host">
<h1>Host</h1>
<p class="faq item title" id="before">Before <a href="/">link</a> <b>bold</b> <code>code</code></p>
<details id="own"><summary id="own-summary">Own</summary>
<div id="own-answer"><p>Own answer</p></div></details>
CONTENT
<ul id="list"><li>one</li></ul>
<table id="table"><tr><th>head</th><td>cell</td></tr></table>
<form id="form"><label for="field">Field</label><input id="field"><button>Button</button></form>
<section id="section"><h2 id="h2">Two</h2><h3 id="h3">Three</h3></section>
</main>
</body>
</html>"""

STRICT = "default-src 'none'; base-uri 'none'; form-action 'none'; img-src 'self'; "

NOTE_VIOLATIONS = (
    "window.violations = []; document.addEventListener('securitypolicyviolation', "
    "event => window.violations.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`))"
)
"""A script that records violations of the Content-Security-Policy."""


def serve(app: Flask) -> Iterator[str]:
    """Serve an application on a free port of 127.0.0.1, and yield its address."""
    server = make_server("127.0.0.1", 0, app, threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join(60)
    server.server_close()
