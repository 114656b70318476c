"""The background loop ends quietly, whatever runs on it."""

import gc

import anyio

from faqsvc_embed.runtime.background_loop import BackgroundLoop


def test_closing_while_a_task_starts_another_gives_no_warning() -> None:
    async def child() -> None:
        await anyio.sleep(10)

    async def parent(steps: int) -> None:
        for _ in range(steps):
            await anyio.sleep(0)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(child)

    for attempt in range(60):
        loop = BackgroundLoop()
        loop.submit(parent(steps=attempt % 6))
        loop.close()
    gc.collect()  # "never awaited" would be an error here
