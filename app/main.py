"""The web application: webhooks in, tasks into the queue, and with ``workers`` also the tasks themselves."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from app.jobs.queue import QUEUE, Pool, ReviewQueue, Reviews
from app.web import health
from app.webhooks import receive

log = logging.getLogger(__name__)
STOP_SECONDS = 25.0


def create_app(secret: str, pool: Pool, reviewer: Reviews, workers: int) -> FastAPI:
    """The application on an open pool. ``workers`` tasks run in this process at once; 0 runs none."""
    queue = ReviewQueue(pool, reviewer)

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        await queue.open()
        async with running_worker(queue, workers):
            yield

    app = FastAPI(title="npu-review", lifespan=lifespan, docs_url=None, redoc_url=None, openapi_url=None)
    app.include_router(receive.router(secret, queue))
    app.include_router(health.router(pool))
    return app


@asynccontextmanager
async def running_worker(queue: ReviewQueue, workers: int) -> AsyncIterator[None]:
    """Run the queue's tasks beside the caller; at the end running tasks finish or are handed back."""
    if workers == 0:
        yield
        return
    task = asyncio.create_task(work(queue, workers))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def work(queue: ReviewQueue, workers: int) -> None:
    """Run tasks until cancelled. A task that does not finish in time is aborted and stays for recovery."""
    await queue.app.run_worker_async(
        queues=[QUEUE],
        concurrency=workers,
        install_signal_handlers=False,
        shutdown_graceful_timeout=STOP_SECONDS,
        update_heartbeat_interval=10.0,
        stalled_worker_timeout=30.0,
    )
