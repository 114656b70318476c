"""The state of an FAQ on a page."""

from datetime import UTC, datetime
from typing import Literal

import msgspec

from faqsvc_embed.errors import ConfigurationError, FAQError
from faqsvc_embed.models.records import FAQ

StateSource = Literal["memory", "store", "network", "none"]


class FAQState(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an FAQ at one moment: what `use_faq()` returns, as `useFAQ` does in JavaScript.

    It is a snapshot: a refresh that ends while a page is rendered changes nothing on that page. If `data` is
    None, there is nothing to render. `error` says why the last fetch failed; if there is also `data`,
    `is_degraded` is true.

    Raises:
        ConfigurationError: the values contradict each other.
    """

    data: FAQ | None = None
    error: FAQError | None = None
    is_fetching: bool = False
    """A fetch of this FAQ is running."""
    is_stale: bool = False
    """`data` is older than the source allows, or is a translation shown instead of the requested one."""
    is_degraded: bool = False
    """`data` is shown although the last fetch failed."""
    source: StateSource = "none"
    """Where `data` came from for this call; `network` only if this call waited for the response."""
    updated_at: datetime | None = None
    """When the source last confirmed `data`, in UTC."""
    lang_requested: str | None = None
    """The requested language; None requests the FAQ's own."""

    def __post_init__(self) -> None:
        if problem := self._contradiction():
            raise ConfigurationError(f"FAQState: {problem}")

    def _contradiction(self) -> str:
        if self.error is not None and self.is_fetching:
            return "error must be None while is_fetching is true"
        if self.updated_at is not None and self.updated_at.tzinfo is None:
            return "updated_at has no time zone; UTC is accepted"
        if self.data is not None:
            if self.is_degraded != (self.error is not None) and not self.is_fetching:
                return "with data, is_degraded must be true if there is an error, and false otherwise"
            is_fresh = self.is_degraded and not self.is_stale
            return "if is_degraded is true, is_stale must be true" if is_fresh else ""
        if self.error is None and not self.is_fetching:
            return "without data, set error, or set is_fetching to True"
        if self.is_stale or self.is_degraded or self.source != "none" or self.updated_at is not None:
            return "without data, is_stale and is_degraded must be false, source 'none' and updated_at None"
        return ""

    @property
    def is_loading(self) -> bool:
        """There is no data yet, and a fetch is running."""
        return self.data is None and self.is_fetching

    @property
    def lang_served(self) -> str | None:
        """The language of `data`, which may differ from the requested one."""
        return self.data.lang if self.data is not None else None

    @property
    def status(self) -> Literal["pending", "success", "error"]:
        """`success` if there is data, even if its refresh failed; else `error` or `pending`."""
        if self.data is not None:
            return "success"
        return "error" if self.error is not None else "pending"

    @property
    def is_refetch_error(self) -> bool:
        """There is data, and the last attempt to refresh it failed."""
        return self.data is not None and self.error is not None

    @property
    def age(self) -> float | None:
        """Seconds since the source last confirmed `data`, never negative."""
        since = self.updated_at
        return None if since is None else max(0.0, (datetime.now(UTC) - since).total_seconds())
