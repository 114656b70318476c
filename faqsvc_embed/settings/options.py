"""The settings as keywords, for completion and type checkers."""

import os
from collections.abc import Iterable, Mapping
from typing import Any, TypedDict

from faqsvc_embed.models import Source
from faqsvc_embed.settings.api_key import APIKey
from faqsvc_embed.settings.validators import Look, Styles, Variant
from faqsvc_embed.theme import Theme


class ClientOptions(TypedDict, total=False):
    """The settings that a client uses, except `base_url` and `api_key`; `Settings` describes them."""

    lang: str | None
    timeout: float
    max_bytes: int
    insecure_hosts: Iterable[str] | str
    offline: bool
    strict: bool


class EmbedOptions(ClientOptions, total=False):
    """Every setting except `base_url` as a keyword; `Settings` describes them."""

    api_key: str | APIKey | None
    theme: Theme | Mapping[str, Any] | str | None
    show_title: bool
    heading_level: int | None
    styles: Styles
    variant: Variant
    look: Look
    exclusive: bool
    schema: bool
    cache_overrides: bool
    wait: float
    fresh_for: float
    keep_for: float | None
    max_fresh: float | None
    push: bool
    preview: bool
    not_found_for: float
    max_entries: int
    store: str | None
    directory: str | os.PathLike[str] | None
    source: Source | str | None
    reload: bool
    degraded_max_age: int | None
    cache_tags: bool


class SettingOptions(EmbedOptions, total=False):
    """Every setting as a keyword; `Settings` describes them."""

    base_url: str
