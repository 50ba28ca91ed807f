"""The web application on a real PostgreSQL; one server per test process, emptied for every test."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass, field

import httpx
import psycopg
import pytest

from app.jobs.queue import Pool
from app.main import create_app
from app.review.run import ReviewOutcome, ReviewRequest
from app.store.database import open_pool
from tests.server.postgres import temporary_postgres

SECRET = "a webhook secret"


@pytest.fixture(scope="session")
def server_url() -> Iterator[str]:
    with temporary_postgres() as url:
        yield url


@pytest.fixture
def database_url(server_url: str) -> str:
    """The database without any row of an earlier test."""
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(
            "TRUNCATE deliveries, reviews, procrastinate_jobs, procrastinate_events, procrastinate_workers,"
            " procrastinate_periodic_defers RESTART IDENTITY CASCADE"
        )
    return server_url


@pytest.fixture
async def pool(database_url: str) -> AsyncIterator[Pool]:
    async with open_pool(database_url, 6) as opened:
        yield opened


@dataclass
class RecordingReviewer:
    """Notes what it is asked to review; raises what ``errors`` holds first."""

    requests: list[ReviewRequest] = field(default_factory=list)
    errors: list[Exception] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)

    async def review(self, request: ReviewRequest) -> ReviewOutcome:
        self.requests.append(request)
        if self.errors:
            raise self.errors.pop(0)
        return ReviewOutcome("reviewed", head="0" * 40)

    async def give_up(self, request: ReviewRequest, reason: str) -> None:
        assert request in self.requests
        self.given_up.append(reason)


@pytest.fixture
def reviewer() -> RecordingReviewer:
    return RecordingReviewer()


@pytest.fixture
async def web(pool: Pool, reviewer: RecordingReviewer) -> AsyncIterator[httpx.AsyncClient]:
    """The application without a worker."""
    app = create_app(SECRET, pool, reviewer, workers=0)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://npu-review") as client,
    ):
        yield client
