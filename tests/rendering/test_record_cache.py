"""What was made of records is cached for as long as they live, within a bound in bytes."""

import threading

from faqsvc_embed.rendering.record_cache import RecordCache
from tests.rendering.support import faq


def test_a_new_record_in_the_memory_of_an_old_one_has_no_values() -> None:
    cache = RecordCache[str]()
    seen = set[int]()
    for number in range(1_000):
        record = faq(title=str(number))
        seen.add(id(record))
        assert cache.get(record, "key") is None
        cache.put(record, "key", "value", 5)
    assert len(seen) < 1_000  # Python did use the memory again


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
