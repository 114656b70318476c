"""What editors and programs of a site wait for, with 100,000 FAQs of 1,000 sites, against 100 FAQs of two.

The figures are ratios of the same request: of an ordinary site, and of the one that has 20,000 FAQs.
"""

import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from threading import Event, Thread
from typing import Final

from faqsvc_embed.service.storage import Storage, open_storage
from faqsvc_embed.service.storage.audit import Wanted
from faqsvc_embed.service.storage.overview import Filter
from faqsvc_embed.service.storage.site_removal import delete_site
from tests.benchmarks.large import COMMON, RARE, fill, key_id, site_id
from tests.benchmarks.tables import Table
from tests.service.storage.writes import write
from tests.support.postgres import Postgres

ROUNDS: Final = 30
SEARCHERS: Final = 6
Reads = dict[str, Callable[[], object]]


def scale() -> Iterator[Table]:
    """Measure SQLite and PostgreSQL."""
    with tempfile.TemporaryDirectory() as folder, Postgres.running() as server:
        for name, urls in {
            "SQLite": [f"sqlite:///{Path(folder)}/{size}.db" for size in ("small", "large")],
            "PostgreSQL": [server.new_database() for _ in range(2)],
        }.items():
            small, large = map(open_storage, urls)
            fill(small, 100, 2)
            fill(large)
            yield compare(name, small, large)
            yield starve(name, large)
            small.close()
            large.close()


def compare(name: str, small: Storage, large: Storage) -> Table:
    """Compare the requests of sites in a small database and in a large one."""
    table = Table(
        f"{name}: milliseconds, and ratios", {"small": ".2f", "site of 80": ".2f", "site of 20,000": ".2f"}
    )
    few, some, many = reads(small, 1), reads(large, 7), reads(large, 0)
    for what in few:
        times = [median(each[what]) for each in (few, some, many)]
        table.add(what, times[0] * 1000, times[1] / times[0], times[2] / times[0])
    table.add("delete a site, ms", 0, once(partial(delete_site, large, site_id(12))) * 1000, 0)
    return table


def starve(name: str, storage: Storage) -> Table:
    """Measure public reads while people search the large site."""
    slug = storage.overview.faqs(site_id(7), limit=1)[0].slug
    read = partial(storage.publications.get, slug)
    alone = median(read)
    stop, searches = Event(), list[float]()

    def search() -> None:
        while not stop.is_set():
            searches.append(
                once(partial(storage.overview.counted, site_id(0), Filter(search=RARE), limit=51))
            )

    threads = [Thread(target=search) for _ in range(SEARCHERS)]
    for thread in threads:
        thread.start()
    time.sleep(0.5)
    during = median(read, 100)
    stop.set()
    for thread in threads:
        thread.join()
    table = Table(f"{name}: {SEARCHERS} searches at once", {"ms": ".2f"})
    table.add("a public read alone", alone * 1000)
    table.add("a public read meanwhile", during * 1000)
    table.add("a search", statistics.median(searches) * 1000)
    return table


def reads(storage: Storage, number: int) -> Reads:
    """Return what editors and programs of a site request."""
    site = site_id(number)
    access = storage.people.list(site)[0].access
    slug = storage.overview.faqs(site, limit=1)[0].slug
    listed = partial(storage.overview.counted, site, limit=51)
    return {
        "list": listed,
        "list of drafts": partial(listed, Filter(state="draft")),
        "list in German": partial(listed, Filter(lang="de")),
        "REST list": partial(storage.overview.page, site, limit=50),
        "search, a word of many FAQs": partial(listed, Filter(search=COMMON)),
        "search, nothing found": partial(listed, Filter(search=RARE)),
        "languages": partial(storage.overview.published_languages, site),
        "FAQ": partial(storage.overview.faq, access, slug),
        "history": partial(storage.history.revisions, access, slug, None, limit=20),
        "own keys": partial(storage.keys.with_predecessors, key_id(number, 2)),
        "keys": partial(storage.keys.list, site),
        "log": partial(storage.audit.entries, Wanted(site), limit=100),
        "log of a key": partial(storage.audit.entries, Wanted(site, key=key_id(number, 2)), limit=100),
        "purged": partial(storage.overview.sealed, site),
        "record": partial(storage.publications.get, slug),
        "publication": lambda: write(storage, access, f"new-{number}", title=f"At {time.perf_counter()}"),
    }


def median(call: Callable[[], object], rounds: int = ROUNDS) -> float:
    """Return the median time of a call in seconds."""
    call()
    return statistics.median(once(call) for _ in range(rounds))


def once(call: Callable[[], object]) -> float:
    """Return the time of one call in seconds."""
    began = time.perf_counter()
    call()
    return time.perf_counter() - began
