"""When a review is tried again: only after a passing fault, a bounded number of times."""

from __future__ import annotations

from procrastinate import BaseRetryStrategy, RetryDecision
from procrastinate.jobs import Job

from app.errors import TryLater

MAX_ATTEMPTS = 6
FIRST_WAIT_SECONDS = 30.0
MAX_WAIT_SECONDS = 3600.0


class WhenPassing(BaseRetryStrategy):
    """After TryLater, at the time GitHub named or after 30 s, 1 min, 2 min, …; else never."""

    def get_retry_decision(self, *, exception: BaseException, job: Job) -> RetryDecision | None:
        """None ends the task as failed."""
        if not isinstance(exception, TryLater) or is_last(job.attempts):
            return None
        return RetryDecision(retry_in={"seconds": int(wait(exception.seconds, job.attempts))})


def is_last(attempts: int) -> bool:
    """True if a task that ran ``attempts`` times before this run is not tried again."""
    return attempts + 1 >= MAX_ATTEMPTS


def wait(asked: float | None, attempts: int) -> float:
    """Seconds until the next try: never less than GitHub asked for, bounded by an hour beyond that."""
    backoff: float = min(FIRST_WAIT_SECONDS * 2.0**attempts, MAX_WAIT_SECONDS)
    return max(asked + 1.0, 1.0) if asked is not None else backoff
