"""What was made of records is cached for as long as they live, within a bound in bytes."""

import gc
import threading
from weakref import ref

import pytest

from faqsvc_embed.rendering.record_cache import RecordCache
from tests.rendering.support import faq


def test_a_value_is_found_by_the_identity_of_its_record() -> None:
    cache, record = RecordCache[str](), faq()
    cache.put(record, "key", "value", 5)
    assert cache.get(record, "key") == "value"
    assert cache.get(record, "other") is None
    assert cache.get(faq(), "key") is None  # equal, but another record


def test_the_values_of_a_record_go_when_the_record_goes() -> None:
    cache = RecordCache[list[int]]()
    record, value = faq(), [1]

    class Value(list[int]):
        pass

    value = Value([1])
    kept = ref(value)
    cache.put(record, "key", value, 5)
    del value
    gc.collect()
    assert kept() is not None
    del record
    gc.collect()
    assert kept() is None


def test_a_new_record_in_the_memory_of_an_old_one_has_no_values() -> None:
    cache = RecordCache[str]()
    seen = set[int]()
    for number in range(1_000):
        record = faq(title=str(number))
        seen.add(id(record))
        assert cache.get(record, "key") is None
        cache.put(record, "key", "value", 5)
    assert len(seen) < 1_000  # Python did use the memory again


def test_the_oldest_records_go_beyond_the_limit_in_bytes() -> None:
    cache, records = RecordCache[str](max_total_bytes=100), [faq() for _ in range(5)]
    for record in records:
        cache.put(record, "key", "value", 30)
    assert [cache.get(record, "key") for record in records] == [None, None, "value", "value", "value"]
    cache.put(records[4], "other", "value", 30)
    assert [cache.get(record, "key") is not None for record in records] == [False, False, False, True, True]


def test_a_new_value_of_the_oldest_record_displaces_the_other_records() -> None:
    cache, oldest, other = RecordCache[str](max_total_bytes=100), faq(), faq()
    for record, key in ((oldest, "key"), (other, "key"), (oldest, "new")):
        cache.put(record, key, "value", 40)
    assert [cache.get(oldest, "key"), cache.get(oldest, "new"), cache.get(other, "key")] == [
        "value",
        "value",
        None,
    ]


def test_a_value_that_is_too_large_is_not_cached_and_displaces_nothing() -> None:
    cache, one, other = RecordCache[str](max_total_bytes=100), faq(), faq()
    cache.put(one, "key", "value", 100)
    cache.put(other, "key", "value", 101)
    cache.put(one, "other", "value", 101)
    assert (cache.get(one, "key"), cache.get(other, "key"), cache.get(one, "other")) == ("value", None, None)


def test_the_values_of_one_record_stay_below_the_limit_in_bytes() -> None:
    cache, record = RecordCache[str](max_total_bytes=100), faq()
    for key in range(10):
        cache.put(record, key, "value", 40)
        kept = [other for other in range(10) if cache.get(record, other)]
        assert key in kept
        assert len(kept) <= 2


@pytest.mark.parametrize("count", [8])
def test_threads_that_cache_and_drop_records_do_not_disturb_each_other(count: int) -> None:
    cache, errors = RecordCache[str](max_total_bytes=2_000), list[BaseException]()

    def work() -> None:
        try:
            for number in range(300):
                record = faq()
                cache.put(record, number, "value", 30)
                assert cache.get(record, "absent") is None
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
