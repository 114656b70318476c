"""FAQs in files: JSON, YAML, CSV and Markdown.

`read_file` turns a file into a `Document`, one FAQ as the file states it; `WRITERS` turn a document into
text. A document is not validated before it is published or becomes a record, and knows where in its file each
item stands, so that a message can name the line or the row. A `Folder` has the records of many files. Begin
with `document`, `formats` and `folder`.
"""

from faqsvc_embed.files.document import Document
from faqsvc_embed.files.folder import Folder
from faqsvc_embed.files.formats import READERS, WRITERS, UnreadableFile, read_file

__all__ = ["READERS", "WRITERS", "Document", "Folder", "UnreadableFile", "read_file"]
