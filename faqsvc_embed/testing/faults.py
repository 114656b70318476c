"""Every way to answer badly, and the unusual ways that are good all the same."""

from typing import Final

from faqsvc_embed.testing import behaviours as well
from faqsvc_embed.testing.behaviours import altered, head_of
from faqsvc_embed.testing.connections import CONNECTIONS, SIZES
from faqsvc_embed.testing.contents import CONTENTS, ENCODINGS
from faqsvc_embed.testing.fault import Fault
from faqsvc_embed.testing.framing import FRAMING
from faqsvc_embed.testing.statuses import REDIRECTS, STATUSES

FAULTS: Final = [*CONNECTIONS, *SIZES, *FRAMING, *ENCODINGS, *CONTENTS, *STATUSES, *REDIRECTS]
"""Every way to answer badly. A page's promise holds for each, cold and warm."""

ODDITIES: Final = [
    Fault("gzip", well.gzipped, "found"),
    Fault("chunked", well.chunked, "found"),
    Fault("until closed", well.until_closed, "found"),
    Fault("byte order mark", well.byte_order_mark, "found"),
    Fault("slow head", well.slow_head(0.05), "found"),
    Fault("redirect on the same origin", well.redirect_same_origin, "found"),
    Fault("unknown fields", altered(unknown={"a": [1]}, cta={"label": "Buy", "url": "/buy"}), "found"),
    Fault("title and language null", altered(title=None, lang=None, websiteName=None), "found"),
    Fault("an interim answer first", head_of("", "HTTP/1.1 200 OK", first="HTTP/1.1 100 Continue"), "found"),
    Fault("no reason", head_of("Content-Length: %LENGTH%", first="HTTP/1.1 200 "), "found"),
    Fault("HTTP/1.0", head_of("Content-Length: %LENGTH%", first="HTTP/1.0 200 OK"), "found"),
    Fault("another content type", head_of("Content-Type: text/plain", "Content-Length: %LENGTH%"), "found"),
    Fault("nonsense about reuse", head_of("Cache-Control: =, ;, perhaps", "Age: soon"), "found"),
]
"""Unusual answers that are good all the same."""
