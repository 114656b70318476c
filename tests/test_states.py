"""The states of an FAQ: only those of the table can be made, and each derives its status."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import product
from typing import Any

import pytest

from faqsvc_embed import FAQ, ConfigurationError, FAQState, FAQUnavailable
from tests.support import samples
from tests.support.clock import EPOCH

RECORD = FAQ.from_dict(samples.pricing())
DOWN = FAQUnavailable("down")


@pytest.mark.parametrize(
    ("state", "is_loading", "status", "is_refetch_error"),
    [
        (FAQState(data=RECORD, source="memory"), False, "success", False),
        (FAQState(data=RECORD, is_fetching=True, is_stale=True), False, "success", False),
        (FAQState(data=RECORD, error=DOWN, is_stale=True, is_degraded=True), False, "success", True),
        (FAQState(is_fetching=True), True, "pending", False),
        (FAQState(error=DOWN), False, "error", False),
    ],
)
def test_a_state_derives_its_status_from_its_parts(
    state: FAQState, is_loading: bool, status: str, is_refetch_error: bool
) -> None:
    assert state.is_loading is is_loading
    assert state.status == status
    assert state.is_refetch_error is is_refetch_error
    assert not state.is_loading or state.is_fetching


def test_a_state_has_the_requested_and_the_served_language() -> None:
    state = FAQState(data=RECORD, lang_requested="ko")
    assert (state.lang_requested, state.lang_served) == ("ko", "en")
    assert FAQState(is_fetching=True, lang_requested="ko").lang_served is None


def test_a_state_is_a_snapshot_with_an_age_that_is_never_negative() -> None:
    assert FAQState(data=RECORD).age is None
    assert FAQState(data=RECORD, updated_at=EPOCH.replace(year=9000)).age == 0.0
    with pytest.raises(AttributeError):
        FAQState(error=DOWN).data = RECORD  # type: ignore[misc]


def test_only_the_states_of_the_table_can_be_made() -> None:
    """A record is stale without an error if the embed is offline, or if nothing may be reused."""
    columns: dict[str, Any] = {
        "data": RECORD,
        "error": DOWN,
        "is_fetching": True,
        "is_stale": True,
        "is_degraded": True,
    }
    table = {
        "data",
        "data is_fetching",
        "data is_stale",
        "data is_fetching is_stale",
        "data is_fetching is_stale is_degraded",
        "data error is_stale is_degraded",
        "is_fetching",
        "error",
    }
    accepted = set[str]()
    for chosen in product([False, True], repeat=len(columns)):
        names = [name for name, is_set in zip(columns, chosen, strict=True) if is_set]
        with suppress(ConfigurationError):
            FAQState(**{name: columns[name] for name in names})
            accepted.add(" ".join(names))
    assert accepted == table


@pytest.mark.parametrize(
    "parts",
    [
        {"error": DOWN, "source": "memory"},
        {"error": DOWN, "updated_at": EPOCH},
        {"is_fetching": True, "source": "store"},
        {"data": RECORD, "updated_at": EPOCH.replace(tzinfo=None)},
    ],
)
def test_a_state_without_data_has_no_source_and_times_have_a_zone(parts: dict[str, Any]) -> None:
    with pytest.raises(ConfigurationError):
        FAQState(**parts)


def test_the_age_of_a_state_is_in_seconds() -> None:
    age = FAQState(data=RECORD, updated_at=datetime.now(UTC) - timedelta(seconds=90)).age
    assert age is not None
    assert 90 <= age < 1000
