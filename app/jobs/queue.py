"""The procrastinate app: one lane per pull request, newer events join the one that waits."""

from __future__ import annotations

import logging
from datetime import datetime
from typing import Protocol

import psycopg
from procrastinate import App, JobContext, PsycopgConnector
from procrastinate.exceptions import AlreadyEnqueued
from procrastinate.jobs import Job, Status
from psycopg_pool import AsyncConnectionPool

from app.errors import Refused, TryLater
from app.jobs.retries import WhenPassing, is_last
from app.review.run import ReviewOutcome, ReviewRequest
from app.store import deliveries, reviews

QUEUE = "reviews"
RECOVERY_SECONDS = 30.0
log = logging.getLogger(__name__)

Pool = AsyncConnectionPool[psycopg.AsyncConnection]


class Reviews(Protocol):
    """What the queue needs of a reviewer."""

    async def review(self, request: ReviewRequest) -> ReviewOutcome:
        """One review on the current head. Raises TryLater for a passing fault."""

    async def give_up(self, request: ReviewRequest, reason: str) -> None:
        """Say on the pull request that it is not reviewed. Raises TryLater or Refused."""


class ReviewQueue:
    """The queue on one database. ``open`` before use; ``app`` is what a worker runs."""

    def __init__(self, pool: Pool, reviewer: Reviews) -> None:
        self.pool = pool
        self.reviewer = reviewer
        self.app = App(connector=PsycopgConnector())
        review = self.app.task(
            name="review_pull_request", queue=QUEUE, retry=WhenPassing(), pass_context=True
        )
        recover = self.app.task(name="recover_stalled", queue=QUEUE, queueing_lock="recover")
        self.task = review(self._review)
        self.app.periodic(cron="* * * * *")(recover(self._recover))

    async def open(self) -> None:
        """Share our pool with procrastinate."""
        await self.app.connector.open_async(self.pool)

    async def defer(self, connection: psycopg.AsyncConnection, request: ReviewRequest) -> None:
        """Queue ``request`` in the caller's transaction; joins a waiting task of the same pull request."""
        lane = f"{request.full_name}#{request.number}"
        waiting = f"{lane}/{'command' if request.command_comment else 'event'}"
        deferrer = self.task.configure(lock=lane, queueing_lock=waiting, connection=connection)
        try:
            async with connection.transaction():
                await deferrer.defer_async(
                    installation_id=request.installation_id,
                    full_name=request.full_name,
                    number=request.number,
                    command_comment=request.command_comment,
                    commanded_by=request.commanded_by,
                )
        except AlreadyEnqueued:
            log.info("%s: a review is already waiting and will read the newest head", lane)

    async def _review(
        self,
        context: JobContext,
        *,
        installation_id: int,
        full_name: str,
        number: int,
        command_comment: int | None,
        commanded_by: str | None,
    ) -> None:
        request = ReviewRequest(installation_id, full_name, number, command_comment, commanded_by)
        started = await self._now()
        try:
            outcome = await self.reviewer.review(request)
        except TryLater as error:
            if is_last(context.job.attempts):
                await self._fail(request, f"given up: {error.reason}", started)
            raise
        except Exception as error:  # the per-task fence: recorded, then raised for the queue
            await self._fail(request, f"a fault of npu-review ({type(error).__name__})", started)
            raise
        async with self.pool.connection() as connection:
            await reviews.save(connection, full_name, number, outcome)
            await deliveries.finish(connection, full_name, number, "done", outcome.note, started)
        log.info("%s#%d: %s", full_name, number, outcome.note)

    async def _fail(self, request: ReviewRequest, reason: str, started: datetime) -> None:
        """Record that ``request`` is not tried again, and say so where people look."""
        async with self.pool.connection() as connection:
            await deliveries.finish(connection, request.full_name, request.number, "failed", reason, started)
        try:
            await self.reviewer.give_up(request, reason)
        except (TryLater, Refused) as error:
            log.warning("%s#%d: the check run is left as it is: %s", request.full_name, request.number, error)

    async def _now(self) -> datetime:
        """The database's clock, which also stamped the deliveries."""
        async with self.pool.connection() as connection:
            row = await (await connection.execute("SELECT clock_timestamp()")).fetchone()
        assert row is not None
        now: datetime = row[0]
        return now

    async def _recover(self, timestamp: int) -> None:
        """Queue again what a worker that died was doing."""
        for job in await self.app.job_manager.get_stalled_jobs(seconds_since_heartbeat=RECOVERY_SECONDS):
            await self._retry(job)
        del timestamp

    async def _retry(self, job: Job) -> None:
        if job.status == Status.DOING.value:
            log.warning("job %s was left by a worker that died; queued again", job.id)
            await self.app.job_manager.retry_job(job)
