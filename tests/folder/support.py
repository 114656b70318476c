"""Writes folders of FAQs, and returns why an embed refuses them."""

from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed import ConfigurationError, FAQEmbed

PRICING: Final = """\
---
title: Pricing
lang: en
---

## What does it cost?

**Nothing** for 10 users.

## May I cancel?

Any time.
"""
PREISE: Final = """\
# Preise

## Was kostet es?

Nichts.

## Kann ich kündigen?

Jederzeit.
"""


def folder(directory: Path, **files: str | bytes) -> Path:
    """Write files, whose names have `__` for a dot, into the folder `faqs` and return it."""
    faqs = directory / "faqs"
    faqs.mkdir(exist_ok=True)
    for name, content in files.items():
        path = faqs / name.replace("__", ".")
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return faqs


def refusal(faqs: Path) -> str:
    """Return why no embed can be made of a folder, without the path of the folder."""
    with pytest.raises(ConfigurationError) as refused:
        FAQEmbed(directory=faqs)
    return str(refused.value).replace(f"{faqs}/", "")
