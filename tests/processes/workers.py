"""Worker processes that do what a test tells them, one line of JSON at a time."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import faqsvc_embed

ROOT: Final = Path(faqsvc_embed.__file__).parent.parent


def work(settings: dict[str, Any]) -> None:
    """Obey the lines of standard input."""
    import signal

    from faqsvc_embed import FAQEmbed

    signal.alarm(60)  # whatever happens
    embed = FAQEmbed(**settings)
    embed.get_ready()
    print(json.dumps({"ready": os.getpid()}), flush=True)
    for line in sys.stdin:
        word, *rest = json.loads(line)
        began = time.monotonic()
        if word == "forget":
            embed.forget(*rest)
        state = embed.use_faq("pricing")
        if word == "settle":
            while embed.is_fetching:
                time.sleep(0.002)
            state = embed.use_faq("pricing", wait=0)
        answer = {
            "title": state.data.title if state.data else None,
            "error": str(state.error) if state.error else None,
            "is_stale": state.is_stale,
            "seconds": time.monotonic() - began,
        }
        print(json.dumps(answer), flush=True)


class Worker:
    """One process with an embed of its own."""

    def __init__(self, **settings: Any) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "tests.processes.workers", json.dumps(settings)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            cwd=ROOT,
            text=True,
        )

    def tell(self, *words: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(words) + "\n")
        self.process.stdin.flush()

    def hear(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def ask(self, *words: Any) -> dict[str, Any]:
        """Tell something, and return the answer."""
        self.tell(*words)
        return self.hear()

    def kill(self) -> None:
        """End it as the kernel does when memory is short."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(5)

    def close(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait(5)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


@contextmanager
def workers(count: int, **settings: Any) -> Iterator[list[Worker]]:
    """Start so many, and wait until all are ready."""
    started = [Worker(**settings) for _ in range(count)]
    try:
        for worker in started:
            worker.hear()
        yield started
    finally:
        for worker in started:
            worker.close()


def together(fleet: list[Worker], *words: Any) -> list[dict[str, Any]]:
    """Tell all the same at the same time, and return what each answers."""
    threads = [threading.Thread(target=worker.tell, args=words) for worker in fleet]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [worker.hear() for worker in fleet]


if __name__ == "__main__":
    work(json.loads(sys.argv[1]))
