"""What was made of records is kept by identity, for as long as they live, and of the newest only."""

import gc

from faqsvc_embed import FAQ
from faqsvc_embed.byrecord import ByRecord
from tests.support import samples


def test_each_record_has_a_thing_of_its_own_even_if_another_is_equal() -> None:
    kept = ByRecord[list[str]](list)
    one, equal = FAQ.from_dict(samples.pricing()), FAQ.from_dict(samples.pricing())
    kept.of(one).append("made")
    assert (one == equal, kept.of(one), kept.of(equal)) == (True, ["made"], [])


def test_what_was_made_of_a_record_ends_with_it() -> None:
    kept = ByRecord[list[str]](list)
    record = FAQ.from_dict(samples.pricing())
    kept.of(record)
    assert len(kept) == 1
    del record
    gc.collect()
    assert len(kept) == 0


def test_of_too_many_records_the_oldest_is_made_anew() -> None:
    kept = ByRecord[list[str]](list, most=3)
    records = [FAQ.from_dict(samples.pricing()) for _ in range(4)]
    for record in records:
        kept.of(record).append("made")
    assert [kept.of(record) for record in records[1:]] == [["made"]] * 3
    assert kept.of(records[0]) == []


def test_after_clearing_everything_is_made_anew() -> None:
    kept = ByRecord[list[str]](list)
    record = FAQ.from_dict(samples.pricing())
    kept.of(record).append("made")
    kept.clear()
    assert kept.of(record) == []
