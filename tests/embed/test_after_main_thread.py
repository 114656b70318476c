"""FAQs on pages of a server that runs on after the main thread has ended."""

import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from faqsvc_embed.testing.chaos import FaultyServer
from tests.support import samples

pytestmark = pytest.mark.system

PROGRAM: Final = """
import asyncio, sys, threading
from faqsvc_embed import FAQEmbed

def serve():
    threading.main_thread().join()
    try:
        threading.Thread(target=int).start()
    except RuntimeError:  # Python 3.12.0 and 3.12.1 start no thread then
        print("no threads")
        return
    with FAQEmbed(sys.argv[1], store=f"file:{sys.argv[2]}", wait=30, timeout=30) as embed:
        asyncio.run(embed.aprefetch("pricing")) if sys.argv[3] else embed.prefetch("pricing")
        state = asyncio.run(embed.ause_faq("pricing")) if sys.argv[3] else embed.use_faq("pricing")
        html = asyncio.run(embed.arender("pricing")) if sys.argv[3] else embed.render("pricing")
        print(embed.get_faq("pricing") is state.data, "faqsvc" in html)

threading.Thread(target=serve).start()
"""


@pytest.mark.parametrize("is_async", ["", "async"], ids=["sync", "async"])
def test_faqs_are_fetched_after_the_main_thread_has_ended(
    faulty: FaultyServer, tmp_path: Path, is_async: str
) -> None:
    faulty.serve(samples.pricing())
    url = faulty.base_url.replace("127.0.0.1", "localhost")  # a name, which is looked up in a thread
    command = [sys.executable, "-c", PROGRAM, url, str(tmp_path), is_async]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    if done.stdout == "no threads\n":
        pytest.skip("this Python starts no thread after the main thread has ended")
    assert (done.stdout, done.stderr) == ("True True\n", "")
