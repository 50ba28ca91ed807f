"""Tasks: tried later after passing faults, bounded, visible when they fail, taken over when a worker dies."""

from __future__ import annotations

from typing import Any

import pytest

from app.errors import TryLater
from app.jobs import retries
from app.jobs.queue import Pool, ReviewQueue
from app.review.run import ReviewRequest
from app.store import deliveries
from app.store.deliveries import Delivery
from tests.server.conftest import RecordingReviewer
from tests.server.test_webhook import run_tasks, state

pytestmark = pytest.mark.anyio
REQUEST = ReviewRequest(99, "octo/training", 7)


async def queued(pool: Pool, reviewer: RecordingReviewer) -> None:
    queue = ReviewQueue(pool, reviewer)
    await queue.open()
    async with pool.connection() as connection:
        await deliveries.record(
            connection, Delivery("d-1", "pull_request", "opened", "octo/training", 7), "received", None
        )
        await queue.defer(connection, REQUEST)


async def rows(pool: Pool, query: str) -> list[Any]:
    async with pool.connection() as connection:
        return await (await connection.execute(query)).fetchall()


async def test_a_passing_fault_is_tried_again_at_the_time_github_named(
    pool: Pool, reviewer: RecordingReviewer
) -> None:
    reviewer.errors.append(TryLater("secondary rate limit", 600.0))
    await queued(pool, reviewer)
    await run_tasks(pool, reviewer)
    ((status, seconds),) = await rows(
        pool,
        "SELECT status, extract(epoch FROM scheduled_at - now()) FROM procrastinate_jobs"
        " WHERE task_name LIKE 'review%'",
    )
    assert status == "todo"
    assert 590 < seconds < 610
    assert await state(pool) == ("received", None)


async def test_the_last_try_ends_visibly(
    pool: Pool, reviewer: RecordingReviewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(retries, "MAX_ATTEMPTS", 1)
    reviewer.errors.append(TryLater("GitHub answers 502"))
    await queued(pool, reviewer)
    await run_tasks(pool, reviewer)
    assert await state(pool) == ("failed", "given up: GitHub answers 502")
    assert reviewer.given_up == ["given up: GitHub answers 502"]
    assert await rows(pool, "SELECT status FROM procrastinate_jobs WHERE task_name LIKE 'review%'") == [
        ("failed",)
    ]


async def test_a_crash_ends_visibly_without_its_text(pool: Pool, reviewer: RecordingReviewer) -> None:
    reviewer.errors.append(ZeroDivisionError("a secret"))
    await queued(pool, reviewer)
    await run_tasks(pool, reviewer)
    assert await state(pool) == ("failed", "a fault of npu-review (ZeroDivisionError)")
    assert reviewer.given_up == ["a fault of npu-review (ZeroDivisionError)"]


async def test_each_run_is_kept(pool: Pool, reviewer: RecordingReviewer) -> None:
    await queued(pool, reviewer)
    await run_tasks(pool, reviewer)
    assert await rows(pool, "SELECT repository, pull, head, note FROM reviews") == [
        ("octo/training", 7, "0" * 40, "reviewed")
    ]


async def test_what_a_dead_worker_was_doing_is_queued_again(pool: Pool, reviewer: RecordingReviewer) -> None:
    await queued(pool, reviewer)
    queue = ReviewQueue(pool, reviewer)
    await queue.open()
    worker = "INSERT INTO procrastinate_workers (last_heartbeat) VALUES (now() - interval '1 hour')"
    await rows(pool, f"{worker} RETURNING id")
    await rows(pool, "UPDATE procrastinate_jobs SET status = 'doing', worker_id = 1 RETURNING id")
    await queue._recover(0)
    assert await rows(pool, "SELECT status FROM procrastinate_jobs") == [("todo",)]


def test_waits_grow_and_are_bounded() -> None:
    assert [retries.wait(None, attempts) for attempts in (0, 1, 2, 20)] == [30.0, 60.0, 120.0, 3600.0]
    assert retries.wait(7200.0, 0) == 7201.0
