"""What was made of records is cached for as long as they live, within a bound in bytes."""

import gc
import threading
from weakref import ref

from faqsvc_embed.rendering.record_cache import RecordCache
from tests.rendering.support import faq


def test_the_values_of_a_record_go_when_the_record_goes() -> None:
    cache = RecordCache[list[int]]()
    record = faq()

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


def test_threads_that_cache_and_drop_records_do_not_disturb_each_other() -> None:
    cache, errors = RecordCache[str](max_total_bytes=2_000), list[BaseException]()

    def work() -> None:
        try:
            for number in range(300):
                record = faq()
                cache.put(record, number, "value", 30)
                assert cache.get(record, "absent") is None
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
