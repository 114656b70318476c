"""FAQs in files: JSON, YAML, CSV and Markdown, and the detection of their language.

`read_file` turns a file into a `Document`, one FAQ as the file states it; `WRITERS` turn a document into
text. A document knows the line or row of each item for messages, and is validated when it is published or
becomes a record. A `Folder` has the records of many files. Start with `document`, `formats` and `folder`.
"""

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.folder import Folder
from faqsvc_embed.files.formats import READERS, WRITERS, UnreadableFile, read_file

__all__ = ["READERS", "WRITERS", "Document", "Folder", "UnreadableFile", "read_file"]
