"""Worker processes that follow the commands of a test, one line of JSON at a time."""

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
    """Follow the commands on standard input."""
    import signal

    from faqsvc_embed import FAQEmbed

    signal.alarm(600)  # also if the test is killed
    embed = FAQEmbed(**settings)
    print(json.dumps({"ready": os.getpid()}), flush=True)
    for line in sys.stdin:
        command, *arguments = json.loads(line)
        start = time.monotonic()
        if command == "forget":
            embed.forget(*arguments)
        state = embed.use_faq("pricing")
        if command == "settle":
            while embed.reader.fetcher.is_fetching():
                time.sleep(0.002)
            state = embed.use_faq("pricing", wait=0)
        state_seen = {
            "title": state.data.title if state.data else None,
            "error": str(state.error) if state.error else None,
            "is_stale": state.is_stale,
            "seconds": time.monotonic() - start,
        }
        print(json.dumps(state_seen), flush=True)


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

    def send(self, *command: Any) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        result: dict[str, Any] = json.loads(self.process.stdout.readline())
        return result

    def run(self, *command: Any) -> dict[str, Any]:
        """Send a command, and return its result."""
        self.send(*command)
        return self.receive()

    def kill(self) -> None:
        """Kill it, as the kernel does when memory is short."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def close(self) -> None:
        with suppress(OSError):
            self.process.kill()
        self.process.wait(60)
        for pipe in (self.process.stdin, self.process.stdout):
            with suppress(OSError):
                if pipe is not None:
                    pipe.close()


@contextmanager
def workers(count: int, **settings: Any) -> Iterator[list[Worker]]:
    """Start workers, and wait until all are ready."""
    started = [Worker(**settings) for _ in range(count)]
    try:
        for worker in started:
            worker.receive()
        yield started
    finally:
        for worker in started:
            worker.close()


def together(fleet: list[Worker], *command: Any) -> list[dict[str, Any]]:
    """Send all workers the same command at the same time, and return their results."""
    threads = [threading.Thread(target=worker.send, args=command) for worker in fleet]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [worker.receive() for worker in fleet]


if __name__ == "__main__":
    work(json.loads(sys.argv[1]))
