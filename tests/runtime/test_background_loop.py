"""The background loop ends quietly, whatever runs on it."""

import gc

import anyio
import pytest

from faqsvc_embed.runtime.background_loop import BackgroundLoop


@pytest.mark.parametrize("steps", range(6))
def test_closing_while_a_task_starts_another_gives_no_warning(steps: int) -> None:
    async def child() -> None:
        await anyio.sleep(10)

    async def parent() -> None:
        for _ in range(steps):
            await anyio.sleep(0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child)

    for _ in range(10):
        loop = BackgroundLoop()
        loop.submit(parent())
        loop.close()
    gc.collect()  # "never awaited" would be an error here
